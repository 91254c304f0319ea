import json
import os
from pathlib import Path

import pytest

from seamline.errors import UsageError
from seamline.evaluation.beir import read_beir, read_beir_corpus
from seamline.evaluation.golden import check_documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    documents = [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "two"}]
    queries = [{"_id": name, "text": f"query {name}"} for name in ("q1", "q2", "q3")]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    qrels(tmp_path, "q1\td1\t2", "q1\td2\t0", "q3\td2\t0")
    return tmp_path


def qrels(folder: Path, *lines: str) -> None:
    text = "\n".join(("query-id\tcorpus-id\tscore", *lines))
    (folder / "qrels" / "test.tsv").write_text(text, encoding="utf-8")


def test_reads_the_judged_queries_of_a_split(folder: Path) -> None:
    golden = read_beir(folder)
    assert [(query.id, query.query, query.relevance) for query in golden.queries] == [
        ("q1", "query q1", {"d1": 2, "d2": 0})
    ]
    assert [(document.id, document.title, document.text) for document in read_beir_corpus(folder)] == [
        ("d1", "T", "one"),
        ("d2", "", "two"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q9\td1\t1", "unknown query 'q9'"),
        ("q1\td1\t1", "two different grades"),
        ("q1\td1", "not query-id"),
        ("q1\td1\tmuch", "not query-id"),
    ],
)
def test_bad_labels_are_refused(folder: Path, line: str, message: str) -> None:
    qrels(folder, "q1\td1\t2", line)
    with pytest.raises(UsageError, match=message):
        read_beir(folder)


def test_an_unknown_split_and_a_malformed_line_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"dev\.tsv"):
        read_beir(folder, split="dev")
    (folder / "corpus.jsonl").write_text('{"_id": 7, "text": "x"}', encoding="utf-8")
    with pytest.raises(UsageError, match="'_id' is missing or not a string"):
        list(read_beir_corpus(folder))
    (folder / "corpus.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: not JSON"):
        list(read_beir_corpus(folder))
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(UsageError, match=r"corpus\.jsonl: cannot be read"):
        list(read_beir_corpus(folder))
    (folder / "queries.jsonl").write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="not a JSON object"):
        read_beir(folder)


@pytest.mark.skipif("SEAMLINE_DATA" not in os.environ, reason="SEAMLINE_DATA names no folder of test collections")
def test_reads_a_public_collection() -> None:
    scifact = Path(os.environ["SEAMLINE_DATA"]) / "scifact"
    golden = read_beir(scifact)
    assert len(golden.judged) == 300
    assert check_documents(golden, {document.id for document in read_beir_corpus(scifact)}).missing == ()
