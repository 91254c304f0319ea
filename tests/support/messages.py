"""Events of Anthropic's messages protocol, for the chat server of ``support.generate``."""

from __future__ import annotations

import json


def sse(name: str, **body: object) -> bytes:
    """One named server-sent event."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **body})}\n\n".encode()


def start(prompt_tokens: int = 12) -> bytes:
    """The event that opens a message."""
    message: dict[str, object] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": prompt_tokens, "output_tokens": 0},
    }
    return sse("message_start", message=message) + sse(
        "content_block_start", index=0, content_block={"type": "text", "text": ""}
    )


def text(piece: object) -> bytes:
    """A piece of the answer."""
    return sse("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})


def finish(reason: str, completion_tokens: int = 3) -> bytes:
    """Why the message ended, with its usage."""
    return sse("content_block_stop", index=0) + sse(
        "message_delta",
        delta={"stop_reason": reason, "stop_sequence": None},
        usage={"output_tokens": completion_tokens},
    )


STOP = sse("message_stop")
