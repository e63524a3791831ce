"""What a vector file holds, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.dtypes import FLOATS, INTEGERS, name_of
from conformance.report import values as words
from conformance.vector import TIERS
from conformance.vectorfile import VectorFile

_PROVENANCES = ("printed", "derived", "computed")


def summary(file: VectorFile, numbers: Sequence[int] | None = None) -> RenderableType:
    """Return what a file holds, or what its vectors of some numbers are."""
    tiers: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    provenances: Counter[str] = Counter()
    clauses: Counter[str] = Counter()
    for batch in file.batches(numbers):
        tiers.update(batch.tier)
        provenances.update(batch.provenance)
        dtypes.update(name_of(inputs[0].dtype) for inputs in batch.inputs)
        clauses.update(name for touched in batch.clauses for name in touched)
    number = len(file) if numbers is None else len(numbers)
    of_all = "" if numbers is None else f" of {len(file):,}"
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_row("  tier", _counts(tiers, TIERS))
    table.add_row("  dtype", _counts(dtypes, (*FLOATS, *INTEGERS)))
    table.add_row("  provenance", _counts(provenances, _PROVENANCES))
    if clauses:
        table.add_row("  clauses", _counts(clauses, sorted(clauses)))
    for line in coverage_lines(file.header.get("coverage")):
        table.add_row("  coverage", line)
    title = Text.assemble(
        (file.operator, "bold"),
        f"  {number:,}{of_all} vectors, {words.size(file.path.stat().st_size)}, {file.path}",
        no_wrap=True,  # so that the path can be copied
        overflow="ignore",
    )
    digest = Text(f"  digest {file.digest}", "dim", no_wrap=True, overflow="ignore")
    return Group(title, table, digest, Text())


def _counts(counter: Counter[str], order: Iterable[str]) -> str:
    return ", ".join(f"{name} {counter[name]:,}" for name in order if counter[name])


def coverage_lines(stored: object) -> Iterator[str]:
    """Say how many combinations of levels a file covers, as its generator counted them."""
    for name, numbers in stored.items() if isinstance(stored, dict) else ():
        found = numbers if isinstance(numbers, dict) else {}
        counts = [found.get(key) for key in ("covered", "feasible", "strength")]
        if all(isinstance(count, int) for count in counts):
            covered, feasible, strength = counts
            yield f"{name}: {covered:,} of {feasible:,} feasible combinations of {strength} levels"
