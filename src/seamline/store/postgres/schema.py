"""Migrations and connections: forward only, in one transaction each; reading never writes."""

from __future__ import annotations

import os
from contextlib import closing
from importlib.resources import files

import psycopg

from seamline.errors import SchemaError
from seamline.store.postgres.failures import translated

SCHEMA_VERSION = 1
CONNECT_TIMEOUT_S = 10
_MIGRATION_LOCK = 0x5345414D
"""Key of the advisory lock that two migrating processes wait on: ``SEAM``."""


def connect(dsn: str) -> psycopg.Connection:
    """A connection that commits each statement unless told otherwise; named after this process."""
    return psycopg.connect(
        dsn,
        autocommit=True,
        connect_timeout=CONNECT_TIMEOUT_S,
        application_name=f"seamline {os.getpid()}",
    )


def narrow(connection: psycopg.Connection, workspace: str) -> None:
    """Give up all rights but those of one workspace's rows, for as long as the connection lives.

    Connections to a database without our schema are left as they are: there is nothing to see.
    """
    if installed_version(connection):
        connection.execute("SET ROLE seamline_app")
        connection.execute("SELECT set_config('seamline.workspace', %s, false)", (workspace,))


def installed_version(connection: psycopg.Connection) -> int:
    """The schema's version, 0 where there is none; raises ``SchemaError`` for a newer one."""
    row = connection.execute("SELECT to_regclass('seamline.schema_version') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return 0
    (version,) = connection.execute("SELECT version FROM seamline.schema_version").fetchone() or (0,)
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"the database has seamline schema {version}; this version knows up to {SCHEMA_VERSION}",
            hint="upgrade seamline; nothing was changed",
        )
    return int(version)


def migrate(dsn: str) -> None:
    """Bring the database to :data:`SCHEMA_VERSION`; does nothing when it is there.

    Raises:
        SchemaError: a newer version wrote the schema.
        StoreError: the database cannot be reached, or does not grant what a migration needs.
    """
    with translated("migrate"), closing(connect(dsn)) as connection:
        if installed_version(connection) == SCHEMA_VERSION:
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
            done = installed_version(connection)
            if not done:
                connection.execute("CREATE SCHEMA IF NOT EXISTS seamline")
                connection.execute("CREATE TABLE seamline.schema_version (version integer NOT NULL)")
                connection.execute("GRANT SELECT ON seamline.schema_version TO PUBLIC")
                connection.execute("GRANT USAGE ON SCHEMA seamline TO PUBLIC")
                connection.execute("INSERT INTO seamline.schema_version VALUES (0)")
            for version in range(done + 1, SCHEMA_VERSION + 1):
                script = files("seamline.store.postgres").joinpath("migrations", f"{version:04}.sql")
                connection.execute(script.read_bytes())
                connection.execute("UPDATE seamline.schema_version SET version = %s", (version,))
