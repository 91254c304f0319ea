import pytest

from seamline.evaluation.notice import notices


def test_no_notice_when_there_is_no_reason() -> None:
    assert notices(sample_corpus=False, stand_ins=(), judged_queries=50) == ()


@pytest.mark.parametrize(
    ("sample", "stand_ins", "judged", "word"),
    [(True, (), 80, "sample corpus"), (False, ("hash",), 80, "hash"), (False, (), 49, "49")],
)
def test_each_reason_gives_a_notice_of_its_own(
    sample: bool, stand_ins: tuple[str, ...], judged: int, word: str
) -> None:
    (notice,) = notices(sample_corpus=sample, stand_ins=stand_ins, judged_queries=judged)
    assert notice.startswith("These numbers prove nothing about quality")
    assert word in notice
