from __future__ import annotations

import time

import pytest

from seamline.ingest import euc_tw
from seamline.ingest.decode import decode

GERMAN = "Größere Änderungen müssen später überprüft werden – sagt “sie”. " * 4
SAMPLES = {
    "gb18030": "数据库连接超时后，系统会自动重试三次，然后记录错误日志并通知管理员。",
    "shift_jis": "データベースの接続がタイムアウトすると、システムは自動的に三回再試行します。",
    "euc_jp": "データベースの接続がタイムアウトすると、システムは自動的に三回再試行します。",
    "euc_kr": "데이터베이스 연결 시간이 초과되면 시스템은 자동으로 세 번 다시 시도합니다.",
    "koi8_r": "Когда соединение с базой данных прерывается, система автоматически повторяет попытку.",
    "cp1251": "Когда соединение с базой данных прерывается, система автоматически повторяет попытку.",
    "big5": "資料庫連線逾時之後，系統會自動重試三次，然後記錄錯誤並通知管理員。",
    "cp1253": "Όταν η σύνδεση με τη βάση δεδομένων διακόπτεται, το σύστημα προσπαθεί ξανά.",
    "cp1256": "عندما ينقطع الاتصال بقاعدة البيانات يحاول النظام مرة أخرى",
    "tis_620": "เมื่อการเชื่อมต่อฐานข้อมูลหมดเวลา ระบบจะลองใหม่โดยอัตโนมัติสามครั้ง",
    "iso2022_jp": "データベースの接続がタイムアウトすると、三回再試行します。",
    "iso2022_kr": "데이터베이스 연결 시간이 초과되면 다시 시도합니다.",
    "cp1252": GERMAN,
    "utf-8": GERMAN,
    "utf-8-sig": GERMAN,
    "utf-16": GERMAN,
    "utf-32": GERMAN,
    "utf-16-le": GERMAN,
    "utf-16-be": GERMAN,
    "utf-32-le": GERMAN,
    "utf-32-be": GERMAN,
}


@pytest.mark.parametrize("encoding", SAMPLES)
def test_every_encoding_is_read_back(encoding: str) -> None:
    text = SAMPLES[encoding]
    assert decode(text.encode(encoding))[0] == text


def test_the_decoder_is_named() -> None:
    assert decode("é".encode()) == ("é", "utf-8")
    assert decode("a é".encode("utf-16-le") * 20)[1] == "utf-16-le"
    assert decode(GERMAN.encode("cp1252"))[1] == "cp1252"


def test_euc_tw_has_a_decoder_of_its_own() -> None:
    # 維基大典 in CNS 11643 plane 1, then a character of plane 2 (Python has no codec to make them with).
    assert euc_tw.decode(b"\xea\xc4\xd9\xd7\xc4\xcb\xcc\xa8, " * 9) == ("維基大典, " * 9, "euc_tw")
    assert euc_tw.decode(b"\xea\xc4" * 20 + b"\x8e\xa2\xa1\xa1") == ("維" * 20 + "\ufffd", "euc_tw")
    assert euc_tw.decode(b"\x8e\xa2\xa1\xa1" * 9) is None


def test_a_few_broken_bytes_do_not_turn_utf8_into_something_else() -> None:
    data = ("Größe " * 100).encode() + b"\xff" + ("Änderung " * 100).encode()
    text, decoder = decode(data)
    assert decoder == "utf-8"
    assert text.count("\ufffd") == 1
    assert "Größe" in text
    assert "Änderung" in text


def test_ansi_escapes_are_not_iso_2022() -> None:
    assert decode(b"\x1b[1mbold\x1b(B plain")[0] == "\x1b[1mbold\x1b(B plain"


def test_empty_input_is_empty_text() -> None:
    assert decode(b"") == ("", "utf-8")


def test_a_long_line_with_a_late_legacy_byte_is_fast() -> None:
    data = b"x" * 3_000_000 + GERMAN.encode("cp1252") + b" y" * 1000
    started = time.perf_counter()
    text, _ = decode(data)
    assert GERMAN in text
    assert time.perf_counter() - started < 2
