"""The data that a page carries for its script, held to a size however many vectors there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.batch import vector_at
from conformance.check.report import VERDICTS, Report, Result
from conformance.dtypes import dtype_of
from conformance.report.html.drawings import LARGEST, drawing
from conformance.report.html.failures import (
    Cause,
    Group,
    Key,
    causes_by_key,
    elements,
    facts,
    in_turn,
    key_of,
)
from conformance.report.html.text import Own, json_text, visible
from conformance.report.repro import script

if TYPE_CHECKING:
    from conformance.vector import Vector
    from conformance.vectorfile import VectorSet

_ALL, _LISTED, _DESCRIBED = 8_000_000, 2_000_000, 2_500_000
"""Bytes for everything, and at most for the list of vectors and for the facts of failures.

What is left is for the data of failures and the scripts that show them again.
"""
_LONGEST_SCRIPT = 1 << 16
_RANK = {"conforms": 2, "unsupported": 1}


@dataclass(frozen=True, slots=True)
class Embedded:
    """Data as JSON for script elements, and what found room in it.

    `listed` of `run` vectors are in the list; of `failures`, `described` have their facts and
    `shown` their data, output and script.
    """

    listing: str
    described: str
    shown: str
    run: int
    failures: int
    listed: int
    with_facts: int
    with_data: int


def embedded(
    report: Report,
    groups: Sequence[Group],
    causes: Sequence[Cause],
    vectors: VectorSet | None,
) -> Embedded:
    """Return what a page carries; without `vectors`, no data and no drawings."""
    ordered = list(in_turn(groups))
    numbers, listing = _listing(report, {key_of(r): turn for turn, (_, r) in enumerate(ordered)})
    causes_of = causes_by_key(causes)
    texts = _Texts()
    room = _DESCRIBED
    records: list[Any] = []
    places: dict[Key, int] = {}
    for group, result in ordered:
        key = key_of(result)
        record = [
            numbers.get(key, -1),
            group.number,
            causes_of.get(result.id, []),
            [texts.number(text) for pair in facts(result) for text in pair],
            elements(result),
        ]
        room -= len(json_text(record)) + texts.grown()
        if room < 0 or record[0] == -1:
            break
        places[key] = len(records)
        records.append(record)
    lists = json_text(listing), json_text({"texts": texts.every, "failures": records})
    wanted = [result for _, result in ordered if key_of(result) in places]
    shown = _shown(report, wanted, places, vectors, _ALL - sum(map(len, lists)))
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


class _Texts:
    """Texts by number: what failures have in common is written once."""

    def __init__(self) -> None:
        self.every: list[str] = []
        self._numbers: dict[str, int] = {}
        self._grown = 0

    def number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.every)
            self.every.append(text)
            self._grown += len(json_text(text)) + 1
        return self._numbers[text]

    def grown(self) -> int:
        """Return the bytes of the texts that are new since the last call."""
        grown, self._grown = self._grown, 0
        return grown


def _listing(report: Report, turns: Mapping[Key, int]) -> tuple[dict[Key, int], dict[str, Any]]:
    """Return the vectors that are listed, in the order of the run, with their numbers."""
    columns = [(r.operator, r.id, r.verdict, bool(r.expected)) for r in report.results]

    def priority(number: int) -> tuple[int, int]:
        """Put failures first where there is no room for all, in the order of their turns."""
        operator, name, verdict, _ = columns[number]
        return _RANK.get(verdict, 0), turns.get((operator, name), len(turns))

    room = _LISTED
    taken: list[int] = []
    for number in sorted(range(len(columns)), key=priority):
        room -= len(json_text(columns[number][1])) + 6
        if room < 0:
            break
        taken.append(number)
    taken.sort()
    operators = list(dict.fromkeys(operator for operator, *_ in columns))
    order = {name: number for number, name in enumerate(operators)}
    numbers: dict[Key, int] = {}
    for place, i in enumerate(taken):
        numbers.setdefault(columns[i][:2], place)
    return numbers, {
        "operators": operators,
        "verdicts": VERDICTS,
        "id": [columns[i][1] for i in taken],
        "operator": [order[columns[i][0]] for i in taken],
        "verdict": [VERDICTS.index(columns[i][2]) for i in taken],
        "expected": [place for place, i in enumerate(taken) if columns[i][3]],
    }


def _shown(
    report: Report,
    wanted: Sequence[Result],
    places: Mapping[Key, int],
    vectors: VectorSet | None,
    room: int,
) -> list[str]:
    """Return the members of a JSON object: number of a failure to its data and script."""
    likely: dict[Key, Result] = {}
    needed = 0
    for result in wanted:
        needed += _least(result)
        if needed > room:
            break
        likely[key_of(result)] = result
    made = {
        key: {"printed": result.printed} for key, result in likely.items() if result.printed
    } | dict(_from_vectors(report, likely, vectors))
    members: list[str] = []
    for key in likely:
        if key in made:
            member = f'"{places[key]}":{json_text(made[key])}'
            room -= len(member) + 1
            if room < 0:
                break
            members.append(member)
    return members


def _from_vectors(
    report: Report, wanted: Mapping[Key, Result], vectors: VectorSet | None
) -> Iterator[tuple[Key, dict[str, Any]]]:
    for file in vectors or ():
        known = {each: number for number, each in enumerate(file.ids)}
        numbers = sorted(
            known[name] for operator, name in wanted if operator == file.operator and name in known
        )
        for batch in file.batches(np.array(numbers, np.int64)):
            for index in range(len(batch)):
                vector = vector_at(batch, index)
                key = file.operator, vector.case.id
                yield key, _one(report, vector, wanted[key], str(file.path))


def _one(report: Report, vector: Vector, result: Result, path: str) -> dict[str, Any]:
    short = replace(result, detail=visible(result.detail))
    again = script(vector.case, short, backend=report.backend, path=path)
    found = {
        "drawing": drawing(vector, result, report.required),
        "script": Own(visible(again, _LONGEST_SCRIPT)),
        "printed": result.printed,
    }
    return {name: value for name, value in found.items() if value}


def _least(result: Result) -> int:
    """Return about how many bytes a failure takes at least."""
    size = 1
    for extent in result.shapes[0] if result.shapes else ():
        size *= extent
    known = result.dtype and size <= LARGEST
    return 800 + len(result.printed) + (size * dtype_of(result.dtype).itemsize if known else 0)
