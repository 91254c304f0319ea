from __future__ import annotations

from collections.abc import Sequence

import pytest

from seamline.generate import echo, extractive
from seamline.generate.answer import answer
from seamline.generate.prompt import ABSTENTION
from seamline.ports import Generator, SentenceScorer
from seamline.settings import Settings
from seamline.types import Answer, RerankedPassages
from seamline.verify.support import check
from support.generate import PlainSplitter, make_chunk, make_passage, options_with, passages_of, seal

TOWER = (
    "# Eiffel Tower\nThe tower stands in Paris. Construction of the tower was finished in 1889. Why was it built? "
    "Painters repaint it every 7 years."
)
BEES = "Bees dance in the hive. The waggle dance tells other bees where flowers are.[12] Honey keeps for years."


def create(scorer: SentenceScorer | None = None, **settings: object) -> extractive.ExtractiveGenerator:
    mapping = Settings.model_validate(settings).mapping()
    return extractive.create(mapping, scorer=scorer, splitter=PlainSplitter(), space_fingerprint=None)


def ask(question: str, passages: RerankedPassages, made: Generator | None = None) -> Answer:
    return answer(
        question,
        passages,
        generator=made or create(),
        checker=check,
        splitter=PlainSplitter(),
        options=options_with(),
    )


def test_it_answers_with_the_verbatim_sentence_and_its_citation() -> None:
    made = ask("When was the construction of the tower finished?", passages_of(BEES, TOWER))
    assert made.text == "Construction of the tower was finished in 1889. [2]"
    assert [(c.number, c.quote, c.support) for c in made.citations] == [
        (2, "Construction of the tower was finished in 1889.", "supported")
    ]
    assert made.unsupported == ()
    assert (made.provider, made.model, made.stand_in) == ("extractive", "terms-only", False)


def test_rule_11_it_abstains_when_nothing_answers() -> None:
    made = ask("Which chemical elements does the Martian atmosphere contain?", passages_of(BEES, TOWER))
    assert (made.text, made.abstained) == (ABSTENTION, True)
    assert "no sentence reaches the score" in str(made.reason)
    assert made.nearest == ("Title 1", "Title 2")


def test_similarity_is_added_where_a_scorer_is_given() -> None:
    asked: list[tuple[str, list[str]]] = []

    def scorer(question: str, sentences: Sequence[str]) -> list[float]:
        asked.append((question, list(sentences)))
        return [0.9 if "Honey" in sentence else -0.5 for sentence in sentences]

    made = ask("How long is nectar edible?", passages_of(BEES), create(scorer, extractive_min_score=0.5))
    assert made.text == "Honey keeps for years. [1]"
    assert made.model == "similarity+terms"
    assert asked[0][0] == "How long is nectar edible?"
    assert "Bees dance in the hive." in asked[0][1]


def test_neither_questions_nor_headings_are_answers() -> None:
    text = "# Why was the tower built?\nWhy was the tower built? Tower built\n\nThe tower was built for a fair."
    passages = seal([make_passage(make_chunk(text, headings=("Tower built",)))])
    assert ask("Why was the tower built?", passages).text == "The tower was built for a fair. [1]"


def test_headings_are_evidence_for_the_sentences_below_them() -> None:
    under = make_chunk("It was finished in 1889.", name="a", headings=("Eiffel Tower",))
    other = make_chunk("It was finished in 1902.", name="b", headings=("City Hall",))
    passages = seal([make_passage(other, 1), make_passage(under, 2)])
    assert ask("When was the Eiffel Tower finished?", passages).text == "It was finished in 1889. [2]"


def test_marks_of_the_document_itself_are_never_taken_for_citations() -> None:
    made = ask("What does the waggle dance tell other bees?", passages_of(BEES, TOWER), create(extractive_sentences=1))
    assert made.text == "The waggle dance tells other bees where flowers are. [1]"
    assert [c.number for c in made.citations] == [1]
    assert made.removed_citations == 0


def test_a_sentence_that_would_swallow_its_citation_is_not_quoted() -> None:
    text = "```\nThe waggle dance tells bees the way.\nOther lines of dancing bees."
    made = create(extractive_min_score=0.0, extractive_sentences=1)
    result = ask("What does the waggle dance tell?", passages_of("~~~ The waggle dance tells.", text), made)
    assert result.text == "The waggle dance tells bees the way. [2]"


