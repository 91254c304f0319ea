from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from seamline.errors import GenerationError, TransientProviderError
from seamline.generate.answer import answer, stream_answer
from seamline.generate.prompt import ABSTENTION
from seamline.types import (
    Answer,
    AnswerCompleted,
    AnswerDelta,
    AnswerEvent,
    AnswerFailed,
    GenerationPiece,
    Page,
    RerankedPassages,
    Support,
    Usage,
)
from seamline.verify.support import check
from support.generate import (
    NONCE,
    PlainSplitter,
    ScriptedGenerator,
    make_chunk,
    make_passage,
    options_with,
    passages_of,
    seal,
)

BEES, WASPS = "Bees dance in the hive. Bees hum.", "Wasps build 12 nests."


def parts(generator: ScriptedGenerator, **settings: object) -> dict[str, Any]:
    return {
        "generator": generator,
        "checker": check,
        "splitter": PlainSplitter(),
        "options": options_with(**settings),
        "nonce": NONCE,
    }


def ask(
    *pieces: str | GenerationPiece | Exception, passages: RerankedPassages | None = None, **settings: object
) -> Answer:
    given = passages if passages is not None else passages_of(BEES, WASPS)
    return answer("What do bees do?", given, **parts(ScriptedGenerator(pieces), **settings))


def events_of(*pieces: str | GenerationPiece | Exception, **settings: object) -> list[AnswerEvent]:
    return list(stream_answer("q", passages_of(BEES, WASPS), **parts(ScriptedGenerator(pieces), **settings)))


def cited(made: Answer) -> list[tuple[str, int, str, Support]]:
    return [(made.text[c.answer_start : c.answer_end], c.number, c.quote, c.support) for c in made.citations]


def test_a_cited_answer_carries_exact_spans() -> None:
    made = ask("Bees dance in the ", "hive [", "1]. Wasps build", " 12 nests [2].")
    assert cited(made) == [
        ("Bees dance in the hive [1].", 1, "Bees dance in the hive.", "supported"),
        ("Wasps build 12 nests [2].", 2, "Wasps build 12 nests.", "supported"),
    ]
    first = made.citations[0]
    assert ("Before. " + BEES)[first.char_start : first.char_end] == first.quote
    assert (first.document_id, first.chunk_id, first.title) == ("doc1", "doc1-0", "Title 1")
    assert first.document_sha256 == passages_of(BEES)[0].chunk.document_sha256
    assert made.unsupported == ()
    assert not made.abstained


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Bees hum [1]. Wasps build 12 nests [2].", [1, 2]),
        ("Bees hum.[1] Wasps build 12 nests.[2]", [1, 2]),
        ("Bees hum. [1] Wasps build 12 nests. [2]", [1, 2]),
        ("- Bees hum [1]\n- Wasps build 12 nests [2]", [1, 2]),
        ("[1] Bees hum.\n[2] Wasps build 12 nests.", [1, 2]),
        ("Bees hum【1】。\n\nWasps build 12 nests [2]\n", [1, 2]),
    ],
)
def test_marks_belong_to_their_sentence_wherever_they_stand(text: str, numbers: list[int]) -> None:
    made = ask(text)
    assert [c.number for c in made.citations] == numbers
    assert [c.support for c in made.citations] == ["supported", "supported"]
    assert "Bees" in made.text[made.citations[0].answer_start : made.citations[0].answer_end]
    assert "Wasps" in made.text[made.citations[1].answer_start : made.citations[1].answer_end]


def test_two_passages_for_one_sentence_are_two_citations() -> None:
    made = ask("Bees hum [1][2].")
    assert [(c.number, c.support) for c in made.citations] == [(1, "supported"), (2, "unsupported")]
    assert made.unsupported == ()


def test_rule_12_unknown_marks_are_removed_and_their_sentences_flagged() -> None:
    made = ask("Bees hum [1]. Bees sing [7].")
    assert made.text == "Bees hum [1]. Bees sing."
    assert made.removed_citations == 1
    assert [made.text[start:end] for start, end in made.unsupported] == ["Bees sing."]


