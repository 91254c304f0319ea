"""Two hundred made questions that name one thing exactly: the document that holds it comes first."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import seamline

SEED = 20260
PARTS = ("valve", "pump", "gate", "sensor", "hoist", "motor", "relay", "filter")
NOUNS = ("pressure", "shaft", "seal", "bearing", "water", "cable", "winch", "panel", "rotor", "brake", "lamp", "hull")
VERBS = ("drops", "turns", "leaks", "closes", "heats", "stops", "slips", "opens")


@dataclass(frozen=True)
class Made:
    """One document's name and text, and what names it and no other: each only a little off its neighbour's."""

    name: str
    text: str
    identifier: str
    code: str
    phrase: str


def made() -> Iterator[Made]:
    draw = random.Random(SEED)
    phrases: set[str] = set()
    for number in range(50):
        part = PARTS[number % len(PARTS)]
        identifier = f"{part[:2].upper()}-{4000 + number // 8}/{number % 8}"
        code = f"ERR_{part.upper()}-{100 + number}"
        while (phrase := " ".join((*draw.sample(NOUNS, 2), draw.choice(VERBS)))) in phrases:
            pass
        phrases.add(phrase)
        words = phrase.split()
        noise = " or ".join(draw.choices((*NOUNS, *VERBS, *words), k=40))
        text = f"The {part} {identifier} reports {code} when the {phrase} at night. Notes: {noise}."
        yield Made(f"{number:03}.txt", text, identifier, code, phrase)


MADE = tuple(made())


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[seamline.KnowledgeBase]:
    folder: Path = tmp_path_factory.mktemp("made")
    for item in MADE:
        (folder / item.name).write_text(item.text, encoding="utf-8")
    home = tmp_path_factory.mktemp("home")
    with seamline.open("exact", home=home, settings={"embedding_provider": "hash"}) as opened:
        assert len(opened.index(folder).added) == len(MADE)
        yield opened


QUESTIONS = {
    "identifier": [(item.name, f"What does the manual say about {item.identifier}?") for item in MADE],
    "error code": [(item.name, item.code.lower()) for item in MADE],
    "error code in a sentence": [(item.name, f"machine shows {item.code}, water and cable are fine") for item in MADE],
    "quoted phrase": [(item.name, f'"{item.phrase}"') for item in MADE],
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_rule_16_what_is_named_exactly_comes_first(kb: seamline.KnowledgeBase, kind: str) -> None:
    asked = QUESTIONS[kind]
    found = {}
    for name, question in asked:
        result = kb.retrieve(question, mode="keyword", limit=1, overrides={"near_duplicate_jaccard": 1.0})
        found[question] = (name, [str(passage.chunk.document_id) for passage in result.passages])
    wrong = {q: hit for q, (name, hit) in found.items() if len(hit) != 1 or not hit[0].endswith(name)}
    assert len(found) == 50
    assert not wrong
