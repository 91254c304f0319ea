"""What is peculiar to OpenAI's protocol; the faults that it shares with others are in test_endpoint_faults."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from seamline.errors import GenerationError
from seamline.generate.openai import OpenAIGenerator, create
from seamline.settings import Settings
from seamline.types import GenerationRequest
from support.generate import DONE, PlainSplitter, chat_server, event, refuses, sends

REQUEST = GenerationRequest(question="q", passages=(), prompt="the prompt")


def generator(url: str) -> OpenAIGenerator:
    given = {
        "generation_base_url": url,
        "generation_model": "small",
        "generation_retries": 0,
        "generation_api_key": SecretStr("k"),
    }
    mapping = Settings.model_validate(given).mapping()
    return create(mapping, scorer=None, splitter=PlainSplitter(), space_fingerprint=None)


def test_the_prompt_is_one_user_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    with chat_server(sends(event("Bees"), event(finish="stop"), DONE)) as server:
        assert [piece.text for piece in generator(server.url).stream(REQUEST)] == ["Bees"]
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "the prompt"}]
    assert server.bodies[0]["temperature"] == 0.0
    assert "from-the-environment" not in str(server.headers[0])


@pytest.mark.parametrize(
    "body", [b'data: "text"\n\n', b'data: {"choices": [{}]}\n\n', b'data: {"choices": [{"delta": {"content": 7}}]}\n\n']
)
def test_events_of_another_shape_are_malformed(body: bytes) -> None:
    with chat_server(sends(body, DONE)) as server, pytest.raises(GenerationError, match="malformed"):
        list(generator(server.url).stream(REQUEST))


def test_a_context_that_is_too_long_names_the_setting() -> None:
    said = "This model's maximum context length is 8 tokens"
    with chat_server(refuses(400, said)) as server, pytest.raises(GenerationError) as caught:
        list(generator(server.url).stream(REQUEST))
    assert caught.value.hint == "lower prompt_tokens"
