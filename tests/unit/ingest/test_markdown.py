from __future__ import annotations

from seamline.ingest.markdown import create
from seamline.ports import Parsed, Parser

SOURCE = """---
title: "Retry: policy"
lang: en
weight: 3
draft: false
tags: [a, b]
---
# Head *one*

Déjà &amp; more
lines.

Second
======

- first
  - nested
- second

  with a paragraph

> quoted
> text

| a | b |
|---|---|
| é | 2 |

```sh
# not a heading
```

Text[^1] and <b>inline</b>.

<div>block</div>

[^1]: A note.
[ref]: https://example.org/
"""


def parse(source: str) -> Parsed:
    return create({}).parse(source.encode(), media_type="text/markdown", filename="a.md")


def shown(parsed: Parsed, kind: str) -> list[str]:
    return [parsed.text[block.char_start : block.char_end] for block in parsed.blocks if block.kind == kind]


def test_it_is_a_parser() -> None:
    assert isinstance(create({}), Parser)


def test_rule_08_structure_survives_with_exact_offsets() -> None:
    parsed = parse(SOURCE)
    headings = [(block.level, block.title) for block in parsed.blocks if block.kind == "heading"]
    assert headings == [(1, "Head one"), (1, "Second")]
    assert shown(parsed, "list_item") == ["- first", "- nested", "- second", "with a paragraph"]
    assert shown(parsed, "quote") == ["> quoted\n> text"]
    assert shown(parsed, "table_row") == ["| a | b |\n|---|---|", "| é | 2 |"]
    assert shown(parsed, "code") == ["```sh\n# not a heading\n```"]
    assert shown(parsed, "html") == ["<div>block</div>"]
    assert "Déjà &amp; more\nlines." in shown(parsed, "paragraph")
    assert "[^1]: A note.\n[ref]: https://example.org/" in shown(parsed, "paragraph")


def test_lists_and_tables_have_groups_of_their_own() -> None:
    parsed = parse(SOURCE)
    groups = {
        kind: {block.group for block in parsed.blocks if block.kind == kind} for kind in ("list_item", "table_row")
    }
    assert len(groups["list_item"]) == len(groups["table_row"]) == 1
    assert groups["list_item"] != groups["table_row"]


def test_front_matter_is_metadata_and_not_text() -> None:
    parsed = parse(SOURCE)
    assert parsed.title == "Retry: policy"
    assert parsed.language == "en"
    assert dict(parsed.metadata) == {"title": "Retry: policy", "lang": "en", "weight": 3, "draft": False}
    assert "weight" not in parsed.text


def test_a_thematic_break_is_not_front_matter() -> None:
    parsed = parse("---\nJust a paragraph.\n\n---\nmore\n")
    assert "Just a paragraph." in parsed.text
    assert parsed.metadata == {}


def test_the_title_is_the_first_heading_of_level_one() -> None:
    assert parse("## Two\n\n# One\n").title == "One"
    assert parse("## Two\n").title is None


def test_carriage_returns_change_nothing() -> None:
    unix, windows = parse(SOURCE), parse(SOURCE.replace("\n", "\r\n"))
    assert windows.text == unix.text
    assert windows.blocks == unix.blocks


def test_items_without_text_of_their_own_keep_their_marker_with_what_follows() -> None:
    assert shown(parse("- - deep\n\n1. para\n\n   two\n"), "list_item") == ["- - deep", "1. para", "two"]
