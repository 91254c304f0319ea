from __future__ import annotations

import pytest

from seamline.ingest.language import detect


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
