from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from seamline.chunk.artifacts import Artifact, ArtifactWriter, documents, is_artifact, verify
from seamline.chunk.prechunked import ChunkedChunker, ChunkedReader, ChunkedSource
from seamline.chunking import chunk_documents, folder_documents
from seamline.errors import ArtifactError, IdCollisionError, SettingsError, UsageError
from seamline.types import Block, Document, Failure, Page
from support.chunk import CountingEmbedder
from support.ingest import document, settings

TEXT = "# Title\n\nOne\u2028line\u2029and\u0085more. " + "A sentence that says something. " * 40


def source(id_: str = "a.md", text: str = TEXT) -> Document:
    blocks = [Block(kind="heading", char_start=0, char_end=7, level=1, title="Title")]
    pages = [Page(index=0, label="iv", char_start=0, char_end=len(text))]
    return replace(document(text, blocks, pages, id_=id_), readable_by=frozenset({"b", "a"}), metadata={"year": 2026})


def write(path: Path, *given: Document) -> Artifact:
    return chunk_documents(given, output=path, settings={"chunk_chars": 200, "parent_chars": 400}).chunks_artifact


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.jsonl.zst"])
def test_what_is_written_is_read_back_and_named_by_its_content(tmp_path: Path, name: str) -> None:
    given = [source(), source("b.md")]
    made = write(tmp_path / name, *given)
    assert verify(tmp_path / name, made.sha256) == made
    assert made.sha256 == write(tmp_path / "other.jsonl", *given).sha256
    assert is_artifact(tmp_path / name)
    assert list(documents(tmp_path / name)) == given
    assert (made.documents, made.children > 10, made.parents > 4) == (2, True, True)
    with ChunkedSource(tmp_path / name, name="s") as artifact:
        entries = list(artifact.entries())
        assert [entry.id for entry in entries] == ["a.md", "b.md"]
        read = [ChunkedReader(artifact).read(entry, artifact.read(entry)) for entry in entries]
        assert read == given
        stored = ChunkedChunker(artifact).chunk(read[0])
    inline = chunk_documents(content_artifact=made, output=tmp_path / "again.jsonl", settings={"chunk_chars": 200})
    assert inline.chunks_artifact.children == made.children
    assert stored.children[0].text.startswith("# Title")
    assert {child.parent_id for child in stored.children} == {parent.id for parent in stored.parents}


def tamper(path: Path, change: str) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    child = next(index for index, line in enumerate(lines) if '"kind":"child"' in line)
    if change == "span":
        record = json.loads(lines[child])
        record["chunk"]["char_start"] += 1
        record["chunk"]["char_end"] += 1
        lines[child] = json.dumps(record)
    elif change == "document":
        lines[1] = lines[1].replace("something", "SOMETHING", 1)
    elif change == "order":
        lines[1], lines[child] = lines[child], lines[1]
    elif change == "gone":
        del lines[child]
    elif change == "cut":
        lines = lines[:-1]
    elif change == "more":
        lines.append(lines[child])
    elif change == "junk":
        lines[child] = "{}"
    elif change == "header":
        lines[0] = lines[0].replace("seamline.chunks/1", "seamline.chunks/9")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


@pytest.mark.parametrize("change", ["span", "document", "order", "gone", "cut", "more", "junk", "header"])
def test_a_changed_artifact_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "chunks.jsonl"
    write(path, source())
    tamper(path, change)
    with pytest.raises(ArtifactError, match=r"chunks\.jsonl"):
        verify(path)


def test_spans_are_checked_even_when_the_hash_is_right(tmp_path: Path) -> None:
    from seamline.kit import shipped
    from seamline.types import Chunked

    path = tmp_path / "chunks.jsonl"
    result = chunk_documents([source()], output=path, legacy_inline_chunks=False, settings={"chunk_chars": 200})
    assert result.chunks is None
    with ChunkedSource(path) as artifact:
        list(artifact.entries())
        made = artifact.chunks_of(source().id)
    shifted = replace(made.children[0], char_start=1, char_end=1 + len(made.children[0].text))
    with ArtifactWriter(path, {"chunker": "recipe:x", "settings": shipped({})}) as writer:
        writer.add(source(), Chunked(children=(shifted,)))
        writer.close()
    with pytest.raises(ArtifactError, match="not that of its document"):
        verify(path)