def test_rule_12_the_page_is_that_of_the_cited_span() -> None:
    chunk = make_chunk(
        BEES,
        pages=(
            Page(index=0, label="i", char_start=0, char_end=24),
            Page(index=1, label="ii", char_start=24, char_end=99),
        ),
    )
    made = ask(
        "Bees hum [1]. Bees dance in the hive [1]. Bees dance in the hive. Bees hum [1].",
        passages=seal([make_passage(chunk)]),
    )
    assert [[page.label for page in c.pages] for c in made.citations] == [["ii"], ["i"], ["ii"]]
    parent = replace(make_passage(chunk), shown_text="Bees fly. " + BEES, shown_start=0)
    outside = ask("Bees fly [1].", passages=seal([replace(parent, chunk=replace(chunk, char_start=10, char_end=43))]))
    assert outside.citations[0].pages == ()


def test_an_unsupported_sentence_is_marked_by_default() -> None:
    made = ask("Bees hum [1]. Wasps build 13 nests [2].")
    assert made.text == "Bees hum [1]. Wasps build 13 nests [2]."
    assert [c.support for c in made.citations] == ["supported", "unsupported"]
    assert [made.text[start:end] for start, end in made.unsupported] == ["Wasps build 13 nests [2]."]


def test_an_unsupported_sentence_is_removed_on_request_and_never_streamed() -> None:
    pieces = ("Wasps build 13 nests [2]. ", "Bees hum [1]. I think.")
    events = events_of(*pieces, unsupported_sentences="remove")
    streamed = "".join(event.text for event in events if isinstance(event, AnswerDelta))
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    made = last.answer
    assert streamed == made.text == " Bees hum [1]. I think."
    assert cited(made) == [("Bees hum [1].", 1, "Bees hum.", "supported")]
    assert [made.text[start:end] for start, end in made.unsupported] == ["I think."]


def test_when_every_sentence_is_removed_the_answer_abstains() -> None:
    made = ask("Wasps build 13 nests [2].", unsupported_sentences="remove")
    assert (made.text, made.abstained, made.citations) == (ABSTENTION, True, ())
    assert "supported" in str(made.reason)


def test_rule_11_without_passages_it_abstains_and_calls_no_model() -> None:
    generator = ScriptedGenerator(["never"])
    rejected = [make_chunk("Near.", name="near", title="Near miss"), make_chunk("Far.", name="far")]
    made = answer("q", seal([], rejected), **parts(generator), trace_id="t1")
    assert generator.requests == []
    assert (made.text, made.abstained) == ("The documents do not answer this.", True)
    assert made.nearest == ("Near miss", "file:///far.md")
    assert made.citations == ()
    assert made.reason == "no passage was admitted; 2 came near and passed no gate"
    assert made.prompt_sha256 is None
    assert made.trace_id == "t1"


def test_rule_11_a_generator_may_abstain_in_its_own_way_or_in_the_words_of_the_prompt() -> None:
    own = ask(GenerationPiece(abstained="nothing fits", usage=Usage(prompt_tokens=3)))
    words = ask(ABSTENTION + "\n")
    assert own.abstained
    assert own.reason == "nothing fits"
    assert own.usage.prompt_tokens == 3
    assert words.abstained
    for made in (own, words):
        assert made.nearest == ("Title 1", "Title 2")
        assert made.citations == ()
        assert made.unsupported == ()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [((True, True), "confident"), ((True, False), "uncertain"), ((True, None), None), ((None, None), None)],
)
def test_rule_10_confidence_comes_from_the_gates_of_the_cited_passages(
    flags: tuple[bool | None, ...], expected: str | None
) -> None:
    passages = seal(
        [
            make_passage(make_chunk(text, name=f"d{rank}"), rank, confident=flag, score=0.99, kind="fused")
            for rank, (text, flag) in enumerate(zip((BEES, WASPS), flags, strict=True), start=1)
        ]
    )
    assert ask("Bees hum [1]. Wasps build 12 nests [2].", passages=passages).confidence == expected


