"""Answering: minted passages in, a checked and cited answer out.

Deltas first, then exactly one terminal event, whatever happens; closing the stream early cancels the
generator. Without passages the generator is not called at all.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from seamline.errors import GenerationError, SeamlineError
from seamline.generate.compose import AnswerOptions, AnswerRequest, compose
from seamline.ports import Generator, SentenceSplitter, SupportChecker, TokenCounter
from seamline.types import Answer, AnswerCompleted, AnswerEvent, AnswerFailed, RerankedPassages

__all__ = ["AnswerOptions", "answer", "stream_answer"]

_log = logging.getLogger(__name__)


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
    request = AnswerRequest(
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
    request = AnswerRequest(
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
    stream = compose(request)
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


def _events(request: AnswerRequest) -> Iterator[AnswerEvent]:
    try:
        completed = yield from compose(request)
    except SeamlineError as error:
        yield AnswerFailed(error=type(error).__name__, message=error.message, hint=error.hint)
        return
    except Exception as error:  # a provider's own fault must still end the stream with one terminal event
        _log.error("answering with %s failed with %s", request.generator.name, type(error).__name__)
        failure = _unexpected(request.generator, error)
        yield AnswerFailed(error=type(failure).__name__, message=failure.message, hint=failure.hint)
        return
    yield AnswerCompleted(answer=completed)


def _unexpected(generator: Generator, error: Exception) -> GenerationError:
    # The type only: a foreign exception's text may hold a key or a document.
    return GenerationError(
        f"answering with the generator {generator.name!r} failed with {type(error).__name__}",
        hint="this is a fault in the generator, or in the checks of its answer",
    )
