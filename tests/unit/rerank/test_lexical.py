from __future__ import annotations

import pytest

from seamline.errors import TransientProviderError
from seamline.ports import Reranker
from seamline.registry import factory
from seamline.rerank.lexical import create


@pytest.mark.parametrize(
    ("query", "text", "score"),
    [
        ("Harbour gate?", "The GATE of the harbour", 1.0),
        ("harbour gate", "the gate", 0.5),
        ("gate gate harbour", "harbour", 0.5),
        ("gate", "gateway", 0.0),
        ("???", "???", 0.0),
        ("水闸", "关闭水闸", 1.0),
        ("gate", "", 0.0),
    ],
)
def test_the_score_is_the_share_of_the_questions_words(query: str, text: str, score: float) -> None:
    assert create({}).rerank(query, [text], deadline_s=1) == [score]


def test_it_says_that_it_is_a_stand_in() -> None:
    reranker = factory("rerankers", "lexical")({})
    assert isinstance(reranker, Reranker)
    assert (reranker.name, reranker.stand_in) == ("lexical", True)


def test_a_deadline_that_has_passed_is_an_error() -> None:
    with pytest.raises(TransientProviderError, match="deadline"):
        create({}).rerank("q", ["a"], deadline_s=0)
