import json
from pathlib import Path

import pytest

from seamline.errors import UsageError
from seamline.evaluation import formats
from seamline.evaluation.trec import read_qrels, read_run, read_topics

TOPICS = """<top>
<num> Number: 301
<title> International organised
crime
<desc> Description: ignored
</top>
<top><num>302</num><title>Poliomyelitis</title></top>
"""


def test_trec_topics_in_both_spellings_with_their_labels(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(TOPICS, encoding="utf-8")
    assert read_topics(tmp_path / "topics.txt") == [("301", "International organised crime"), ("302", "Poliomyelitis")]
    (tmp_path / "topics.tsv").write_text("301\tcrime\n302\tpolio\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("301 0 a 2\n301 0 b 0\n302 0 c 0\n", encoding="utf-8")
    golden = formats.read(tmp_path / "topics.tsv", qrels=tmp_path / "qrels")
    assert [(query.id, query.query, query.relevance) for query in golden.queries] == [
        ("301", "crime", {"a": 2, "b": 0})
    ]
    assert formats.corpus(tmp_path / "topics.tsv") is None


@pytest.mark.parametrize(
    ("labels", "message"),
    [("301 0 a", "query iteration document"), ("301 0 a 1\n301 0 a 2", "two different"), ("9 0 a 1", "unknown query")],
)
def test_bad_trec_labels_are_refused(tmp_path: Path, labels: str, message: str) -> None:
    (tmp_path / "topics.tsv").write_text("301\tcrime\n", encoding="utf-8")
    (tmp_path / "qrels").write_text(labels, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        formats.read(tmp_path / "topics.tsv", qrels=tmp_path / "qrels")


def test_a_run_is_ordered_by_score_and_refuses_a_document_ranked_twice(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q Q0 low 1 0.5 t\nq Q0 a%20b 2 0.9 t\nq Q0 tie 3 0.5 t\n", encoding="utf-8")
    assert read_run(run) == {"q": ("a b", "low", "tie")}
    run.write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", encoding="utf-8")
    with pytest.raises(UsageError, match="ranks a document twice"):
        read_run(run)
    run.write_text("q Q0 a 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        read_run(run)
    with pytest.raises(UsageError, match="cannot be read"):
        read_qrels(tmp_path / "absent")


def test_squad_paragraphs_are_documents_and_impossible_questions_are_unanswerable(tmp_path: Path) -> None:
    questions = [
        {"id": "1", "question": "When?", "answers": [{"text": "in 1066", "answer_start": 0}, {"text": "in 1066"}]},
        {"id": "2", "question": "Why not?", "answers": [], "is_impossible": True},
    ]
    body = {"data": [{"title": "Old_days", "paragraphs": [{"context": "It was in 1066.", "qas": questions}]}]}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    golden = formats.read(path)
    assert golden.queries[0].relevance == {"Old_days#0": 1}
    assert (golden.queries[0].answer, len(golden.queries[0].evidence)) == ("in 1066", 1)
    assert golden.queries[1].unanswerable
    documents = list(formats.corpus(path) or ())
    assert [(d.id, d.title, d.text) for d in documents] == [("Old_days#0", "Old days", "It was in 1066.")]
    path.write_text('{"data": [{"title": 1}]}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"data\.0"):
        formats.read(path)
