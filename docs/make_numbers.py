"""Puts counts of what is shipped into the pages that show them: `python docs/make_numbers.py`.

In a page, a count stands between two comments that no reader sees, `<!--=vectors-->1,234<!--=-->`:
the first names one of `COUNTS`. A test compares all of them. A count of anything else does not
belong in a page that no command makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from conformance import open_vectors
from conformance.faults import CATALOGUE
from conformance.operators import CLAUSES
from conformance.operators.gradients import backward
from conformance.operators.registry import OWN

ROOT = Path(__file__).parents[1]
FOLDERS = (".", "benchmarks", "docs", "docs/development", "examples", "vectors")
OPERATORS = (*OWN, *filter(None, map(backward, OWN)))
COUNT = re.compile(r"(?<=<!--=)([a-z-]+)-->([^<]*)(?=<!--=-->)")


@cache
def _tiers() -> list[str]:
    """Return the tier of each shipped vector."""
    with open_vectors() as files:
        return [tier for file in files for tier in file.tiers]


def _in_findings(pattern: str) -> int:
    """Return how often something is on the page of findings, but for what are no defects."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    return len(re.findall(pattern, page.partition("\n## Observations")[0], re.MULTILINE))


COUNTS: dict[str, Callable[[], int]] = {
    "vectors": lambda: len(_tiers()),
    "smoke": lambda: _tiers().count("smoke"),
    "disputed": lambda: sum(clause.kind == "disputed" for clause in CLAUSES.values()),
    "findings": lambda: _in_findings(r"^### \d+\."),
    "engines": lambda: _in_findings(r"^\| [^|]+ \| [^|]*\d[^|]* \| \d[^|]* \|$"),
    "faults": lambda: sum(any(map(fault.concerns, OPERATORS)) for fault in CATALOGUE),
}


def pages() -> list[Path]:
    """Return all pages of the project."""
    return sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.md"))


def page(text: str) -> str:
    """Return the text of a page with its counts as they should be."""
    return COUNT.sub(lambda found: f"{found[1]}-->{COUNTS[found[1]]():,}", text)


if __name__ == "__main__":
    for path in pages():
        text = path.read_text(encoding="utf-8")
        if COUNT.search(text):
            path.write_text(page(text), encoding="utf-8")
