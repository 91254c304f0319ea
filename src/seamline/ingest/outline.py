"""Nested values as text: containers are headings, so that a value's path is its heading path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from seamline.ingest.layout import Layout
from seamline.types import BlockKind

MOST_LEVEL = 9
LONG = 200
"""A longer value is a paragraph of its own."""


def lay_out_value(value: object, layout: Layout, *, name: str = "", level: int = 0) -> bool:
    """Lay a decoded JSON or YAML value out; whether all of it fitted.

    An explicit stack: hostile files nest deeper than Python recurses. Aliases of YAML may repeat one value without
    end, which is why the layout's limit is asked at each step.
    """
    pending: list[tuple[str, object, int]] = [(name, value, level)]
    group = layout.group()
    while pending:
        if layout.full:
            return False
        name, value, level = pending.pop()
        if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str | bytes)):
            flat = _flat(value)
            if flat is not None:
                _leaf(layout, name, flat, group)
                continue
            if name and level <= MOST_LEVEL:
                layout.add("heading", name, level=max(1, level))
            elif name:
                layout.add("paragraph", f"{name}:")
            group = layout.group()
            items = _items(value)
            # Plain values first: they would otherwise stand under the heading of a container before them.
            ordered = sorted(items, key=lambda item: _is_container(item[1]))
            pending.extend((key, item, level + 1) for key, item in reversed(ordered))
        else:
            _leaf(layout, name, said(value), group)
    return True


def said(value: object) -> str:
    """A scalar as JSON writes it, strings bare."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _leaf(layout: Layout, name: str, text: str, group: int) -> None:
    if not text.strip():
        return
    kind: BlockKind = "list_item" if len(text) <= LONG else "paragraph"
    layout.add(kind, f"{name}: {text}" if name else text, group=group if kind == "list_item" else None)


def _items(value: object) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    return [(f"[{index}]", item) for index, item in enumerate(value)] if isinstance(value, Iterable) else []


def _is_container(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple) and _flat(value) is None


def _flat(value: object) -> str | None:
    """A short list of scalars on one line; ``None`` for anything else. An empty container says nothing."""
    if not value:
        return "" if isinstance(value, Mapping | list | tuple) else None
    if isinstance(value, list | tuple) and all(isinstance(item, str | int | float | bool | None) for item in value):
        joined = ", ".join(said(item) for item in value)
        return joined if len(joined) <= LONG else None
    return None
