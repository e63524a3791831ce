"""Writes a part of docs/comparing.md: `python docs/development/make_history.py [ENGINE...]`.

It runs releases of engines as `conformance history` does, in one to two hours, and writes the part
after all of them. Reports stay in build/history, and one that is there is not made again, so that
the command can be stopped. The part is what `conformance history` shows of each engine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from conformance import open_vectors
from conformance.history import Checked, History, history
from conformance.history.history_report import describe
from conformance.report import markdown
from conformance.vectorfile.suite import shipped_suite

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "build" / "history"
PAGE = ROOT / "docs" / "comparing.md"
BEGIN, END = "<!-- releases: begin -->\n", "<!-- releases: end -->\n"


class Engine(NamedTuple):
    """Versions of an engine that are run, over vectors of a tier, and what else is installed."""

    tier: str
    versions: tuple[str, ...]
    extra: tuple[str, ...] = ()


ENGINES = {
    # Some are older than opset 22, and than numpy 2.
    "onnxruntime:opset=19": Engine(
        "standard",
        (
            *("1.16.3", "1.20.1", "1.21.1", "1.22.1", "1.24.4", "1.25.1"),
            *("1.26.0", "1.28.0", "1.29.0", "1.30.0", "1.32.0"),
        ),
        ("numpy<2",),
    ),
    "openvino": Engine(
        "smoke", ("2025.1.0", "2025.2.0", "2025.4.1", "2026.0.0", "2026.2.1", "2026.4.1")
    ),
    "torch": Engine("standard", ("2.6.0", "2.10.0", "2.13.0+cpu", "2.15.0")),
    "jax": Engine(
        "smoke",
        ("0.4.38", "0.5.3", "0.6.2", "0.7.2", "0.8.0", "0.8.3", "0.9.2", "0.10.0", "0.10.2"),
    ),
}
"""The smoke tier is for engines that take hundredths of a second to compile each case."""


def history_of(name: str, engine: Engine) -> History:
    """Return what the releases of an engine show; those without a report are run."""
    with open_vectors() as files:
        checked = Checked(name, shipped_suite(), files.digests, engine.tier)
    return history(checked, engine.versions, reports=REPORTS, extra=engine.extra)


def page(text: str, histories: list[History]) -> str:
    """Return a page with what releases show between its marks, below a heading of its own."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = markdown.render(describe(histories)).partition("\n\n")[2]
    made = re.sub(r"^## ", "### ", made, flags=re.MULTILINE)
    return f"{before}{BEGIN}{made}{END}{after}"


if __name__ == "__main__":
    made = [history_of(name, ENGINES[name]) for name in sys.argv[1:] or ENGINES]
    if not sys.argv[1:]:
        PAGE.write_text(page(PAGE.read_text("utf-8"), made), encoding="utf-8")