def test_a_second_sentence_must_be_near_the_best_and_new() -> None:
    twice = passages_of("Bees dance in the hive.", "Bees dance in the hive.", "In the hive bees dance at noon.")
    made = ask("Where do bees dance in the hive?", twice)
    assert made.text == "Bees dance in the hive. [1]\nIn the hive bees dance at noon. [3]"
    assert [c.support for c in made.citations] == ["supported", "supported"]


@pytest.mark.parametrize("question", ["?", "what is it?", "蜜蜂？", "‽" * 50])
def test_questions_without_content_words_do_not_break_it(question: str) -> None:
    made = ask(question, passages_of(BEES, TOWER))
    assert made.abstained or made.citations


def test_limits_of_sentences_and_characters_hold() -> None:
    texts = [f"Bees dance in hive number {place}." for place in range(9)]
    one = ask("Where do bees dance?", passages_of(*texts), create(extractive_sentences=1))
    few = ask("Where do bees dance?", passages_of(*texts), create(extractive_chars=60, extractive_sentences=9))
    assert len(one.citations) == 1
    assert [c.number for c in few.citations] == [1, 2]


def test_chinese_is_matched_by_pairs_of_characters() -> None:
    passages = seal([make_passage(make_chunk("上海有9个公园。北京有21个公园。", language="zh"))])
    assert ask("北京有多少公园？", passages, create(extractive_min_score=0.3)).text.startswith("北京有21个公园。 [1]")


@pytest.mark.parametrize(
    ("scorer", "space", "given", "expected"),
    [
        (True, None, None, extractive.DEFAULT_MIN_SCORE),
        (True, "space:known", None, 0.77),
        (True, "space:other", None, extractive.DEFAULT_MIN_SCORE),
        (True, "space:known", 0.0, 0.0),
        (False, "space:known", None, extractive.DEFAULT_MIN_SCORE_TERMS),
    ],
)
def test_the_threshold_is_bound_to_its_space(
    monkeypatch: pytest.MonkeyPatch, scorer: bool, space: str | None, given: float | None, expected: float
) -> None:
    monkeypatch.setattr(extractive, "CALIBRATED_MIN_SCORES", {"space:known": 0.77})
    made = extractive.create(
        Settings.model_validate({"extractive_min_score": given}).mapping(),
        scorer=(lambda _question, sentences: [0.0] * len(sentences)) if scorer else None,
        splitter=PlainSplitter(),
        space_fingerprint=space,
    )
    assert made.options.min_score == expected


def test_echo_is_a_stand_in_that_returns_the_prompt_and_cites_nothing() -> None:
    generator = echo.create({}, scorer=None, splitter=PlainSplitter(), space_fingerprint=None)
    made = ask("Do bees ``` dance?", passages_of("Bees ````dance```` [1]."), generator)
    assert (made.provider, made.stand_in) == ("echo", True)
    assert "Question: Do bees ``` dance?" in made.text
    assert "Bees ````dance```` [1]." in made.text
    assert made.text.startswith("`````text\n")
    assert made.citations == ()
    assert made.removed_citations == 0


def test_an_identifier_that_no_passage_holds_is_not_answered_by_its_neighbour() -> None:
    passages = passages_of("Code E-114 means that the two cylinders differ.")
    assert ask("What does code E-114 mean?", passages).citations
    assert ask("What does code E-115 mean?", passages).abstained


def test_a_row_is_scored_with_the_first_row_of_its_table() -> None:
    table = "| Reach | Greatest load |\n|---|---|\n| 24 m | 14 t |\n| 30 m | 9 t |\n"
    asked: list[str] = []

    def scorer(_question: str, sentences: Sequence[str]) -> list[float]:
        asked.extend(sentences)
        return [0.0] * len(sentences)

    made = ask("greatest load at reach 30 m", passages_of(table), create(scorer, extractive_min_score=-3.0))
    assert "Title 1 | Reach | Greatest load |: | 30 m | 9 t |" in asked
    assert "| 30 m | 9 t | [1]" in made.text
