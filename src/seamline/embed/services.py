"""``openai``, ``tei``, ``cohere``, ``voyage``, ``jina``: what each service's protocol looks like."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seamline.embed.remote import Kind, LostError, RefusedError, RemoteEmbedder, RemoteOptions

if TYPE_CHECKING:
    import httpx

_BODY_BYTES = 256 << 20
_SAID_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A path, a request's body, and where its vectors are in the answer."""

    path: str
    body: Callable[[RemoteOptions, Sequence[str], Kind], Mapping[str, object]]
    vectors: Callable[[Any], Sequence[Sequence[float]]]


def indexed(answer: Any) -> list[Sequence[float]]:  # noqa: ANN401
    """The vectors of ``data`` in the order of their indices; raises ``ValueError`` for repeated or impossible ones."""
    entries = answer["data"]
    by_index = {entry["index"]: entry["embedding"] for entry in entries}
    if sorted(by_index) != list(range(len(entries))):
        raise ValueError("indices")
    return [by_index[place] for place in range(len(entries))]


TEI = Protocol(
    path="/embed",
    body=lambda _options, texts, _kind: {"inputs": texts, "truncate": True, "normalize": True},
    vectors=list,
)
"""Text Embeddings Inference; prefixes are added here."""
COHERE = Protocol(
    path="/v2/embed",
    body=lambda options, texts, kind: {
        "model": options.model,
        "texts": texts,
        "input_type": "search_query" if kind == "query" else "search_document",
        "embedding_types": ["float"],
        **({"output_dimension": options.dimensions} if options.dimensions else {}),
    },
    vectors=lambda answer: list(answer["embeddings"]["float"]),
)
VOYAGE = Protocol(
    path="/v1/embeddings",
    body=lambda options, texts, kind: {
        "model": options.model,
        "input": texts,
        "input_type": "query" if kind == "query" else "document",
        **({"output_dimension": options.dimensions} if options.dimensions else {}),
    },
    vectors=indexed,
)
JINA = Protocol(
    path="/v1/embeddings",
    body=lambda options, texts, kind: {
        "model": options.model,
        "input": texts,
        "task": "retrieval.query" if kind == "query" else "retrieval.passage",
        "embedding_type": "float",
        **({"dimensions": options.dimensions} if options.dimensions else {}),
    },
    vectors=indexed,
)


class HttpCall:
    """One POST a request, over a client that is kept."""

    def __init__(self, protocol: Protocol, options: RemoteOptions) -> None:
        import httpx

        self._protocol, self._options = protocol, options
        headers = {"Authorization": f"Bearer {options.key}"} if options.key is not None else {}
        self._client = httpx.Client(timeout=options.timeout_s, follow_redirects=False, trust_env=False, headers=headers)
        weakref.finalize(self, self._client.close)

    def __call__(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:
        """As ``seamline.embed.remote.Call`` says."""
        import httpx

        body = self._protocol.body(self._options, texts, kind)
        try:
            with self._client.stream("POST", self._options.base_url + self._protocol.path, json=body) as response:
                if response.status_code != 200:
                    raise _refused(response)
                answer = json.loads(_bounded(response))
        except httpx.TimeoutException:
            raise LostError(f"no answer within {self._options.timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise LostError(f"cannot be reached ({type(error).__name__})") from None
        try:
            return self._protocol.vectors(answer)
        except (LookupError, TypeError) as error:
            raise ValueError("shape") from error


def _refused(response: httpx.Response) -> RefusedError:
    said = b""
    for piece in response.iter_bytes():
        said += piece
        if len(said) > _SAID_BYTES:
            break
    return RefusedError(
        response.status_code, said=said.decode("utf-8", "replace"), after=_seconds(response.headers.get("Retry-After"))
    )


def _bounded(response: httpx.Response) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > _BODY_BYTES:
            raise ValueError("size")
    return bytes(data)


def _seconds(value: str | None) -> float | None:
    return float(value) if value is not None and value.isdecimal() else None


class OpenAiCall:
    """The official client; its own retries are off, so that one place decides."""

    def __init__(self, options: RemoteOptions) -> None:
        import openai

        self._options = options
        self._client = openai.OpenAI(
            base_url=options.base_url, api_key=options.key or "none", timeout=options.timeout_s, max_retries=0
        )
        weakref.finalize(self, self._client.close)

    def __call__(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:  # noqa: ARG002
        """As ``seamline.embed.remote.Call`` says; the protocol does not tell query from passage."""
        import openai

        asked: dict[str, Any] = {"dimensions": self._options.dimensions} if self._options.dimensions else {}
        try:
            answer = self._client.embeddings.create(
                model=self._options.model, input=list(texts), encoding_format="float", **asked
            )
            return indexed({"data": [{"index": item.index, "embedding": item.embedding} for item in answer.data]})
        except openai.APITimeoutError:
            raise LostError(f"no answer within {self._options.timeout_s:g} s") from None
        except openai.APIConnectionError:
            raise LostError("cannot be reached") from None
        except openai.APIStatusError as error:
            after = _seconds(error.response.headers.get("Retry-After"))
            raise RefusedError(error.status_code, said=str(error.body)[:_SAID_BYTES], after=after) from None
        except (openai.APIResponseValidationError, AttributeError, TypeError) as error:
            raise ValueError("shape") from error


def create_openai(settings: Mapping[str, object]) -> RemoteEmbedder:
    """OpenAI, or any server of its protocol at ``embedding_base_url``."""
    official = "https://api.openai.com/v1"
    options = RemoteOptions.of(settings, "openai", official=official, model="text-embedding-3-small")
    return RemoteEmbedder("openai", options, OpenAiCall(options))


def create_tei(settings: Mapping[str, object]) -> RemoteEmbedder:
    """Text Embeddings Inference at ``embedding_base_url``; ``embedding_model`` is what it serves, for its prefixes."""
    options = RemoteOptions.of(settings, "tei", official=None, model=None)
    return RemoteEmbedder("tei", options, HttpCall(TEI, options))


def create_cohere(settings: Mapping[str, object]) -> RemoteEmbedder:
    """Cohere, or a service of its shape."""
    options = RemoteOptions.of(settings, "cohere", official="https://api.cohere.com", model="embed-v4.0")
    return RemoteEmbedder("cohere", options, HttpCall(COHERE, options), tasks=("search_query", "search_document"))


def create_voyage(settings: Mapping[str, object]) -> RemoteEmbedder:
    """Voyage AI, or a service of its shape."""
    options = RemoteOptions.of(settings, "voyage", official="https://api.voyageai.com", model="voyage-3.5")
    return RemoteEmbedder("voyage", options, HttpCall(VOYAGE, options), tasks=("query", "document"))


def create_jina(settings: Mapping[str, object]) -> RemoteEmbedder:
    """Jina AI, or a service of its shape."""
    options = RemoteOptions.of(settings, "jina", official="https://api.jina.ai", model="jina-embeddings-v3")
    return RemoteEmbedder("jina", options, HttpCall(JINA, options), tasks=("retrieval.query", "retrieval.passage"))
