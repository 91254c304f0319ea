import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seamline.fingerprint import canonical_json, fingerprint, sha256_text, space_fingerprint
from seamline.folding import collapse, fold
from seamline.types import EmbeddingSpace

SPACE = EmbeddingSpace(provider="p", model="m", revision="r", dimension=3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("provider", "q"),
        ("model", "n"),
        ("revision", "s"),
        ("dimension", 4),
        ("pooling", "cls"),
        ("normalised", False),
        ("query_prefix", "query: "),
        ("passage_prefix", "passage: "),
        ("window", 256),
        ("template", "{text}"),
        ("precision", "int8"),
    ],
)
def test_rule_01_everything_that_decides_a_vector_is_in_the_space_fingerprint(field: str, value: object) -> None:
    other = dataclasses.replace(SPACE, **{field: value})  # type: ignore[arg-type]
    assert space_fingerprint(other) != space_fingerprint(SPACE)


def test_descriptions_are_not_identity() -> None:
    other = dataclasses.replace(SPACE, languages=frozenset({"en"}), stand_in=True)
    assert space_fingerprint(other) == space_fingerprint(SPACE)


def test_domains_do_not_collide() -> None:
    assert len({fingerprint(d, {"a": 1}) for d in ("corpus", "space", "policy", "recipe")}) == 4


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.booleans(), st.none()), max_size=5))
def test_key_order_does_not_matter(value: dict[str, object]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(list(value.items()))))


def test_sets_are_sorted_and_numbers_must_be_finite() -> None:
    assert canonical_json({"s": frozenset({"b", "a"})}) == '{"s":["a","b"]}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_hash(text: str) -> None:
    assert len(sha256_text(text)) == 64


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert collapse(collapse(text)) == collapse(text)
