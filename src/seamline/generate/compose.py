"""One answer from prompt to checked text, as deltas with the answer as the generator's return value."""

from __future__ import annotations

import time
from collections.abc import Generator as PythonGenerator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal

from seamline.errors import GenerationError
from seamline.generate.citations import CitationParser
from seamline.generate.prompt import ABSTENTION, QA, Prompt, PromptOptions, Template, build_prompt, load_template
from seamline.generate.resolve import resolve
from seamline.ports import Generator, SentenceSplitter, SupportChecker, TokenCounter
from seamline.types import (
    Answer,
    AnswerDelta,
    Chunk,
    Citation,
    Confidence,
    GenerationPiece,
    GenerationRequest,
    Passage,
    RerankedPassages,
    Usage,
)

Composing = PythonGenerator[AnswerDelta, None, Answer]
"""Deltas; the return value is the answer, whose text is the deltas joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How answers are prompted and checked. Prices are for a million tokens, ``None`` where unknown."""

    prompt: PromptOptions
    unsupported: Literal["mark", "remove"]
    template: Template = QA
    input_price: float | None = None
    output_price: float | None = None

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> AnswerOptions:
        """Pick the options out of all settings."""
        return cls(
            prompt=PromptOptions(
                budget=settings["prompt_tokens"],  # type: ignore[arg-type]
                layout=settings["prompt_layout"],  # type: ignore[arg-type]
                include_scores=bool(settings["include_scores"]),
                include_sources=bool(settings["include_sources"]),
            ),
            unsupported=settings["unsupported_sentences"],  # type: ignore[arg-type]
            template=load_template(str(settings["prompt_template"]), settings["prompt_template_file"]),  # type: ignore[arg-type]
            input_price=settings["generation_input_price"],  # type: ignore[arg-type]
            output_price=settings["generation_output_price"],  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """All that one answer is made from. Raises ``TypeError`` for passages that ``rerank/`` did not mint."""

    question: str
    passages: RerankedPassages
    generator: Generator
    checker: SupportChecker
    splitter: SentenceSplitter
    options: AnswerOptions
    tokens: TokenCounter | None
    nonce: str | None
    trace_id: str | None

    def __post_init__(self) -> None:
        given: object = self.passages
        if not isinstance(given, RerankedPassages):
            raise TypeError(
                f"generation takes RerankedPassages as minted by seamline.rerank, not {type(given).__name__}"
            )


@dataclass(slots=True)
class _Heard:
    """What the generator said, beside its text."""

    usage: Usage = field(default_factory=Usage)
    abstained: str | None = None
    score: float | None = None
    milliseconds: float = 0.0


def compose(request: AnswerRequest) -> Composing:
    """Generate, parse, check. Closing it early closes the generator's stream."""
    if not request.passages:
        chunks = [scored.chunk for scored in request.passages.rejected]
        near = f"{len(chunks)} came near and passed no gate" if chunks else "none was near"
        return (yield from _abstain(request, f"no passage was admitted; {near}", chunks))
    prompt = build_prompt(
        request.question,
        request.passages,
        options=request.options.prompt,
        template=request.options.template,
        tokens=request.tokens,
        nonce=request.nonce,
    )
    begun = time.perf_counter()
    parser = CitationParser(len(prompt.passages))
    heard = _Heard()
    with closing(_generated(request, prompt, parser, heard)) as texts:
        for text in texts:
            if request.options.unsupported == "mark":
                yield AnswerDelta(text=text)
    heard.milliseconds = (time.perf_counter() - begun) * 1000
    return (yield from _checked(request, prompt, parser, heard))


def _checked(request: AnswerRequest, prompt: Prompt, parser: CitationParser, heard: _Heard) -> Composing:
    """From all that was heard to the answer; with ``remove`` this is where its text is let through."""
    chunks = [passage.chunk for passage in request.passages]
    timings = {"generate": heard.milliseconds}
    if heard.abstained is not None:
        return (yield from _abstain(request, heard.abstained, chunks, prompt, heard, timings))
    cited = parser.result()
    if not cited.text.strip() and not cited.removed:
        raise GenerationError(f"the generator {request.generator.name!r} returned no text", hint="try again")
    remove = request.options.unsupported == "remove"
    begun = time.perf_counter()
    found = resolve(cited, prompt.passages, checker=request.checker, splitter=request.splitter, remove=remove)
    timings["verify"] = (time.perf_counter() - begun) * 1000
    if not found.text.strip():
        reason = "no sentence of the generated answer was supported by its passages"
        return (yield from _abstain(request, reason, chunks, prompt, heard, timings))
    if remove:
        yield AnswerDelta(text=found.text)
    made = _answer(request, found.text, prompt, heard, timings)
    if found.text.strip() == ABSTENTION:
        reason = "the generator found no answer in the passages"
        return replace(made, abstained=True, reason=reason, nearest=_titles(chunks))
    return replace(
        made,
        citations=found.citations,
        unsupported=found.unsupported,
        removed_citations=cited.removed,
        confidence=_confidence(found.citations, prompt.passages),
    )


def _generated(
    request: AnswerRequest, prompt: Prompt, parser: CitationParser, heard: _Heard
) -> PythonGenerator[str, None, None]:
    """The generator's text as far as it is certain. Leaving early closes the generator's own stream."""
    pieces = request.generator.stream(
        GenerationRequest(question=request.question, passages=prompt.passages, prompt=prompt.text)
    )
    try:
        yield from filter(None, (parser.feed(text) for text in _texts(pieces, heard)))
        if rest := parser.close():
            yield rest
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()


def _texts(pieces: Iterable[GenerationPiece], heard: _Heard) -> Iterator[str]:
    said = False
    for piece in pieces:
        heard.usage = piece.usage or heard.usage
        heard.score = piece.score if piece.score is not None else heard.score
        heard.abstained = piece.abstained if piece.abstained is not None else heard.abstained
        said = said or bool(piece.text)
        if said and heard.abstained is not None:
            raise GenerationError(
                "the generator gave text and abstained from answering", hint="this is a fault in the provider"
            )
        yield piece.text


def _abstain(
    request: AnswerRequest,
    reason: str,
    chunks: Sequence[Chunk],
    prompt: Prompt | None = None,
    heard: _Heard | None = None,
    timings: Mapping[str, float] | None = None,
) -> Composing:
    yield AnswerDelta(text=ABSTENTION)
    base = _answer(request, ABSTENTION, prompt, heard or _Heard(), timings or {})
    return replace(base, abstained=True, reason=reason, nearest=_titles(chunks))


def _answer(
    request: AnswerRequest, text: str, prompt: Prompt | None, heard: _Heard, timings: Mapping[str, float]
) -> Answer:
    return Answer(
        question=request.question,
        text=text,
        provider=request.generator.name,
        model=request.generator.model,
        stand_in=request.generator.stand_in,
        score=heard.score,
        usage=_priced(heard.usage, request.options),
        dropped_passages=prompt.dropped if prompt else (),
        prompt_sha256=prompt.sha256 if prompt else None,
        prompt_nonce=prompt.nonce if prompt else None,
        template=prompt.template if prompt else None,
        trace_id=request.trace_id,
        timings=timings,
    )


def _priced(usage: Usage, options: AnswerOptions) -> Usage:
    """The usage with its cost; a cost is stated only where both counts and both prices are known."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if None in (prompt, completion, options.input_price, options.output_price):
        return usage
    cost = ((prompt or 0) * (options.input_price or 0.0) + (completion or 0) * (options.output_price or 0.0)) / 1e6
    return replace(usage, cost=cost)


def _titles(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chunk.title or chunk.source_uri or chunk.document_id for chunk in chunks))


def _confidence(citations: Sequence[Citation], passages: Sequence[Passage]) -> Confidence | None:
    """From the gates of the cited passages alone; ``None`` without citations or where a gate is not set."""
    flags = {passages[citation.number - 1].confident for citation in citations}
    if not flags or None in flags:
        return None
    return "confident" if flags == {True} else "uncertain"
