"""Does a vector file say what the documents say? Every expected value is computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from conformance.errors import InvalidCase
from conformance.operators import CLAUSES, Output, operator_named, vector_of
from conformance.operators.clauses import disputed_of, under
from conformance.operators.outcomes import undefined_as_a_whole
from conformance.vector import Array, Case, Outcome, Vector
from conformance.vectorfile import VectorFile

_COLUMNS = {
    "expected": "values",
    "addends": "addends",
    "divisor": "divisor",
    "magnitude": "magnitude",
}
"""What is said of each part of `Expected`."""
_LARGEST = 1 << 40  # of an attribute: positions of windows have 64 bits


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a stored vector is not what its case computes to."""

    id: str
    what: str


def verify(
    file: VectorFile, *, progress: Callable[[str, int, int], None] | None = None
) -> Iterator[Difference]:
    """Yield the differences of each vector; the file was found sound when it was opened.

    `progress` is called with the operator, the vectors done, and their number.
    """
    for number in range(len(file)):
        vector = file.vector(number)
        for what in differences(vector):
            yield Difference(vector.case.id, what)
        if progress is not None:
            progress(file.operator, number + 1, len(file))


def differences(vector: Vector) -> list[str]:
    """Return in words how a vector differs from what its case computes to, at most once each.

    A file is a stranger's: its attributes may ask for more than fits into memory, so nothing is
    computed unless the outcomes stored have the shapes that the attributes lead to.
    """
    try:
        if what := misshapen(vector):
            return [what]
        computed = vector_of(vector.case)
    except Exception as error:  # noqa: BLE001 - whatever numbers a stranger chose, the rest goes on
        return [f"cannot be computed: {type(error).__name__}: {' '.join(str(error).split())[:120]}"]
    found = []
    if dict(vector.clauses) != dict(computed.clauses):
        found.append(f"clauses are {_clauses(vector)}, computed {_clauses(computed)}")
    outputs = operator_named(vector.case.operator).outputs
    mine, theirs = _by_readings(vector), _by_readings(computed)
    for readings in {**theirs, **mine}:
        if readings not in mine or readings not in theirs:
            lack = "are missing" if readings not in mine else "do not occur"
            found.append(f"readings {_named(readings)} {lack}")
        elif what := _difference(mine[readings], theirs[readings], outputs):
            found.append(f"{what}{f' under {_named(readings)}' if readings else ''}")
    if not found and len(vector.outcomes) != len(computed.outcomes):
        found.append(f"{len(vector.outcomes)} outcomes, computed {len(computed.outcomes)}")
    return found


def misshapen(vector: Vector) -> str:
    """Return in words that the output shapes stored are not those of the attributes, or "".

    Nothing is allocated: a vector for which this is "" has windows as few as its stored outputs.
    """
    asked = _shapes_of(vector.case)
    stored = {output.values.shape for outcome in vector.outcomes for output in outcome.outputs}
    if asked == stored:
        return ""
    return f"attributes give output shape {_any(asked)}, stored is {_any(stored)}"


def _shapes_of(case: Case) -> set[tuple[int, ...]]:
    """Return the output shapes under all readings; none for an invalid or undefined case.

    None either where a number is too large for positions to be computed.
    """
    operator = operator_named(case.operator)
    try:
        params = operator.validate(case.inputs, case.attributes)
    except InvalidCase:
        return set()
    numbers = (*params.kernel, *params.strides, *params.pads_begin, *params.pads_end)
    if max(numbers, default=0) > _LARGEST or undefined_as_a_whole(operator, params, case.inputs[0]):
        return set()
    names = [each.name for each in disputed_of(operator) if each.is_geometric]
    choices = [[reading.name for reading in CLAUSES[name].readings] for name in names]
    shapes = set()
    for choice in product(*choices):
        pipeline = under(operator, dict(zip(names, choice, strict=True)))
        shapes.add((*case.inputs[0].shape[:2], *pipeline.extent(params, pipeline.pads(params))))
    return shapes


def _by_readings(vector: Vector) -> dict[tuple[tuple[str, str], ...], Outcome]:
    return {
        tuple(sorted(combination.items())): outcome
        for outcome in vector.outcomes
        for combination in outcome.readings
    }


def _difference(stored: Outcome, computed: Outcome, outputs: Sequence[Output]) -> str:
    for name in ("kind", "accumulator", "subnormals"):
        if getattr(stored, name) != getattr(computed, name):
            return f"{name} is {getattr(stored, name)}, computed {getattr(computed, name)}"
    if len(stored.outputs) != len(computed.outputs):
        return f"{len(stored.outputs)} outputs, computed {len(computed.outputs)}"
    for output, mine, theirs in zip(outputs, stored.outputs, computed.outputs, strict=False):
        of = f"{output.name}: " if len(outputs) > 1 else ""
        for name, column in _COLUMNS.items():
            if what := _array_difference(getattr(mine, column), getattr(theirs, column)):
                return f"{of}{name} {what}"
    return ""


def _array_difference(stored: Array, computed: Array) -> str:
    if stored.dtype != computed.dtype or stored.shape != computed.shape:
        return f"is {stored.dtype} {stored.shape}, computed {computed.dtype} {computed.shape}"
    differ = _bits(stored) != _bits(computed)
    if not differ.any():
        return ""
    first = int(np.flatnonzero(differ)[0])
    index = [int(i) for i in np.unravel_index(first, stored.shape)]
    return (
        f"{index} is {stored.flat[first]}, computed {computed.flat[first]}"
        f" ({np.count_nonzero(differ)} of {stored.size} differ)"
    )


def _bits(array: Array) -> Array:
    """Return the bytes of each element, one row each; every NaN alike."""
    flat = array.ravel().copy()
    if flat.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):  # bfloat16 warns of some NaNs
            flat[np.isnan(flat)] = np.nan
    return flat.view(f"u{flat.itemsize}")


def _clauses(vector: Vector) -> str:
    return ", ".join(vector.clauses) or "none"


def _named(readings: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{clause}={reading}" for clause, reading in readings) or "none"


def _any(shapes: set[tuple[int, ...]]) -> str:
    return " or ".join(str(shape) for shape in sorted(shapes)) or "none"
