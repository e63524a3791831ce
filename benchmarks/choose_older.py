"""Chooses vectors of older versions of a document: `python benchmarks/choose_older.py`.

They are cases of the newest version's vectors, small ones: those with other answers in the older
version, a few of each set of clauses and kind of answer; those of the smoke tier; and others,
evenly spread. Writes their numbers into the list that the suite reads; about a minute.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from conformance.operators import OPERATORS, Operator, vector_of
from conformance.vector import Vector
from conformance.vectorfile import VectorFile, open_vectors
from conformance.vectorfile.older_vectors import ANEW, LIST, case_of_older
from conformance.vectorfile.verify import differences

MOST, MOST_OF_PLANES = 300, 80
"""Vectors of an older version, and of one that pools whole planes, at most."""
SHARE = 0.2
"""Of those, so many have other answers than the newest version, at most."""
OUTCOMES = 12
"""Outcomes of such a vector, at most: they are computed when it is read."""
CELLS = 800
"""Elements of their inputs, at most."""


def candidates(file: VectorFile, operator: Operator) -> Iterator[tuple[int, Vector, Vector]]:
    """Yield the small vectors of a file that a version has: number, in the newest and in that."""
    seen = set()
    for number, vector in enumerate(file):
        case = case_of_older(vector.case, operator)
        if case is None or sum(array.size for array in case.inputs) > CELLS:
            continue
        arrays = (array.tobytes() for array in case.inputs)
        key = (json.dumps(case.attributes, sort_keys=True), case.data.shape, *arrays)
        if key not in seen:
            seen.add(key)
            yield number, vector, vector_of(case)


def answers(vector: Vector) -> set[tuple[object, ...]]:
    """Return what is right of the first output, whatever the readings are called by which it is."""
    values = {("values", value.outputs[0].values.tobytes()) for value in vector.values}
    return values | {(outcome.kind,) for outcome in vector.outcomes}


def in_turn(groups: Iterable[Sequence[int]]) -> list[int]:
    """Return the first of each group, then the second of each, and so on."""
    return [n for turn in zip_longest(*groups) for n in turn if n is not None]


def spread(numbers: Sequence[int], most: int) -> list[int]:
    """Return so many of some numbers at most, evenly spread."""
    few = min(most, len(numbers))
    return [numbers[index * len(numbers) // few] for index in range(few)]


def chosen(file: VectorFile, operator: Operator) -> list[str]:
    """Return the vectors of a file that an older version gets, as they are listed."""
    most = MOST if operator.has_windows else MOST_OF_PLANES
    every = list(candidates(file, operator))
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, newest, older in every:
        if len(older.outcomes) <= OUTCOMES and answers(newest) != answers(older):
            kind = (*older.clauses, *(outcome.kind for outcome in older.outcomes))
            groups.setdefault(kind, []).append(number)
    others = in_turn(groups.values())[: int(SHARE * most)]
    smoke = [number for number, newest, _ in every if newest.case.tier == "smoke"]
    numbers = list(dict.fromkeys([*others, *smoke]))[:most]
    rest = [number for number, *_ in every if number not in numbers]
    numbers = sorted([*numbers, *spread(rest, most - len(numbers))])
    anew = {
        number for number, newest, older in every if differences(replace(newest, case=older.case))
    }
    return [f"{number}{ANEW * (number in anew)}" for number in numbers]


if __name__ == "__main__":
    with open_vectors() as files:
        by_operator = {file.operator: file for file in files}
        lines = []
        for name, operator in OPERATORS.items():
            if operator.newest is not operator:
                file = by_operator[operator.newest.name]
                listed = chosen(file, operator)
                anew = sum(each.endswith(ANEW) for each in listed)
                print(f"{name}: {len(listed)} vectors, {anew} with other answers")
                lines.append(" ".join([name, file.digest, *listed]))
    LIST.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
