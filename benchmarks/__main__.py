"""All measurements in one table.

    python -m benchmarks [--quick] [--million] [--only GROUP]... [--write PAGE]

Every figure is a ratio of two things measured in turns, in one run, on one machine. "null" is
what each of the two is beside itself, one round later: a ratio that lies within it says nothing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.paired import Effort, Row

GROUPS = {
    "reference": "reference_speed",
    "generation": "generation",
    "check": "check_overhead",
    "isolation": "isolation",
    "storage": "storage",
    "machines": "machines",
    "start": "start_up",
    "suite": "suite_commands",
    "scale": "scale",
}
"""What is measured, and the module that does."""

HEADINGS = ("what", "against", "ours", "theirs", "ours / theirs", "null")
BEGIN, END = "<!-- table: python -m benchmarks --write -->", "<!-- end of the table -->"


def rows(groups: Sequence[str], effort: Effort) -> Iterator[Row]:
    """Yield every row; one that says why where a group needs what is not installed."""
    for group in groups:
        try:
            yield from importlib.import_module(f"benchmarks.{GROUPS[group]}").rows(effort)
        except ModuleNotFoundError as error:
            yield Row(group, "", "", "", f"not measured: {error}")


def machine() -> str:
    """Describe what the figures were measured of, and on what."""
    packages = []
    for name in ("numpy", "h5py", "torch", "onnx", "onnxruntime", "distributed"):
        try:
            packages.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"Python {platform.python_version()}"
    machine = f"{cores} cores ({processor()}), {platform.system()}"
    return f"commit {commit()}; {machine}, {', '.join([python, *packages])}"


def commit() -> str:
    """Return the commit that is measured, with a + if files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+"]
    try:
        return subprocess.check_output(command, cwd=Path(__file__).parent, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def processor() -> str:
    """Return the name of the processor."""
    with Path("/proc/cpuinfo").open() as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def load() -> str:
    """Return the load average: how many processes want a core."""
    return f"{os.getloadavg()[0]:.1f}"


def page(table: Sequence[Row], described: str) -> str:
    """Return the table as Markdown."""
    lines = [described, "", f"| {' | '.join(HEADINGS)} |", "|---|---|--:|--:|--:|--:|"]
    lines += [
        f"| {row.what} | {row.against} | {row.ours} | {row.theirs} | {row.ratio} | {row.null} |"
        for row in table
    ]
    return "\n".join(lines)


def insert(path: Path, content: str) -> None:
    """Put the table between its two marks in a page."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{path}: it has no lines {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n\n{content}\n\n{END}{after}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds: a minute")
    parser.add_argument("--million", action="store_true", help="a million vectors too: an hour")
    parser.add_argument("--only", action="append", choices=GROUPS, help="a group; repeatable")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into a page")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    before, measured = load(), []
    out, err = Console(width=160), Console(stderr=True)
    for row in rows(options.only or list(GROUPS), Effort(options.quick, options.million)):
        measured.append(row)
        err.print(f"{row.what}: {row.ratio}", highlight=False, soft_wrap=True)
    described = f"{machine()}; load average {before} before, {load()} after."
    table = Table(title="ours beside theirs; in brackets the middle half of the rounds")
    for index, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if index < 2 else "right")
    for row in measured:
        table.add_row(row.what, row.against, row.ours, row.theirs, row.ratio, row.null)
    out.print(table)
    out.print(described, soft_wrap=True)
    if options.write:
        insert(options.write, page(measured, described))


if __name__ == "__main__":
    main()
