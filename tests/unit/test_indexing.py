"""The offline root over the reference store: what a sync does, and what it must never do."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager

import pytest

from seamline.analyze.text import create as create_analyzer
from seamline.chunk.structural import create as create_chunker
from seamline.embed import canary
from seamline.errors import IdCollisionError, IngestError, ListingError, MassDeletionError, SpaceMismatchError
from seamline.indexing import Indexer
from seamline.ports import Store, Writer
from seamline.settings import Settings
from seamline.store.memory import create as create_store
from seamline.types import DocumentId, IngestStatus, Principal, Scope, SyncReport
from support.sync import OPTIONS, CountingEmbedder, DictSource, PlainReader

SCOPE = Scope(principal=Principal(id="owner", owner=True, workspace="w"), kb="k")
SETTINGS = Settings().mapping()
FILES = {"a.txt": "alpha " * 20, "b.txt": "beta " * 20, "c.txt": "gamma " * 20}


@pytest.fixture
def store() -> Store:
    made: Store = create_store(SETTINGS, folder=None, workspace="w", kb="k")
    return made


def indexer(store: Store, embedder: CountingEmbedder | None = None, reader: PlainReader | None = None) -> Indexer:
    return Indexer(
        store,
        SCOPE,
        embedder=embedder or CountingEmbedder(),
        analyzer=create_analyzer(SETTINGS),
        chunker=create_chunker(SETTINGS),
        reader=reader or PlainReader(),
    )


def sync(store: Store, source: DictSource, embedder: CountingEmbedder | None = None, **options: object) -> SyncReport:
    return indexer(store, embedder).sync(source, dataclasses.replace(OPTIONS, **options))  # type: ignore[arg-type]


def ids(store: Store) -> list[str]:
    with store.read() as snapshot:
        return [str(document.id) for document in snapshot.documents(SCOPE)]


def digest(store: Store) -> str:
    with store.read() as snapshot:
        return snapshot.digest(SCOPE)


def test_added_skipped_replaced_removed(store: Store) -> None:
    source = DictSource(dict(FILES))
    assert sync(store, source).added == ["a.txt", "b.txt", "c.txt"]
    assert sync(store, source).skipped == ["a.txt", "b.txt", "c.txt"]
    source.files["a.txt"] = "alpha changed " * 20
    del source.files["b.txt"]
    report = sync(store, source)
    assert (report.replaced, report.skipped, report.removed) == (["a.txt"], ["c.txt"], ["b.txt"])
    assert ids(store) == ["a.txt", "c.txt"]


def test_rule_07_a_second_sync_reads_and_embeds_nothing_and_stores_the_same(store: Store) -> None:
    source, embedder = DictSource(dict(FILES)), CountingEmbedder()
    sync(store, source, embedder)
    before = digest(store)
    embedder.texts.clear()
    source.reads.clear()
    sync(store, source, embedder)
    assert (embedder.texts, source.reads, digest(store)) == ([], [], before)


def test_a_touched_file_with_the_same_bytes_is_skipped(store: Store) -> None:
    source, embedder = DictSource(dict(FILES)), CountingEmbedder()
    sync(store, source, embedder)
    embedder.texts.clear()
    source.touched = 1
    assert sync(store, source, embedder).skipped == sorted(FILES)
    assert embedder.texts == []
    source.reads.clear()
    sync(store, source, embedder)
    assert source.reads == []


def test_the_same_text_is_embedded_once_also_across_batches(store: Store) -> None:
    embedder = CountingEmbedder()
    report = sync(store, DictSource({f"{i}.txt": "the same words in every file " * 5 for i in range(6)}), embedder)
    assert len([text for text in embedder.texts if text not in canary.TEXTS]) == 1
    assert (report.embedded, report.reused) == (1, 2)


def test_editing_one_section_embeds_only_what_changed(store: Store) -> None:
    paragraphs = [f"Section number {i} says {'word ' * 150}{i}." for i in range(20)]
    source, embedder = DictSource({"long.txt": "\n\n".join(paragraphs)}), CountingEmbedder()
    chunks = sync(store, source, embedder).chunks
    assert chunks >= 10
    embedder.texts.clear()
    paragraphs[7] = f"Section number 7 was edited {'word ' * 150}7."
    source.files["long.txt"] = "\n\n".join(paragraphs)
    report = sync(store, source, embedder)
    assert report.replaced == ["long.txt"]
    assert 1 <= len(embedder.texts) <= 2


def test_rule_24_failures_have_a_reason_and_stop_nothing(store: Store) -> None:
    source = DictSource({**FILES, "d.txt": "status:needs_ocr scan", "e.txt": "x"}, unreadable={"e.txt"})
    report = sync(store, source)
    assert [(f.document_id, f.reason) for f in report.failed] == [
        ("d.txt", "needs_ocr: as the test asked"),
        ("e.txt", "e.txt: no permission"),
    ]
    assert ids(store) == sorted(FILES)
    with store.read() as snapshot:
        states = snapshot.states(SCOPE)
    assert states[DocumentId("d.txt")].status is IngestStatus.FAILED
    source.reads.clear()
    assert len(sync(store, source).failed) == 2, "a known failure is told again, not hidden"
    assert "d.txt" not in source.reads


def test_a_document_that_can_no_longer_be_read_stops_answering(store: Store) -> None:
    source = DictSource(dict(FILES))
    sync(store, source)
    source.files["a.txt"] = "status:corrupt now"
    assert [f.document_id for f in sync(store, source).failed] == ["a.txt"]
    assert ids(store) == ["b.txt", "c.txt"]
    source.files["a.txt"] = "alpha again " * 10
    assert sync(store, source).added == ["a.txt"]


def test_strict_stops_at_the_first_failure(store: Store) -> None:
    with pytest.raises(IngestError, match="no permission"):
        sync(store, DictSource(dict(FILES), unreadable={"c.txt"}), strict=True)
    assert ids(store) == ["a.txt", "b.txt"], "the full batch before it is kept"


def test_rule_06_a_broken_listing_deletes_nothing(store: Store) -> None:
    source = DictSource(dict(FILES))
    sync(store, source)
    source.listing_stops_at = 1
    with pytest.raises(ListingError):
        sync(store, source)
    assert ids(store) == sorted(FILES)


def test_rule_06_mass_deletion_asks(store: Store) -> None:
    source = DictSource({f"{i:02}.txt": f"document {i} " * 10 for i in range(20)})
    sync(store, source)
    source.files = dict(list(source.files.items())[:5])
    with pytest.raises(MassDeletionError, match="15 of 20"):
        sync(store, source)
    assert len(ids(store)) == 20
    assert len(sync(store, source, allow_mass_delete=True).removed) == 15
    assert len(ids(store)) == 5


def test_rule_05_after_removal_scores_equal_a_kb_that_never_had_it(store: Store) -> None:
    source = DictSource({**FILES, "secret.txt": "alpha beta secret " * 30})
    sync(store, source)
    del source.files["secret.txt"]
    sync(store, source)
    other: Store = create_store(SETTINGS, folder=None, workspace="w", kb="k")
    sync(other, DictSource(dict(FILES)))
    assert digest(store) == digest(other)
    query = create_analyzer(SETTINGS).query("alpha secret", ["en"])
    with store.read() as one, other.read() as two:
        assert one.keyword_pool(SCOPE, query, None) == two.keyword_pool(SCOPE, query, None)


def test_rule_04_an_interrupted_sync_keeps_full_batches_and_goes_on(store: Store) -> None:
    source = DictSource({f"{i}.txt": f"document number {i} " * 10 for i in range(7)})
    broken = CountingEmbedder(fails_at=3)  # the canaries, the first batch, then the second
    with pytest.raises(KeyboardInterrupt):
        sync(store, source, broken)
    assert ids(store) == ["0.txt", "1.txt"]
    report = sync(store, source)
    assert (len(report.skipped), len(report.added)) == (2, 5)
    other: Store = create_store(SETTINGS, folder=None, workspace="w", kb="k")
    sync(other, source)
    assert digest(store) == digest(other)


def test_two_sources_may_not_claim_one_id(store: Store) -> None:
    sync(store, DictSource(dict(FILES), name="first"))
    with pytest.raises(IdCollisionError, match=r"a\.txt.*second.*first"):
        sync(store, DictSource({"a.txt": "other text " * 10}, name="second"))
    assert ids(store) == sorted(FILES)


def test_another_source_is_left_alone(store: Store) -> None:
    sync(store, DictSource(dict(FILES), name="first"))
    report = sync(store, DictSource({"z.txt": "zeta " * 20}, name="second"))
    assert (report.added, report.removed) == (["z.txt"], [])
    assert ids(store) == [*sorted(FILES), "z.txt"]


def test_a_version_that_comes_with_other_bytes_is_refused(store: Store) -> None:
    source = DictSource({"a.txt": "one " * 20}, versions={"a.txt": "1"})
    sync(store, source)
    source.files["a.txt"] = "two " * 20
    report = sync(store, source)
    assert "version '1' came with other bytes" in report.failed[0].reason


def test_a_new_version_of_the_same_bytes_embeds_nothing_and_the_same_version_is_skipped(store: Store) -> None:
    source, embedder = DictSource({"a.txt": "one " * 20}, versions={"a.txt": "1"}), CountingEmbedder()
    sync(store, source, embedder)
    embedder.texts.clear()
    source.touched = 1
    assert sync(store, source, embedder).skipped == ["a.txt"]
    source.versions["a.txt"] = "2"
    report = sync(store, source, embedder)
    assert (report.replaced, embedder.texts, report.embedded) == (["a.txt"], [], 0)
    with store.read() as snapshot:
        assert snapshot.states(SCOPE)[DocumentId("a.txt")].version == "2"


def test_access_lists_survive_replacement_and_change_without_parsing(store: Store) -> None:
    source, embedder = DictSource(dict(FILES)), CountingEmbedder()
    sync(store, source, embedder, readable_by=frozenset({"staff"}))
    source.files["a.txt"] = "alpha changed " * 20
    sync(store, source, embedder)
    with store.read() as snapshot:
        assert {d.readable_by for d in snapshot.documents(SCOPE)} == {frozenset({"staff"})}
    embedder.texts.clear()
    source.reads.clear()
    report = sync(store, source, embedder, readable_by=frozenset({"board"}))
    assert (report.access_changed, embedder.texts, source.reads) == (3, [], [])
    with store.read() as snapshot:
        assert {d.readable_by for d in snapshot.documents(SCOPE)} == {frozenset({"board"})}


def test_a_dry_run_changes_nothing(store: Store) -> None:
    source = DictSource(dict(FILES))
    sync(store, source)
    before = digest(store)
    source.files |= {"a.txt": "changed " * 10, "d.txt": "delta " * 10}
    del source.files["b.txt"]
    report = sync(store, source, dry_run=True)
    assert (report.added, report.replaced, report.skipped, report.removed) == (
        ["d.txt"], ["a.txt"], ["c.txt"], ["b.txt"],
    )  # fmt: skip
    assert digest(store) == before


def test_rule_26_another_parser_version_parses_again_but_embeds_nothing_new(store: Store) -> None:
    source, embedder = DictSource(dict(FILES)), CountingEmbedder()
    sync(store, source, embedder)
    embedder.texts.clear()
    report = indexer(store, embedder, PlainReader("2")).sync(source, OPTIONS)
    assert (report.replaced, embedder.texts) == (sorted(FILES), [])
    with store.read() as snapshot:
        assert {d.provenance.parser_version for d in snapshot.documents(SCOPE)} == {"2"}


def test_rule_01_another_space_is_refused(store: Store) -> None:
    source = DictSource(dict(FILES))
    sync(store, source)
    before = digest(store)
    with pytest.raises(SpaceMismatchError):
        sync(store, source, CountingEmbedder("another"))
    assert digest(store) == before


def test_rule_13_an_access_list_survives_a_failure_between(store: Store) -> None:
    source = DictSource(dict(FILES))
    sync(store, source, readable_by=frozenset({"alice"}))
    source.files["a.txt"] = "status:corrupt now"
    sync(store, source)
    source.files["a.txt"] = "status:corrupt still"
    sync(store, source)
    source.files["a.txt"] = "alpha repaired " * 10
    assert sync(store, source).added == ["a.txt"]
    with store.read() as snapshot:
        assert snapshot.document(SCOPE, DocumentId("a.txt")).readable_by == frozenset({"alice"})


def test_rule_13_a_second_sync_acts_on_what_the_first_one_left(store: Store) -> None:
    """What is known is read under the lock: a sync that had to wait must not re-store what is there by then."""
    source, other = DictSource(dict(FILES)), DictSource(dict(FILES))
    late = indexer(store)
    waiting = store.write

    def first_the_other_one(*, timeout: float = 10.0) -> AbstractContextManager[Writer]:
        store.write = waiting  # type: ignore[method-assign]
        sync(store, other, readable_by=frozenset({"alice"}))
        return waiting(timeout=timeout)

    store.write = first_the_other_one  # type: ignore[method-assign]
    report = late.sync(source, OPTIONS)
    assert (report.added, report.skipped) == ([], sorted(FILES))
    with store.read() as snapshot:
        assert {d.readable_by for d in snapshot.documents(SCOPE)} == {frozenset({"alice"})}


def test_a_sync_that_changes_nothing_commits_nothing(store: Store) -> None:
    source = DictSource(dict(FILES))
    first = sync(store, source).generation
    assert sync(store, source).generation == first
    source.files["a.txt"] = "alpha changed " * 20
    assert sync(store, source).generation != first


def test_a_dry_run_tells_known_failures(store: Store) -> None:
    source = DictSource({**FILES, "d.txt": "status:corrupt x"})
    sync(store, source)
    report = sync(store, source, dry_run=True)
    assert (report.skipped, [f.document_id for f in report.failed]) == (sorted(FILES), ["d.txt"])
