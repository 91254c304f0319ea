"""A generator that invents marks, numbers, names and quotations never gets one through unnoticed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from seamline.fingerprint import sha256_text
from seamline.generate.answer import answer
from seamline.types import Answer, RerankedPassages
from seamline.verify.resolve import resolve
from seamline.verify.support import check
from support.generate import PlainSplitter, ScriptedGenerator, make_chunk, make_passage, options_with, seal

BEFORE = "Preface.\n\n"
TEXTS = (
    "The tower was finished in 1889 by the company of Gustave Eiffel. It is 330 metres tall. Rust weighs 1.5 tonnes.",
    "Honey bees dance in the hive. “The dance tells the way”, wrote Karl von Frisch in 1927.",
    "蜜蜂在蜂巢里跳舞。北京有21个公园。",
)
DOCUMENTS = {f"doc{rank}": BEFORE + text for rank, text in enumerate(TEXTS, start=1)}
INVENTED = {
    "number": ["1890", "33", "2.5", "-330", "330%", "7,300", "٤٢", "1"],
    "name": ["Zorblax", "Marie Curie", "O'Hara", "NASA", "Ärmel"],
    "quotation": ["“bees never sleep”", '"a tower of lead"', "«la tour»", "「公園」"],
}
FRAMES = (
    "The tower was finished in 1889 by the company of Gustave Eiffel and {x} with it",
    "It is 330 metres tall, {x}",
    "Honey bees dance {x} in the hive",
    "Karl von Frisch wrote {x} in 1927",
    "In 1889 {x} came",
)
OPTIONS = {mode: options_with(unsupported_sentences=mode) for mode in ("mark", "remove")}


def passages() -> RerankedPassages:
    return seal(
        [
            make_passage(make_chunk(text, name=f"doc{rank}", before=BEFORE, language=None), rank)
            for rank, text in enumerate(TEXTS, start=1)
        ]
    )


def ask(pieces: list[str], mode: str = "mark") -> Answer:
    return answer(
        "q",
        passages(),
        generator=ScriptedGenerator(pieces),
        checker=check,
        splitter=PlainSplitter(),
        options=OPTIONS[mode],
    )


def assert_every_citation_resolves(made: Answer) -> None:
    for citation in made.citations:
        text = DOCUMENTS[citation.document_id]
        assert text[citation.char_start : citation.char_end] == citation.quote != ""
        assert citation.document_sha256 == sha256_text(text)
        assert resolve(citation, text).status == "intact"
        assert f"[{citation.number}]" in made.text[citation.answer_start : citation.answer_end]
        assert citation.char_start >= len(BEFORE)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([(kind, x) for kind, values in INVENTED.items() for x in values]),
    st.sampled_from(FRAMES),
    st.integers(1, 3),
    st.sampled_from(["{s} [{n}].", "{s}. [{n}]", "{s} [{n}][9].", "[{n}] {s}."]),
)
def test_rule_12_an_invented_fact_is_never_supported(fact: tuple[str, str], frame: str, number: int, form: str) -> None:
    made = ask([form.format(s=frame.format(x=fact[1]), n=number)])
    assert_every_citation_resolves(made)
    assert [citation.support for citation in made.citations if citation.support == "supported"] == []
    assert made.unsupported or all(citation.support == "partial" for citation in made.citations)


SENTENCES = st.sampled_from(
    [*TEXTS[0].split(". "), *TEXTS[1].split(", "), *TEXTS[2].split("。"), "`x[1]`", "```\n[2]\n```\n", "I think so"]
)
MARKS = st.sampled_from(
    ["[1]", "[2]", "[3]", "[1,2]", "[0]", "[4]", "[99]", "【3】", "[1-9]", "[", "]", "[[9]1]", "[x]"]
)
PIECES = st.lists(
    st.one_of(SENTENCES, MARKS, st.sampled_from([". ", "\n", " ", "。", "\n\n", "- "])), min_size=1, max_size=25
)


@settings(max_examples=300, deadline=None)
@given(PIECES.filter(lambda pieces: bool("".join(pieces).strip())), st.sampled_from(["mark", "remove"]))
def test_rule_12_every_emitted_citation_resolves_byte_for_byte(pieces: list[str], mode: str) -> None:
    made = ask(pieces, mode)
    assert_every_citation_resolves(made)
    if mode == "remove":
        assert not made.abstained or made.citations == ()
    for start, end in made.unsupported:
        assert 0 <= start < end <= len(made.text)
    covered = [(citation.answer_start, citation.answer_end) for citation in made.citations] + list(made.unsupported)
    if not made.abstained:
        # Every word is in a cited sentence or in one that is reported.
        for place, char in enumerate(made.text):
            assert not char.isalpha() or any(start <= place < end for start, end in covered)
