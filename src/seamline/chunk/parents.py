"""Parents: ranges of consecutive children, as large as a reader or a prompt wants them.

A parent is made of whole children, so that a child lies inside the parent it names, and the sizes of parents never
change a child, its id or its vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from seamline.chunk.families import Node, families
from seamline.chunk.packing import Draft, overlapped
from seamline.chunk.sizes import ParentSizes


@dataclass(frozen=True, slots=True)
class Family:
    """A parent, and how many children name it."""

    parent: Draft
    children: int


def parents_of(text: str, children: Sequence[Draft], sizes: ParentSizes) -> list[Family]:
    """Parents in order; each child belongs to exactly one.

    A subtree of headings that fits ``sizes.target`` is one parent. A longer section is filled up child by child,
    and there each parent but the first repeats up to ``sizes.overlap`` characters of the one before.
    """
    sections = list(_sections(children))
    nodes = [_node(members) for members in sections]
    made: list[Family] = []
    for first, last in families(nodes, sizes.target):
        if last - first == 1 and nodes[first].end - nodes[first].start > sizes.target:
            made.extend(_filled(text, sections[first], sizes))
            continue
        parent = Draft(nodes[first].start, nodes[last - 1].end, nodes[first].path, first, last - 1)
        made.append(Family(parent, sum(map(len, sections[first:last]))))
    return made


def _sections(children: Sequence[Draft]) -> Iterator[list[Draft]]:
    """Runs of children of one section; a child over several sections continues the section it begins in."""
    run: list[Draft] = []
    for child in children:
        if run and not (child.path == run[-1].path and child.first == run[-1].last):
            yield run
            run = []
        run.append(child)
    if run:
        yield run


def _node(children: Sequence[Draft]) -> Node:
    opening = children[0].path if children[0].opening is None else children[0].opening
    return Node(children[0].start, max(child.end for child in children), opening)


def _filled(text: str, children: Sequence[Draft], sizes: ParentSizes) -> Iterator[Family]:
    room = sizes.target - sizes.overlap
    start, count, parent = children[0].start, 0, children[0]
    for child in children:
        if count and child.end - start > room:
            yield Family(parent, count)
            before, start, count = parent, child.start, 0
            parent = replace(child, start=overlapped(text, child.start, before.start, sizes.overlap))
        parent = replace(parent, end=max(parent.end, child.end), last=child.last)
        count += 1
    yield Family(parent, count)
