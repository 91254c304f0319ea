# ruff: noqa: S101 - conformance tests assert
"""The contract of commits: all or nothing, one writer, readers that never wait and never see a change."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from seamline.conformance.store_case import (
    CAT,
    FOX,
    FOX_IDS,
    StoreCase,
    binding,
    filed,
    put,
    refused,
    remove,
    scope,
    seen,
    state,
)
from seamline.errors import (
    SpaceMismatchError,
    StoreBusyError,
    StoreError,
)
from seamline.fingerprint import fingerprint
from seamline.types import DocumentId, IngestStatus

if TYPE_CHECKING:
    pass


class CommitRules(StoreCase):
    """Commits, rollbacks, snapshots, the write lock, and what is remembered beside documents."""

    def test_nothing_is_visible_before_commit(self, tmp_path: Path) -> None:
        """Readers see the last commit; leaving the context without another one rolls back."""
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            with store.read() as snapshot:
                before = seen(snapshot, scope(), FOX_IDS, FOX)
            with store.write() as writer:
                writer.remove([DocumentId("fox")])
                writer.put(*filed("cat", CAT))
                writer.record([state("cat")])
                writer.bind(replace(binding(), canaries=()))
                with store.read() as snapshot:
                    assert seen(snapshot, scope(), FOX_IDS, FOX) == before
            with store.read() as snapshot:
                assert seen(snapshot, scope(), FOX_IDS, FOX) == before
                assert snapshot.binding(scope()) == binding()
            put(store, filed("dog", "d"))
            with store.read() as snapshot:
                assert [item.id for item in snapshot.documents(scope())] == ["dog", "fox"]

    def test_an_error_inside_write_rolls_back(self, tmp_path: Path) -> None:
        """What was committed before stays, what came after is gone, and the lock is free."""
        with self.filled(tmp_path) as store:
            try:
                with store.write() as writer:
                    writer.put(*filed("fox", FOX))
                    writer.commit()
                    writer.put(*filed("cat", CAT))
                    raise ZeroDivisionError
            except ZeroDivisionError:
                pass
            with store.read() as snapshot:
                assert [item.id for item in snapshot.documents(scope())] == ["fox"]
            put(store, filed("cat", CAT))

    def test_several_commits_in_one_write(self, tmp_path: Path) -> None:
        """Each is visible at once, with a higher generation number than the last."""
        with self.filled(tmp_path) as store, store.write() as writer:
            numbers = []
            for name in ("a", "b", "c"):
                writer.put(*filed(name, FOX))
                numbers.append(writer.commit())
                with store.read() as snapshot:
                    statistics = snapshot.statistics(scope())
                    assert (statistics.generation, statistics.documents) == (numbers[-1], len(numbers))
            assert numbers == sorted(set(numbers))

    def test_a_snapshot_never_changes(self, tmp_path: Path) -> None:
        """Neither in what was read before a later commit, nor in what is read first after it."""
        with self.filled(tmp_path, filed("fox", FOX), filed("old", "jumps")) as store:
            with store.read() as fresh:
                expected = seen(fresh, scope(), FOX_IDS, FOX)
            with store.read() as touched, store.read() as untouched:
                assert seen(touched, scope(), FOX_IDS, FOX) == expected
                put(store, filed("cat", CAT), filed("fox", "the quick brown ox"))
                remove(store, "old")
                assert seen(touched, scope(), FOX_IDS, FOX) == expected
                assert seen(untouched, scope(), FOX_IDS, FOX) == expected
            with store.read() as later:
                assert [item.id for item in later.documents(scope())] == ["cat", "fox"]

    def test_rule_32_a_second_writer_waits_then_is_told_who_writes(self, tmp_path: Path) -> None:
        """``StoreBusyError`` with the holder's process id; readers are not held up."""
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            with store.write():
                with refused(StoreBusyError, str(os.getpid())), store.write(timeout=0.05):
                    raise AssertionError("two writers at once")
                with store.read() as snapshot:
                    assert snapshot.statistics(scope()).documents == 1
            with store.write(timeout=0.05) as writer:
                assert writer.remove([DocumentId("fox")]) == 1

    def test_a_writer_ends_with_its_context(self, tmp_path: Path) -> None:
        """Using it later is ``StoreError``: it does not hold the lock any more."""
        with self.filled(tmp_path) as store:
            with store.write() as writer:
                pass
            with refused(StoreError):
                writer.put(*filed("fox", FOX))
            with refused(StoreError):
                writer.commit()

    def test_what_was_committed_survives_reopening(self, tmp_path: Path) -> None:
        """Everything that can be read is the same, generation number included."""
        with self.filled(tmp_path, filed("fox", FOX), filed("cat", CAT)) as store:
            with store.write() as writer:
                writer.remove([DocumentId("cat")])
                writer.record([state("fox")])
                writer.commit()
            with store.read() as snapshot:
                before = seen(snapshot, scope(), FOX_IDS, FOX)
            again = self.reopen(store, tmp_path)
            with again.read() as snapshot:
                assert seen(snapshot, scope(), FOX_IDS, FOX) == before
                assert snapshot.binding(scope()) == binding()
            put(again, filed("cat", CAT))
            again.close()

    def test_a_new_store_is_empty_not_broken(self, tmp_path: Path) -> None:
        """Every read of a kb that was never written works."""
        store = self.make_store(tmp_path)
        assert store.kb == "k"
        with store.read() as snapshot:
            assert snapshot.binding(scope()) is None
            assert snapshot.statistics(scope()).average_length == 0.0
            found = seen(snapshot, scope(), FOX_IDS, FOX)
            del found["statistics"], found["digest"]
            assert found.pop("matched_terms") == [(), ()]
            assert found.pop("cosines") == found.pop("keyword_scores") == [None, None]
            assert not any(found.values())
        assert [finding for finding in store.check() if finding.severity == "error"] == []
        store.close()

    def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        """``close`` may be called twice; afterwards reading and writing are ``StoreError``."""
        store = self.make_store(tmp_path)
        put(store, filed("fox", FOX))
        store.close()
        store.close()
        with refused(StoreError), store.read():
            raise AssertionError("a closed store was read")
        with refused(StoreError), store.write():
            raise AssertionError("a closed store was written")

    def test_a_kb_is_bound_to_one_space(self, tmp_path: Path) -> None:
        """Another space is refused while there are chunks; the rest of the binding may change."""
        with self.filled(tmp_path, filed("fox", FOX)) as store:
            derived_anew = replace(binding(), chunker_fingerprint=fingerprint("recipe", "other"))
            with store.write() as writer:
                with refused(SpaceMismatchError):
                    writer.bind(binding("another"))
                writer.bind(derived_anew)
                writer.commit()
            with store.read() as snapshot:
                assert snapshot.binding(scope()) == derived_anew
            with store.write() as writer:
                writer.remove([DocumentId("fox")])
                writer.bind(binding("another"))
                writer.commit()
            with store.read() as snapshot:
                assert snapshot.binding(scope()) == binding("another")

    def test_ingest_states_are_remembered_by_source(self, tmp_path: Path) -> None:
        """The last one counts, sources do not overwrite each other, and ``REMOVED`` forgets."""
        failed = replace(state("b"), status=IngestStatus.FAILED, reason="no text", retryable=True)
        with self.filled(tmp_path) as store:
            with store.write() as writer:
                writer.record([state("a"), state("b"), replace(state("a"), source="s2", revision="9")])
                writer.record([failed])
                writer.commit()
            with store.read() as snapshot:
                assert snapshot.states(scope(), "s1") == {"a": state("a"), "b": failed}
                assert snapshot.states(scope(), "s2") == {"a": replace(state("a"), source="s2", revision="9")}
                assert snapshot.states(scope(), "s3") == {}
                assert snapshot.states(scope()).keys() == {"a", "b"}
            with store.write() as writer:
                writer.record([replace(state("a"), status=IngestStatus.REMOVED)])
                writer.commit()
            with store.read() as snapshot:
                assert snapshot.states(scope(), "s1").keys() == {"b"}
                assert snapshot.states(scope(), "s2").keys() == {"a"}
