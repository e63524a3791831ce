"""Does a vector file say what the documents say? Every expected value is computed again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from conformance.errors import InvalidCase
from conformance.executors import shared
from conformance.operators import Output, contradicts_document, operator_named, vector_of
from conformance.operators.geometric_readings import geometric_readings
from conformance.operators.outcomes import leaves_a_window, undefined_as_a_whole
from conformance.progress import Progress
from conformance.vector import ARITHMETIC, Array, Case, Outcome, Values, Vector
from conformance.vectorfile import VectorFile
from conformance.vectorfile.sources import vectors_in

_COLUMNS = {
    "expected": "values",
    "addends": "addends",
    "divisor": "divisor",
    "magnitude": "magnitude",
}
"""What a difference is called, by the array of `Expected` that differs."""
_AT_ONCE = 256
"""Vectors that a process verifies at a time."""
_LARGEST = 1 << 40  # of an attribute: positions of windows have 64 bits


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a stored vector is not what its case computes to."""

    id: str
    what: str


def verify(file: VectorFile, start: int = 0, stop: int | None = None) -> Iterator[Difference]:
    """Yield the differences of vectors; the structure was checked when the file was opened."""
    for vector in vectors_in(file, np.arange(start, len(file) if stop is None else stop)):
        for what in differences(vector):
            yield Difference(vector.case.id, what)


@dataclass(frozen=True, slots=True)
class _Part:
    """Vectors of a file that a process verifies at a time."""

    file: VectorFile
    start: int
    stop: int


def verify_files(
    files: Sequence[VectorFile], *, jobs: int = 1, progress: Progress | None = None
) -> Iterator[tuple[VectorFile, list[Difference]]]:
    """Yield each file with its differences, in their order.

    So many `jobs` processes compute. `progress` is called with what is counted, how much of it is
    done, and how much there is. Raises UsageError for a number of processes that cannot be.
    """
    parts = {
        file: [
            _Part(file, start, min(start + _AT_ONCE, len(file)))
            for start in range(0, len(file), _AT_ONCE)
        ]
        for file in files
    }
    found: dict[_Part, list[Difference]] = {}
    waiting, done, total = deque(files), 0, sum(map(len, files))
    for part, differing in shared(jobs, _verified, list(chain(*parts.values()))):
        found[part] = differing
        done += part.stop - part.start
        if progress is not None:
            progress("vectors", done, total)
        while waiting and all(each in found for each in parts[waiting[0]]):
            file = waiting.popleft()
            yield file, [*chain(*(found.pop(each) for each in parts[file]))]
    yield from ((file, []) for file in waiting)  # without any vector


def _verified(part: _Part) -> list[Difference]:
    """Verify vectors, wherever this runs."""
    return list(verify(part.file, part.start, part.stop))


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
    words = []
    if dict(vector.clauses) != dict(computed.clauses):
        words.append(f"clauses are {_clauses(vector)}, computed {_clauses(computed)}")
    outputs = operator_named(vector.case.operator).outputs
    stored_outcomes, computed_outcomes = _by_readings(vector), _by_readings(computed)
    for readings in {**computed_outcomes, **stored_outcomes}:
        if readings not in stored_outcomes or readings not in computed_outcomes:
            lack = "are missing" if readings not in stored_outcomes else "do not occur"
            words.append(f"readings {_named(readings)} {lack}")
        elif what := _difference(stored_outcomes[readings], computed_outcomes[readings], outputs):
            words.append(f"{what}{f' under {_named(readings)}' if readings else ''}")
    if not words and len(vector.outcomes) != len(computed.outcomes):
        words.append(f"{len(vector.outcomes)} outcomes, computed {len(computed.outcomes)}")
    if not words and (what := contradicts_document(vector)):
        words.append(what)
    return words


def misshapen(vector: Vector) -> str:
    """Return in words that the output shapes stored are not those of the attributes, or "".

    Nothing is allocated: a vector for which this is "" has windows as few as its stored outputs.
    """
    asked = _shapes_of(vector.case)
    stored = {output.values.shape for outcome in vector.values for output in outcome.outputs}
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
    is_open = operator.left_open(case.attributes) or undefined_as_a_whole(
        operator, params, case.own_inputs
    )
    if max(numbers, default=0) > _LARGEST or is_open:
        return set()
    extents = geometric_readings(operator).extents(params)
    # A reading that leaves an axis without a window wants an exception.
    shapes = {(*case.data.shape[:2], *e) for e in extents if leaves_a_window(operator, e)}
    if case.gradient is None:
        return shapes
    # A gradient that no reading has an output for is invalid under all of them.
    return {case.data.shape} if case.gradient.shape in shapes else set()


def _admitted(outcome: Values) -> str:
    """Return what the bound of an outcome admits, as readings of clauses."""
    readings = [reading for reading, what in ARITHMETIC.values() if what in outcome.arithmetic]
    return " or ".join(readings) or "the usual one"


def _by_readings(vector: Vector) -> dict[tuple[tuple[str, str], ...], Outcome]:
    return {
        tuple(sorted(combination.items())): outcome
        for outcome in vector.outcomes
        for combination in outcome.readings
    }


def _difference(stored: Outcome, computed: Outcome, outputs: Sequence[Output]) -> str:
    if not (isinstance(stored, Values) and isinstance(computed, Values)):
        different = stored.kind != computed.kind
        return f"kind is {stored.kind}, computed {computed.kind}" if different else ""
    if stored.arithmetic != computed.arithmetic:
        return f"arithmetic is {_admitted(stored)}, computed {_admitted(computed)}"
    if len(stored.outputs) != len(computed.outputs):
        return f"{len(stored.outputs)} outputs, computed {len(computed.outputs)}"
    for output, stored_output, computed_output in zip(
        outputs, stored.outputs, computed.outputs, strict=False
    ):
        of = f"{output.name}: " if len(outputs) > 1 else ""
        for name, column in _COLUMNS.items():
            if what := _array_difference(
                getattr(stored_output, column), getattr(computed_output, column)
            ):
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
