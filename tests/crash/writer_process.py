"""A process that forks writers which are meant to die; run as a script by ``test_store_crash.py``.

Each line on stdin is a JSON order: ``folder``, ``seed``, and ``statement``: die at that SQL statement of the round
(0: never, wait to be killed). The child prints its pid, then for each commit what it tries to reach and, after the
commit, that it did; this process prints how the child ended. Importing once and forking keeps a round at milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from seamline.conformance.store_case import binding, scope
from seamline.store.embedded import schema, store
from seamline.types import DocumentId
from support.embedded import made_up, open_store

COMMITS_WITH_A_FAULT = 3


def say(kind: str, what: object) -> None:
    os.write(1, (json.dumps({kind: what}) + "\n").encode())


def die_at(statement: int) -> None:
    """End this process when the writer's connection starts its n-th statement."""
    connect = schema.connect_to_write
    count = 0

    def traced(path: Path) -> sqlite3.Connection:
        connection = connect(path)

        def step(_: str) -> None:
            nonlocal count
            count += 1
            if count == statement:
                os._exit(9)

        connection.set_trace_callback(step)
        return connection

    store.connect_to_write = traced  # type: ignore[attr-defined]


def run(folder: Path, seed: int, commits: int | None) -> None:
    """Random changes, a commit after a few of them, until killed or until ``commits`` are done."""
    chance = random.Random(seed)
    kb = open_store(folder)
    with kb.read() as snapshot:
        versions = {item.id: item.text_sha256 for item in snapshot.documents(scope())}
    done = 0
    while commits is None or done < commits:
        with kb.write() as writer:
            writer.bind(binding())
            for _ in range(chance.randint(1, 4)):
                for _ in range(chance.randint(1, 5)):
                    name = DocumentId(f"d{chance.randrange(40)}")
                    if chance.random() < 0.3:
                        writer.remove([name])
                        versions.pop(name, None)
                    else:
                        document, chunks = made_up(name, chance.randrange(10**6))
                        writer.put(document, chunks)
                        versions[name] = document.text_sha256
                say("trying", versions)
                writer.commit()
                say("done", versions)
                done += 1


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            say("pid", os.getpid())
            if order["statement"]:
                die_at(order["statement"])
            run(Path(order["folder"]), order["seed"], COMMITS_WITH_A_FAULT if order["statement"] else None)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("ended", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