def test_an_artifact_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    def failing() -> object:
        yield source()
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        chunk_documents(failing(), output=tmp_path / "chunks.jsonl")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_two_documents_of_one_id_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "chunks.jsonl", source(), source())
    with ChunkedSource(tmp_path / "chunks.jsonl") as artifact, pytest.raises(IdCollisionError):
        list(artifact.entries())


def test_previews_are_bounded_and_chunks_are_inline_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAMLINE_HOME", str(tmp_path))
    small = chunk_documents("One short text.")
    assert (small.preview_truncated, small.chunks, len(small.child_preview)) == (False, None, 1)
    assert small.chunks_artifact.uri.endswith(f"/artifacts/{small.chunks_artifact.sha256[7:]}.chunks.jsonl")
    assert [path.suffix for path in (tmp_path / "artifacts").iterdir()] == [".jsonl"]
    many = chunk_documents("A sentence that says something. " * 400, settings={"chunk_chars": 200})
    assert (many.preview_truncated, len(many.child_preview), len(many.parent_preview)) == (True, 3, 3)
    long = chunk_documents("word " * 900, settings={"chunk_chars": 5000, "parent_chars": 5000})
    assert (long.preview_truncated, len(long.child_preview), len(long.child_preview[0].text)) == (True, 1, 2000)
    with pytest.warns(DeprecationWarning, match="legacy_inline_chunks"):
        inline = chunk_documents("One short text.", legacy_inline_chunks=True)
    assert [chunk.text for chunk in inline.chunks or []] == ["One short text."]
    assert [chunk.text for chunk in inline.parents or []] == ["One short text."]


def test_the_artifact_wins_over_its_uri_and_both_over_content(tmp_path: Path) -> None:
    first = write(tmp_path / "first.jsonl", source("first.md"))
    write(tmp_path / "second.jsonl", source("second.md"))
    out = tmp_path / "out.jsonl"
    uri = (tmp_path / "second.jsonl").as_uri()
    reference = {"uri": first.uri, "sha256": first.sha256}
    chunk_documents("third", content_artifact=reference, content_artifact_uri=uri, output=out)
    assert [found.id for found in documents(out)] == ["first.md"]
    chunk_documents("third", content_artifact_uri=uri, output=out)
    assert [found.id for found in documents(out)] == ["second.md"]
    with pytest.raises(ArtifactError, match="the reference says"):
        chunk_documents(content_artifact=reference | {"sha256": "sha256:0"}, output=out)
    for wrong in ("https://example.org/x.jsonl", str(tmp_path / "absent.jsonl")):
        with pytest.raises(UsageError):
            chunk_documents(content_artifact_uri=wrong, output=out)
    with pytest.raises(UsageError, match="nothing to chunk"):
        chunk_documents(output=out)


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_mode_that_needs_an_embedder_refuses_to_do_without(tmp_path: Path, mode: str) -> None:
    with pytest.raises(SettingsError, match="needs an embedder"):
        chunk_documents("text", output=tmp_path / "c.jsonl", settings={"chunker": mode})
    chosen = {"chunker": mode, "chunk_chars": 100, "parent_chars": 300}
    embedder = CountingEmbedder()
    result = chunk_documents(TEXT, output=tmp_path / "c.jsonl", embedder=embedder, settings=chosen)
    assert result.chunks_artifact.children > 10
    assert embedder.texts


def test_documents_of_a_folder_are_taken_one_by_one_and_failures_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext", encoding="utf-8")
    (tmp_path / "b.txt").write_text("", encoding="utf-8")
    failed: list[Failure] = []
    assert [found.id for found in folder_documents([tmp_path], settings(), failed)] == ["a.md"]
    assert [(failure.document_id, failure.reason[:5]) for failure in failed] == [("b.txt", "blank")]
