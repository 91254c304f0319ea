"""The local model: reproducible, counted, and built once."""

from __future__ import annotations

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from seamline.embed import built, encoder, weights
from seamline.embed.local import create
from seamline.errors import EmbeddingError, ModelMissingError
from seamline.fingerprint import space_fingerprint
from seamline.ports import TokenCounter
from support import embed as support

pytestmark = pytest.mark.skipif(not support.MODEL_PRESENT, reason=support.NO_MODEL)

TEXTS = [
    "The pump is oiled once a year.",
    "What does error AX-200/7 mean?",
    "Réponses en français",
    "word " * 400,
    "?!",
    "A contract ends after thirty days unless it is renewed in writing. " * 4,
]


def test_the_space_says_what_it_is() -> None:
    space = support.local("int8").space
    assert (space.provider, space.model, space.dimension, space.window) == ("local", "all-MiniLM-L6-v2", 384, 256)
    assert (space.precision, space.pooling, space.normalised) == ("int8", "mean", True)
    assert space.revision == weights.REVISION
    assert space.covers("en-GB")
    assert not space.covers("fr")


def test_rule_02_int8_and_float32_are_two_spaces() -> None:
    int8, float32 = support.local("int8"), support.local("float32")
    assert space_fingerprint(int8.space) != space_fingerprint(float32.space)
    cosines = (int8.embed_passages(TEXTS) * float32.embed_passages(TEXTS)).sum(axis=1)
    assert 0.97 < cosines.min() < 0.9999


def test_meaning_is_closer_than_words() -> None:
    question, near, far = support.local("int8").embed_passages(
        ["How do I get my money back?", "Refunds are issued within ten days.", "My back hurts. How do I get up?"]
    )
    assert question @ near > question @ far


@examples(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.sampled_from(TEXTS) | st.text(min_size=1, max_size=40).filter(lambda t: t.strip()), max_size=6),
    seed=st.integers(0, 1000),
    threads=st.sampled_from([1, 2, 3]),
)
def test_int8_vectors_are_the_same_bits_in_any_batch(texts: list[str], seed: int, threads: int) -> None:
    texts = [text for text in texts if not any("\ud800" <= c <= "\udfff" for c in text)]
    alone = [support.local("int8", 1).embed_passages([text])[0] for text in texts]
    order = random.Random(seed).sample(range(len(texts)), len(texts))
    together = support.local("int8", threads).embed_passages([texts[position] for position in order])
    for row, position in zip(together, order, strict=True):
        assert row.tobytes() == alone[position].tobytes()


def test_float32_rows_agree_in_any_batch() -> None:
    embedder = support.local("float32")
    alone = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    np.testing.assert_allclose(embedder.embed_passages(TEXTS * 3), np.tile(alone, (3, 1)), atol=2e-6)


def test_threads_may_share_an_embedder_that_is_not_loaded_yet() -> None:
    embedder = create(support.settings())
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, TEXTS * 2))
    assert np.array_equal(vectors, [support.local().embed_query(text) for text in TEXTS * 2])


def test_rule_22_tokens_are_counted_before_the_cut() -> None:
    embedder = support.local()
    assert isinstance(embedder, TokenCounter)
    assert embedder.count_tokens(["word", "word " * 400, ""]) == [3, 402, 2]
    window = embedder.space.window
    assert window is not None
    inside = "word " * (window - 2)
    assert embedder.count_tokens([inside]) == [window]
    assert np.array_equal(embedder.embed_query(inside), embedder.embed_query(inside + "another thing altogether"))


def test_rule_34_case_space_and_punctuation() -> None:
    embedder = support.local()
    plain = embedder.embed_query("which pump leaks")
    for variant in ("  Which PUMP leaks\n", "which pump leaks?", "Which pump leaks ?!", "which pump leaks…"):
        assert np.array_equal(plain, embedder.embed_query(variant)), variant
    assert np.isfinite(embedder.embed_query("???")).all()


def test_a_model_that_is_missing_is_said_at_first_use(tmp_path: Path) -> None:
    embedder = create(support.settings() | {"embedding_model_dir": str(tmp_path)})
    assert embedder.space.dimension == 384
    with pytest.raises(ModelMissingError):
        embedder.embed_query("hello")
    with pytest.raises(ModelMissingError):
        embedder.count_tokens(["hello"])


def test_a_damaged_built_model_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    files = weights.locate(None, support.CACHE_DIR)
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"not a graph")
    with pytest.raises(EmbeddingError, match="cannot be loaded") as caught:
        encoder.Encoder(path, files.tokenizer, window=256, batched=False, threads=1)
    assert "delete the file" in str(caught.value.hint)


def test_two_processes_build_one_model(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from seamline.embed import built, weights\n"
        "cache = Path(sys.argv[1]); print(built.built_model(weights.locate(None, cache), cache, 'float32'))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    printed = {process.communicate()[0].strip() for process in started}
    assert [process.returncode for process in started] == [0, 0]
    assert {Path(line) for line in printed} == set((tmp_path / "built").glob("*.onnx"))
    assert list((tmp_path / "built").glob(".build-*")) == []


def test_a_model_is_built_once_and_gives_the_same_vectors(tmp_path: Path) -> None:
    embedder = create(support.settings() | {"model_cache_dir": str(tmp_path)})
    assert np.array_equal(embedder.embed_passages(TEXTS[:2]), support.local().embed_passages(TEXTS[:2]))
    (path,) = (tmp_path / "built").glob("*.onnx")
    written = path.stat().st_mtime_ns
    files = weights.locate(None, tmp_path)
    assert built.built_model(files, tmp_path, "int8") == path
    assert path.stat().st_mtime_ns == written


def test_a_built_model_is_named_after_all_that_decides_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {built._stamp("int8"), built._stamp("float32")}
    monkeypatch.setattr("seamline.embed.bert.BUILDER_VERSION", 999)
    names |= {built._stamp("int8"), built._stamp("float32")}
    assert len(names) == 4


@given(st.lists(st.integers(1, 256), max_size=60), st.sampled_from([1, 8]))
def test_batches_hold_every_text_once_within_their_bounds(lengths: list[int], most: int) -> None:
    batches = list(encoder._batches(lengths, most))
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= most
        assert len(batch) == 1 or len(batch) * max(lengths[p] for p in batch) <= encoder.BATCH_TOKENS
    flat = [lengths[position] for batch in batches for position in batch]
    assert all(one >= next_ for one, next_ in pairwise(flat))


def test_importing_the_provider_loads_no_runtime() -> None:
    code = (
        "import sys, seamline.embed.local, seamline.embed.hash, seamline.embed.weights, seamline.embed.pull\n"
        "print(sorted({'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
