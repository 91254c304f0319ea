"""A server of one's own, started by the command line, holds a kb; a killed one comes back."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from support.cli import Cli, write_documents
from support.postgres import needs_postgres


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place that another user may enter: tests may run as root, PostgreSQL does not."""
    made = Path(tempfile.mkdtemp(prefix="seamline-pg-"))
    yield made / "server"
    shutil.rmtree(made, ignore_errors=True)


@needs_postgres
def test_a_kb_in_a_server_of_ones_own(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(tmp_path / "home", capsys)
    folder.parent.chmod(0o755)
    try:
        dsn = str(cli("store", "postgres", "up", "--folder", folder, "--json").json()["dsn"])
        monkeypatch.setenv("SEAMLINE_STORE", "postgres")
        monkeypatch.setenv("SEAMLINE_POSTGRES_DSN", dsn)
        assert cli("index", write_documents(tmp_path / "docs")).code == 0
        found = cli("search", "conges payes", "--mode", "keyword", "--json").json()["passages"]
        assert [passage["document_id"] for passage in found] == ["rules/vitesse.md"]
        assert cli("doctor").code == 0
        assert dsn not in cli("settings", "postgres_dsn").out

        # The machine loses power: the pid file stays. Then it is emptied, as some file systems leave it.
        for emptied in (False, True):
            pid_file = folder / "data" / "postmaster.pid"
            os.kill(int(pid_file.read_text().split("\n")[0]), signal.SIGQUIT)
            _wait_until_down(dsn)
            pid_file.write_text("" if emptied else f"{os.getpid()}\n{folder}/data\n")
            assert cli("store", "postgres", "up", "--folder", folder).code == 0
            assert cli("search", "bilge pump", "--json").json()["passages"]
        assert cli("store", "postgres", "down", "--folder", folder, "--json").json()["stopped"] is True
        failed = cli("search", "bilge pump")
        assert failed.code == 1
        assert "PostgreSQL" in failed.err
    finally:
        assert cli("store", "postgres", "down", "--folder", folder).code == 0


def _wait_until_down(dsn: str) -> None:
    for _ in range(10_000):
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError as error:
            if "starting up" not in str(error) and "shutting down" not in str(error):
                return
    raise AssertionError("the server does not stop")
