"""``report.html`` in a real browser: it sorts, filters and opens a query's stages, without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from seamline.evaluation.golden import GoldenQuery, golden_set
from seamline.evaluation.html_report import html
from seamline.evaluation.run import evaluate
from seamline.evaluation.variants import select
from seamline.types import RetrievalResult, Stages
from support.evaluation import ScriptedRetriever, result

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = """
<script>
const rows = () => [...document.querySelectorAll("#queries tr.query")].filter((row) => !row.hidden);
const ids = () => rows().map((row) => row.cells[0].textContent);
const seen = {};
document.querySelectorAll("#queries th button")[2].click();
seen.descending = ids();
document.querySelectorAll("#queries th button")[2].click();
seen.ascending = ids();
const filter = document.getElementById("filter");
filter.value = "SECOND"; filter.dispatchEvent(new Event("input"));
seen.filtered = ids();
filter.value = ""; filter.dispatchEvent(new Event("input"));
const only = document.getElementById("only");
only.value = "l0"; only.dispatchEvent(new Event("change"));
seen.lost = ids();
rows()[0].click();
seen.detail = document.querySelector("tr.detail").innerText;
seen.relevant = document.querySelectorAll("tr.detail td.relevant").length;
const cells = (row) => [...row.cells].map((cell) => cell.innerText);
seen.ranks = [...document.querySelector("tr.detail table").rows].map(cells);
seen.fits = document.querySelector("main").scrollWidth <= window.innerWidth;
rows()[0].click();
seen.closed = document.querySelector("tr.detail") === null;
document.body.dataset.seen = JSON.stringify(seen);
</script>
"""


def scripted(query: str, overrides: Mapping[str, object]) -> RetrievalResult:
    mode = str(overrides["mode"])
    documents = ["x", query] if mode == "dense" and query == "second" else [query, "x"]
    found = result(query, documents, mode_requested=mode, mode_used=mode)
    stages = Stages(dense_rank=7, cosine=0.4242, matched_terms=("<b>term</b>",))
    for passage in found.passages:
        object.__setattr__(passage, "stages", replace(stages, fused_rank=passage.rank))
    return found


@pytest.mark.skipif(BROWSER is None, reason="install chromium to test the page in a browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_sorts_filters_and_opens_a_query(tmp_path: Path, scheme: str) -> None:
    golden = golden_set("g", [GoldenQuery(id=n, query=n, relevance={n: 1}) for n in ("first", "second", "third")])
    report = evaluate(ScriptedRetriever(scripted), golden, select(["keyword-only", "dense-only"]), k=8, seed=1)
    page = tmp_path / "report.html"
    page.write_text(html(report).replace("</body>", DRIVER + "</body>"), encoding="utf-8")
    command = [
        str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    found = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert found, done.stderr
    seen = json.loads(unescape(found[1]))
    assert seen["descending"] == ["first", "second", "third"]
    assert seen["filtered"] == seen["lost"] == ["second"]
    assert "0.4242" in seen["detail"]
    assert "<b>term</b>" in seen["detail"]
    assert "unjudged" in seen["detail"]
    assert seen["relevant"] == 2
    assert seen["ranks"] == [["relevant document", "grade", "keyword-only", "dense-only"], ["second", "1", "1", "2"]]
    assert seen["fits"]
    assert seen["closed"]
