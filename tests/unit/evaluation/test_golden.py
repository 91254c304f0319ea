import json
from pathlib import Path

import pytest

from seamline.errors import UsageError
from seamline.evaluation.golden import Evidence, check_documents, read_golden, unmatched_evidence


def write(tmp_path: Path, *records: object) -> Path:
    path = tmp_path / "queries.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def test_reads_labels_grades_evidence_and_unanswerable(tmp_path: Path) -> None:
    golden = read_golden(
        write(
            tmp_path,
            {"id": "1", "query": "a?", "relevantDocumentIds": ["x.md"], "tags": ["t"], "language": "en"},
            {"id": "2", "query": "b?", "relevance": {"y.md": 2, "z.md": 0}},
            {"id": "3", "query": "c?", "unanswerable": True},
            {
                "id": "4",
                "query": "d?",
                "relevantDocumentIds": ["x.md"],
                "evidence": [{"document": "x.md", "quote": "as said"}],
            },
        )
    )
    assert [query.relevance for query in golden.queries] == [{"x.md": 1}, {"y.md": 2, "z.md": 0}, {}, {"x.md": 1}]
    assert [query.id for query in golden.judged] == ["1", "2", "4"]
    assert golden.queries[3].evidence == (Evidence(document="x.md", quote="as said"),)
    assert golden.documents == {"x.md", "y.md", "z.md"}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"id": "1", "query": "a", "relevantDocumentIds": ["x"]}] * 2, "occurs 2 times"),
        ([{"id": "1", "query": "  ", "relevantDocumentIds": ["x"]}], "the query is empty"),
        ([{"id": "1", "query": "a"}], "no document is relevant"),
        ([{"id": "1", "query": "a", "relevance": {"x": 0}}], "no document is relevant"),
        ([{"id": "1", "query": "a", "relevantDocumentIds": ["x"], "unanswerable": True}], "marked unanswerable"),
        ([{"id": "1", "query": "a", "relevantDocumentIds": ["x"], "relevance": {"y": 1}}], "contradict"),
        ([{"id": "1", "query": "a", "relevantDocumentIds": ["x", "x"]}], "more than once"),
        ([{"id": "1", "query": "a", "unanswerabel": True}], "line 1: unanswerabel"),
        ([{"id": 1, "query": "a", "relevantDocumentIds": ["x"]}], "line 1: id"),
        ([], "it holds no query"),
        ([{"id": " ", "query": "a", "relevantDocumentIds": ["x"]}], "the id is empty"),
        (
            [{"id": "1", "query": "a", "relevantDocumentIds": ["x"], "evidence": [{"document": "x", "quote": " "}]}],
            "a quote is empty",
        ),
        (
            [
                {
                    "id": "1",
                    "query": "a",
                    "relevantDocumentIds": ["x"],
                    "evidence": [{"document": "stray", "quote": "q"}],
                }
            ],
            "not relevant: stray",
        ),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, records: list[object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_golden(write(tmp_path, *records))


def test_every_bad_line_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": "1"}\nnot json\n', encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_golden(path)
    assert "line 1: query" in caught.value.message
    assert "line 2: not JSON" in caught.value.message


def test_only_line_feeds_end_a_line_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    record = {"id": "1", "query": "one\u2028query\x85still", "relevantDocumentIds": ["x"]}
    path.write_text("\ufeff" + json.dumps(record, ensure_ascii=False) + "\r\n\r\n", encoding="utf-8", newline="")
    assert [query.query for query in read_golden(path).queries] == ["one\u2028query\x85still"]


def test_a_long_list_of_problems_is_cut_and_counted(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"problems found: 25\n(?s:.*)and 15 more"):
        read_golden(write(tmp_path, *({"id": str(number), "query": "a"} for number in range(25))))


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_golden(tmp_path / "absent.jsonl")


def test_unknown_documents_are_listed_or_reported_as_coverage(tmp_path: Path) -> None:
    golden = read_golden(write(tmp_path, {"id": "1", "query": "a", "relevantDocumentIds": ["x", "gone"]}))
    with pytest.raises(UsageError, match="'gone'"):
        check_documents(golden, ["x"])
    coverage = check_documents(golden, ["x"], allow_missing=True)
    assert (coverage.documents, coverage.missing) == (2, ("gone",))
    assert golden.judged[0].relevance["gone"] == 1


def test_identity_depends_on_content_alone(tmp_path: Path) -> None:
    record = {"id": "1", "query": "a", "relevantDocumentIds": ["x"]}
    first = read_golden(write(tmp_path, record)).sha256
    (tmp_path / "other").mkdir()
    assert read_golden(write(tmp_path / "other", record)).sha256 == first
    assert read_golden(write(tmp_path, {**record, "query": "b"})).sha256 != first


def test_quotes_that_do_not_occur_are_found(tmp_path: Path) -> None:
    evidence = [{"document": "x", "quote": "here"}, {"document": "x", "quote": "nowhere"}]
    golden = read_golden(write(tmp_path, {"id": "1", "query": "a", "relevantDocumentIds": ["x"], "evidence": evidence}))
    assert [(query, found.quote) for query, found in unmatched_evidence(golden, {"x": "it is here"})] == [
        ("1", "nowhere")
    ]
