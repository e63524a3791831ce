"""Chooses vectors of older versions of a document: `python -m benchmarks.choose_older`.

They are cases of the newest version's vectors: those with other answers in the older version, a few
of each set of clauses and kind of answer; those of the smoke tier; then one for each fault of the
catalogue that these miss, and others, evenly spread. Writes their numbers into the list that the
suite reads; about a quarter of an hour. `--renumber FOLDER` chooses nothing: it keeps the vectors
that are listed, by their ids in the files of that folder, before vectors were added.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from benchmarks.choose_smoke import caught
from conformance.api.strength import cells_of
from conformance.cases.sweep.sweep_model import case_of
from conformance.faults import CATALOGUE
from conformance.operators import OPERATORS, Operator, vector_of
from conformance.vector import Vector
from conformance.vectorfile import VectorFile, open_vectors, shipped_suite
from conformance.vectorfile.older_vectors import ANEW, LIST, case_of_older
from conformance.vectorfile.verify import differences

MOST, MOST_OF_PLANES = 300, 80
"""Vectors of an older version, and of one that pools whole planes, at most."""
SHARE = 0.2
"""Of those, so many have other answers than the newest version, at most."""
CELLS, OUTCOMES = 800, 12
"""Elements of inputs, and outcomes, of vectors that are computed when they are read, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Vector `number` of the newest version, and as an older one has it.

    It is `anew` if what is stored is not what the older version says, whatever for.
    """

    number: int
    newest: Vector
    older: Vector
    anew: bool

    @property
    def listed(self) -> str:
        """How it is listed."""
        case = self.older.case
        named = case_of(case.operator, case.attributes, case.inputs, pattern="")
        return f"{self.number}-{named.id.rpartition('-')[2]}{ANEW * self.anew}"

    @property
    def has_other_answers(self) -> bool:
        """Whether the first output differs, whatever the readings are called by which it does."""
        return _answers(self.newest) != _answers(self.older)


def _answers(vector: Vector) -> set[tuple[object, ...]]:
    values = {("values", value.outputs[0].values.tobytes()) for value in vector.values}
    return values | {(outcome.kind,) for outcome in vector.outcomes}


def candidates(file: VectorFile, operator: Operator) -> Iterator[Candidate]:
    """Yield the vectors of a file that a version has, but for what takes long to compute."""
    seen = set()
    for number, vector in enumerate(file):
        case = case_of_older(vector.case, operator)
        if case is None:
            continue
        arrays = (array.tobytes() for array in case.inputs)
        key = (json.dumps(case.attributes, sort_keys=True), case.data.shape, *arrays)
        if key in seen:
            continue
        seen.add(key)
        anew = bool(differences(replace(vector, case=case)))
        older = vector_of(case) if anew else replace(vector, case=case)
        if not anew or (cells_of(older) <= CELLS and len(older.outcomes) <= OUTCOMES):
            yield Candidate(number, vector, older, anew)


def in_turn(groups: Iterable[Sequence[Candidate]]) -> list[Candidate]:
    """Return the first of each group, then the second of each, and so on."""
    return [each for turn in zip_longest(*groups) for each in turn if each is not None]


def spread(every: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return so many of some candidates at most, evenly spread."""
    few = min(most, len(every))
    return [every[index * len(every) // few] for index in range(few)]


def catching(
    operator: Operator, before: Sequence[Candidate], rest: Sequence[Candidate]
) -> list[Candidate]:
    """Return those of `rest`, small ones first, that catch a fault which those `before` miss."""
    faults = [each for each in CATALOGUE if each.concerns(operator) and not each.remembers]
    found = caught(operator.name, faults, [each.older for each in before])
    left = [fault for fault in faults if fault.name not in found]
    chosen = []
    for each in sorted(rest, key=lambda each: cells_of(each.older)):
        if names := caught(operator.name, left, [each.older]):
            chosen.append(each)
            left = [fault for fault in left if fault.name not in names]
    return chosen


def chosen_of(file: VectorFile, operator: Operator) -> list[Candidate]:
    """Return the vectors of a file that an older version gets."""
    most = MOST if operator.has_windows else MOST_OF_PLANES
    every = list(candidates(file, operator))
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    for each in every:
        if each.has_other_answers:
            kind = (*each.older.clauses, *(outcome.kind for outcome in each.older.outcomes))
            groups.setdefault(kind, []).append(each)
    others = in_turn(groups.values())[: int(SHARE * most)]
    smoke = [each for each in every if each.newest.case.tier == "smoke"]
    chosen = list(dict.fromkeys([*others, *smoke]))
    chosen += catching(operator, chosen, [each for each in every if each not in chosen])
    small = [e for e in every if e not in chosen and cells_of(e.older) <= CELLS]
    chosen = [*chosen, *spread(small, most - len(chosen))][:most]
    return sorted(chosen, key=lambda each: each.number)


def renumbered(before: VectorFile, after: VectorFile, listed: Sequence[str]) -> list[str]:
    """Return entries of the list with the numbers that the same vectors have now."""
    number_of = {identity: number for number, identity in enumerate(after.ids)}
    entries = [each.partition("-") for each in listed]
    moved = [(number_of[before.ids[int(number)]], end) for number, _, end in entries]
    return [f"{number}-{end}" for number, end in sorted(moved)]


def main() -> None:
    """Choose, or renumber, and write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--renumber", type=Path, metavar="FOLDER")
    earlier = parser.parse_args().renumber
    lines = []
    if earlier is not None:
        for name, _, *listed in map(str.split, LIST.read_text(encoding="ascii").splitlines()):
            stored = f"{OPERATORS[name].newest.name}.h5"
            now = shipped_suite() / stored
            with VectorFile(earlier / stored) as before, VectorFile(now) as after:
                lines.append(" ".join([name, after.digest, *renumbered(before, after, listed)]))
    else:
        with open_vectors() as files:
            by_operator = {file.operator: file for file in files}
            for name, operator in OPERATORS.items():
                if operator.newest is not operator:
                    file = by_operator[operator.newest.name]
                    chosen = chosen_of(file, operator)
                    anew = sum(each.anew for each in chosen)
                    print(f"{name}: {len(chosen)} vectors, {anew} computed anew", flush=True)
                    lines.append(" ".join([name, file.digest, *(each.listed for each in chosen)]))
    LIST.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


if __name__ == "__main__":
    main()
