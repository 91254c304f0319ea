"""Answering: minted passages in, a checked and cited answer out.

Deltas first, then exactly one terminal event, whatever happens; closing the stream early cancels the
generator. Without passages the generator is not called at all.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator as PythonGenerator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from seamline.errors import GenerationError, SeamlineError
from seamline.generate.citations import CitationParser
from seamline.generate.prompt import ABSTENTION, QA, Prompt, PromptOptions, Template, build_prompt
from seamline.generate.resolve import resolve
from seamline.ports import Generator, SentenceSplitter, SupportChecker, TokenCounter
from seamline.types import (
    Answer,
    AnswerCompleted,
    AnswerDelta,
    AnswerEvent,
    AnswerFailed,
    Chunk,
    Citation,
    Confidence,
    GenerationPiece,
    GenerationRequest,
    Passage,
    RerankedPassages,
    Usage,
)

_log = logging.getLogger(__name__)
_Stream = PythonGenerator[AnswerDelta, None, Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How answers are prompted and checked."""

    prompt: PromptOptions
    unsupported: Literal["mark", "remove"]
    template: Template = QA

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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
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


def stream_answer(
    question: str,
    passages: RerankedPassages,
    *,
    generator: Generator,
    checker: SupportChecker,
    splitter: SentenceSplitter,
    options: AnswerOptions,
    tokens: TokenCounter | None = None,
    nonce: str | None = None,
    trace_id: str | None = None,
) -> Iterator[AnswerEvent]:
    """Answer as a stream of events; the deltas joined are the text of the completed answer.

    Where unsupported sentences are removed, the text is held back until it has been checked.

    Raises:
        TypeError: at once, when ``passages`` were not minted by ``rerank/``.
    """
    request = _Request(
        question=question,
        passages=passages,
        generator=generator,
        checker=checker,
        splitter=splitter,
        options=options,
        tokens=tokens,
        nonce=nonce,
        trace_id=trace_id,
    )
    return _events(request)


def answer(
    question: str,
    passages: RerankedPassages,
    *,
    generator: Generator,
    checker: SupportChecker,
    splitter: SentenceSplitter,
    options: AnswerOptions,
    tokens: TokenCounter | None = None,
    nonce: str | None = None,
    trace_id: str | None = None,
) -> Answer:
    """Answer at once.

    Raises:
        TypeError: when ``passages`` were not minted by ``rerank/``.
        GenerationError: when the generator failed.
        TransientProviderError: when it failed in a way that may pass.
    """
    request = _Request(
        question=question,
        passages=passages,
        generator=generator,
        checker=checker,
        splitter=splitter,
        options=options,
        tokens=tokens,
        nonce=nonce,
        trace_id=trace_id,
    )
    stream = _stream(request)
    while True:
        try:
            next(stream)
        except StopIteration as stop:
            done: Answer = stop.value
            return done
        except SeamlineError:
            raise
        except Exception as error:
            raise _unexpected(generator, error) from error


def _events(request: _Request) -> Iterator[AnswerEvent]:
    try:
        completed = yield from _stream(request)
    except SeamlineError as error:
        yield AnswerFailed(error=type(error).__name__, message=error.message, hint=error.hint)
        return
    except Exception as error:  # a provider's own fault must still end the stream with one terminal event
        _log.error("generator %s raised %s", request.generator.name, type(error).__name__)
        failure = _unexpected(request.generator, error)
        yield AnswerFailed(error=type(failure).__name__, message=failure.message, hint=failure.hint)
        return
    yield AnswerCompleted(answer=completed)


def _unexpected(generator: Generator, error: Exception) -> GenerationError:
    # The type only: a foreign exception's text may hold a key or a document.
    return GenerationError(
        f"the generator {generator.name!r} raised {type(error).__name__}", hint="this is a fault in the provider"
    )


def _stream(request: _Request) -> _Stream:
    if not request.passages:
        near = len(request.passages.rejected)
        reason = f"no passage was admitted; {near} came near and passed no gate" if near else "no passage was found"
        return (yield from _abstain(request, reason, chunks=[scored.chunk for scored in request.passages.rejected]))
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
    hold = request.options.unsupported == "remove"
    for text in _generated(request, prompt, parser, heard):
        if not hold:
            yield AnswerDelta(text=text)
    generated = time.perf_counter()
    timings = {"generate": (generated - begun) * 1000}
    near_chunks = [passage.chunk for passage in request.passages]
    if heard.abstained is not None:
        return (yield from _abstain(request, heard.abstained, near_chunks, prompt, heard.usage, timings))
    cited = parser.result()
    if not cited.text.strip() and not cited.removed:
        raise GenerationError(f"the generator {request.generator.name!r} returned no text", hint="try again")
    found = resolve(cited, prompt.passages, checker=request.checker, splitter=request.splitter, remove=hold)
    timings["verify"] = (time.perf_counter() - generated) * 1000
    if not found.text.strip():
        reason = "no sentence of the generated answer was supported by its passages"
        return (yield from _abstain(request, reason, near_chunks, prompt, heard.usage, timings))
    if hold:
        yield AnswerDelta(text=found.text)
    said_nothing = found.text.strip() == ABSTENTION
    base = _answer(request, found.text, prompt, heard.usage, timings)
    if said_nothing:
        reason = "the generator found no answer in the passages"
        return replace(base, abstained=True, reason=reason, nearest=_titles(near_chunks))
    return replace(
        base,
        citations=found.citations,
        unsupported=found.unsupported,
        removed_citations=cited.removed,
        confidence=_confidence(found.citations, prompt.passages),
    )


def _generated(request: _Request, prompt: Prompt, parser: CitationParser, heard: _Heard) -> Iterator[str]:
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
        heard.abstained = piece.abstained if piece.abstained is not None else heard.abstained
        said = said or bool(piece.text)
        if said and heard.abstained is not None:
            raise GenerationError(
                "the generator gave text and abstained from answering", hint="this is a fault in the provider"
            )
        yield piece.text


def _abstain(
    request: _Request,
    reason: str,
    chunks: Sequence[Chunk],
    prompt: Prompt | None = None,
    usage: Usage | None = None,
    timings: Mapping[str, float] | None = None,
) -> _Stream:
    yield AnswerDelta(text=ABSTENTION)
    base = _answer(request, ABSTENTION, prompt, usage or Usage(), timings or {})
    return replace(base, abstained=True, reason=reason, nearest=_titles(chunks))


def _answer(request: _Request, text: str, prompt: Prompt | None, usage: Usage, timings: Mapping[str, float]) -> Answer:
    return Answer(
        question=request.question,
        text=text,
        provider=request.generator.name,
        model=request.generator.model,
        stand_in=request.generator.stand_in,
        usage=usage,
        dropped_passages=prompt.dropped if prompt else (),
        prompt_sha256=prompt.sha256 if prompt else None,
        prompt_nonce=prompt.nonce if prompt else None,
        template=prompt.template if prompt else None,
        trace_id=request.trace_id,
        timings=timings,
    )


def _titles(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chunk.title or chunk.source_uri or chunk.document_id for chunk in chunks))


def _confidence(citations: Sequence[Citation], passages: Sequence[Passage]) -> Confidence | None:
    """From the gates of the cited passages alone; ``None`` without citations or where a gate is not set."""
    flags = {passages[citation.number - 1].confident for citation in citations}
    if not flags or None in flags:
        return None
    return "confident" if flags == {True} else "uncertain"
