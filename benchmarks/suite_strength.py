"""How many wrong behaviours this suite catches, beside the published tests of ONNX and PyTorch.

    python benchmarks/suite_strength.py [VECTORS] [--missed]

Every fault of the catalogue is planted alone and run through four suites: our standard and smoke
tiers, the node cases of ONNX's backend tests, and the samples and error inputs of PyTorch's
OpInfo. A fault is caught when a case fails by the tolerance of its suite: another shape, type or
value, or an exception where none is due. A suite is measured on the operators it has cases of,
operator by operator; "faults" counts those caught in at least one. Some faults lie where no case of
PyTorch could be: it has no auto_pad and pads both ends alike. Last, every backend of
tests/support/sound.py runs over both of our tiers. Needs onnx, torch and expecttest.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from other_suites import Suite, onnx_suite, torch_suite
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from conformance import check, open_vectors
from conformance.api.strength import strength
from conformance.faults import CATALOGUE
from conformance.operators import OPERATORS
from conformance.vectorfile import VectorSet

TIERS = ("standard", "smoke")

Pairs = set[tuple[str, str]]  # fault, operator


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What a suite catches: pairs of a fault and an operator, out of those it could catch."""

    name: str
    cases: int
    tolerance: str
    caught: Pairs
    possible: Pairs

    def of(self, operator: str) -> str:
        """Return how many faults are caught in an operator, "-" if there is no case of it."""
        if operator not in {name for _, name in self.possible}:
            return "-"
        return str(sum(name == operator for _, name in self.caught))

    @property
    def faults(self) -> tuple[set[str], set[str]]:
        """Return faults caught in some operator, and those of the operators it has cases of."""
        return {name for name, _ in self.caught}, {name for name, _ in self.possible}


def measure_ours(files: VectorSet, tier: str, progress: Progress) -> Measured:
    """Measure a tier of the vectors."""
    task = progress.add_task(f"our {tier} tier", total=None)
    measured = strength(
        files,
        tier=tier,
        progress=lambda done, total: progress.update(task, completed=done, total=total),
    )
    return Measured(
        f"our {tier} tier",
        sum(measured.vectors.values()),
        "proven bound",
        {(catch.fault, catch.operator) for catch in measured.catches if catch.caught},
        {(catch.fault, catch.operator) for catch in measured.catches},
    )


def measure_other(suite: Suite, progress: Progress) -> Measured:
    """Measure another suite."""
    possible = [
        (f, name) for name in suite.operators for f in CATALOGUE if f.concerns(OPERATORS[name])
    ]
    return Measured(
        suite.name,
        len(suite.examples),
        suite.tolerance_text,
        {
            (fault.name, name)
            for fault, name in progress.track(possible, description=suite.name)
            if suite.catches(fault, name)
        },
        {(fault.name, name) for fault, name in possible},
    )


def unsound(files: VectorSet, progress: Progress) -> tuple[list[str], int]:
    """Run every sound backend over both tiers; return those that failed one, and how many ran."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from support.sound import SOUND  # noqa: PLC0415 - lies among the tests

    failed = [
        name
        for name, backend in progress.track(SOUND, description="sound backends")
        if not all(check(backend, files, tier=tier).ok for tier in TIERS)
    ]
    return failed, len(SOUND)


def table_of(rows: Iterable[Measured]) -> Table:
    """Return one row per suite."""
    table = Table(title="wrong behaviours of the catalogue that each suite catches")
    table.add_column("suite")
    table.add_column("cases", justify="right")
    table.add_column("tolerance")
    for name in OPERATORS:
        count = sum(fault.concerns(OPERATORS[name]) for fault in CATALOGUE)
        table.add_column(f"{name}\nof {count}", justify="right")
    table.add_column("faults", justify="right")
    table.add_column("share", justify="right")
    for row in rows:
        caught, possible = map(len, row.faults)
        table.add_row(
            row.name,
            f"{row.cases:,}",
            row.tolerance,
            *map(row.of, OPERATORS),
            f"{caught} of {possible}",
            f"{caught / possible:.1%}",
        )
    return table


def used_of(suite: Suite) -> Iterator[str]:
    """Yield lines that say which cases of a suite are not used, and why."""
    missing = sum(map(len, suite.left_out.values()))
    total = len(suite.examples) + missing
    yield (
        f"{suite.name}: {len(suite.examples):,} of {total:,} cases used, "
        f"{suite.values_only:,} of them without their indices"
    )
    for why, names in suite.left_out.items():
        counts = Counter(names)
        listed = ", ".join(f"{name} ({n})" if n > 1 else name for name, n in counts.items())
        yield f"  {why}, {len(names):,}: {listed}"


def missed_of(row: Measured) -> Iterator[str]:
    """Yield the faults that a suite catches in no operator, by the step they belong to."""
    caught, possible = row.faults
    steps: dict[str, list[str]] = {}
    for fault in CATALOGUE:
        if fault.name in possible:
            steps.setdefault(fault.step, []).append(fault.name)
    yield f"{row.name} misses"
    for step, names in steps.items():
        missed = [name for name in names if name not in caught]
        yield f"  {step}, {len(missed)} of {len(names)}: {', '.join(missed)}"


def main() -> None:
    """Measure and print one table, what it leaves out, and how the sound backends fared."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vectors", nargs="?", type=Path, help="the shipped suite by default")
    parser.add_argument("--missed", action="store_true", help="name the faults each suite misses")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        others = [onnx_suite(), torch_suite()]
    except ImportError as error:
        parser.error(f"{error}; pip install onnx torch expecttest")
    console = Console(width=140, highlight=False)
    with (
        open_vectors(options.vectors) as files,
        Progress(transient=True, disable=not console.is_terminal) as progress,
    ):
        rows = [measure_ours(files, tier, progress) for tier in TIERS]
        rows += [measure_other(suite, progress) for suite in others]
        failed, sound = unsound(files, progress)
    console.print(table_of(rows))
    for suite in others:
        console.print(*used_of(suite), sep="\n", soft_wrap=True)
    if options.missed:
        for row in rows:
            console.print(*missed_of(row), sep="\n", soft_wrap=True)
    names = f": {', '.join(failed)}" if failed else ""
    console.print(f"sound backends failed {len(failed)} of {sound}{names}")


if __name__ == "__main__":
    main()
