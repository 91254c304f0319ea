"""Two small plugins: outcomes of the field-rule tests are kept for ``scripts/rules``, and a skip must be expected.

A skip is expected when its reason says what turns the test on: it names a ``SEAMLINE_...`` variable (a data set or a
service), or begins with ``install`` (a package), ``platform:`` or ``not in this tree:`` (a part that is to come).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("seamline", deadline=None)
settings.load_profile("seamline")

RULE_TEST = re.compile(r"::(test_rule_\d\d_\w+)")
EXPECTED_SKIP = re.compile(r"(Skipped: )?(.*\bSEAMLINE_[A-Z]|install |platform: |not in this tree: )")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--strict-skips", action="store_true", help="fail when a test is skipped for no stated reason")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # with xdist, reports arrive at the controller
        config.pluginmanager.register(Record(config), "seamline-record")


class Record:
    """Collects outcomes as reports arrive and writes them when the session ends."""

    def __init__(self, config: pytest.Config) -> None:
        self.path = Path(config.rootpath) / ".cache" / "rules.json"
        self.strict_skips = bool(config.getoption("--strict-skips"))
        self.outcomes: dict[str, str] = {}
        self.unexpected: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if RULE_TEST.search(report.nodeid) and (report.when == "call" or report.outcome != "passed"):
            worst = "failed" if self.outcomes.get(report.nodeid) == "failed" else report.outcome
            self.outcomes[report.nodeid] = worst
        if report.skipped and isinstance(report.longrepr, tuple) and not EXPECTED_SKIP.match(report.longrepr[2]):
            self.unexpected.append(f"{report.nodeid}: {report.longrepr[2]}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.outcomes:
            known = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else {}
            self.path.parent.mkdir(exist_ok=True)
            merged = dict(sorted((known | self.outcomes).items()))
            self.path.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")
        if self.strict_skips and self.unexpected and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.unexpected if self.strict_skips else []:
            terminalreporter.write_line(f"unexpected skip: {line}", red=True)
