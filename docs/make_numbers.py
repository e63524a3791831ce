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


COUNTS: dict[str, Callable[[], int]] = {
    "vectors": lambda: len(_tiers()),
    "smoke": lambda: _tiers().count("smoke"),
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