@pytest.mark.parametrize("passages", [[], (), None, [make_passage(make_chunk(BEES))], "text"])
def test_only_minted_passages_cross_the_seam(passages: object) -> None:
    generator = ScriptedGenerator(["never"])
    with pytest.raises(TypeError, match="RerankedPassages"):
        answer("q", passages, **parts(generator))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="RerankedPassages"):
        stream_answer("q", passages, **parts(generator))  # type: ignore[arg-type]
    assert generator.requests == []


def test_rule_30_deltas_join_to_the_text_and_one_terminal_event_ends_the_stream() -> None:
    events = events_of("\n Bees ", "hum [", "1", "]. [", "9] Done", " [2", "x")
    assert all(isinstance(event, AnswerDelta) for event in events[:-1])
    last = events[-1]
    assert isinstance(last, AnswerCompleted)
    assert "".join(event.text for event in events[:-1] if isinstance(event, AnswerDelta)) == last.answer.text


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (GenerationError("broke", hint="mend it"), "GenerationError"),
        (TransientProviderError("busy", hint="wait"), "TransientProviderError"),
        (RuntimeError("sk-secret"), "GenerationError"),
    ],
)
def test_rule_30_a_fault_ends_the_stream_with_one_failure(
    fault: Exception, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    events = events_of("Bees ", fault)
    assert [type(event) for event in events] == [AnswerDelta, AnswerFailed]
    failed = events[-1]
    assert isinstance(failed, AnswerFailed)
    assert failed.error == error
    assert failed.hint
    assert "sk-secret" not in failed.message + caplog.text


def test_the_plain_call_raises_instead() -> None:
    with pytest.raises(GenerationError, match="broke"):
        ask(GenerationError("broke"))
    with pytest.raises(TransientProviderError, match="busy"):
        ask("Bees", TransientProviderError("busy"))
    with pytest.raises(GenerationError, match="failed with RuntimeError"):
        ask(RuntimeError("x"))


@pytest.mark.parametrize("pieces", [(), ("",), ("  \n",), ("Bees.", GenerationPiece(abstained="no"))])
def test_silence_and_contradiction_are_errors(pieces: tuple[str | GenerationPiece, ...]) -> None:
    with pytest.raises(GenerationError) as caught:
        ask(*pieces)
    assert caught.value.hint


def test_rule_30_closing_the_stream_cancels_the_generator() -> None:
    generator = ScriptedGenerator(["Bees ", "hum ", "for ever."])
    stream = stream_answer("q", passages_of(BEES), **parts(generator))
    assert next(stream) == AnswerDelta(text="Bees")
    assert not generator.closed
    stream.close()  # type: ignore[attr-defined]
    assert generator.closed


def test_the_answer_records_what_it_was_made_from() -> None:
    generator = ScriptedGenerator(
        [GenerationPiece(text="Bees hum [1].", usage=Usage(prompt_tokens=9, completion_tokens=2))]
    )
    made = answer("q", passages_of(BEES, "word " * 1000), **parts(generator, prompt_tokens=400))
    assert made.dropped_passages == ("doc2-0",)
    assert made.usage == Usage(prompt_tokens=9, completion_tokens=2)
    assert (made.provider, made.stand_in, made.template, made.prompt_nonce) == ("scripted", True, "qa", NONCE)
    assert [passage.chunk.text for passage in generator.requests[0].passages] == [BEES]
    assert made.prompt_sha256
    assert set(made.timings) == {"generate", "verify"}


def test_a_checker_that_points_outside_its_source_is_an_error() -> None:
    def broken(sentence: str, source: str) -> tuple[Support, int, int]:
        del sentence
        return "supported", 0, len(source) + 1

    settings = parts(ScriptedGenerator(["Bees hum [1]."])) | {"checker": broken}
    with pytest.raises(GenerationError):
        answer("q", passages_of(BEES), **settings)
