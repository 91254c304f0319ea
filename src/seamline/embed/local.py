"""all-MiniLM-L6-v2 on this machine's CPU: no key, no server, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

from seamline.embed import weights
from seamline.embed.built import Precision, built_model
from seamline.embed.edges import bare_question, checked, refuse_blank
from seamline.embed.encoder import Encoder, load_tokenizer
from seamline.embed.prefixes import family_of
from seamline.types import EmbeddingSpace

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from seamline.ports import Matrix, Vector

DIMENSION = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """``threads`` is the number of texts (or batches) embedded side by side; 0 is one a core."""

    precision: Precision
    threads: int
    model_dir: Path | None
    cache_dir: Path


def create(settings: Mapping[str, object]) -> LocalEmbedder:
    """From ``embedding_precision``, ``embedding_threads``, ``embedding_model_dir`` and ``model_cache_dir``."""
    model_dir, cache_dir = weights.directories(settings)
    return LocalEmbedder(
        LocalOptions(
            precision=cast("Precision", settings["embedding_precision"]),
            threads=cast("int", settings["embedding_threads"]),
            model_dir=model_dir,
            cache_dir=cache_dir,
        )
    )


class LocalEmbedder:
    """Loads on first use; safe to call from several threads.

    int8 embeds one text a call: dynamic quantisation scales by the whole input, so that batch mates would
    change a row. Its vectors are the same bits whatever the batch, the order or the number of threads.
    float32 batches; its rows agree to 1e-6.
    """

    def __init__(self, options: LocalOptions) -> None:
        """Nothing is read yet; a missing model is reported at first use."""
        self._options = options
        self._lock = Lock()
        self._encoder: Encoder | None = None
        self._counter: Tokenizer | None = None
        self._space = _space(options.precision)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of this precision; int8 and float32 are two spaces."""
        return self._space

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Float32 of shape ``(n, 384)``, unit rows.

        Raises ``EmbeddingError`` (a blank text, a value that is not finite), ``ModelMissingError`` and
        ``WeightsMismatchError``.
        """
        return self._embed(texts, self._space.passage_prefix)

    def embed_query(self, text: str) -> Vector:
        """Float32 of shape ``(384,)``, of the bare question; raises as :meth:`embed_passages` does."""
        vector: Vector = self._embed([bare_question(text)], self._space.query_prefix)[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each passage before it is cut to the window, prefix and special tokens included."""
        with self._lock:
            if self._counter is None:
                tokenizer = self._files().tokenizer
                weights.verify_file(tokenizer, weights.TOKENIZER_FILE)
                self._counter = load_tokenizer(tokenizer, None)
        prefix = self._space.passage_prefix
        return [len(self._counter.encode(prefix + text).ids) for text in texts]

    def _embed(self, texts: Sequence[str], prefix: str) -> Matrix:
        import numpy as np

        refuse_blank(texts, "local")
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        vectors = self._loaded().encode([prefix + text for text in texts])
        return checked(vectors, len(texts), DIMENSION, "local")

    def _loaded(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                files = self._files()
                files.verify()
                self._encoder = Encoder(
                    built_model(files, self._options.cache_dir, self._options.precision),
                    files.tokenizer,
                    window=cast("int", self._space.window),
                    batched=self._options.precision == "float32",
                    threads=self._options.threads,
                )
            return self._encoder

    def _files(self) -> weights.ModelFiles:
        return weights.locate(self._options.model_dir, self._options.cache_dir)


def _space(precision: Precision) -> EmbeddingSpace:
    family = family_of(weights.MODEL)
    if family is None:
        raise LookupError(f"{weights.MODEL} is missing from the prefix table")
    return EmbeddingSpace(
        provider="local",
        model=weights.MODEL,
        revision=weights.REVISION,
        dimension=DIMENSION,
        pooling=family.pooling,
        normalised=family.normalised,
        query_prefix=family.query_prefix,
        passage_prefix=family.passage_prefix,
        window=family.window,
        precision=precision,
        languages=frozenset({"en"}),
    )
