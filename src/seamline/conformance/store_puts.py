# ruff: noqa: S101 - conformance tests assert
"""The contract of a store's writer: what put, remove and set_access do to what is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seamline.conformance.store_case import (
    CAT,
    DIMENSION,
    FOX,
    FOX_IDS,
    StoreCase,
    document,
    filed,
    ids_of,
    indexed,
    put,
    query,
    refused,
    remove,
    scope,
    seen,
    vector_of,
)
from seamline.errors import (
    EmbeddingError,
    IntegrityError,
    NotFoundError,
)
from seamline.fingerprint import sha256_text
from seamline.types import Block, ChunkId, DocumentId, ParseStatus

if TYPE_CHECKING:
    from seamline.ports import IndexedChunk, Store, Vector


class PutRules(StoreCase):
    """What ``put``, ``remove`` and ``set_access`` do to what is stored."""

    def test_documents_and_chunks_come_back_unchanged(self, tmp_path: Path) -> None:
        """Every field survives, the kinds of metadata values included."""
        plain = document("fox", FOX, readable_by=frozenset({"b", "a"}), language=None)
        rich = replace(
            plain,
            metadata={"year": 2026, "draft": True, "share": 1.0, "tag": "x"},
            blocks=(Block(kind="heading", char_start=0, char_end=3, level=1, title="t"),),
            language_confidence=0.1 + 0.2,
            status=ParseStatus.TRUNCATED,
            status_reason="cut",
            version="v1",
        )
        chunks = [replace(item, chunk=replace(item.chunk, context="c", parent_id=FOX_IDS[0])) for item in indexed(rich)]
        with self.filled(tmp_path, (rich, chunks)) as store, store.read() as snapshot:
            stored = snapshot.document(scope(), rich.id)
            assert stored == rich
            assert {key: type(value) for key, value in stored.metadata.items()} == {
                "year": int,
                "draft": bool,
                "share": float,
                "tag": str,
            }
            assert snapshot.chunks_of(scope(), rich.id) == [item.chunk for item in chunks]

    def test_put_does_not_keep_the_callers_objects(self, tmp_path: Path) -> None:
        """Changing a vector, a list of terms or a mapping after ``put`` changes nothing in the store."""
        metadata = {"tag": "x"}
        made = document("fox", FOX, metadata=metadata)
        vector, terms = vector_of("child:mine").copy(), ["mine"]
        item = replace(indexed(made)[0], vectors={"child": vector}, terms=terms)
        with self.filled(tmp_path, (made, [item])) as store:
            vector[:], metadata["tag"] = 0.0, "y"
            terms.append("yours")
            with store.read() as snapshot:
                assert snapshot.document(scope(), made.id).metadata == {"tag": "x"}
                assert snapshot.keyword_pool(scope(), query("yours"), None) == []
                (nearest,) = snapshot.dense_pool(scope(), vector_of("child:mine"), None)
                assert abs(nearest.score - 1.0) < 1e-6

    def test_put_replaces_all_chunks_of_a_document(self, tmp_path: Path) -> None:
        """Chunks that the new form does not have are gone from both legs and from the reads by id."""
        shorter = filed("fox", "nothing else")
        with self.filled(tmp_path, filed("cat", CAT), filed("fox", FOX), shorter) as store, store.read() as snapshot:
            assert [chunk.id for chunk in snapshot.chunks_of(scope(), DocumentId("fox"))] == ["fox#0"]
            assert snapshot.chunks(scope(), [ChunkId("fox#1")]) == []
            assert "fox#1" not in ids_of(snapshot.dense_pool(scope(), vector_of("x"), None))
            assert ids_of(snapshot.keyword_pool(scope(), query("quick lazy nothing"), None)) == ["fox#0"]
            assert snapshot.statistics(scope()).chunks == 3

    def test_rule_07_ingesting_twice_gives_the_same_digest(self, tmp_path: Path) -> None:
        """The digest depends on what is stored, not on how often or in which order it was put."""
        fox, cat = filed("fox", FOX), filed("cat", CAT)
        with self.filled(tmp_path, fox, cat) as store:
            with store.read() as snapshot:
                once = snapshot.digest(scope())
            put(store, cat, fox)
            with store.read() as snapshot:
                assert snapshot.digest(scope()) == once
                assert snapshot.statistics(scope()).chunks == 4
        with self.filled(tmp_path / "other", cat, fox) as store, store.read() as snapshot:
            assert snapshot.digest(scope()) == once

    def test_digest_tells_indexes_apart(self, tmp_path: Path) -> None:
        """A change of text, terms, vectors, access list or metadata changes the digest."""
        made, chunks = filed("fox", FOX)
        variants: list[tuple[object, list[IndexedChunk]]] = [
            (made, chunks),
            (replace(made, readable_by=frozenset({"a"})), chunks),
            (replace(made, metadata={"a": 1}), chunks),
            (replace(made, metadata={"a": True}), chunks),
            (made, chunks[:1]),
            (made, [replace(chunks[0], terms=["the"]), chunks[1]]),
            (made, [replace(chunks[0], terms=["the", "the"]), chunks[1]]),
            (made, [replace(chunks[0], vectors={"child": vector_of("other")}), chunks[1]]),
            (made, [replace(chunks[0], vectors={"parent": vector_of("other")}), chunks[1]]),
            (made, [replace(chunks[0], chunk=replace(chunks[0].chunk, language="fr")), chunks[1]]),
        ]
        digests = set()
        with self.filled(tmp_path) as store:
            for variant in variants:
                put(store, variant)  # type: ignore[arg-type]
                with store.read() as snapshot:
                    digests.add(snapshot.digest(scope()))
        assert len(digests) == len(variants)

    def test_rule_05_a_removed_document_is_nowhere(self, tmp_path: Path) -> None:
        """After ``remove`` every read is what it would be had the document never been there."""
        cat = filed("cat", CAT)
        with (
            self.filled(tmp_path / "a", filed("fox", FOX), cat) as store,
            self.filled(tmp_path / "b", cat) as never,
        ):
            assert remove(store, "fox", "absent") == 1
            with store.read() as snapshot, never.read() as expected:
                found, wanted = (
                    seen(each, scope(), [*FOX_IDS, ChunkId("cat#0")], FOX) for each in (snapshot, expected)
                )
                generation = snapshot.statistics(scope()).generation
                wanted["statistics"] = replace(expected.statistics(scope()), generation=generation)
                assert found == wanted
                with refused(NotFoundError):
                    snapshot.document(scope(), DocumentId("fox"))
            assert remove(store, "fox") == 0

    def test_duplicate_chunk_ids_are_refused(self, tmp_path: Path) -> None:
        """Within one put, or owned by another document: ``IntegrityError``, and nothing changes."""
        fox, cat = filed("fox", FOX), filed("cat", CAT)
        thief = document("thief", "the quick brown fox")
        stolen = [replace(item, chunk=replace(item.chunk, id=FOX_IDS[0])) for item in indexed(thief)]
        with self.filled(tmp_path, fox) as store:
            self._refused_put(store, (thief, stolen), IntegrityError, "fox#0")
            self._refused_put(store, (cat[0], [cat[1][0], cat[1][0]]), IntegrityError, "cat#0")
            self._refused_put(store, (fox[0], [fox[1][0], fox[1][0]]), IntegrityError, "fox#0")

    def test_a_chunk_of_another_document_is_refused(self, tmp_path: Path) -> None:
        """``chunk.document_id`` must be the document that is put."""
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            self._refused_put(store, (document("cat", FOX), filed("dog", FOX)[1]), IntegrityError)

    def test_bad_vectors_are_refused(self, tmp_path: Path) -> None:
        """A wrong dimension, or a value that is not finite: ``EmbeddingError``, and nothing changes."""
        made, chunks = filed("fox", "replaced")
        bad: list[Vector] = [
            np.ones(DIMENSION + 1, dtype=np.float32),
            np.ones((1, DIMENSION), dtype=np.float32),
            np.array([np.nan] + [0.0] * (DIMENSION - 1), dtype=np.float32),
            np.array([-np.inf] + [0.0] * (DIMENSION - 1), dtype=np.float32),
        ]
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            for vector in bad:
                self._refused_put(store, (made, [replace(chunks[0], vectors={"child": vector})]), EmbeddingError)

    def test_what_cannot_be_stored_exactly_is_refused(self, tmp_path: Path) -> None:
        """Metadata that is not finite: ``IntegrityError``, not a value that changed on the way."""
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            self._refused_put(store, filed("fox", "replaced", metadata={"a": float("nan")}), IntegrityError)

    def test_put_before_bind_is_refused(self, tmp_path: Path) -> None:
        """Vectors of no known space are not stored."""
        store = self.make_store(tmp_path)
        with store.write() as writer, refused(IntegrityError):
            writer.put(*filed("fox", FOX))
        store.close()

    def test_a_wrong_span_does_not_pass_unnoticed(self, tmp_path: Path) -> None:
        """A chunk that is not its span of the text is refused at put, or an error of ``check``."""
        made, chunks = filed("fox", FOX)
        wrong = [
            replace(chunks[0], chunk=replace(chunks[0].chunk, char_start=1, char_end=1 + len(chunks[0].chunk.text)))
        ]
        with self.filled(tmp_path, filed("cat", CAT)) as store:
            assert [finding for finding in store.check() if finding.severity == "error"] == []
            try:
                put(store, (made, wrong))
            except IntegrityError:
                return
            assert "error" in {finding.severity for finding in store.check()}

    def test_access_changes_without_a_new_put(self, tmp_path: Path) -> None:
        """``set_access`` changes the access list and nothing else; it works on a document just put."""
        readers = frozenset({"ana"})
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            with store.write() as writer:
                writer.put(*filed("cat", CAT))
                writer.set_access(DocumentId("cat"), readers)
                writer.set_access(DocumentId("fox"), readers)
                with refused(NotFoundError):
                    writer.set_access(DocumentId("absent"), readers)
                writer.commit()
            with store.read() as snapshot:
                changed = snapshot.digest(scope())
                assert all(item.readable_by == readers for item in snapshot.documents(scope()))
        with (
            self.filled(
                tmp_path / "other", filed("fox", FOX, readable_by=readers), filed("cat", CAT, readable_by=readers)
            ) as other,
            other.read() as snapshot,
        ):
            assert snapshot.digest(scope()) == changed

    def test_vectors_are_found_by_the_hash_of_their_text(self, tmp_path: Path) -> None:
        """``known_vectors`` returns the stored ``child`` vectors, of the hashes that exist."""
        made = document("fox", FOX)
        wanted = [sha256_text("the quick brown fox"), sha256_text("never stored")]
        with self.filled(tmp_path, (made, indexed(made, names=("child", "parent")))) as store:
            with store.read() as snapshot:
                found = snapshot.known_vectors(scope(), wanted)
                assert list(found) == wanted[:1]
                assert found[wanted[0]].dtype == np.float32
                assert found[wanted[0]].tolist() == vector_of("child:the quick brown fox").tolist()
            remove(store, "fox")
            with store.read() as snapshot:
                assert snapshot.known_vectors(scope(), wanted) == {}

    @staticmethod
    def _refused_put(
        store: Store,
        given: tuple[object, list[IndexedChunk]],
        kind: type[IntegrityError | EmbeddingError],
        *mentions: str,
    ) -> None:
        """The put is refused, and a commit after it commits nothing of it."""
        with store.read() as snapshot:
            before = snapshot.digest(scope())
        with store.write() as writer:
            with refused(kind, *mentions):
                writer.put(*given)  # type: ignore[arg-type]
            writer.commit()
        with store.read() as snapshot:
            assert snapshot.digest(scope()) == before
