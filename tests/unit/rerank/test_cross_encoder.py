from __future__ import annotations

from pathlib import Path

import pytest

import seamline
from seamline.conformance.rerankers import RerankerConformance
from seamline.errors import ModelMissingError, ProviderError, SettingsError, TransientProviderError
from seamline.ports import Reranker
from seamline.rerank.cross_encoder import CrossEncoder, create
from seamline.settings import Settings
from support import cross_encoder

TEXTS = ["lunch is served", "the harbour gate opens at six", "tariffs are listed"]
QUERY = "when does the harbour gate open"


def made(folder: Path, **changes: object) -> CrossEncoder:
    return create(Settings.model_validate({"rerank_model_dir": str(folder), **changes}).mapping())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder.write(tmp_path_factory.mktemp("tiny"))


class TestConformance(RerankerConformance):
    @pytest.fixture(autouse=True)
    def _model(self, folder: Path) -> None:
        self.folder = folder

    def make_reranker(self) -> Reranker:
        return made(self.folder)


def test_two_labels_score_by_their_difference(folder: Path, tmp_path: Path) -> None:
    one = made(folder).rerank(QUERY, TEXTS, deadline_s=60)
    two = made(cross_encoder.write(tmp_path / "two", labels=2)).rerank(QUERY, TEXTS, deadline_s=60)
    assert two == pytest.approx([2 * score for score in one], rel=1e-4, abs=1e-4)
    assert one.index(max(one)) == 1


def test_the_window_cuts_and_is_part_of_the_identity(folder: Path) -> None:
    narrow, wide = made(folder, rerank_window=16), made(folder)
    assert narrow.fingerprint != wide.fingerprint
    long = ["lunch " * 40 + "harbour gate"]
    assert narrow.rerank(QUERY, long, deadline_s=60) != wide.rerank(QUERY, long, deadline_s=60)


def test_other_weights_are_another_identity(folder: Path, tmp_path: Path) -> None:
    other = made(cross_encoder.write(tmp_path / "other", seed=8))
    assert other.fingerprint != made(folder).fingerprint


def test_rule_20_what_is_no_cross_encoder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="rerank_model_dir"):
        create(Settings.model_validate({}).mapping())
    with pytest.raises(ModelMissingError, match=r"tokenizer\.json"):
        made(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ProviderError, match="cannot be loaded"):
        made(tmp_path).rerank(QUERY, TEXTS, deadline_s=60)
    with pytest.raises(ProviderError, match="shape"):
        made(cross_encoder.write(tmp_path / "three", labels=3)).rerank(QUERY, TEXTS, deadline_s=60)


def test_rule_20_a_deadline_that_passed_is_a_timeout(folder: Path) -> None:
    with pytest.raises(TransientProviderError, match="0 of 3"):
        made(folder).rerank(QUERY, TEXTS, deadline_s=0)


def test_a_question_is_reranked_by_the_model(folder: Path, tmp_path: Path) -> None:
    for place, text in enumerate(TEXTS):
        (tmp_path / f"{place}.txt").write_text(text, encoding="utf-8")
    settings = {
        "store": "memory", "embedding_provider": "hash", "rerank_timeout_s": 60.0,
        "rerank_provider": "cross_encoder", "rerank_model_dir": str(folder),
    }  # fmt: skip
    with seamline.open(settings=settings) as kb:
        kb.index(tmp_path)
        result = kb.retrieve(QUERY)
    assert (result.rerank.status, result.rerank.provider) == ("applied", "cross_encoder")
    assert result.passages[0].chunk.text == TEXTS[1]
    assert result.passages[0].score_kind == "rerank"
