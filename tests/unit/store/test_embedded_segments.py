from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seamline.store.embedded.segment_tables import FAN, _packed, _tier
from seamline.store.embedded.segments import MAX_CHUNKS, Segment, SegmentBuilder, Terms, merge

CHUNKS = st.lists(st.lists(st.text(alphabet="aéz\U0001f98a\uffff", max_size=3), max_size=8), min_size=1, max_size=12)


def built(chunks: Sequence[Sequence[str]], first: int = 1) -> Segment:
    builder = SegmentBuilder()
    for ordinal, terms in enumerate(chunks, first):
        builder.add(ordinal, terms)
    return builder.build()


def contents(segment: Segment) -> dict[int, Counter[str]]:
    """Terms by ordinal, read back from the postings."""
    found: dict[int, Counter[str]] = {int(ordinal): Counter() for ordinal in segment.ordinals}
    start = 0
    for term, end in zip(segment.terms.all(), segment.posting_ends.tolist(), strict=True):
        assert start < end, "a term without postings"
        for local, frequency in zip(segment.locals[start:end], segment.frequencies[start:end], strict=True):
            found[int(segment.ordinals[local])][term.decode()] = int(frequency)
        start = end
    return found


@given(CHUNKS)
def test_a_segment_holds_what_was_added(chunks: list[list[str]]) -> None:
    segment = built(chunks)
    assert contents(segment) == {ordinal: Counter(terms) for ordinal, terms in enumerate(chunks, 1)}
    assert segment.lengths.tolist() == [len(terms) for terms in chunks]
    assert segment.terms.all() == sorted({term.encode() for terms in chunks for term in terms})


@given(st.lists(CHUNKS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_merge_holds_the_live_chunks_of_its_parts(groups: list[list[list[str]]], random: object) -> None:
    expected: dict[int, Counter[str]] = {}
    parts, first = [], 1
    for chunks in groups:
        mask = np.array([random.random() < 0.7 for _ in chunks])  # type: ignore[attr-defined]
        parts.append((built(chunks, first), mask))
        expected |= {
            first + i: Counter(terms) for i, (terms, live) in enumerate(zip(chunks, mask, strict=True)) if live
        }
        first += len(chunks)
    merged = merge(parts)
    assert contents(merged) == expected
    assert merged.ordinals.tolist() == sorted(expected)
    assert merged.lengths.tolist() == [expected[ordinal].total() for ordinal in sorted(expected)]


@given(st.sets(st.binary(max_size=4)), st.binary(max_size=4))
def test_terms_are_found_exactly(terms: set[bytes], asked: bytes) -> None:
    table = Terms.of(sorted(terms))
    assert table.find(asked) == (sorted(terms).index(asked) if asked in terms else None)
    assert [table.find(term) for term in sorted(terms)] == list(range(len(terms)))


def test_frequencies_beyond_two_bytes_survive() -> None:
    segment = built([["a"] * 70_000 + ["b"] * 300, ["a"]])
    assert contents(segment) == {1: Counter(a=70_000, b=300), 2: Counter(a=1)}


@given(st.lists(st.integers(1, MAX_CHUNKS), min_size=FAN, max_size=40))
def test_merges_fit_a_segment_and_never_rewrite_much_for_little(lives: list[int]) -> None:
    run = list(enumerate(lives))
    groups = _packed(run)
    flat = [number for group in groups for number in group]
    assert flat == sorted(set(flat))
    for group in groups:
        total = sum(lives[number] for number in group)
        assert total <= MAX_CHUNKS
        assert max(lives[number] for number in group) * 2 <= total
        assert group == list(range(group[0], group[-1] + 1)), "only neighbours may merge"


def test_tiers_grow_by_the_fan() -> None:
    tiers = [_tier(live) for live in range(1, MAX_CHUNKS + 1)]
    assert tiers == sorted(tiers)
    assert all(tiers[min(FAN * live, MAX_CHUNKS) - 1] <= tiers[live - 1] + 1 for live in range(1, MAX_CHUNKS + 1))
