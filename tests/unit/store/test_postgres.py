"""What only PostgreSQL has: its own search configurations, triggers, row-level security, and a connection to lose."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from seamline.analyze.text import create as create_analyzer
from seamline.conformance.store_case import (
    CAT,
    FOX,
    OWNER,
    document,
    filed,
    indexed,
    put,
    query,
    scope,
    seen,
    vector_of,
)
from seamline.errors import SchemaError, SettingsError, StoreError
from seamline.ports import Store
from seamline.store import postgres
from seamline.types import Document, DocumentId, KeywordQuery, Scope
from support.postgres import needs_postgres, new_database, postgres_settings, shared_database
from support.stores import store_settings

pytestmark = needs_postgres

FRENCH = "Les congés payés sont accordés aux salariés."


@pytest.fixture
def workspace() -> str:
    """A workspace of its own in the shared database."""
    return uuid.uuid4().hex


@contextmanager
def opened(workspace: str, **given: object) -> Iterator[Store]:
    store = postgres.create(postgres_settings(shared_database(), **given), folder=None, workspace=workspace, kb="k")
    try:
        yield store
    finally:
        store.close()


def seen_by(workspace: str) -> Scope:
    return scope(replace(OWNER, workspace=workspace))


def french(language: str | None = "fr") -> Document:
    return document("fr", FRENCH, language=language)


def asked(text: str, language: str | None) -> KeywordQuery:
    return create_analyzer(store_settings()).query(text, [language])


def pool(store: Store, workspace: str, asked: KeywordQuery) -> list[str]:
    with store.read() as snapshot:
        return [hit.chunk_id for hit in snapshot.keyword_pool(seen_by(workspace), asked, None)]


@pytest.mark.parametrize("scoring", ["bm25", "ts_rank_cd"])
def test_french_is_found_without_accents_and_stemmed(workspace: str, scoring: str) -> None:
    made = french()
    analyzer = create_analyzer(store_settings())
    chunks = [replace(item, terms=analyzer.terms(item.chunk.text, "fr")) for item in indexed(made)]
    with opened(workspace, postgres_keyword_scoring=scoring) as store:
        put(store, (made, chunks), filed("en", "paid leave"))
        assert store.capabilities()["keyword_scoring"] == scoring
        for text in ("conges payes", "congé payé", "CONGÉS PAYÉS", "salarié"):
            assert pool(store, workspace, asked(text, "fr")) == ["fr#0"], text
        assert pool(store, workspace, asked("vacances", "fr")) == []


def test_ts_rank_cd_has_postgres_own_semantics(workspace: str) -> None:
    """All words must occur, unless the question says or; BM25 takes any."""
    with opened(workspace) as by_bm25, opened(workspace, postgres_keyword_scoring="ts_rank_cd") as by_rank:
        put(by_bm25, filed("fox", FOX), filed("cat", CAT))
        words = replace(query("quick mat"), text="quick mat", languages=("en",))
        assert pool(by_bm25, workspace, words) == ["fox#0", "cat#1", "cat#0"]
        assert pool(by_rank, workspace, words) == []
        assert set(pool(by_rank, workspace, replace(words, text="quick or mat"))) == {"fox#0", "cat#0", "cat#1"}
        for hostile in ("a & | b", "'", "!!", ":*", "\x00", '"', "<->"):
            pool(by_rank, workspace, replace(words, text=hostile))


def test_a_language_changed_in_plain_sql_changes_the_chunks_configuration_in_the_same_transaction(
    workspace: str,
) -> None:
    configured = (
        "SELECT DISTINCT search_config::text FROM seamline.chunks c JOIN seamline.kbs k ON k.id = c.kb"
        " WHERE k.workspace = %s"
    )
    with opened(workspace, postgres_keyword_scoring="ts_rank_cd") as store:
        put(store, (french("en"), indexed(french("en"))))
        assert pool(store, workspace, asked("conges payes", "fr")) == []
        with psycopg.connect(shared_database()) as connection:
            assert connection.execute(configured, (workspace,)).fetchall() == [("english",)]
            connection.execute(
                "UPDATE seamline.documents SET language = 'fr' WHERE kb IN"
                " (SELECT id FROM seamline.kbs WHERE workspace = %s)",
                (workspace,),
            )
            assert connection.execute(configured, (workspace,)).fetchall() == [("seamline.french_unaccent",)]
        assert pool(store, workspace, asked("conges payes", "fr")) == ["fr#0"]
        assert store.check() == []


def test_rule_17_statistics_hold_whoever_writes(workspace: str) -> None:
    with opened(workspace) as store:
        put(store, filed("fox", FOX), filed("cat", CAT))
        with psycopg.connect(shared_database()) as connection:
            connection.execute(
                "DELETE FROM seamline.documents WHERE id = 'fox' AND kb IN"
                " (SELECT id FROM seamline.kbs WHERE workspace = %s)",
                (workspace,),
            )
        with opened(f"{workspace}x") as fresh:
            put(fresh, filed("cat", CAT))
            found = []
            for one, name in ((store, workspace), (fresh, f"{workspace}x")):
                with one.read() as snapshot:
                    found.append(snapshot.keyword_pool(seen_by(name), query("cat brown mat"), None))
        assert found[0] == found[1] != []
        assert store.check() == []


def test_rule_13_row_level_security_is_a_second_wall(workspace: str) -> None:
    """A session of one workspace, whatever SQL it runs, neither sees nor changes rows of another."""
    tables = ("kbs", "states", "documents", "metadata", "chunks", "postings", "vectors")
    with opened(workspace) as store:
        put(store, filed("fox", FOX, metadata={"a": 1}))
    with psycopg.connect(shared_database()) as connection:
        connection.execute("SET ROLE seamline_app")
        for name, sees in ((workspace, True), (f"{workspace}x", False), ("", False)):
            connection.execute("SELECT set_config('seamline.workspace', %s, false)", (name,))
            for table in tables:
                (found,) = connection.execute(f"SELECT count(*) > 0 FROM seamline.{table}").fetchone() or ()  # noqa: S608
                assert found == (sees and table != "states"), (name, table)
        assert connection.execute("UPDATE seamline.documents SET readable_by = NULL").rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO seamline.kbs (workspace, name) VALUES ('another', 'k')")


def test_a_connection_lost_at_any_statement_leaves_the_last_commit(
    workspace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement of a change in turn finds the server's process killed; the next writer goes on."""
    with opened(workspace) as store:
        put(store, filed("fox", FOX))
        statement, survived = itertools.count(1), 0
        with store.read() as snapshot:
            before = seen(snapshot, seen_by(workspace), [], FOX)
        for number in statement:
            try:
                with store.write() as writer, monkeypatch.context() as patched:
                    _kill_at(patched, number, writer._connection)  # type: ignore[attr-defined]
                    writer.put(*filed("fox", "replaced"))
                    writer.put(*filed("cat", CAT))
                    writer.commit()
            except StoreError as error:
                survived += "connection" in error.message
            else:
                break
            with store.read() as snapshot:
                assert seen(snapshot, seen_by(workspace), [], FOX) == before, number
            assert store.check() == []
        assert survived > 15, survived
        with store.read() as snapshot:
            assert [item.id for item in snapshot.documents(seen_by(workspace))] == ["cat", "fox"]
            assert snapshot.document(seen_by(workspace), DocumentId("fox")).text == "replaced"


