"""Every fault that an endpoint can have, played by a local server to each provider that speaks to one."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from seamline.errors import GenerationError, ProviderError, SettingsError, TransientProviderError
from seamline.generate import anthropic, openai
from seamline.generate.answer import answer, stream_answer
from seamline.ports import Generator
from seamline.settings import Settings
from seamline.types import AnswerCompleted, AnswerDelta, AnswerFailed, GenerationRequest, Usage
from seamline.verify.support import check
from support import messages
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
REQUEST = GenerationRequest(question="q", passages=(), prompt="the prompt")


@dataclass(frozen=True)
class Protocol:
    """How one provider is made, and what a server says to it."""

    create: Callable[..., Generator]
    path: str
    text: bytes
    good: tuple[bytes, ...]
    cut: tuple[bytes, ...]
    refusal: tuple[bytes, ...]
    early: tuple[bytes, ...]
    malformed: tuple[bytes, ...]
    inside: bytes


PROTOCOLS = {
    "openai": Protocol(
        create=openai.create,
        path="/v1",
        text=event("Bees "),
        good=(event("Bees dance "), event("[1]."), event(finish="stop"), event(usage=(12, 3)), DONE),
        cut=(event("Bees"), event(finish="length"), DONE),
        refusal=(event("Bees"), event(finish="content_filter"), DONE),
        early=(event("Bees"), DONE),
        malformed=(event("Bees"), b"data: {not json\n\n", DONE),
        inside=b'data: {"error": {"message": "boom ' + KEY.encode() + b'"}}\n\n',
    ),
    "anthropic": Protocol(
        create=anthropic.create,
        path="",
        text=messages.start() + messages.text("Bees "),
        good=(
            messages.start(),
            messages.text("Bees dance "),
            messages.text("[1]."),
            messages.finish("end_turn"),
            messages.STOP,
        ),
        cut=(messages.start(), messages.text("Bees"), messages.finish("max_tokens"), messages.STOP),
        refusal=(messages.start(), messages.text("Bees"), messages.finish("refusal"), messages.STOP),
        early=(messages.start(), messages.text("Bees"), messages.finish("end_turn")),
        malformed=(messages.start(), messages.text(7), messages.finish("end_turn"), messages.STOP),
        inside=messages.sse("error", error={"type": "invalid_request_error", "message": f"boom {KEY}"}),
    ),
}


@pytest.fixture(params=sorted(PROTOCOLS))
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


def generator(protocol: Protocol, url: str | None, **changes: object) -> Generator:
    given = {
        "generation_base_url": url and url.removesuffix("/v1") + protocol.path,
        "generation_model": "small",
        "generation_timeout_s": 5.0,
        "generation_retries": 0,
        "generation_api_key": SecretStr(KEY),
    }
    mapping = Settings.model_validate(given | changes).mapping()
    return protocol.create(mapping, scorer=None, splitter=PlainSplitter(), space_fingerprint=None)


def text_of(made: Generator) -> tuple[str, Usage | None]:
    pieces = list(made.stream(REQUEST))
    return "".join(piece.text for piece in pieces), pieces[-1].usage


def test_text_usage_and_cost(protocol: Protocol) -> None:
    with chat_server(sends(*protocol.good)) as server:
        made = answer(
            "What do bees do?",
            passages_of("Bees dance."),
            generator=generator(protocol, server.url),
            checker=check,
            splitter=PlainSplitter(),
            options=options_with(generation_input_price=2.0, generation_output_price=10.0),
        )
    assert made.text == "Bees dance [1]."
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (12, 3)
    assert made.usage.cost == pytest.approx(54e-6)
    assert server.bodies[0]["model"] == "small"
    assert server.bodies[0]["max_tokens"] == 1024
    assert KEY in str(server.headers[0])


def test_a_local_endpoint_needs_no_key_and_gets_none(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "from-the-environment")
    with chat_server(sends(*protocol.good)) as server:
        text_of(generator(protocol, server.url, generation_api_key=None))
    assert "from-the-environment" not in str(server.headers[0])
    assert not {"authorization", "x-api-key"} & set(server.headers[0])


def test_rule_23_a_429_is_retried_after_the_time_it_names(protocol: Protocol) -> None:
    scripts = refuses(429, retry_after_ms="5"), refuses(503, retry_after_ms="5"), sends(*protocol.good)
    with chat_server(*scripts) as server:
        text, _ = text_of(generator(protocol, server.url, generation_retries=2))
    assert text == "Bees dance [1]."
    assert len(server.bodies) == 3


def test_retries_are_bounded(protocol: Protocol) -> None:
    with (
        chat_server(refuses(429, retry_after_ms="5")) as server,
        pytest.raises(TransientProviderError, match="answered 429"),
    ):
        text_of(generator(protocol, server.url, generation_retries=2))
    assert len(server.bodies) == 3


FAULTS: dict[str, tuple[Callable[[Protocol], Script], type[ProviderError], str]] = {
    "500": (lambda _: refuses(500, f"while handling {KEY}"), TransientProviderError, "answered 500"),
    "401": (lambda _: refuses(401, f"Incorrect key: {KEY}"), GenerationError, "answered 401"),
    "404": (lambda _: refuses(404), GenerationError, "answered 404"),
    "context": (lambda _: refuses(400, "prompt is too long: 9 tokens > 8 maximum"), GenerationError, "as longer than"),
    "truncated": (lambda p: sends(*p.early), TransientProviderError, "ended its stream early"),
    "disconnect": (lambda p: breaks_after(p.text), TransientProviderError, "broke off"),
    "cut": (lambda p: sends(*p.cut), GenerationError, "cut the answer"),
    "refusal": (lambda p: sends(*p.refusal), GenerationError, "stopped with"),
    "malformed": (lambda p: sends(*p.malformed), GenerationError, "malformed"),
    "error inside": (lambda p: sends(p.text, p.inside), GenerationError, "reported an error"),
    "endless": (lambda p: drips(p.text, 0.01), TransientProviderError, "longer than"),
    "silent": (lambda _: says_nothing(), TransientProviderError, r"within 0\.4 s"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_rule_30_every_fault_is_one_terminal_event_with_a_hint_and_without_the_key(
    protocol: Protocol, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    script, kind, message = FAULTS[fault]
    caplog.set_level(logging.INFO)
    slow = {"generation_timeout_s": 0.4} if fault in ("endless", "silent") else {}
    with chat_server(script(protocol)) as server:
        made = generator(protocol, server.url, **slow)
        with pytest.raises(kind, match=message) as caught:
            text_of(made)
        events = list(
            stream_answer(
                "What do bees do?",
                passages_of("Bees dance."),
                generator=made,
                checker=check,
                splitter=PlainSplitter(),
                options=options_with(),
            )
        )
    assert type(caught.value) is kind
    assert caught.value.hint
    assert all(isinstance(item, AnswerDelta) for item in events[:-1])
    last = events[-1]
    assert isinstance(last, AnswerFailed)
    assert (last.error, last.hint) == (kind.__name__, caught.value.hint)
    assert KEY not in "".join(traceback.format_exception(caught.value)) + caplog.text + repr(events)


def test_the_stream_of_a_good_answer_ends_with_its_completion(protocol: Protocol) -> None:
    with chat_server(sends(*protocol.good)) as server:
        events = list(
            stream_answer(
                "What do bees do?",
                passages_of("Bees dance."),
                generator=generator(protocol, server.url),
                checker=check,
                splitter=PlainSplitter(),
                options=options_with(),
            )
        )
    assert [type(item) for item in events[-1:]] == [AnswerCompleted]
    assert "".join(item.text for item in events if isinstance(item, AnswerDelta)) == "Bees dance [1]."


def test_rule_30_closing_early_closes_the_connection(protocol: Protocol) -> None:
    with chat_server(drips(protocol.text, 0.001)) as server:
        stream = generator(protocol, server.url).stream(REQUEST)
        next(iter(stream))
        assert not server.client_left.is_set()
        stream.close()  # type: ignore[attr-defined]
        assert server.client_left.wait(5)
        assert not server.released.is_set()


def test_an_unreachable_endpoint_says_where(protocol: Protocol) -> None:
    with chat_server(refuses(500)) as server:
        url = server.url
    with pytest.raises(TransientProviderError, match=r"127\.0\.0\.1.* cannot be reached"):
        text_of(generator(protocol, url))


def test_the_official_endpoint_needs_a_key_and_every_endpoint_a_model(protocol: Protocol) -> None:
    with pytest.raises(SettingsError, match="needs a key"):
        generator(protocol, None, generation_api_key=None)
    with pytest.raises(SettingsError, match="needs a model"):
        generator(protocol, "http://127.0.0.1:1/v1", generation_model=None)


@pytest.mark.parametrize(
    ("kind", "expected"), [("overloaded_error", TransientProviderError), ("invalid_request_error", GenerationError)]
)
def test_an_anthropic_error_event_that_may_pass_says_so(kind: str, expected: type[ProviderError]) -> None:
    inside = messages.sse("error", error={"type": kind, "message": "x"})
    with chat_server(sends(messages.start(), inside)) as server, pytest.raises(expected) as caught:
        text_of(generator(PROTOCOLS["anthropic"], server.url))
    assert type(caught.value) is expected
