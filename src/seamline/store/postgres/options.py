"""What the PostgreSQL store can be told; the defaults live in the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

from seamline.errors import SettingsError


class Secret(Protocol):
    """A value that is not printed unless asked for."""

    def get_secret_value(self) -> str:
        """The value itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``postgres_dsn`` is a libpq connection string; ``postgres_pool_size`` bounds a store's reading connections.

    ``postgres_keyword_scoring`` names what the keyword leg scores with; ``vector_dtype`` holds for vectors written
    from now on; ``bm25_k1`` and ``bm25_b`` apply at query time.
    """

    postgres_dsn: str = field(repr=False)
    postgres_pool_size: int
    postgres_keyword_scoring: Literal["bm25", "ts_rank_cd"]
    vector_dtype: Literal["float16", "float32"]
    bm25_k1: float
    bm25_b: float


def options_from(settings: Mapping[str, object]) -> Options:
    """Pick this store's keys out of all settings; raises ``SettingsError`` when there is no DSN."""
    picked: dict[str, Any] = {item.name: settings[item.name] for item in fields(Options)}
    secret: Secret | None = picked["postgres_dsn"]
    if secret is None:
        raise SettingsError(
            "the store 'postgres' needs the setting postgres_dsn",
            hint="set SEAMLINE_POSTGRES_DSN=postgresql://user@host/database, env:NAME or file:PATH; "
            "`seamline store postgres up` starts a server to try it with",
        )
    return Options(**{**picked, "postgres_dsn": secret.get_secret_value()})
