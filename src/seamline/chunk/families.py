"""Which neighbouring ranges belong together: whole subtrees of the heading tree that fit a size.

The choice depends on a subtree alone, so that an edit in one section moves no border outside the sections that
hold it. (Filling up to a size from left to right would move every border after the edit.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A range under one heading; ``path`` names its headings from the outermost."""

    start: int
    end: int
    path: tuple[str, ...]


def families(nodes: Sequence[Node], most: int) -> Iterator[tuple[int, int]]:
    """Half-open index ranges that partition ``nodes``: the largest subtrees of at most ``most`` characters.

    A node whose subtree is longer stands alone, and its subsections are looked at one by one. Linear.
    """
    if nodes and nodes[-1].end - nodes[0].start <= most:
        yield 0, len(nodes)
        return
    ends = _subtree_ends(nodes)
    index = 0
    while index < len(nodes):
        fits = nodes[ends[index] - 1].end - nodes[index].start <= most
        following = ends[index] if fits else index + 1
        yield index, following
        index = following


def _subtree_ends(nodes: Sequence[Node]) -> list[int]:
    """For each node, the index after the last one below it."""
    ends = [len(nodes)] * len(nodes)
    open_: list[int] = []
    for index, node in enumerate(nodes):
        while open_ and not _is_below(node.path, nodes[open_[-1]].path):
            ends[open_.pop()] = index
        open_.append(index)
    return ends


def _is_below(path: tuple[str, ...], ancestor: tuple[str, ...]) -> bool:
    return len(path) > len(ancestor) and path[: len(ancestor)] == ancestor
