"""The data that a page carries for its script, held to a size however many vectors there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from conformance.api.failure_groups import Key, causes_by_id, failure_groups, key_of, round_robin
from conformance.dtypes import FLOATS, dtype_of
from conformance.literals import exact
from conformance.record.report import VERDICTS, Report, Result
from conformance.record.why import Told
from conformance.report import phrases
from conformance.report.html.drawings import LARGEST, drawing
from conformance.report.html.json_data import TrustedText, json_text
from conformance.report.repro import script
from conformance.text import html
from conformance.vectorfile.sources import vectors_in

if TYPE_CHECKING:
    from conformance.vector import Vector
    from conformance.vectorfile import VectorSet

_ALL, _LISTED, _DESCRIBED = 8_000_000, 2_000_000, 2_500_000
"""Bytes for everything, and at most for the list of vectors and for the facts of failures.

What is left is for the data of failures and the scripts that show them again.
"""
_LONGEST_SCRIPT = 1 << 16
_RANK = {"conforms": 2}
_COUNTED_APART = 1


@dataclass(frozen=True, slots=True)
class Embedded:
    """Data as JSON for script elements, and what found room in it.

    `listing`, `described` and `shown` are the texts: the list of vectors, the facts of failures,
    and their data. The counts: `listed` of `run` vectors are in the list; `with_facts` of
    `failures` have their facts, `with_data` their data, output and script.
    """

    listing: str
    described: str
    shown: str
    run: int
    failures: int
    listed: int
    with_facts: int
    with_data: int


def embedded(report: Report, vectors: VectorSet | None) -> Embedded:
    """Return what a page carries; without `vectors`, no data and no drawings."""
    ordered = list(round_robin(failure_groups(report)))
    numbers, listing = _listing(report, {key_of(r): turn for turn, (_, r) in enumerate(ordered)})
    causes_of = causes_by_id(report.diagnoses)
    texts: dict[str, int] = {}  # by number, so that a text of several failures is written once
    room = _DESCRIBED
    records: list[Any] = []
    places: dict[Key, int] = {}
    for group, result in ordered:
        key = key_of(result)
        facts = [text for pair in _facts(result) for text in pair]
        for text in facts:
            if text not in texts:
                texts[text] = len(texts)
                room -= len(json_text(text)) + 1
        record = [
            numbers.get(key, -1),
            group.number,
            causes_of.get(result.id, []),
            [texts[text] for text in facts],
            _elements(result),
        ]
        room -= len(json_text(record))
        if room < 0 or record[0] == -1:
            break
        places[key] = len(records)
        records.append(record)
    lists = json_text(listing), json_text({"texts": [*texts], "failures": records})
    described = [result for _, result in ordered if key_of(result) in places]
    shown = _shown(report, described, places, vectors, _ALL - sum(map(len, lists)))
    return Embedded(
        listing=lists[0],
        described=lists[1],
        shown=f"{{{','.join(shown)}}}",
        run=len(report.results),
        failures=len(ordered),
        listed=len(numbers),
        with_facts=len(records),
        with_data=len(shown),
    )


def _facts(result: Result) -> list[tuple[str, str]]:
    """Return names and texts of a failure, without its elements and what was printed."""
    elsewhere = {"first", "worst", "error", "printed"}
    facts = [(name, text) for name, text in phrases.facts(result) if name not in elsewhere]
    return [*facts, ("tags", ", ".join(result.tags))] if result.tags else facts


def _elements(result: Result) -> list[tuple[str, ...]]:
    """Return a row for the first and one for the worst wrong element.

    Its columns are what it is, place, got, expected, error, ulp and error allowed.
    """
    worst = result.worst
    if worst is None:
        return []
    dtype = result.worst_dtype

    def row(label: str, index: Sequence[int], got: float, expected: float) -> tuple[str, ...]:
        values = (exact(value, dtype) for value in (got, expected))
        return (label, f"{worst.output}[{', '.join(map(str, index))}]", *values)

    error = f"{worst.error:.3g}" if isfinite(worst.error) else "not finite"
    has_ulp = dtype in FLOATS and isfinite(worst.ulp)
    distance = (error, f"{worst.ulp:.3g}" if has_ulp else "", f"{worst.bound:.3g}")
    last = (*row("worst", worst.index, worst.got, worst.expected), *distance)
    if worst.first_index in {(), worst.index}:
        return [(("first and " if worst.wrong > 1 else "") + last[0], *last[1:])]
    first = row("first", worst.first_index, worst.first_got, worst.first_expected)
    return [(*first, "", "", ""), last]


def _fitting(sizes: Iterable[int], room: int) -> int:
    """Return how many things of some sizes, the first ones, there is room for."""
    return sum(1 for _ in takewhile(room.__ge__, accumulate(sizes)))


def _listing(report: Report, turns: Mapping[Key, int]) -> tuple[dict[Key, int], dict[str, Any]]:
    """Return the vectors that are listed, in the order of the run, with their numbers."""
    columns = [(r.operator, r.id, r.verdict, bool(r.expected)) for r in report.results]

    def priority(number: int) -> tuple[int, int]:
        """Put failures first where there is no room for all, in the order of their turns."""
        operator, name, verdict, _ = columns[number]
        rank = 0 if verdict in report.failing else _RANK.get(verdict, _COUNTED_APART)
        return rank, turns.get((operator, name), len(turns))

    ordered = sorted(range(len(columns)), key=priority)
    sizes = (len(json_text(columns[number][1])) + 6 for number in ordered)
    taken = sorted(ordered[: _fitting(sizes, _LISTED)])
    operators = list(dict.fromkeys(operator for operator, *_ in columns))
    order = {name: number for number, name in enumerate(operators)}
    numbers: dict[Key, int] = {}
    for place, i in enumerate(taken):
        numbers.setdefault(columns[i][:2], place)
    return numbers, {
        "operators": operators,
        "verdicts": VERDICTS,
        "failures": report.failing,
        "id": [columns[i][1] for i in taken],
        "operator": [order[columns[i][0]] for i in taken],
        "verdict": [VERDICTS.index(columns[i][2]) for i in taken],
        "expected": [place for place, i in enumerate(taken) if columns[i][3]],
    }


def _shown(
    report: Report,
    failures: Sequence[Result],
    places: Mapping[Key, int],
    vectors: VectorSet | None,
    room: int,
) -> list[str]:
    """Return the members of a JSON object: number of a failure to its data and script."""
    likely = failures[: _fitting(map(_least, failures), room)]
    by_key = {key_of(result): result for result in likely}
    made = {key: {"printed": r.printed} for key, r in by_key.items() if r.printed}
    made |= dict(_from_vectors(report, by_key, vectors))
    members = [f'"{places[key]}":{json_text(made[key])}' for key in by_key if key in made]
    return members[: _fitting((len(member) + 1 for member in members), room)]


def _from_vectors(
    report: Report, failures: Mapping[Key, Result], vectors: VectorSet | None
) -> Iterator[tuple[Key, dict[str, Any]]]:
    for file in vectors or ():
        number_of = {vector_id: number for number, vector_id in enumerate(file.ids)}
        numbers = sorted(
            number_of[vector_id]
            for operator, vector_id in failures
            if operator == file.operator and vector_id in number_of
        )
        for vector in vectors_in(file, np.array(numbers, np.int64)):
            key = file.operator, vector.case.id
            yield key, _one(report, vector, failures[key], str(file.path))


def _one(report: Report, vector: Vector, result: Result, path: str) -> dict[str, Any]:
    short = structs.replace(result, why=Told(html(result.detail)))
    again = script(vector.case, short, backend=report.backend, path=path)
    data = {
        "drawing": drawing(vector, result, report.required),
        "script": TrustedText(html(again, _LONGEST_SCRIPT)),
        "printed": result.printed,
    }
    return {name: value for name, value in data.items() if value}


def _least(result: Result) -> int:
    """Return about how many bytes a failure takes at least."""
    size = prod(result.shapes[0]) if result.shapes else 1
    drawn = result.dtype and size <= LARGEST
    return 800 + len(result.printed) + (size * dtype_of(result.dtype).itemsize if drawn else 0)
