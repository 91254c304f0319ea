# ruff: noqa: S101 - conformance tests assert
"""The contract of the two legs: exact scores, a total order, pools cut last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.conformance.store_case import (
    DIMENSION,
    StoreCase,
    assert_close,
    bm25_scores,
    cosine,
    document,
    filed,
    ids_of,
    indexed,
    put,
    query,
    ranked,
    refused,
    remove,
    scope,
    vector_of,
)
from seamline.errors import EmbeddingError, QueryError
from seamline.fingerprint import sha256_text
from seamline.folding import fold
from seamline.types import ChunkId, KeywordQuery

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk, Vector
    from seamline.types import Document

    Filed = tuple[Document, list[IndexedChunk]]

WORDS = ("red", "green", "blue", "stone", "river", "cloud", "lamp", "paper")
ASKED = "red river paper absent"


def corpus(documents: int = 12) -> list[Filed]:
    """Documents ``d00``... of one to five lines of made-up words, longer and shorter, with repetitions."""
    random = np.random.default_rng(5)
    made: list[Filed] = []
    for number in range(documents):
        lines = [" ".join(random.choice(WORDS, size=random.integers(1, 9))) for _ in range(random.integers(1, 6))]
        made.append(filed(f"d{number:02}", "\n".join(lines), language=("en", "fr", None)[number % 3]))
    return made


def chunks_in(puts: list[Filed]) -> list[IndexedChunk]:
    """All chunks of a corpus."""
    return [item for _, chunks in puts for item in chunks]


class DenseRules(StoreCase):
    """The dense leg."""

    def test_dense_pool_is_the_exact_cosine_ranking(self, tmp_path: Path) -> None:
        """Vectors and questions of any length: only the angle counts."""
        puts, asked = corpus(), vector_of("asked")
        expected = {str(item.chunk.id): cosine(asked, item.vectors["child"]) for item in chunks_in(puts)}
        languages = {item.chunk.id: item.chunk.language for item in chunks_in(puts)}
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            hits = snapshot.dense_pool(scope(), asked, None)
            assert_close(hits, expected)
            assert {hit.chunk_id: hit.language for hit in hits} == languages
            longer = snapshot.dense_pool(scope(), asked * np.float32(7.5), None)
            assert_close(longer, expected)

    def test_cosines_stay_in_their_range(self, tmp_path: Path) -> None:
        """The same and the opposite direction are 1 and -1, never beyond; a zero vector has cosine 0."""
        made, (item,) = filed("a", "x")
        tiny = replace(item, vectors={"child": np.full(DIMENSION, 0.1, dtype=np.float32)})
        zero = replace(
            item, chunk=replace(item.chunk, id=ChunkId("zero")), vectors={"child": np.zeros(DIMENSION, np.float32)}
        )
        asked = np.full(DIMENSION, 0.3, dtype=np.float32)
        with self.filled(tmp_path, (made, [tiny, zero])) as store, store.read() as snapshot:
            for sign in (1.0, -1.0):
                same, none = snapshot.cosines(scope(), asked * np.float32(sign), [item.chunk.id, ChunkId("zero")])
                assert none == 0.0
                assert same is not None
                assert abs(same) <= 1.0
                assert abs(same - sign) <= 1e-6

    def test_bad_question_vectors_are_refused(self, tmp_path: Path) -> None:
        """Another dimension or a value that is not finite is ``EmbeddingError``, not an empty pool."""
        bad: list[Vector] = [np.ones(DIMENSION - 1, dtype=np.float32), np.full(DIMENSION, np.nan, dtype=np.float32)]
        with self.filled(tmp_path, filed("a", "x")) as store, store.read() as snapshot:
            for vector in bad:
                with refused(EmbeddingError):
                    snapshot.dense_pool(scope(), vector, 10)
                with refused(EmbeddingError):
                    snapshot.cosines(scope(), vector, [ChunkId("a#0")])

    def test_named_vectors_are_kept_apart(self, tmp_path: Path) -> None:
        """A pool of one name holds the chunks with a vector of that name, scored by it."""
        made = document("a", "one\ntwo")
        first, second = indexed(made, names=("child", "parent"))
        only_child = replace(second, vectors={"child": second.vectors["child"]})
        bare = replace(second, chunk=replace(second.chunk, id=ChunkId("bare")), vectors={})
        with self.filled(tmp_path, (made, [first, only_child, bare])) as store, store.read() as snapshot:
            (hit,) = snapshot.dense_pool(scope(), vector_of("parent:one"), None, "parent")
            assert hit.chunk_id == "a#0"
            assert abs(hit.score - 1.0) <= 1e-6
            assert set(ids_of(snapshot.dense_pool(scope(), vector_of("x"), None))) == {"a#0", "a#1"}
            assert snapshot.dense_pool(scope(), vector_of("x"), None, "context") == []
            ids = [ChunkId("a#1"), ChunkId("bare")]
            assert snapshot.cosines(scope(), vector_of("x"), ids, "parent") == [None, None]
            assert snapshot.statistics(scope()).vectors == 3


class KeywordRules(StoreCase):
    """The keyword leg."""

    def test_keyword_pool_is_bm25(self, tmp_path: Path) -> None:
        """Disjunctive BM25 by the formula, of exactly the chunks that hold a term."""
        puts = corpus()
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            for asked in (ASKED, "blue", "red green blue stone river cloud lamp paper", "red red river red"):
                expected = bm25_scores(chunks_in(puts), asked.split())
                assert_close(snapshot.keyword_pool(scope(), query(asked), None), expected)
            languages = {item.chunk.id: item.chunk.language for item in chunks_in(puts)}
            assert all(
                hit.language == languages[hit.chunk_id] for hit in snapshot.keyword_pool(scope(), query("red"), None)
            )

    def test_rule_17_scores_forget_what_was_removed(self, tmp_path: Path) -> None:
        """After any updates and removals scores are, to the bit, those of a kb that never held the rest."""
        puts = corpus()
        kept = [puts[number] for number in (7, 2, 5, 0)]
        with (
            self.filled(tmp_path / "a", *puts) as store,
            self.filled(tmp_path / "b", *kept) as fresh,
        ):
            put(store, filed("d02", "red red river"), filed("extra", "paper lamp"))
            remove(store, "d01", "d03", "d04", "d06")
            put(store, puts[2])
            remove(store, "d08", "d09", "d10", "d11", "extra")
            with store.read() as snapshot, fresh.read() as expected:
                assert snapshot.keyword_pool(scope(), query(ASKED), None) == expected.keyword_pool(
                    scope(), query(ASKED), None
                )
                found, wanted = snapshot.statistics(scope()), expected.statistics(scope())
                assert replace(found, generation=0) == replace(wanted, generation=0)
                assert snapshot.digest(scope()) == expected.digest(scope())

    def test_phrases_hold_exactly(self, tmp_path: Path) -> None:
        """Words side by side, in any letter case, in text, title or heading; the pool is filled to its depth."""
        scattered = [filed(f"a{number:02}", "river red red red") for number in range(30)]
        exact = [filed(f"b{number}", f"Some Red  River here {'and on ' * 9}{number}") for number in range(3)]
        phrase = (fold("red river"),)
        with self.filled(tmp_path, *scattered, *exact) as store, store.read() as snapshot:
            for depth in (1, 2, 3, 4, None):
                found = ids_of(snapshot.keyword_pool(scope(), query("red river", phrases=phrase), depth))
                assert found == ["b0#0", "b1#0", "b2#0"][:depth]
            plain = {hit.chunk_id: hit.score for hit in snapshot.keyword_pool(scope(), query("red river"), None)}
            hits = snapshot.keyword_pool(scope(), query("red river", phrases=phrase), None)
            assert all(hit.score == plain[hit.chunk_id] for hit in hits)
            for held in ("title of b1", "section 0"):
                both = query("red", phrases=(*phrase, held))
                expected = ["b1#0"] if "b1" in held else ["b0#0", "b1#0", "b2#0"]
                assert ids_of(snapshot.keyword_pool(scope(), both, None)) == expected
            assert snapshot.keyword_pool(scope(), query("red", phrases=("river red here",)), None) == []

    def test_excluded_terms_keep_chunks_out_of_the_pool(self, tmp_path: Path) -> None:
        """They decide membership before the cut, and no score."""
        puts = [filed("a", "red lamp"), filed("b", "red stone"), filed("c", "red river\nlamp red"), filed("d", "red")]
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            plain = [
                hit for hit in snapshot.keyword_pool(scope(), query("red"), None) if hit.chunk_id not in ("a#0", "c#1")
            ]
            for depth in (1, 2, 3, None):
                assert snapshot.keyword_pool(scope(), query("red", excluded=("lamp", "absent")), depth) == plain[:depth]
            assert snapshot.keyword_pool(scope(), query("red", excluded=("red",)), None) == []

    def test_no_terms_no_pool(self, tmp_path: Path) -> None:
        """A question without terms finds nothing by keyword, whatever phrases it has."""
        with self.filled(tmp_path, filed("a", "red river")) as store, store.read() as snapshot:
            assert snapshot.keyword_pool(scope(), query(""), 10) == []
            assert snapshot.keyword_pool(scope(), query("", phrases=("red",)), None) == []
            assert snapshot.keyword_pool(scope(), query("absent"), None) == []

    def test_chunks_without_terms_count_but_never_score(self, tmp_path: Path) -> None:
        """They are chunks of the kb (``N`` and the average length know them) with score 0."""
        made, (item,) = filed("a", "red")
        silent = [replace(item, terms=[])]
        puts = [(made, silent), filed("b", "red stone")]
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            assert_close(snapshot.keyword_pool(scope(), query("red"), None), bm25_scores(chunks_in(puts), ["red"]))
            assert snapshot.keyword_scores(scope(), query("red"), [ChunkId("a#0")]) == [0.0]
        with self.filled(tmp_path / "silent", (made, silent)) as store, store.read() as snapshot:
            assert snapshot.keyword_pool(scope(), query("red"), None) == []

    def test_matched_terms_are_those_that_occur(self, tmp_path: Path) -> None:
        """Sorted, each once, empty for a chunk that is not there."""
        with self.filled(tmp_path, filed("a", "red river red\nstone")) as store, store.read() as snapshot:
            ids = [ChunkId("a#1"), ChunkId("absent"), ChunkId("a#0")]
            assert snapshot.matched_terms(scope(), query("river red lamp"), ids) == [(), (), ("red", "river")]

    def test_rule_15_text_is_never_syntax(self, tmp_path: Path) -> None:
        """Ids, terms and text with quotes, wildcards, control characters, any script."""
        odd = [
            "'",
            '"',
            "%",
            "_",
            "a'b\"c",
            "-red",
            "*",
            "\\",
            "\x01\x1f\x7f",
            "line\u2028break",
            "\ufeff",
            "🦊",
            "é",
            "e\u0301",
        ]
        odd += ["NEAR(a b)", "'; DROP TABLE chunks; --", "日本語", "नमस्ते", "\U0010ffff", "ab" * 400]
        puts = []
        for number, word in enumerate(odd):
            made = document(f"{word}/{number}", word, metadata={word: word}, language=None)
            (item,) = indexed(made)
            puts.append((made, [replace(item, terms=[word, "each"])]))
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            for number, (made, (item,)) in enumerate(puts):
                word = odd[number]
                asked = KeywordQuery(terms=(word,))
                assert ids_of(snapshot.keyword_pool(scope(), asked, None)) == [item.chunk.id]
                assert snapshot.matched_terms(scope(), asked, [item.chunk.id]) == [(word,)]
                assert snapshot.document(scope(), made.id) == made
                assert snapshot.chunks_of(scope(documents=[made.id]), made.id) == [item.chunk]
                narrowed = scope(metadata={word: frozenset({word})})
                assert [found.id for found in snapshot.documents(narrowed)] == [made.id]
                assert list(snapshot.known_vectors(scope(), [sha256_text(word)])) == [item.text_sha256]
            assert [item.id for item in snapshot.documents(scope())] == sorted(made.id for made, _ in puts)
            asked = KeywordQuery(terms=("each",), excluded=("%", "'"))
            assert len(snapshot.keyword_pool(scope(), asked, None)) == len(odd) - 2


class PoolRules(StoreCase):
    """What holds for the pools of both legs."""

    def test_ties_are_ordered_by_chunk_id(self, tmp_path: Path) -> None:
        """Also across the cut, whatever the order in which the chunks were put."""
        names = ["m", "z", "a", "Z", "é", "b", "\U0001f98a", "\uffff"]
        puts = []
        for name in names:
            made, (item,) = filed(name, "red")
            puts.append((made, [replace(item, vectors={"child": vector_of("same")})]))
        expected = sorted(f"{name}#0" for name in names)
        with self.filled(tmp_path, *puts) as store:
            put(store, puts[2])
            with store.read() as snapshot:
                for depth in range(1, len(names) + 1):
                    assert ids_of(snapshot.dense_pool(scope(), vector_of("asked"), depth)) == expected[:depth]
                    assert ids_of(snapshot.keyword_pool(scope(), query("red"), depth)) == expected[:depth]

    def test_rule_18_a_pool_is_a_prefix_of_a_deeper_one(self, tmp_path: Path) -> None:
        """The depth cuts; it changes no score and no order."""
        with self.filled(tmp_path, *corpus()) as store, store.read() as snapshot:
            dense = snapshot.dense_pool(scope(), vector_of("asked"), None)
            keyword = snapshot.keyword_pool(scope(), query(ASKED), None)
            for depth in range(1, len(dense) + 2):
                assert snapshot.dense_pool(scope(), vector_of("asked"), depth) == dense[:depth]
                assert snapshot.keyword_pool(scope(), query(ASKED), depth) == keyword[:depth]

    def test_a_depth_below_one_is_refused(self, tmp_path: Path) -> None:
        """``QueryError``, in both legs, in an empty kb as well."""
        with self.filled(tmp_path) as store, store.read() as snapshot:
            for depth in (0, -1):
                with refused(QueryError):
                    snapshot.dense_pool(scope(), vector_of("asked"), depth)
                with refused(QueryError):
                    snapshot.keyword_pool(scope(), query("red"), depth)
                with refused(QueryError):
                    snapshot.keyword_pool(scope(), query(""), depth)

    def test_pools_are_ordered_by_the_scores_that_they_show(self, tmp_path: Path) -> None:
        """Scores are float32 values, and (score descending, chunk id ascending) holds exactly."""
        with self.filled(tmp_path, *corpus(30)) as store, store.read() as snapshot:
            for hits in (
                snapshot.dense_pool(scope(), vector_of("asked"), None),
                snapshot.keyword_pool(scope(), query(ASKED), None),
            ):
                scores = {str(hit.chunk_id): hit.score for hit in hits}
                assert len(scores) == len(hits) > 0
                assert ids_of(hits) == ranked(scores)
                assert all(type(score) is float and float(np.float32(score)) == score for score in scores.values())

    def test_completed_scores_are_those_of_the_pools(self, tmp_path: Path) -> None:
        """To the bit; 0.0 without a term, ``None`` for an unknown id; in the order of the ids asked."""
        asked = vector_of("asked")
        with self.filled(tmp_path, *corpus()) as store, store.read() as snapshot:
            dense = {hit.chunk_id: hit.score for hit in snapshot.dense_pool(scope(), asked, None)}
            keyword = {hit.chunk_id: hit.score for hit in snapshot.keyword_pool(scope(), query(ASKED), None)}
            ids = [*sorted(dense, reverse=True), ChunkId("absent")]
            assert snapshot.cosines(scope(), asked, ids) == [dense.get(key) for key in ids]
            expected = [None if key == "absent" else keyword.get(key, 0.0) for key in ids]
            assert 0.0 in expected
            assert snapshot.keyword_scores(scope(), query(ASKED), ids) == expected
            assert snapshot.cosines(scope(), asked, ids[3:4]) == [dense[ids[3]]]
            narrowed = query(ASKED, phrases=("nowhere",), excluded=("red",))
            assert snapshot.keyword_scores(scope(), narrowed, ids) == expected
            assert snapshot.cosines(scope(), asked, []) == snapshot.keyword_scores(scope(), query(ASKED), []) == []

    def test_both_legs_can_be_read_at_once(self, tmp_path: Path) -> None:
        """Threads share one snapshot, while a writer commits, and get what one thread gets."""
        asked = vector_of("asked")
        with self.filled(tmp_path, *corpus()) as store, store.read() as snapshot, ThreadPoolExecutor(3) as threads:
            dense = [threads.submit(snapshot.dense_pool, scope(), asked, 10) for _ in range(20)]
            keyword = [threads.submit(snapshot.keyword_pool, scope(), query(ASKED), 10) for _ in range(20)]
            fetched = [threads.submit(snapshot.chunks, scope(), [ChunkId("d00#0")]) for _ in range(20)]
            remove(store, "d00", "d05")
            expected = snapshot.dense_pool(scope(), asked, 10), snapshot.keyword_pool(scope(), query(ASKED), 10)
            assert all(future.result() == expected[0] for future in dense)
            assert all(future.result() == expected[1] for future in keyword)
            assert all(len(future.result()) == 1 for future in fetched)
