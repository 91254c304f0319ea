"""The write lock: one writer a kb among all processes, freed by the server when its holder's connection ends."""

from __future__ import annotations

import psycopg

from seamline.errors import StoreBusyError

_KEY = "hashtextextended(%s, 5)"
"""A kb's name as the key of an advisory lock; a collision of two names would only make one wait for the other."""


def write_lock(connection: psycopg.Connection, workspace: str, kb: str, timeout: float) -> None:
    """Take the lock for as long as the connection lives; raises ``StoreBusyError`` after ``timeout`` seconds."""
    name = f"{workspace}\n{kb}"
    # 0 would wait for ever
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (f"{max(int(timeout * 1000), 1)}ms",))
    try:
        connection.execute(f"SELECT pg_advisory_lock({_KEY})", (name,))
    except psycopg.errors.LockNotAvailable as error:
        raise StoreBusyError(
            f"kb {kb!r}: another writer, {_holder(connection, name)}, holds the lock (waited {timeout:g} s)",
            hint="wait until it is done, or raise write_timeout_s",
        ) from error
    connection.execute("SET lock_timeout = 0")


def _holder(connection: psycopg.Connection, name: str) -> str:
    """The holder's application name, which has its process id, and its server process."""
    row = connection.execute(
        "SELECT l.pid, a.application_name, coalesce(a.client_addr::text, 'this host') FROM pg_locks l"
        " LEFT JOIN pg_stat_activity a USING (pid)"
        f" WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
        f" AND (l.classid::bigint << 32) | l.objid::bigint = {_KEY}",
        (name,),
    ).fetchone()
    return "which has just ended" if row is None else f"process {row[1]} at {row[2]} (server process {row[0]})"
