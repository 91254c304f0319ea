from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.ingest.clean import clean
from seamline.ingest.decode import decode
from seamline.ingest.front_matter import split_front_matter
from seamline.ingest.html import create as create_html
from seamline.ingest.language import detect
from seamline.ingest.markdown_blocks import markdown_blocks
from seamline.ingest.sniff import sniff
from seamline.ingest.wire import check_ranges, from_parsed, to_parsed
from seamline.ports import Parsed

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
MARKUP = st.lists(
    st.sampled_from(
        ["# ", "- ", "1. ", "> ", "```\n", "| a | b |\n|---|---|\n", "    ", "\n", "\n\n", "é", "word ", "---\n",
         "===\n", "<div>", "[x]: /u\n", "[^1]", "[^1]: ", "* * *\n", "\t", "&amp;", "文字", "👩‍👧", "`", "|", "\\",
         "- [ ] "]
    ),
    max_size=40,
).map("".join)  # fmt: skip
HTML = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<table>", "<tr>", "<td>", "</table>", "<ul><li>", "</ul>", "<pre>", "</pre>", "<h2>", "</h2>",
         "<br>", "<a href=x>", "</a>", "text ", "  ", "\n", "&amp;", "&#0;", "<b>", "<blockquote>", "<nav>", "é"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@settings(deadline=None)
@given(ANY_TEXT)
def test_cleaning_is_idempotent_and_leaves_only_text(text: str) -> None:
    cleaned = clean(text).text
    assert clean(cleaned).text == cleaned
    controls = {char for char in cleaned if char < " " and char not in "\n\t"}
    assert not controls
    assert not any(unicodedata.category(char) == "Cs" for char in cleaned)


@settings(deadline=None)
@given(ANY_TEXT)
def test_offsets_lead_to_the_same_character(text: str) -> None:
    cleaned = clean(text)
    kept = [i for i, char in enumerate(text) if char != "\n" and clean(char).text == char]
    assert all(cleaned.text[cleaned.position(index)] == text[index] for index in kept)
    assert cleaned.position(len(text)) == len(cleaned.text)


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_decode_to_encodable_text(data: bytes) -> None:
    text, decoder = decode(data)
    assert decoder
    clean(text).text.encode()
    assert sniff(data, "file.txt")


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_utf8_is_read_as_it_is(text: str) -> None:
    if "\x00" not in text and "\x1b" not in text and not text.startswith("\ufeff"):
        assert decode(text.encode()) == (text, "utf-8")


@settings(deadline=None)
@given(MARKUP)
def test_markdown_blocks_are_ordered_apart_and_cover_what_is_visible(text: str) -> None:
    blocks = markdown_blocks(text)
    check_ranges("blocks", [(block.char_start, block.char_end) for block in blocks], len(text))
    visible = set(range(len(text))) - {i for block in blocks for i in range(block.char_start, block.char_end)}
    assert not [text[index] for index in visible if not text[index].isspace()]


@settings(deadline=None)
@given(HTML)
def test_html_blocks_are_the_text_and_survive_the_pipe(source: str) -> None:
    parsed = create_html({}).parse(source.encode(), media_type="text/html", filename="a.html")
    covered = "\n".join(parsed.text[block.char_start : block.char_end] for block in parsed.blocks)
    assert covered.split() == parsed.text.split()
    assert to_parsed(*from_parsed(parsed)) == parsed


@settings(deadline=None)
@given(ANY_TEXT)
def test_front_matter_only_takes_from_the_front(text: str) -> None:
    metadata, rest = split_front_matter(text)
    assert text.endswith(rest)
    assert metadata == {} or text.startswith("---")


@settings(deadline=None)
@given(ANY_TEXT)
def test_language_detection_never_fails(text: str) -> None:
    language, confidence = detect(text)
    assert 0.0 <= confidence <= 1.0
    assert (language is None) <= (confidence == 0.0)


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=100), st.none() | st.text(max_size=20))
def test_the_pipe_keeps_every_text(text: str, title: str | None) -> None:
    parsed = Parsed(text=text, media_type="text/plain", title=title, metadata={"n": 1, "b": True, "s": "é"})
    header, body = from_parsed(parsed)
    assert to_parsed(header, body) == parsed
