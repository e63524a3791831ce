"""What the checker adds to calling a backend: a whole `check` beside a bare loop of calls.

Both see the same vectors, already open and in memory, and call the same backend in this process.
Runs take turns, so that a slow moment of the machine meets both.

    python benchmarks/check_overhead.py [VECTORS]
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from conformance import check, load_backend, open_vectors

ROUNDS = {"numpy": 5, "torch": 15}


def bare_loop(backend: Any, files: Any) -> Callable[[], None]:
    """Return a loop that calls a backend on every vector and looks at nothing."""
    batches = [(file.operator, batch) for file in files for batch in file.batches()]

    def run() -> None:
        for operator, batch in batches:
            for inputs, attributes in zip(batch.inputs, batch.attributes, strict=True):
                with suppress(Exception):  # unsupported and invalid cases
                    backend(operator, list(inputs), dict(attributes))

    return run


def seconds(run: Callable[[], Any]) -> float:
    """Return how long a run takes."""
    started = perf_counter()
    run()
    return perf_counter() - started


def paired(first: Callable[[], Any], second: Callable[[], Any], rounds: int) -> list[Any]:
    """Return seconds of both and their ratio per round, after one round to warm up."""
    first()
    second()
    measured = []
    for _ in range(rounds):
        one, other = seconds(first), seconds(second)
        measured.append((one, other, one / other))
    return list(zip(*measured, strict=True))


def start_up(rounds: int = 15) -> list[Any]:
    """Measure `conformance --help` beside an interpreter that imports numpy."""

    def program(*arguments: str) -> Callable[[], Any]:
        return lambda: subprocess.run(
            [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
        )

    ours = program("-m", "conformance", "--help")
    return paired(ours, program("-c", "import numpy"), rounds)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    table = Table("what", "against", "ours ms", "theirs ms", "ours / theirs (quartiles)")

    def add(what: str, against: str, columns: list[Any]) -> None:
        ours, theirs, ratios = columns
        low, middle, high = statistics.quantiles(ratios, n=4)
        table.add_row(
            what,
            against,
            f"{statistics.median(ours) * 1e3:.0f}",
            f"{statistics.median(theirs) * 1e3:.0f}",
            f"{middle:.2f} ({low:.2f}-{high:.2f})",
        )

    with open_vectors(sys.argv[1] if len(sys.argv) > 1 else None) as files:
        count = sum(len(file) for file in files)
        for name, rounds in ROUNDS.items():
            try:
                backend = load_backend(name)
            except Exception as error:  # noqa: BLE001 - an engine that is not installed
                table.add_row(f"check {name}", str(error), "", "", "")
                continue
            if name == "torch":
                importlib.import_module("torch").set_num_threads(1)

            def run(backend: Any = backend) -> Any:
                # Looking for causes of failures is for those who have some.
                return check(backend, files, diagnose=False)

            what = f"check {name}, {count:,} vectors"
            add(what, "bare loop of calls", paired(run, bare_loop(backend, files), rounds))
    add("conformance --help", "import numpy", start_up())
    Console().print(table)


if __name__ == "__main__":
    main()
