"""Writes docs/history.md: `python docs/make_history.py [ENGINE...]`, in one to two hours.

It runs releases of engines as `conformance history` does, and writes the page after all of them.
Reports stay in build/history, and one that is there is not made again, so that the command can be
stopped. Below the head, the page is what `conformance history` shows of each engine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

from conformance import open_vectors
from conformance.history import Checked, History, history
from conformance.history.history_report import describe
from conformance.report import markdown
from conformance.vectorfile.suite import shipped_suite

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "build" / "history"
HEAD = """# Releases of engines

In which release of an engine failures came, and in which they went; [findings](findings.md)
explains many of them. `conformance history` runs the suite over releases, each in an environment of
its own ([how](comparing.md#releases-of-one-engine)); [make_history.py](make_history.py) makes this
page.

What "came" in 1.24.4 after 1.20.1 fails in 1.24.4, and not in 1.20.1, the release run before it; it
may have come in any between. "Otherwise" are the verdicts in the other of the two releases. An
AttributeError is not the engine's: its release has not what the adapter here calls.
"""


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


def page(histories: list[History]) -> str:
    """Return the page, whose title is in its head."""
    made = markdown.render(describe(histories))
    return HEAD + "\n" + made.partition("\n\n")[2]


if __name__ == "__main__":
    made = [history_of(name, ENGINES[name]) for name in sys.argv[1:] or ENGINES]
    if not sys.argv[1:]:
        Path(__file__).with_name("history.md").write_text(page(made), encoding="utf-8")
