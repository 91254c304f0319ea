"""Lists the rules learnt from the field with their tests, and what those tests last said."""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = re.compile(r"test_rule_(\d\d)_\w+")


@dataclass
class Rule:
    """One rule, whether it is due, and the outcomes of its tests by name."""

    id: int
    rule: str
    needs: str
    tests: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def due(self) -> bool:
        return (ROOT / "src" / "seamline" / self.needs).exists()

    @property
    def result(self) -> str:
        if not self.tests:
            return "NO TEST" if self.due else "later"
        outcomes = sum(self.tests.values(), Counter())
        worst = next((name for name in ("failed", "skipped", "passed") if outcomes[name]), "not run")
        return "partly run" if worst == "passed" and not all(self.tests.values()) else worst


def named_tests() -> Iterator[str]:
    """Names of rule tests, in the test suite and in the shipped conformance classes."""
    for folder in (ROOT / "tests", ROOT / "src" / "seamline" / "conformance"):
        for path in sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and NAME.fullmatch(node.name):
                    yield node.name


def outcomes(cache: Path) -> Mapping[str, Counter[str]]:
    """Outcomes by test name, over all parameters and subclasses, as tests/conftest.py recorded them."""
    found: dict[str, Counter[str]] = {}
    recorded = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    for nodeid, outcome in recorded.items():
        name = NAME.search(nodeid)
        if name:
            found.setdefault(name.group(), Counter())[outcome] += 1
    return found


def load_rules() -> list[Rule]:
    """All rules, with the tests that exist."""
    table = tomllib.loads((ROOT / "tests" / "rules.toml").read_text(encoding="utf-8"))
    rules = {entry["id"]: Rule(**entry) for entry in table["rule"]}
    last = outcomes(ROOT / ".cache" / "rules.json")
    for name in sorted(set(named_tests())):
        number = int(name.split("_")[2])
        if number not in rules:
            raise SystemExit(f"rules: {name} tests rule {number}, which tests/rules.toml does not have")
        rules[number].tests[name] = last.get(name, Counter())
    return [rules[number] for number in sorted(rules)]


def show(rule: Rule) -> None:
    """Print one rule and its tests."""
    print(f"{rule.id:02} [{rule.result}] {rule.rule}")
    for name, counts in rule.tests.items():
        said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "not run"
        print(f"     {name}: {said}")
    if not rule.tests and not rule.due:
        print(f"     comes with {rule.needs}")


def main() -> int:
    """Print the list; with ``--strict``, 1 when a rule that is due has no test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="exit 1 when a rule whose part exists has no test")
    parser.add_argument("--quiet", action="store_true", help="print only the rules without a test, and the count")
    arguments = parser.parse_args()
    rules = load_rules()
    missing = [rule for rule in rules if rule.due and not rule.tests]
    for rule in missing if arguments.quiet else rules:
        show(rule)
    tested = sum(bool(rule.tests) for rule in rules)
    print(f"{tested} of {len(rules)} rules have tests; {len(missing)} are due and have none")
    return 1 if missing and arguments.strict else 0


if __name__ == "__main__":
    sys.exit(main())
