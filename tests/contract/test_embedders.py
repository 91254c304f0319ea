"""The embedder contract on our embedders, and on embedders that each break one promise."""

from __future__ import annotations

import pytest

from seamline.conformance.embedders import EmbedderConformance
from seamline.embed.hash import HashEmbedder
from seamline.ports import Embedder
from support import embed as support
from support.embedding_server import remote, service

needs_model = pytest.mark.skipif(not support.MODEL_PRESENT, reason=support.NO_MODEL)


class TestHash(EmbedderConformance):
    tolerance = 0.0

    def embedder(self) -> Embedder:
        return HashEmbedder()


@needs_model
class TestLocalInt8(EmbedderConformance):
    tolerance = 0.0

    def embedder(self) -> Embedder:
        return support.local("int8")


@needs_model
class TestLocalFloat32(EmbedderConformance):
    def embedder(self) -> Embedder:
        return support.local("float32")


class TestMultilingual(EmbedderConformance):
    def embedder(self) -> Embedder:
        return support.multilingual()


@pytest.mark.parametrize("name", ["openai", "tei", "cohere", "voyage", "jina"])
class TestRemote:
    """The contract over the wire, each test with a service of its own."""

    @pytest.mark.parametrize("check", sorted(n for n in dir(EmbedderConformance) if n.startswith("test_")))
    def test_contract(self, name: str, check: str) -> None:
        with service() as running:
            suite = EmbedderConformance()
            made = remote(running, name)
            suite.embedder = lambda: made  # type: ignore[method-assign]
            getattr(suite, check)()


BROKEN = {
    support.ChangesItsSpace: "test_space_is_stable",
    support.LosesARow: "test_one_row_a_text",
    support.DropsTheTail: "test_rows_have_the_declared_dimension",
    support.GivesFloat64: "test_values_are_float32",
    support.GivesNan: "test_values_are_finite",
    support.IsNotNormalised: "test_rows_are_unit_vectors_where_declared",
    support.Drifts: "test_the_same_text_has_the_same_vector",
    support.SeesOneText: "test_different_texts_have_different_vectors",
    support.SortsItsBatch: "test_order_does_not_matter",
    support.DependsOnBatchMates: "test_batch_mates_do_not_matter",
    support.RefusesEmoji: "test_unusual_text_is_embedded",
    support.ForgetsItsPrefix: "test_rule_21_prefixes_are_applied",
    support.HearsTheQuestionMark: "test_rule_34_closing_punctuation_of_a_question_does_not_matter",
    support.EmbedsNothing: "test_blank_text_is_refused",
}

CHECKS = sorted(name for name in dir(EmbedderConformance) if name.startswith("test_"))


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_embedder_fails_by_the_name_of_what_it_breaks(broken: type[support.Wrapped]) -> None:
    failed = []
    for check in CHECKS:
        suite = EmbedderConformance()
        suite.embedder = broken  # type: ignore[method-assign]
        try:
            getattr(suite, check)()
        except Exception:
            failed.append(check)
    assert failed == [BROKEN[broken]]


def test_every_check_has_an_embedder_that_breaks_it() -> None:
    assert sorted(BROKEN.values()) == CHECKS
