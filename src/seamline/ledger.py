"""The evidence ledger: one JSON document that holds all that an answer was made from, and can be checked offline.

It holds the question, the retrieval with its fingerprints, every passage with its text and stages, how the prompt was
laid out, and the answer with its citations. From these the prompt is rebuilt to the letter; no key is ever in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from seamline import wire
from seamline.errors import UsageError
from seamline.fingerprint import sha256_text
from seamline.generate.compose import AnswerOptions
from seamline.generate.prompt import PromptOptions, Template, build_prompt
from seamline.types import Answer, Chunk, Citation, Page, Passage, RetrievalResult, Stages
from seamline.verify.resolve import Resolved, resolve

FORMAT = "seamline-ledger/1"
_UNBOUNDED = 10**12
"""The budget when a prompt is rebuilt: what did not fit the first time is not among its passages any more."""
_CITATION_FIELDS = frozenset(field.name for field in fields(Citation))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCitation:
    """A citation and where its quote stands today."""

    citation: Citation
    found: Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """``prompt_rebuilt`` says whether the ledger yields the recorded prompt hash; ``None`` when it records none."""

    citations: tuple[CheckedCitation, ...]
    prompt_rebuilt: bool | None

    @property
    def intact(self) -> bool:
        """Whether nothing has changed."""
        return self.prompt_rebuilt is not False and all(item.found.status == "intact" for item in self.citations)


def entry(answer: Answer, result: RetrievalResult, options: AnswerOptions) -> dict[str, Any]:
    """The ledger of one answer, as JSON types."""
    return {
        "format": FORMAT,
        "question": answer.question,
        "retrieval": wire.result_header(result),
        "passages": [
            wire.passage(item) | {"shown_text": item.shown_text, "shown_start": item.shown_start}
            for item in result.passages
        ],
        "prompt": None
        if answer.prompt_sha256 is None
        else {
            "sha256": answer.prompt_sha256,
            "nonce": answer.prompt_nonce,
            "template": wire.plain(options.template),
            "options": wire.plain(options.prompt),
            "dropped": list(answer.dropped_passages),
        },
        "unsupported_sentences": options.unsupported,
        "answer": wire.answer(answer),
    }


def read(path: Path) -> dict[str, Any]:
    """A ledger, or the JSON of ``ask --json``; raises ``UsageError`` for anything else."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}", hint="write it by `ask --ledger`") from error
    if not isinstance(record, dict) or not isinstance(_answer_of(record).get("citations"), list):
        raise UsageError(f"{path}: neither a ledger nor an answer", hint="write it by `ask --ledger` or `ask --json`")
    return record


def rebuild_prompt(record: Mapping[str, Any]) -> str:
    """The prompt of a ledger, to the letter. Raises ``UsageError`` when the ledger lacks what it takes."""
    try:
        prompt = record["prompt"]
        dropped = set(prompt["dropped"])
        kept = [_passage(item) for item in record["passages"] if item["chunk_id"] not in dropped]
        return build_prompt(
            record["question"],
            kept,
            options=replace(PromptOptions(**prompt["options"]), budget=_UNBOUNDED),
            template=Template(**prompt["template"]),
            nonce=prompt["nonce"],
        ).text
    except (KeyError, TypeError) as error:
        raise UsageError(f"the ledger is incomplete: {error}", hint="export it again by `ask --ledger`") from error


def citations_of(record: Mapping[str, Any]) -> tuple[Citation, ...]:
    """The citations of a ledger or an answer. Raises ``UsageError`` when one is malformed."""
    return tuple(_citation(item) for item in _answer_of(record)["citations"])


def verify(record: Mapping[str, Any], text_of: Callable[[str], str | None]) -> Verification:
    """Look every citation up in the documents of today; ``text_of`` is ``None`` for a document that is gone."""
    prompt = record.get("prompt")
    return Verification(
        citations=tuple(
            CheckedCitation(citation=citation, found=resolve(citation, text_of(citation.document_id)))
            for citation in citations_of(record)
        ),
        prompt_rebuilt=None if prompt is None else sha256_text(rebuild_prompt(record)) == prompt.get("sha256"),
    )


def _answer_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = record.get("answer", record)
    return answer if isinstance(answer, Mapping) else {}


def _citation(item: Mapping[str, Any]) -> Citation:
    try:
        known = {name: value for name, value in item.items() if name in _CITATION_FIELDS}
        pages = tuple(Page(**page) for page in known.pop("pages", ()))
        return Citation(**{**known, "heading_path": tuple(known.get("heading_path", ())), "pages": pages})
    except (TypeError, AttributeError) as error:
        raise UsageError(f"a citation is malformed: {error}", hint="export the answer again") from error


def _passage(item: Mapping[str, Any]) -> Passage:
    return Passage(
        rank=item["rank"],
        score=item["score"],
        score_kind=item["score_kind"],
        chunk=Chunk(
            id=item["chunk_id"],
            document_id=item["document_id"],
            text=item["text"],
            char_start=item["char_start"],
            char_end=item["char_end"],
            chunk_index=item["chunk_index"],
            heading_path=tuple(item["heading_path"]),
            title=item["title"],
            source_uri=item["source"],
        ),
        stages=Stages(),
        shown_text=item["shown_text"],
        shown_start=item["shown_start"],
    )
