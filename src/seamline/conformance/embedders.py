# ruff: noqa: S101 - these are tests, which an application inherits and runs
"""What every embedder must keep to, as tests to inherit.

::

    class TestMine(EmbedderConformance):
        def embedder(self) -> Embedder:
            return MyEmbedder(...)

Runs under pytest (or any runner that collects ``test_*`` methods); imports none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from seamline.errors import EmbeddingError
from seamline.fingerprint import space_fingerprint
from seamline.ports import Embedder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TEXTS = (
    "The pump's bearing is lubricated once a year",
    "Reset code AX-200/7 clears the fault.",
    "Invoices are paid within thirty days of receipt, unless the contract says otherwise.",
    "Water",
)
UNUSUAL = (
    "naïve café — “quoted” …",
    "質問に答える文書",
    "हिन्दी में एक वाक्य",
    "👩‍🔬 and 🇫🇷 flags",
    "e\u0301 and \u00e9",
    "???",
    "long " * 3000,
)


class EmbedderConformance:
    """One test a promise, so that a broken embedder fails by the name of what it breaks.

    ``tolerance`` is how far two embeddings of one text may differ in any component: 0 for an embedder whose
    vectors are the same bits every time.
    """

    tolerance: float = 1e-5

    def embedder(self) -> Embedder:
        """A ready embedder; called once a test, may return the same object."""
        raise NotImplementedError("return the embedder under test")

    def test_space_is_stable(self) -> None:
        """The descriptor does not change with use, names its model, and has a dimension."""
        embedder = self.embedder()
        before = space_fingerprint(embedder.space)
        embedder.embed_passages([TEXTS[0]])
        assert space_fingerprint(embedder.space) == before
        assert embedder.space.dimension > 0
        assert embedder.space.provider
        assert embedder.space.model

    def test_one_row_a_text(self) -> None:
        """As many vectors as texts, none for none."""
        embedder = self.embedder()
        for count in (0, 1, 2, len(TEXTS)):
            assert len(embedder.embed_passages(list(TEXTS[:count]))) == count

    def test_rows_have_the_declared_dimension(self) -> None:
        """Every vector has the space's dimension, that of a question too, and an empty matrix knows it."""
        embedder = self.embedder()
        dimension = embedder.space.dimension
        assert embedder.embed_passages([TEXTS[0]]).shape[1:] == (dimension,)
        assert embedder.embed_passages([]).shape[1:] == (dimension,)
        assert embedder.embed_query(TEXTS[0]).shape == (dimension,)

    def test_values_are_float32(self) -> None:
        """Float32, as the stores keep them."""
        embedder = self.embedder()
        assert embedder.embed_passages([TEXTS[0]]).dtype.name == "float32"
        assert embedder.embed_query(TEXTS[0]).dtype.name == "float32"

    def test_values_are_finite(self) -> None:
        """No NaN and no infinity, whatever the text."""
        import numpy as np

        embedder = self.embedder()
        assert np.isfinite(embedder.embed_passages([*TEXTS, *UNUSUAL])).all()

    def test_rows_are_unit_vectors_where_declared(self) -> None:
        """A normalised space has vectors of length 1, within 1e-3 (float16 transports are allowed for)."""
        import numpy as np

        embedder = self.embedder()
        if embedder.space.normalised:
            lengths = np.linalg.norm(np.asarray(embedder.embed_passages(list(TEXTS))), axis=1)
            assert bool((np.abs(lengths - 1) < 1e-3).all()), f"lengths {lengths}"

    def test_the_same_text_has_the_same_vector(self) -> None:
        """Twice the same call, twice the same vectors, for passages and for a question."""
        embedder = self.embedder()
        assert self._same(embedder.embed_passages(list(TEXTS)), embedder.embed_passages(list(TEXTS)))
        assert self._same(embedder.embed_query(TEXTS[0]), embedder.embed_query(TEXTS[0]))

    def test_different_texts_have_different_vectors(self) -> None:
        """No two of a few plainly different texts share a vector."""
        vectors = self.embedder().embed_passages(list(TEXTS))
        for position, vector in enumerate(vectors):
            assert not any(self._same(vector, other) for other in vectors[position + 1 :])

    def test_order_does_not_matter(self) -> None:
        """Row n belongs to text n: the texts backwards give the rows backwards."""
        embedder = self.embedder()
        assert self._same(embedder.embed_passages(list(TEXTS[::-1]))[::-1], embedder.embed_passages(list(TEXTS)))

    def test_batch_mates_do_not_matter(self) -> None:
        """A text alone has the vector that it has among others, a much longer one included."""
        embedder = self.embedder()
        together = embedder.embed_passages([*TEXTS, UNUSUAL[-1]])
        for text, row in zip(TEXTS, together, strict=False):
            assert self._same(embedder.embed_passages([text])[0], row)

    def test_unusual_text_is_embedded(self) -> None:
        """Any script, emoji, combining marks, punctuation alone and text beyond the window are accepted."""
        embedder = self.embedder()
        assert len(embedder.embed_passages(list(UNUSUAL))) == len(UNUSUAL)
        for text in UNUSUAL:
            assert len(embedder.embed_query(text)) > 0

    def test_rule_21_prefixes_are_applied(self) -> None:
        """A question and a passage differ exactly by the prefixes that the space declares."""
        embedder = self.embedder()
        query, passage = embedder.space.query_prefix, embedder.space.passage_prefix
        asked, told = embedder.embed_query(TEXTS[0]), embedder.embed_passages([TEXTS[0]])[0]
        assert self._same(asked, told) == (query == passage)
        if not passage:
            assert self._same(asked, embedder.embed_passages([query + TEXTS[0]])[0])
        if not query:
            assert self._same(told, embedder.embed_query(passage + TEXTS[0]))

    def test_rule_34_closing_punctuation_of_a_question_does_not_matter(self) -> None:
        """Whitespace around a question and the mark that ends it do not change its vector."""
        embedder = self.embedder()
        plain = embedder.embed_query(TEXTS[0])
        for variant in (f"{TEXTS[0]}?", f"  {TEXTS[0]} ?!\n", f"{TEXTS[0]}。"):
            assert self._same(embedder.embed_query(variant), plain), variant

    def test_blank_text_is_refused(self) -> None:
        """Nothing to embed is an ``EmbeddingError``, never a vector."""
        embedder = self.embedder()
        for blank in ("", " \n\t"):
            self._refused(lambda blank=blank: embedder.embed_passages([TEXTS[0], blank]))  # type: ignore[misc]
            self._refused(lambda blank=blank: embedder.embed_query(blank))  # type: ignore[misc]

    def _same(self, one: ArrayLike, other: ArrayLike) -> bool:
        """Equal within the tolerance. What is wrong with both alike (a NaN) is another test's business."""
        import numpy as np

        first, second = np.asarray(one), np.asarray(other)
        return first.shape == second.shape and np.allclose(first, second, 0, self.tolerance, equal_nan=True)

    @staticmethod
    def _refused(call: Callable[[], object]) -> None:
        try:
            call()
        except EmbeddingError:
            return
        raise AssertionError("a blank text was embedded")
