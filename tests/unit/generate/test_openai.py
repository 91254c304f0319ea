from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from seamline.errors import GenerationError, ProviderError, SettingsError, TransientProviderError
from seamline.generate.answer import stream_answer
from seamline.generate.openai import OpenAIGenerator, create
from seamline.settings import Settings
from seamline.types import AnswerCompleted, AnswerDelta, AnswerFailed, GenerationRequest, Usage
from seamline.verify.support import check
from support.generate import (
    DONE,
    PlainSplitter,
    Script,
    breaks_after,
    chat_server,
    drips,
    event,
    options_with,
    passages_of,
    refuses,
    says_nothing,
    sends,
)

KEY = "sk-planted-secret-4711"
OK = sends(event("Bees dance "), event("[1]."), event(finish="stop"), event(usage=(12, 3)), DONE)
REQUEST = GenerationRequest(question="q", passages=(), prompt="the prompt")


def generator(url: str | None, **changes: object) -> OpenAIGenerator:
    settings = {
        "generation_base_url": url,
        "generation_model": "small",
        "generation_timeout_s": 5.0,
        "generation_retries": 2,
        "generation_api_key": SecretStr(KEY),
    }
    mapping = Settings.model_validate(settings | changes).mapping()
    return create(mapping, scorer=None, splitter=PlainSplitter(), space_fingerprint=None)


def text_of(made: OpenAIGenerator) -> tuple[str, Usage | None]:
    pieces = list(made.stream(REQUEST))
    return "".join(piece.text for piece in pieces), pieces[-1].usage


def test_streams_text_and_reports_usage() -> None:
    with chat_server(OK) as server:
        text, usage = text_of(generator(server.url))
    assert text == "Bees dance [1]."
    assert usage == Usage(prompt_tokens=12, completion_tokens=3)
    assert server.bodies[0]["model"] == "small"
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "the prompt"}]
    assert server.bodies[0]["max_tokens"] == 1024
    assert server.bodies[0]["temperature"] == 0.0
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_local_endpoint_needs_no_key_and_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    with chat_server(OK) as server:
        text_of(generator(server.url, generation_api_key=None))
    assert "authorization" not in server.headers[0]
    assert "from-the-environment" not in str(server.headers[0])


def test_rule_23_a_429_is_retried_after_the_time_it_names() -> None:
    with chat_server(refuses(429, retry_after_ms="5"), refuses(503, retry_after_ms="5"), OK) as server:
        text, _ = text_of(generator(server.url))
    assert text == "Bees dance [1]."
    assert len(server.bodies) == 3


def test_retries_are_bounded() -> None:
    with chat_server(refuses(429, retry_after_ms="5")) as server, pytest.raises(TransientProviderError, match="429"):
        text_of(generator(server.url))
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        (refuses(500), TransientProviderError, "answered 500"),
        (refuses(401), GenerationError, "answered 401"),
        (refuses(404), GenerationError, "answered 404"),
        (sends(event("Bees"), DONE), TransientProviderError, "ended its stream early"),
        (sends(event("Bees")), TransientProviderError, "ended its stream early"),
        (breaks_after(event("Bees")), TransientProviderError, "broke off"),
        (sends(event("Bees"), event(finish="length"), DONE), GenerationError, "cut the answer"),
        (sends(event("Bees"), event(finish="content_filter"), DONE), GenerationError, "content_filter"),
        (sends(event("Bees"), b"data: {not json\n\n", DONE), GenerationError, "malformed"),
        (sends(b'data: "text"\n\n', DONE), GenerationError, "malformed"),
        (sends(b'data: {"choices": [{}]}\n\n', DONE), GenerationError, "malformed"),
        (sends(b'data: {"choices": [{"delta": {"content": 7}}]}\n\n', DONE), GenerationError, "malformed"),
        (sends(b'data: {"error": {"message": "boom"}}\n\n'), GenerationError, "reported an error"),
    ],
)
def test_every_fault_is_an_error_with_a_hint(script: Script, kind: type[ProviderError], message: str) -> None:
    with chat_server(script) as server, pytest.raises(kind, match=message) as caught:
        text_of(generator(server.url, generation_retries=0))
    assert caught.value.hint
    assert type(caught.value) is kind


def test_a_slow_first_byte_times_out() -> None:
    with chat_server(says_nothing()) as server, pytest.raises(TransientProviderError, match=r"within 0\.2 s"):
        text_of(generator(server.url, generation_retries=0, generation_timeout_s=0.2))


def test_an_unreachable_endpoint_says_where() -> None:
    with chat_server(OK) as server:
        url = server.url
    with pytest.raises(TransientProviderError, match="cannot be reached") as caught:
        text_of(generator(url, generation_retries=0))
    assert url in str(caught.value)


@pytest.mark.parametrize("script", [OK, refuses(500), breaks_after(event("Bees")), sends(event("Bees"))])
def test_rule_30_a_stream_has_exactly_one_terminal_event(script: Script) -> None:
    with chat_server(script) as server:
        events = list(
            stream_answer(
                "What do bees do?",
                passages_of("Bees dance."),
                generator=generator(server.url, generation_retries=0),
                checker=check,
                splitter=PlainSplitter(),
                options=options_with(),
            )
        )
    assert all(isinstance(item, AnswerDelta) for item in events[:-1])
    assert isinstance(events[-1], AnswerCompleted if script is OK else AnswerFailed)


def test_a_stream_that_never_ends_times_out() -> None:
    made = {"generation_retries": 0, "generation_timeout_s": 0.3}
    with chat_server(drips(event("Bees "), 0.01)) as server, pytest.raises(TransientProviderError, match="longer than"):
        text_of(generator(server.url, **made))


def test_rule_30_closing_early_closes_the_connection() -> None:
    with chat_server(drips(event("Bees "), 0.001)) as server:
        stream = stream_answer(
            "What do bees do?",
            passages_of("Bees dance."),
            generator=generator(server.url),
            checker=check,
            splitter=PlainSplitter(),
            options=options_with(),
        )
        assert next(stream) == AnswerDelta(text="Bees")
        assert not server.client_left.is_set()
        stream.close()  # type: ignore[attr-defined]
        assert server.client_left.wait(5)
        assert not server.released.is_set()


@pytest.mark.parametrize(
    "script",
    [
        refuses(401, f"Incorrect API key provided: {KEY}"),
        refuses(500, f"while handling {KEY}"),
        sends(b'data: {"error": {"message": "bad key ' + KEY.encode() + b'"}}\n\n'),
    ],
)
def test_rule_31_the_key_is_in_no_message_traceback_or_log(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with chat_server(script) as server:
        made = generator(server.url, generation_retries=0)
        with pytest.raises(ProviderError) as caught:
            text_of(made)
    shown: Sequence[str] = traceback.format_exception(caught.value)
    assert KEY not in "".join(shown) + caplog.text + repr(made) + repr(made._options)


def test_the_official_endpoint_needs_a_key_and_every_endpoint_a_model() -> None:
    with pytest.raises(SettingsError, match="needs a key"):
        generator(None, generation_api_key=None)
    with pytest.raises(SettingsError, match="needs a model"):
        generator("http://127.0.0.1:1/v1", generation_model=None)