def _kill_at(patched: pytest.MonkeyPatch, number: int, connection: psycopg.Connection) -> None:
    counted = itertools.count(1)
    execute: Any = connection.execute

    def failing(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        if next(counted) == number:
            with psycopg.connect(shared_database(), autocommit=True) as killer:
                killer.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        return execute(*arguments, **options)

    patched.setattr(connection, "execute", failing)


def test_a_lost_reading_connection_is_an_error_and_the_next_read_works(workspace: str) -> None:
    with opened(workspace) as store:
        put(store, filed("fox", FOX))
        with store.read() as snapshot:
            with psycopg.connect(shared_database(), autocommit=True) as killer:
                pid = snapshot._session._connection.info.backend_pid  # type: ignore[attr-defined]
                killer.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            with pytest.raises(StoreError, match="connection"):
                snapshot.dense_pool(seen_by(workspace), vector_of("x"), 3)
        with store.read() as snapshot:
            assert len(snapshot.dense_pool(seen_by(workspace), vector_of("x"), 3)) == 2


def test_a_server_that_is_not_there_is_an_error_without_the_password(tmp_path: Path) -> None:
    dsn = f"postgresql://someone:hunter2@/none?host={tmp_path}"
    store = postgres.create(postgres_settings(dsn), folder=None, workspace="w", kb="k")
    for context in (store.read, store.write):
        with pytest.raises(StoreError) as error, context():
            pass
        assert "hunter2" not in str(error.value)
    store.close()


def test_a_store_without_a_dsn_names_the_setting() -> None:
    with pytest.raises(SettingsError, match="postgres_dsn"):
        postgres.create(store_settings(), folder=None, workspace="w", kb="k")


def test_rule_27_reading_never_writes_and_a_newer_schema_is_refused() -> None:
    dsn = new_database()
    store = postgres.create(postgres_settings(dsn), folder=None, workspace="w", kb="k")
    with store.read() as snapshot:
        assert snapshot.statistics(scope()).documents == 0
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT to_regnamespace('seamline')").fetchone() == (None,)
    put(store, filed("fox", FOX))
    store.close()
    with psycopg.connect(dsn) as connection:
        connection.execute("UPDATE seamline.schema_version SET version = 99")
    store = postgres.create(postgres_settings(dsn), folder=None, workspace="w", kb="k")
    for context in (store.read, store.write):
        with pytest.raises(SchemaError, match="99"), context():
            pass
    store.close()


def test_a_dropped_kb_is_gone_and_no_other(workspace: str) -> None:
    with opened(workspace) as store, opened(f"{workspace}x") as other:
        for one in (store, other):
            put(one, filed("fox", FOX))
        store.drop()  # type: ignore[attr-defined]
        with store.read() as snapshot, other.read() as kept:
            assert snapshot.statistics(seen_by(workspace)).documents == 0
            assert snapshot.binding(seen_by(workspace)) is None
            assert kept.statistics(seen_by(f"{workspace}x")).documents == 1


def test_check_finds_what_was_changed_behind_its_back(workspace: str) -> None:
    planted = {
        "statistics": "UPDATE seamline.kbs SET term_count = term_count + 1 WHERE id = %s",
        "lengths": "UPDATE seamline.postings SET frequency = frequency + 1 WHERE kb = %s",
        "search_config": "UPDATE seamline.chunks SET search_config = 'german' WHERE kb = %s",
        "span": "UPDATE seamline.chunks SET payload = replace(payload, 'quick', 'slow') WHERE kb = %s",
        "text_hash": "UPDATE seamline.documents SET payload = replace(payload, 'lazy', 'busy') WHERE kb = %s",
        "vectors": "DELETE FROM seamline.vectors WHERE kb = %s",
    }
    with opened(workspace) as store:
        put(store, filed("fox", FOX))
        assert store.check() == []
        with psycopg.connect(shared_database(), autocommit=True) as connection:
            (kb,) = (
                connection.execute("SELECT id FROM seamline.kbs WHERE workspace = %s", (workspace,)).fetchone() or ()
            )
            for check, damage in planted.items():
                connection.execute("BEGIN")
                connection.execute(damage, (kb,))
                connection.execute("COMMIT")
                assert check in {finding.check for finding in store.check()}, check
