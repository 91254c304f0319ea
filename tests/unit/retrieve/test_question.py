from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.errors import QueryError
from seamline.retrieve.question import Question, embedding_text, validate, validate_limit


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "empty"),
        (" \t\n\u2003", "empty"),
        ("a\0b", "NUL byte at character 1"),
        ("ab\ud800", "lone surrogate at character 2"),
        ("x" * 21, "21 characters"),
        ([], "no user turn"),
        ([{"role": "assistant", "content": "hi"}], "no user turn"),
        ([{"role": "user", "content": ["part"]}], "is a list, not text"),
        ([{"role": "user", "content": "  "}], "empty"),
        ([{"role": "user", "content": "y" * 30}], "30 characters"),
        (["hi"], "the query is a list"),
        (7, "the query is a int"),
        (b"bytes", "the query is a bytes"),
    ],
)
def test_what_is_not_a_question_is_refused(query: object, message: str) -> None:
    with pytest.raises(QueryError, match=message) as raised:
        validate(query, 20)  # type: ignore[arg-type]
    assert raised.value.hint


def test_the_limit_of_a_question_names_its_setting() -> None:
    with pytest.raises(QueryError, match="SEAMLINE_QUERY_CHARS"):
        validate("four", 3)
    assert validate("four", 4) == "four"


def test_the_question_of_a_chat_is_its_last_user_turn() -> None:
    turns = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "answer"},
        {"role": "user", "content": " second? "},
        {"role": "assistant", "content": "..."},
    ]
    assert validate(turns, 100) == "second?"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_rule_15_any_other_text_is_a_question(text: str) -> None:
    if text.strip():
        assert validate(text, 10_000) == text.strip()
    else:
        with pytest.raises(QueryError):
            validate(text, 10_000)


@pytest.mark.parametrize(
    "variant", ["what is C#", "  what is C# ", "what is C#?", "what  is\nC#?!", "what is C#\u3002", "what is C# …"]
)
def test_rule_34_what_is_embedded_does_not_depend_on_whitespace_or_the_sentence_end(variant: str) -> None:
    assert embedding_text(variant) == "what is C#"


@pytest.mark.parametrize("kept", ["???", "C++", "node.js", ".NET", "f(x)", "¿qué", "100%"])
def test_what_is_embedded_keeps_what_belongs_to_words(kept: str) -> None:
    assert embedding_text(kept) == kept


@pytest.mark.parametrize("limit", [0, -1, True, 2.0, None, "5"])
def test_a_limit_is_a_positive_whole_number(limit: object) -> None:
    with pytest.raises(QueryError, match="limit is"):
        validate_limit(limit, 100)  # type: ignore[arg-type]


def test_a_limit_above_the_pool_names_the_setting_to_raise() -> None:
    assert validate_limit(100, 100) == 100
    with pytest.raises(QueryError, match="SEAMLINE_CANDIDATE_K to 101"):
        validate_limit(101, 100)


def test_a_question_is_analysed_in_at_least_one_language() -> None:
    with pytest.raises(ValueError, match="keyword_languages"):
        Question(text="x", language=None, keyword_languages=())
