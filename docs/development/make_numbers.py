"""Puts counts of what is shipped into the pages that show them: `make_numbers.py`.

In a page, a count stands between two comments that no reader sees, `<!--=vectors-->1,234<!--=-->`:
the first names one of `COUNTS`. A test compares all of them. A count of anything else does not
belong in a page that no command makes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from conformance import open_vectors
from conformance.faults import CATALOGUE
from conformance.operators import CLAUSES
from conformance.operators.documents import OWN
from conformance.operators.gradients import backward

ROOT = Path(__file__).parents[2]
FOLDERS = (".", "benchmarks", "docs", "docs/development", "examples", "vectors")
OPERATORS = (*OWN, *filter(None, map(backward, OWN)))
COUNT = re.compile(r"(?<=<!--=)([a-z-]+)-->([^<]*)(?=<!--=-->)")


@cache
def _tiers() -> list[str]:
    """Return the tier of each shipped vector."""
    with open_vectors() as files:
        return [tier for file in files for tier in file.tiers]


class Finding(NamedTuple):
    """A part of the page of findings: whose it is, of which kind, and its text."""

    engine: str
    kind: str
    text: str

    @property
    def is_independent(self) -> bool:
        """Whether it is a defect, and no other finding is the same one."""
        return self.kind in DEFECTS


def findings() -> list[Finding]:
    """Return the findings, without the observations."""
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    found = []
    for part in page.partition("\n## Observations")[0].split("\n## ")[1:]:
        engine = part.partition("\n")[0]
        for text in part.split("\n### ")[1:]:
            kind = text.partition("**")[2].partition("**")[0]
            found.append(Finding(engine, kind, text))
    return found


def _of_kind(kind: str) -> int:
    """Return how many findings are of a kind, or begin with its words."""
    return sum(finding.kind.startswith(kind) for finding in findings())


def _independent(words: str = "") -> list[Finding]:
    """Return the independent defects whose text has some words."""
    return [finding for finding in findings() if finding.is_independent and words in finding.text]


def _observations() -> int:
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    return page.partition("\n## Observations")[2].count("\n### ")


DEFECTS = ("Against its document", "Against itself", "Memory or crash")
NO_ENGINE = "ONNX, its reference evaluator"
COUNTS: dict[str, Callable[[], int]] = {
    "vectors": lambda: len(_tiers()),
    "smoke": lambda: _tiers().count("smoke"),
    "disputed": lambda: sum(clause.kind == "disputed" for clause in CLAUSES.values()),
    "faults": lambda: sum(any(map(fault.concerns, OPERATORS)) for fault in CATALOGUE),
    "against-its-document": lambda: _of_kind("Against its document"),
    "against-itself": lambda: _of_kind("Against itself"),
    "memory-or-crash": lambda: _of_kind("Memory or crash"),
    "defects": lambda: len(_independent()),
    "same-defects": lambda: _of_kind("Same defect as"),
    "differences": lambda: _of_kind("Difference"),
    "observations": _observations,
    "known-upstream": lambda: len(_independent("\nKnown upstream")),
    "mended-upstream": lambda: len(_independent("mended after this release")),
    "engines": lambda: len({finding.engine for finding in _independent()} - {NO_ENGINE}),
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
