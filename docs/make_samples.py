"""Puts what commands print into the pages that show it: `python docs/make_samples.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAMPLES = {
    "README.md": (
        "conformance check examples/backend_faulty.py:backend --operator MaxPool-1 --max-shown 1"
    ),
    "vectors/README.md": "conformance list vectors",
}
BLOCK = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def printed(command: str) -> str:
    """Return what a command of this package prints in 80 columns."""
    done = subprocess.run(  # noqa: S603 - the commands above
        [sys.executable, "-m", *command.split()],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode > 1:
        raise SystemExit(done.returncode)
    return f"{done.stdout.rstrip()}\n"


def shown(page: str) -> str:
    """Return the block of text in a page."""
    (block,) = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return str(block)


if __name__ == "__main__":
    for page, command in SAMPLES.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        (ROOT / page).write_text(text.replace(shown(page), printed(command)), encoding="utf-8")
