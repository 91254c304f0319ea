"""Which embedder a knowledge base uses, and whether it may: the check of the embedding space on open."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from seamline import registry
from seamline.embed import canary, weights
from seamline.errors import SettingsError, SpaceMismatchError
from seamline.fingerprint import sha256_text, space_fingerprint
from seamline.ports import Embedder
from seamline.settings import Settings
from seamline.types import Binding, EmbeddingSpace, Fingerprint

log = logging.getLogger("seamline.spaces")

_lock = threading.Lock()
_embedders: dict[tuple[object, ...], Embedder] = {}
_checked: set[tuple[Fingerprint, int]] = set()
_announced: set[str] = set()


def provider_settings(settings: Settings, home: Path) -> dict[str, object]:
    """The settings as provider factories receive them, with the model cache's place filled in."""
    values = settings.mapping()
    values["model_cache_dir"] = str(settings.model_cache_dir or home / "models")
    return values


def choose(settings: Settings, bound: Binding | None, home: Path) -> str:
    """The provider's name: the one configured; for ``auto`` the kb's own, ``local`` if present, else ``hash``."""
    if settings.embedding_provider != "auto":
        return settings.embedding_provider
    if bound is not None:
        return bound.space.provider
    missing = {p.name: p.missing for p in registry.providers() if p.kind == "embedders"}.get("local")
    return "local" if missing == () and weights.present(provider_settings(settings, home)) else "hash"


def embedder_for(settings: Settings, bound: Binding | None, home: Path) -> Embedder:
    """The embedder that indexes and queries a kb, checked against what the kb is bound to.

    Raises ``SpaceMismatchError`` when the configured space is not the kb's, or when its canaries moved,
    ``MissingExtraError`` and ``ModelMissingError`` when the model cannot run here.
    """
    name = choose(settings, bound, home)
    values = provider_settings(settings, home)
    if bound is not None and settings.embedding_provider == "auto":
        if values["embedding_model"] is None and bound.space.pooling == "service":
            values["embedding_model"] = bound.space.model
        values["embedding_precision"] = bound.space.precision if name == "local" else values["embedding_precision"]
    embedder = _shared(name, values)
    if bound is not None:
        _refuse_other_space(bound, embedder.space)
        with _lock:
            if (bound.space_fingerprint, id(embedder)) not in _checked:
                canary.check(embedder, bound, settings.canary_min_cosine)
                _checked.add((bound.space_fingerprint, id(embedder)))
    _announce(embedder.space)
    return embedder


def _shared(name: str, values: Mapping[str, object]) -> Embedder:
    """One embedder a process for the same provider and settings: models are loaded once."""
    told = {k: values[k] for k in sorted(values) if k.startswith(("embedding_", "model_"))}
    # A secret shows itself as asterisks: two keys would look alike.
    secrets = {k: sha256_text(v.get_secret_value()) for k, v in told.items() if isinstance(v, SecretStr)}
    key = (name, *(f"{k}={v}" for k, v in (told | secrets).items()))
    with _lock:
        if key not in _embedders:
            made = registry.factory("embedders", name)(values)
            if not isinstance(made, Embedder):
                raise SettingsError(f"the provider {name!r} did not make an embedder")
            _embedders[key] = made
        return _embedders[key]


def _refuse_other_space(bound: Binding, space: EmbeddingSpace) -> None:
    if bound.space_fingerprint == space_fingerprint(space):
        return
    was, now = bound.space, space
    changed = [
        f"{field} {getattr(was, field)!r} -> {getattr(now, field)!r}"
        for field in EmbeddingSpace.__dataclass_fields__
        if getattr(was, field) != getattr(now, field) and field not in ("languages", "stand_in")
    ]
    raise SpaceMismatchError(
        f"the knowledge base was embedded in another space than the one configured: {'; '.join(changed)}",
        hint="unset SEAMLINE_EMBEDDING_PROVIDER to use the kb's own space, or index into another --kb; "
        "`seamline search --mode keyword` works meanwhile",
    )


def _announce(space: EmbeddingSpace) -> None:
    if space.stand_in and space.provider not in _announced:
        _announced.add(space.provider)
        log.warning(
            "embedder %r is a stand-in: it matches words, not meaning (hint: pip install 'seamline[local]', "
            "then `seamline models pull`)",
            space.provider,
        )
