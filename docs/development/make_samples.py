"""Puts what commands print into the pages that show it: `make_samples.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[2]
CHECK = "conformance check examples/backend_faulty.py:backend --operator MaxPool-1 --max-shown 1"
SAMPLES = {"docs/reports.md": CHECK, "vectors/README.md": "conformance list vectors"}
BLOCK = re.compile(r"(?<=^```text\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PICTURE = ROOT / "docs" / "report.svg"
"""What README shows of the sample: its causes, its table and its first failure."""
_LAST = "error "
_FONTS = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)


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


def picture(text: str) -> str:
    """Return a drawing of a terminal with the first part of a report; it loads no fonts."""
    lines = text.splitlines()
    last = next(number for number, line in enumerate(lines) if _LAST in line)
    console = Console(record=True, width=82, file=StringIO())
    console.print(Text("\n".join(lines[: last + 1])), soft_wrap=True)
    return console.export_svg(
        title=f"$ {CHECK.partition(' --')[0]}",
        theme=DIMMED_MONOKAI,
        code_format=_FONTS.sub("", CONSOLE_SVG_FORMAT),
        unique_id="report",
    )


if __name__ == "__main__":
    for page, command in SAMPLES.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        (ROOT / page).write_text(text.replace(shown(page), printed(command)), encoding="utf-8")
    PICTURE.write_text(picture(shown("docs/reports.md")), encoding="utf-8")
