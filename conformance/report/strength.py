"""How strong vectors are, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.faults.strength import Catch, Strength
from conformance.report.listing import coverage_lines


def render(measured: Strength, *, every: bool = False) -> RenderableType:
    """Return what was caught per operator, what was missed and, for `every`, by which vector."""
    caught, faults = measured.faults
    parts: list[RenderableType] = [_counts(measured), Text(), *_coverage(measured), Text()]
    if every:
        parts += [_catches(measured), Text()]
    parts += [*_missed(measured), *_idle(measured)]
    share = f"{caught:,} of {faults:,} faults caught in every operator that may have them"
    parts.append(Text(share, "bold green" if caught == faults else "bold yellow"))
    return Group(*parts)


def _counts(measured: Strength) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for _ in range(3):
        table.add_column(justify="right")
    table.add_row("operator", "vectors", "caught", "missed", style="dim")
    for operator, vectors in measured.vectors.items():
        caught, faults = measured.of_operator(operator)
        missed = Text(f"{faults - caught:,}", "yellow" if caught < faults else "")
        table.add_row(operator, f"{vectors:,}", f"{caught:,} of {faults:,}", missed)
    return table


def _coverage(measured: Strength) -> Iterator[Text]:
    for operator, stored in measured.coverage.items():
        for line in coverage_lines(stored):
            yield Text(f"{operator}  {line}", "dim")


def _catches(measured: Strength) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(justify="right")
    table.add_column(overflow="fold", style="dim")
    table.add_row("fault, operator", "cells", "smallest vector that catches it", style="dim")
    for catch in measured.catches:
        table.add_row(f"{catch.fault}, {catch.operator}", f"{catch.cells:,}", _by(catch))
    return table


def _by(catch: Catch) -> str:
    if catch.vector is not None:
        return catch.vector
    return f"inconsistent in {catch.inconsistent}" if catch.inconsistent else "missed"


def _missed(measured: Strength) -> Iterator[Text]:
    if measured.missed:
        yield Text("Missed", "bold")
        for catch in measured.missed:
            yield Text(f"  {catch.fault}, {catch.operator}")
        yield Text()


def _idle(measured: Strength) -> Iterator[Text]:
    if measured.idle is not None:
        total = sum(measured.vectors.values())
        yield Text(f"{len(measured.idle):,} of {total:,} vectors catch no fault that a smaller one")
        yield Text("does not; the faults nobody thought of may still need them")
        yield Text()
