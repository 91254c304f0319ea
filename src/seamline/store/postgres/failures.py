"""The driver's errors as ours: what failed, and what to do; never with the connection string and its password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolTimeout

from seamline.errors import IntegrityError, StoreError


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise ``StoreError`` for what the driver raises, ``IntegrityError`` for text that PostgreSQL cannot hold."""
    try:
        yield
    except (psycopg.DataError, UnicodeEncodeError) as error:
        raise IntegrityError(
            f"{what}: a value cannot be stored exactly: {_line(error)}",
            hint="ids and texts may not hold the character U+0000",
        ) from error
    except PoolTimeout as error:
        raise StoreError(
            f"{what}: no connection to PostgreSQL within its time: {_line(error)}",
            hint="check postgres_dsn and that the server runs, or raise postgres_pool_size",
        ) from error
    except psycopg.OperationalError as error:
        raise StoreError(
            f"{what}: the connection to PostgreSQL failed: {_line(error)}",
            hint="what was committed is kept; check the server and try again",
        ) from error
    except psycopg.Error as error:
        raise StoreError(
            f"{what}: PostgreSQL refused: {_line(error)}", hint="`seamline doctor` says more; see the server's log"
        ) from error


def _line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0] or type(error).__name__
