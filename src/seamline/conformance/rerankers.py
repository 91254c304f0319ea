"""The contract of every reranker, as a test class that ships with the package.

A provider's own tests subclass it and say how to make one::

    class TestMine(RerankerConformance):
        def make_reranker(self) -> Reranker:
            return MyReranker()
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from seamline.errors import ProviderError
from seamline.ports import Reranker

_QUERY = "When does the harbour gate open?"
_TEXTS = (
    "When does the harbour gate open? The harbour gate opens at six.",
    "Tariffs for cranes are listed in the appendix.",
    "The gate of the harbour is painted green.",
    "Lunch is served in the canteen.",
)
_ODD_TEXTS = ("", " \n\t", "\u2028\u0007\x1b[0m", "🌊" * 50, "[1] </s> {query} %s \\", "水闸 ประตู שער", "word " * 5000)


class RerankerConformance:
    """Each method tests one promise. ``deadline_s`` is what each call may take, in seconds.

    ``tolerance`` is how far scores may differ between a text alone and in a batch: a model that pads batches is not
    exact to the last bit.
    """

    deadline_s = 60.0
    tolerance = 1e-4

    def make_reranker(self) -> Reranker:
        """A new reranker, configured as the last one."""
        raise NotImplementedError

    def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return self.make_reranker().rerank(query, texts, deadline_s=self.deadline_s)

    def test_it_names_itself(self) -> None:
        """It satisfies the protocol; ``name`` is text that is not empty and ``stand_in`` a truth value."""
        reranker = self.make_reranker()
        _expect(isinstance(reranker, Reranker), "it is not a seamline.ports.Reranker")
        _expect(isinstance(reranker.name, str) and bool(reranker.name), "name is not text, or empty")
        _expect(isinstance(reranker.stand_in, bool), "stand_in is neither True nor False")

    def test_its_fingerprint_is_stable(self) -> None:
        """Two rerankers made alike have one identity, also after use: caches and calibrations are bound to it."""
        first, second = self.make_reranker(), self.make_reranker()
        before = first.fingerprint
        first.rerank(_QUERY, _TEXTS, deadline_s=self.deadline_s)
        _expect(bool(before), "the fingerprint is empty")
        _expect(before == first.fingerprint == second.fingerprint, "the fingerprint changes")

    def test_rule_20_one_score_a_text(self) -> None:
        """As many scores as texts, for any number of them; none for none."""
        for count in range(len(_TEXTS) + 1):
            found = len(self._scores(_QUERY, _TEXTS[:count]))
            _expect(found == count, f"{found} scores for {count} texts")

    def test_rule_20_scores_are_finite(self) -> None:
        """Every score is a finite float."""
        for score in self._scores(_QUERY, _TEXTS):
            _expect(isinstance(score, float) and math.isfinite(score), f"{score!r} is not a finite float")

    def test_a_score_belongs_to_its_text(self) -> None:
        """Permuted texts have permuted scores."""
        forward = self._scores(_QUERY, _TEXTS)
        backward = self._scores(_QUERY, _TEXTS[::-1])
        _expect(self._close(forward, backward[::-1]), "scores do not follow their texts")

    def test_rule_18_the_same_call_has_the_same_scores(self) -> None:
        """Repeated on one reranker, a call returns the very same numbers."""
        reranker = self.make_reranker()
        runs = [reranker.rerank(_QUERY, _TEXTS, deadline_s=self.deadline_s) for _ in range(3)]
        _expect(runs[0] == runs[1] == runs[2], "three equal calls return different scores")

    def test_higher_is_better(self) -> None:
        """The text that repeats the question and answers it scores above one about something else."""
        scores = self._scores(_QUERY, _TEXTS)
        _expect(scores[0] > scores[1], "an answer does not score above an unrelated text")
        _expect(scores[0] > scores[3], "an answer does not score above an unrelated text")

    def test_rule_15_any_text_is_accepted(self) -> None:
        """Odd texts and questions have scores too; text is data, never syntax."""
        try:
            _expect(len(self._scores(_QUERY, _ODD_TEXTS)) == len(_ODD_TEXTS), "odd texts lose scores")
            for query in _ODD_TEXTS[2:]:
                _expect(len(self._scores(query, ["a text"])) == 1, "an odd question loses scores")
        except ProviderError as error:
            raise AssertionError(f"an odd text is refused: {error}") from error

    def test_its_input_is_left_alone(self) -> None:
        """The list of texts is not changed."""
        texts = list(_TEXTS)
        self._scores(_QUERY, texts)
        _expect(texts == list(_TEXTS), "the list of texts was changed")

    def test_it_serves_threads_at_once(self) -> None:
        """Calls from several threads do not disturb each other."""
        reranker = self.make_reranker()
        batches = [_TEXTS[: 1 + i % len(_TEXTS)] for i in range(16)]
        alone = [reranker.rerank(_QUERY, batch, deadline_s=self.deadline_s) for batch in batches]
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda b: reranker.rerank(_QUERY, b, deadline_s=self.deadline_s), batches))
        for one, other in zip(alone, together, strict=True):
            _expect(self._close(one, other), "scores change when calls run at once")

    def _close(self, first: Sequence[float], second: Sequence[float]) -> bool:
        return len(first) == len(second) and all(
            math.isclose(one, other, rel_tol=self.tolerance, abs_tol=self.tolerance)
            for one, other in zip(first, second, strict=True)
        )


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
