"""A small made collection in the BEIR layout, whose questions need a stemmer."""

from __future__ import annotations

import json
from pathlib import Path

NOUNS = ("harbour", "valve", "ledger", "lantern", "bridge", "engine", "garden", "mirror", "orchard", "quarry")
VERBS = ("opens", "closes", "repairs", "paints")


def question(noun: str, place: int) -> str:
    """Without a stemmer some find nothing, some find the right documents in the wrong order, some lose nothing."""
    verb = VERBS[place % 4]
    return (
        f"{noun}s",
        f"who will {verb.removesuffix('s')} the {noun}",
        f"which {noun}s are there",
        f"whoever {verb} a {noun}",
        f"{noun}",
        f"who is to {verb.removesuffix('s')} all {noun}s?",
    )[place]


def collection(folder: Path) -> Path:
    """A BEIR folder of 40 documents and 60 queries."""
    (folder / "qrels").mkdir(parents=True)
    documents, queries, labels = [], [], ["query-id\tcorpus-id\tscore"]
    for number, noun in enumerate(NOUNS):
        for place, verb in enumerate(VERBS):
            id_ = f"d{number}{place}"
            text = f"The keeper {verb} the {noun} every morning. Nobody else may touch it before the bell has rung."
            documents.append({"_id": id_, "title": f"{noun} {place}", "text": text})
    for number, noun in enumerate(NOUNS):
        for place in range(6):
            queries.append({"_id": f"q{number}{place}", "text": question(noun, place)})
            labels += [f"q{number}{place}\td{number}{place % 4}\t2", f"q{number}{place}\td{number}{(place + 1) % 4}\t0"]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("\n".join(labels) + "\n", encoding="utf-8")
    return folder
