"""The catalogue of a home: which knowledge bases there are, and the folder of each.

``registry.sqlite`` under the home. A folder's name is an opaque id: a kb's name never becomes a path. Looking
up never makes a home, a registry or a folder.
"""

from __future__ import annotations

import re
import shutil
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from seamline.errors import NotFoundError, StoreError, UsageError
from seamline.store.sqlite_file import SqliteFile

SCHEMA_VERSION = 1
BUSY_TIMEOUT_S = 10.0
"""How long a change waits for another process's change; each takes milliseconds."""

_NAME = re.compile(r"[\w.-]{1,64}")
_SCHEMA = """
CREATE TABLE kbs (
  id TEXT PRIMARY KEY,
  workspace TEXT NOT NULL,
  name TEXT NOT NULL,
  store TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (workspace, name)
) STRICT
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KbRecord:
    """One registered kb. ``folder`` is its own; ``store`` names the provider that holds it."""

    id: str
    workspace: str
    name: str
    folder: Path
    store: str
    created_at: datetime


class Catalogue:
    """The workspaces and knowledge bases under one home. Holds nothing open between calls."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = SqliteFile(
            path=home / "registry.sqlite",
            what="the registry",
            schema=_SCHEMA,
            version=SCHEMA_VERSION,
            busy_timeout_s=BUSY_TIMEOUT_S,
            durable=True,
        )

    def open_kb(self, workspace: str, kb: str, *, create: bool, store: str | None = None) -> KbRecord:
        """The record of a kb, registered first where ``create`` asks for it and it is absent.

        Args:
            workspace: the workspace's name.
            kb: the kb's name; both are 1 to 64 letters, digits, ``.``, ``_`` or ``-``.
            create: register an absent kb, and make its folder.
            store: the provider that will hold a new kb; needed to create one, ignored for one that is there.

        Raises:
            UsageError: a name with other characters, or no ``store`` for a new kb.
            NotFoundError: the kb is absent and ``create`` is false.
            SchemaError: a newer version wrote the registry.
            StoreError: the registry cannot be read or written.
        """
        _check_name("workspace", workspace)
        _check_name("kb", kb)
        found = self._find(workspace, kb)
        if found is None and create:
            found = self._create(workspace, kb, store)
        if found is None:
            raise NotFoundError(
                f"no kb {kb!r} in workspace {workspace!r} under {self._home}",
                hint=f"`seamline index FOLDER --kb {kb}` makes one",
            )
        return found

    def list(self, workspace: str | None = None) -> list[KbRecord]:
        """The kbs of a workspace (of all for ``None``), by workspace and name; empty where no home is."""
        with self._file.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT id, workspace, name, store, created_at FROM kbs WHERE workspace = coalesce(?, workspace) "
                "ORDER BY workspace, name",
                (workspace,),
            ).fetchall()
        return [self._record(row) for row in rows]

    def delete(self, workspace: str, kb: str) -> KbRecord:
        """Forget a kb and remove its folder; raises ``NotFoundError``. The caller has closed its store.

        The record goes first: a crash in between leaves a folder that nothing refers to, never a kb without one.
        """
        record = self.open_kb(workspace, kb, create=False)
        with self._file.writing() as connection:
            connection.execute("DELETE FROM kbs WHERE id = ?", (record.id,))
        try:
            shutil.rmtree(record.folder)
        except FileNotFoundError:
            return record
        except OSError as error:
            raise StoreError(
                f"kb {kb!r} is no longer registered, but {record.folder} cannot be removed: {error}",
                hint="remove the folder by hand",
            ) from error
        return record

    def _find(self, workspace: str, kb: str) -> KbRecord | None:
        with self._file.reading() as connection:
            if connection is None:
                return None
            row = connection.execute(
                "SELECT id, workspace, name, store, created_at FROM kbs WHERE workspace = ? AND name = ?",
                (workspace, kb),
            ).fetchone()
        return None if row is None else self._record(row)

    def _create(self, workspace: str, kb: str, store: str | None) -> KbRecord:
        if not store:
            raise UsageError(f"no store was named for the new kb {kb!r}", hint="pass store=, for example 'embedded'")
        kb_id = uuid.uuid4().hex
        with self._file.writing() as connection:
            added = connection.execute(
                "INSERT INTO kbs VALUES (?, ?, ?, ?, ?) ON CONFLICT (workspace, name) DO NOTHING",
                (kb_id, workspace, kb, store, datetime.now(UTC).isoformat()),
            )
            if added.rowcount:  # else another process was first: then its record counts
                self._folder(kb_id).mkdir(parents=True)
        record = self._find(workspace, kb)
        if record is None:
            raise StoreError(f"kb {kb!r} was deleted while it was being made", hint="try again")
        return record

    def _folder(self, kb_id: str) -> Path:
        return self._home / "kbs" / kb_id

    def _record(self, row: tuple[str, str, str, str, str]) -> KbRecord:
        kb_id, workspace, name, store, created_at = row
        return KbRecord(
            id=kb_id,
            workspace=workspace,
            name=name,
            folder=self._folder(kb_id),
            store=store,
            created_at=datetime.fromisoformat(created_at),
        )


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a {what}'s name", hint="use 1 to 64 letters, digits, dots, underscores or hyphens"
        )
