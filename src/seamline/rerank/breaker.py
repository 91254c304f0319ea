"""A circuit breaker: an outage costs no latency, and one probe at a time finds out when it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic


class Breaker:
    """Closed until ``failures`` calls in a row failed; then open for ``seconds``; then half open for one probe."""

    def __init__(self, *, failures: int, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        """``clock`` counts seconds."""
        self._failures = failures
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._opened_at: float | None = None
        self._probing = False

    def allow(self) -> bool:
        """Whether a call may be made now; who is told yes must ``record`` how it ended."""
        with self._lock:
            if self._opened_at is None:
                return True
            if self._probing or self._clock() - self._opened_at < self._seconds:
                return False
            self._probing = True
            return True

    def record(self, succeeded: bool) -> None:
        """How an allowed call ended: a success closes, a failure counts, a failed probe opens for as long again."""
        with self._lock:
            probing, self._probing = self._probing, False
            if succeeded:
                self._in_a_row, self._opened_at = 0, None
                return
            self._in_a_row += 1
            if probing or self._in_a_row >= self._failures:
                self._opened_at = self._clock()
