"""The parent's side of the parser child: one process for many files, replaced when it dies or hangs."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, BinaryIO, cast

from seamline.errors import IngestError
from seamline.ingest.extract import Extracted
from seamline.ingest.wire import FrameError, receive, send, to_parsed
from seamline.ports import Parsed
from seamline.types import ParseStatus

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0
_MOST_GREETING = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """Caps of one file in the child: seconds of wall clock, bytes of memory, characters of text."""

    timeout_s: float
    memory_bytes: int
    output_chars: int

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ParseLimits:
        """Pick ``parse_timeout_s``, ``parse_memory_bytes`` and ``parse_output_chars``."""
        return cls(
            timeout_s=float(str(settings["parse_timeout_s"])),
            memory_bytes=int(str(settings["parse_memory_bytes"])),
            output_chars=int(str(settings["parse_output_chars"])),
        )


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    requests: BinaryIO
    answers: BinaryIO
    errors: IO[bytes]
    parsers: dict[str, str] = field(default_factory=dict)


class ParserChild:
    """Parses hostile bytes in a process whose death costs one file. For one thread at a time."""

    def __init__(self, limits: ParseLimits) -> None:
        """Nothing is started before the first use."""
        self._limits = limits
        self._running: _Running | None = None

    def parsers(self) -> dict[str, str]:
        """Names and versions of the parsers that the child could load; raises ``IngestError``."""
        return dict(self._started().parsers)

    def parse(self, data: bytes, *, filename: str, media_type: str | None) -> Extracted:
        """Parse one file. Whatever happens to the child is a result with its reason, never an exception.

        Raises ``IngestError`` only where no child can be started at all.
        """
        running = self._started()
        request = {
            "filename": filename,
            "media_type": media_type,
            "memory": self._limits.memory_bytes,
            "seconds": self._limits.timeout_s,
            "output_chars": self._limits.output_chars,
        }
        try:
            with _killed_after(running.process, self._limits.timeout_s) as late:
                send(running.requests, request, data)
                answer = receive(running.answers, most=24 * self._limits.output_chars + _MOST_GREETING)
            if answer is None:
                raise FrameError("no answer")
            extracted = _extracted(*answer)
        except (OSError, FrameError) as error:
            reason = self._post_mortem(running, error, late=late.is_set())
            logger.warning("parser child replaced: %s", reason)
            return Extracted(Parsed(text="", media_type=media_type or "", status=ParseStatus.CORRUPT, reason=reason))
        if answer[0].get("retire"):
            self.close()
        return extracted

    def close(self) -> None:
        """End the child; the next use starts another one."""
        if self._running is not None:
            _end(self._running)
            self._running = None

    def _started(self) -> _Running:
        if self._running is None or self._running.process.poll() is not None:
            self.close()
            self._running = _start()
        return self._running

    def _post_mortem(self, running: _Running, error: Exception, *, late: bool) -> str:
        """End the child and say what it died of."""
        if late:
            self.close()
            return f"took longer than parse_timeout_s ({self._limits.timeout_s:g} s)"
        try:
            code = running.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self.close()
            return f"the parser child broke its protocol: {error}"
        self.close()
        if code >= 0:
            return f"the parser child ended with exit code {code}"
        name = signal.Signals(-code).name
        return f"the parser child was ended by {name}" + (" (CPU time)" if name == "SIGXCPU" else "")


def _extracted(header: dict[str, Any], body: bytes) -> Extracted:
    return Extracted(to_parsed(header, body), str(header.get("parser", "")), str(header.get("version", "")))


@contextmanager
def _killed_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kill a process that is not done in time; the event says that it happened."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _start() -> _Running:
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
    # -P: a module beside the documents must not be imported in the place of ours.
    process = subprocess.Popen(
        [sys.executable, "-P", "-X", "utf8", "-m", "seamline.ingest.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )
    running = _Running(process, cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout), errors)
    try:
        with _killed_after(process, _START_SECONDS):
            greeting = receive(running.answers, most=_MOST_GREETING)
    except FrameError:
        greeting = None
    if greeting is None:
        process.wait()
        errors.seek(0)
        last = errors.read()[-2000:].decode("utf-8", "replace").strip()
        _end(running)
        raise IngestError(
            f"the parser child did not start: {last or f'exit code {process.returncode}'}",
            hint=f"`{sys.executable} -m seamline.ingest.child` shows why",
        )
    header = greeting[0]
    running.parsers = {str(name): str(version) for name, version in header["parsers"].items()}
    for name, problem in header["problems"].items():
        logger.warning("the parser %s could not be loaded: %s", name, problem)
    if not header["memory_cap"]:
        logger.warning("this platform cannot cap the memory of the parser child")
    return running


def _end(running: _Running) -> None:
    running.process.kill()
    running.process.wait()
    for stream in (running.requests, running.answers, running.errors):
        try:
            stream.close()
        except BrokenPipeError:
            # The rest of a request that the child did not live to read.
            logger.debug("request abandoned by the parser child")
