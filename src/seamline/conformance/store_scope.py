# ruff: noqa: S101 - conformance tests assert
"""The contract of scopes: what a scope does not admit is not there, in any read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.conformance.store_case import (
    OWNER,
    StoreCase,
    document,
    filed,
    ids_of,
    indexed,
    put,
    query,
    reader,
    refused,
    scope,
    seen,
    state,
    vector_of,
)
from seamline.errors import NotFoundError
from seamline.types import ChunkId, DocumentId, Hit, MetadataValue, Scope

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk, Snapshot
    from seamline.types import Document

HIDDEN = "zanzibar canary\nthe secret treaty"
PUBLIC = "open garden\nthe public treaty"
WORDS = ("red", "green", "blue", "stone", "river")
ANA, BOB = reader("ana"), reader("bob", "staff")
VALUES: tuple[MetadataValue, ...] = ("1", 1, 1.0, True, 0, False, "", 2, -0.0, 1.5)


class AccessRules(StoreCase):
    """Other kbs, other workspaces, and documents that the principal may not read."""

    def test_a_scope_of_another_kb_or_workspace_is_not_found(self, tmp_path: Path) -> None:
        """In every read, for the owner of another workspace as well."""
        chunk_id, document_id = ChunkId("secret#0"), DocumentId("secret")
        reads: list[Callable[[Snapshot, Scope], object]] = [
            lambda snapshot, of: snapshot.statistics(of),
            lambda snapshot, of: list(snapshot.documents(of)),
            lambda snapshot, of: snapshot.document(of, document_id),
            lambda snapshot, of: snapshot.chunks(of, [chunk_id]),
            lambda snapshot, of: snapshot.chunks_of(of, document_id),
            lambda snapshot, of: snapshot.dense_pool(of, vector_of("x"), 5),
            lambda snapshot, of: snapshot.keyword_pool(of, query("treaty"), 5),
            lambda snapshot, of: snapshot.cosines(of, vector_of("x"), [chunk_id]),
            lambda snapshot, of: snapshot.keyword_scores(of, query("treaty"), [chunk_id]),
            lambda snapshot, of: snapshot.matched_terms(of, query("treaty"), [chunk_id]),
            lambda snapshot, of: snapshot.binding(of),
            lambda snapshot, of: snapshot.states(of),
            lambda snapshot, of: snapshot.known_vectors(of, []),
            lambda snapshot, of: snapshot.digest(of),
        ]
        others = [scope(kb="other"), scope(replace(OWNER, workspace="other")), scope(reader("ana", workspace="other"))]
        with self.filled(tmp_path, filed("secret", HIDDEN)) as store, store.read() as snapshot:
            for read in reads:
                read(snapshot, scope())
                for other in others:
                    with refused(NotFoundError):
                        read(snapshot, other)

    def test_two_kbs_share_nothing(self, tmp_path: Path) -> None:
        """The same ids in two kbs made in one place are two documents."""
        with (
            self.filled(tmp_path / "a", filed("doc", HIDDEN)) as one,
            self.filled(tmp_path / "b", filed("doc", PUBLIC), kb="k2") as two,
            one.read() as first,
            two.read() as second,
        ):
            assert first.document(scope(), DocumentId("doc")).text == HIDDEN
            assert second.document(scope(kb="k2"), DocumentId("doc")).text == PUBLIC
            assert second.keyword_pool(scope(kb="k2"), query("zanzibar"), None) == []

    def test_an_unreadable_document_is_not_found_in_the_same_words(self, tmp_path: Path) -> None:
        """The error does not tell whether the document exists."""
        hidden = filed("secret", HIDDEN, readable_by=frozenset({"bob"}))
        with self.filled(tmp_path, hidden) as store, store.read() as snapshot:
            for read in (snapshot.document, snapshot.chunks_of):
                messages = set()
                for asked in ("secret", "absent"):
                    try:
                        read(scope(ANA), DocumentId(asked))
                    except NotFoundError as error:
                        messages.add(str(error).replace(asked, "..."))
                assert len(messages) == 1, messages
                assert read(scope(BOB), DocumentId("secret"))

    def test_rule_13_a_canary_of_another_tenant_is_in_no_read(self, tmp_path: Path) -> None:
        """Every read by a principal is what it would be had the unreadable document never been there.

        BM25's statistics are the kb's, so of the keyword leg only the ids are compared.
        """
        public = filed("public", PUBLIC)
        ids = [ChunkId("secret#0"), ChunkId("public#1"), ChunkId("secret#1"), ChunkId("public#0")]
        with (
            self.filled(tmp_path / "a", public, filed("secret", HIDDEN, readable_by=frozenset({"bob"}))) as store,
            self.filled(tmp_path / "b", public) as never,
        ):
            for each, names in ((store, ("public", "secret")), (never, ("public",))):
                with each.write() as writer:
                    writer.record([state(name) for name in names])
                    writer.commit()
            with store.read() as snapshot, never.read() as expected:
                found, wanted = (seen(each, scope(ANA), ids, HIDDEN) for each in (snapshot, expected))
                for results in (found, wanted):
                    results["keyword_pool"] = ids_of(results["keyword_pool"])  # type: ignore[arg-type]
                    results["keyword_scores"] = [score is None for score in results["keyword_scores"]]  # type: ignore[attr-defined]
                    results["statistics"] = replace(results["statistics"], generation=0)  # type: ignore[type-var]
                assert found == wanted
                assert ids_of(snapshot.keyword_pool(scope(BOB), query("zanzibar"), None)) == ["secret#0"]

    def test_access_lists_name_principals_and_groups(self, tmp_path: Path) -> None:
        """``None`` is everyone, an empty list is nobody but the owner; a change counts from its commit on."""
        lists = {"all": None, "none": frozenset[str](), "ana": frozenset({"ana"}), "staff": frozenset({"staff", "x"})}
        puts = [filed(name, PUBLIC, readable_by=readers) for name, readers in lists.items()]
        with self.filled(tmp_path, *puts) as store:
            with store.read() as snapshot:
                assert [item.id for item in snapshot.documents(scope(ANA))] == ["all", "ana"]
                assert [item.id for item in snapshot.documents(scope(BOB))] == ["all", "staff"]
                assert [item.id for item in snapshot.documents(scope())] == sorted(lists)
                assert snapshot.statistics(scope(BOB)).documents == 2
            with store.write() as writer:
                writer.set_access(DocumentId("ana"), frozenset({"bob"}))
                writer.commit()
            with store.read() as snapshot:
                for name, principal in (("all", ANA), ("ana", BOB)):
                    narrowed = scope(principal, documents=[name, "ana"])
                    expected = {f"{name}#0", f"{name}#1"}
                    assert set(ids_of(snapshot.dense_pool(narrowed, vector_of("x"), None))) == expected
                    assert set(ids_of(snapshot.keyword_pool(narrowed, query("treaty garden"), None))) == expected

    def test_scores_do_not_depend_on_who_asks(self, tmp_path: Path) -> None:
        """A chunk has one cosine and one BM25 score, in any scope that admits it."""
        puts = [filed("a", PUBLIC), filed("b", "treaty " * 9, readable_by=frozenset({"bob"})), filed("c", "treaty")]
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            dense = {hit.chunk_id: hit for hit in snapshot.dense_pool(scope(), vector_of("x"), None)}
            keyword = {hit.chunk_id: hit for hit in snapshot.keyword_pool(scope(), query("treaty"), None)}
            for narrow in (scope(ANA), scope(BOB), scope(documents=["c"])):
                for hits, known in (
                    (snapshot.dense_pool(narrow, vector_of("x"), None), dense),
                    (snapshot.keyword_pool(narrow, query("treaty"), None), keyword),
                ):
                    assert hits
                    assert hits == [known[hit.chunk_id] for hit in hits]


class FilterRules(StoreCase):
    """Document and metadata filters."""

    def test_rule_09_filtering_is_ranking_then_dropping(self, tmp_path: Path) -> None:
        """A filtered pool is the unfiltered full ranking without what the scope does not admit, then cut."""
        puts = _varied()
        owners = {item.chunk.id: made for made, chunks in puts for item in chunks}
        scopes = [
            scope(ANA),
            scope(BOB),
            scope(documents=["d01", "d05", "absent"]),
            scope(documents=[]),
            scope(metadata={"year": frozenset({2024, 2026})}),
            scope(ANA, metadata={"year": frozenset({2025}), "team": frozenset({"x", "y"})}),
            scope(BOB, documents=["d02", "d03", "d04", "d07"], metadata={"team": frozenset({"x"})}),
            scope(metadata={"absent": frozenset({"x"})}),
            scope(metadata={"team": frozenset()}),
        ]
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            rankings: tuple[Callable[[Scope, int | None], list[Hit]], ...] = (
                lambda of, depth: snapshot.dense_pool(of, vector_of("asked"), depth),
                lambda of, depth: snapshot.keyword_pool(of, query("red river"), depth),
            )
            for ranking in rankings:
                full = ranking(scope(), None)
                for narrow in scopes:
                    admitted = [hit for hit in full if _admits(narrow, owners[hit.chunk_id])]
                    for depth in (1, 2, 5, 100, None):
                        assert ranking(narrow, depth) == admitted[:depth], (narrow, depth)

    def test_every_read_honours_filters(self, tmp_path: Path) -> None:
        """Reads by id, counts and the digest see the same documents as the legs."""
        puts = _varied()
        narrow = scope(ANA, metadata={"year": frozenset({2025, 2026})})
        kept = [(made, chunks) for made, chunks in puts if _admits(narrow, made)]
        every = [item.chunk.id for _, chunks in puts for item in chunks]
        admitted = [item for _, chunks in kept for item in chunks]
        ids = {item.chunk.id for item in admitted}
        assert 0 < len(kept) < len(puts)
        with (
            self.filled(tmp_path / "a", *puts) as store,
            self.filled(tmp_path / "b", *kept) as only,
            store.read() as snapshot,
            only.read() as expected,
        ):
            assert list(snapshot.documents(narrow)) == [made for made, _ in kept]
            assert [chunk.id for chunk in snapshot.chunks(narrow, every)] == [key for key in every if key in ids]
            assert snapshot.digest(narrow) == expected.digest(narrow)
            found = snapshot.statistics(narrow)
            assert replace(found, generation=0) == replace(expected.statistics(narrow), generation=0)
            assert (found.documents, found.chunks, found.vectors) == (len(kept), len(admitted), len(admitted))
            assert abs(found.average_length - np.mean([len(item.terms) for item in admitted])) < 1e-9
            cosines = snapshot.cosines(narrow, vector_of("x"), every)
            scores = snapshot.keyword_scores(narrow, query("red"), every)
            for key, cosine, score in zip(every, cosines, scores, strict=True):
                assert (cosine is not None) == (score is not None) == (key in ids)
            with refused(NotFoundError):
                snapshot.document(narrow, next(made.id for made, _ in puts if not _admits(narrow, made)))

    def test_statistics_count_languages(self, tmp_path: Path) -> None:
        """By chunk, ``und`` where the language is not known."""
        puts = [filed("a", PUBLIC), filed("b", "x", language="fr"), filed("c", "x\ny\nz", language=None)]
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            assert snapshot.statistics(scope()).languages == {"en": 2, "fr": 1, "und": 3}
            assert snapshot.statistics(scope(documents=["b"])).languages == {"fr": 1}

    def test_metadata_values_match_as_the_scope_says(self, tmp_path: Path) -> None:
        """For every pair of values of every kind: ``Scope.admits`` is the reference."""
        puts = [filed(f"d{number}", "red", metadata={"v": value}) for number, value in enumerate(VALUES)]
        puts.append(filed("without", "red"))
        with self.filled(tmp_path, *puts) as store, store.read() as snapshot:
            for wanted in [frozenset({value}) for value in VALUES] + [frozenset({"1", 2})]:
                narrow = scope(metadata={"v": wanted})
                expected = [made.id for made, _ in puts if _admits(narrow, made)]
                assert expected, wanted
                assert [item.id for item in snapshot.documents(narrow)] == expected, wanted
                pool = ids_of(snapshot.keyword_pool(narrow, query("red"), None))
                assert pool == [f"{key}#0" for key in expected], wanted

    def test_filters_see_the_last_put(self, tmp_path: Path) -> None:
        """A document put anew with other metadata is found by these alone."""
        with self.filled(tmp_path, filed("a", "red", metadata={"v": 1})) as store:
            put(store, filed("a", "red", metadata={"w": 1}))
            with store.read() as snapshot:
                for key, count in (("v", 0), ("w", 1)):
                    narrow = scope(metadata={key: frozenset({1})})
                    assert len(snapshot.keyword_pool(narrow, query("red"), None)) == count
                    assert len(snapshot.dense_pool(narrow, vector_of("x"), None)) == count


def _varied() -> list[tuple[Document, list[IndexedChunk]]]:
    """Documents of several access lists, years and teams."""
    random = np.random.default_rng(9)
    puts = []
    for number in range(16):
        lines = [" ".join(random.choice(WORDS, size=random.integers(1, 7))) for _ in range(3)]
        made = document(
            f"d{number:02}",
            "\n".join(lines),
            readable_by=(None, frozenset({"ana"}), frozenset({"staff"}))[number % 3],
            metadata={"year": 2024 + number % 4, "team": "xyz"[number % 2]},
        )
        puts.append((made, indexed(made)))
    return puts


def _admits(of: Scope, made: Document) -> bool:
    return of.admits(made.id, made.readable_by, made.metadata)
