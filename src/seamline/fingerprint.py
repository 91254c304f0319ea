"""Fingerprints: canonical JSON, then sha256, in four domains that cannot collide with each other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Literal

from seamline.types import EmbeddingSpace, Fingerprint

Domain = Literal["corpus", "space", "policy", "recipe"]
"""What is identified: a corpus's content, an embedding space, a retrieval policy, a derivation recipe."""


def canonical_json(value: object) -> str:
    """JSON with sorted keys, no spaces, sets as sorted lists; raises ``ValueError`` on NaN or infinity."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(domain: Domain, value: object) -> Fingerprint:
    """``<domain>:<64 hex>`` of a value made of dataclasses, mappings, sequences, sets and scalars."""
    body = f"seamline/{domain}/1\n{canonical_json(value)}"
    return Fingerprint(f"{domain}:{hashlib.sha256(body.encode('utf-8', 'surrogatepass')).hexdigest()}")


def space_fingerprint(space: EmbeddingSpace) -> Fingerprint:
    """The identity of an embedding space; ``languages`` and ``stand_in`` describe it and do not change it."""
    identity = asdict(space)
    del identity["languages"], identity["stand_in"]
    return fingerprint("space", identity)


def sha256_text(text: str) -> str:
    """Hex sha256 of the UTF-8 form; lone surrogates are kept apart, not merged."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_bytes(data: bytes) -> str:
    """Hex sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=canonical_json)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
