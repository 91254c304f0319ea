from __future__ import annotations

import pytest

from seamline.chunk.structural import create
from seamline.ingest.blocks import paragraphs
from seamline.ingest.language import detect, mark_blocks
from support.ingest import document, settings


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The system retries three times before it gives up and tells you.", "en"),
        ("Das System versucht es dreimal, bevor es aufgibt und dies meldet.", "de"),
        ("Le système réessaie trois fois avant d'abandonner et de le signaler.", "fr"),
        ("数据库连接超时后，系统会自动重试三次。", "zh"),
        ("データベースの接続がタイムアウトすると再試行します。", "ja"),
        ("데이터베이스 연결 시간이 초과되면 다시 시도합니다.", "ko"),
        ("Когда соединение с базой данных прерывается, система повторяет попытку.", "ru"),
        ("Коли з'єднання з базою даних переривається, система повторює спробу.", "uk"),
        ("عندما ينقطع الاتصال بقاعدة البيانات يحاول النظام مرة أخرى", "ar"),
        ("این یک متن فارسی است که برای آزمایش نوشته شده است", "fa"),
        ("เมื่อการเชื่อมต่อฐานข้อมูลหมดเวลา ระบบจะลองใหม่", "th"),
        ("जब डेटाबेस का कनेक्शन टूट जाता है तो सिस्टम फिर से कोशिश करता है", "hi"),
        ("Όταν η σύνδεση με τη βάση δεδομένων διακόπτεται", "el"),
        ("כאשר החיבור למסד הנתונים נקטע המערכת מנסה שוב", "he"),
    ],
)
def test_languages_are_told_apart(text: str, language: str) -> None:
    found, confidence = detect(text)
    assert found == language
    assert 0.5 < confidence <= 1.0
    assert detect(text) == (found, confidence)


@pytest.mark.parametrize("text", ["", "Short words", "1234 5678 " * 50, "数据库", "—— ** ——" * 30])
def test_too_few_letters_claim_nothing(text: str) -> None:
    assert detect(text) == (None, 0.0)


def test_blocks_in_another_language_are_marked_and_chunks_take_it() -> None:
    english = "The pump of the northern harbour is closed at night, and nobody knows why it leaks so much water. " * 8
    french = "La pompe du port est fermée pendant la nuit, et personne ne sait pourquoi elle perd autant d'eau. " * 8
    text = f"{english}\n\n{french}\n\n{english}"
    blocks = mark_blocks(text, tuple(paragraphs(text)), "en")
    assert [block.language for block in blocks] == [None, "fr", None]
    made = create(settings()).chunk(document(text, blocks, language="en")).children
    assert {"en", "fr"} == {chunk.language for chunk in made}
    assert all((chunk.language == "fr") == ("pompe" in chunk.text) for chunk in made)
    short = "Une phrase.\n\nA sentence."
    assert all(block.language is None for block in mark_blocks(short, tuple(paragraphs(short)), "en"))
