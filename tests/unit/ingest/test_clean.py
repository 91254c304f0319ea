from __future__ import annotations

from seamline.ingest.clean import clean
from seamline.ingest.quality import garbled, measure


def test_line_ends_become_newlines_and_controls_go() -> None:
    cleaned = clean("a\r\nb\rc\x0bd\x0ce\x00\x02f\tg\ufeff")
    assert cleaned.text == "a\nb\nc\nd\nef\tg"
    assert cleaned.controls == 2


def test_nothing_else_changes() -> None:
    text = " e\u0301 \u00a0\u2028\u0085\u200b\u00ad \ufffd "
    assert clean(text).text is text


def test_lone_surrogates_are_replaced() -> None:
    assert clean("a\ud800b").text == "a\ufffdb"


def test_offsets_follow_the_text() -> None:
    original = "\ufeffHead\r\n\r\nBody\x00 text\r\n"
    cleaned = clean(original)
    start = original.index("Body")
    assert cleaned.text[cleaned.position(start) :].startswith("Body text")
    assert cleaned.position(len(original)) == len(cleaned.text)
    assert cleaned.position(0) == 0


def test_rule_26_quality_counts_what_stands_for_nothing() -> None:
    quality = measure("a\ufffd\ue000\U000f0001", controls=3, failed_pages=1)
    assert quality.characters == 4
    assert quality.replacement_characters == 1
    assert quality.private_use_characters == 2
    assert quality.control_characters_removed == 3
    assert quality.failed_pages == 1


def test_garbled_texts_are_told_from_scripts_and_code() -> None:
    for honest in (
        "数据库连接超时" * 9,
        "for(;;){a[i]^=~b|c<<3;}" * 9,
        "ا ب ت " * 9,
        "▁▂▃ ✓ → ∀x∈ℝ" * 9,
        "\ue000 icon and text",
    ):
        assert garbled(honest, measure(honest)) is None, honest
    broken = "\ufffd\ue001a" * 20
    reason = garbled(broken, measure(broken))
    assert reason is not None
    assert "40 of 60" in reason
