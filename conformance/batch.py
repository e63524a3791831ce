"""Many vectors as columns in memory: what a vector file stores and the checker judges at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from conformance.dtypes import is_known, name_of
from conformance.vector import (
    UNDEFINED,
    Array,
    Case,
    Expected,
    Outcome,
    OutcomeKind,
    Provenance,
    Tier,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ints = npt.NDArray[np.int64]
_T = TypeVar("_T")

KINDS: tuple[OutcomeKind, ...] = ("values", "raises", "anything")
VALUES, RAISES, ANYTHING = range(len(KINDS))
"""Codes of `Batch.outcome_kind`."""
MAX_RANK = 8


@dataclass(frozen=True, eq=False)
class ExpectedColumns:
    """All expected elements of one element type in a batch, flat and concatenated.

    `addends` int32, `divisor` int32 and `magnitude` float64 are aligned with `values`; their
    meaning is that of `Outcome`.
    """

    values: Array
    addends: npt.NDArray[np.int32]
    divisor: npt.NDArray[np.int32]
    magnitude: npt.NDArray[np.float64]

    @cached_property
    def undefined(self) -> Ints:
        """Places of the elements for which any value conforms, ascending."""
        return np.flatnonzero(self.addends == UNDEFINED)

    @cached_property
    def infinite(self) -> Ints:
        """Places of the elements that are NaN or infinite and not undefined, ascending."""
        if not np.issubdtype(self.values.dtype, np.inexact) and self.values.dtype.kind != "V":
            return np.zeros(0, np.int64)
        places = np.flatnonzero(~np.isfinite(self.values))
        found: Ints = places[self.addends[places] != UNDEFINED]
        return found

    def within(self, places: Ints, starts: Ints, sizes: Ints) -> Ints:
        """Return how many of some ascending places lie in each run of elements."""
        first, last = np.searchsorted(places, np.stack([starts, starts + sizes]))
        counts: Ints = last - first
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Vectors of one operator, one list item or array row per vector, outcome, expected array.

    `numbers` are the vectors' numbers in their file, ascending. `inputs` are read-only, C-order
    views. Outcome rows: `outcome_vector` is the index of the vector within the batch,
    ascending; `outcome_kind` one of VALUES, RAISES, ANYTHING; `outcome_expected` a row of the
    expected table, -1 where the outcome has no values; outcomes of one vector may share a row.
    Expected rows: elements `expected_start` to `expected_start + expected_size` of
    `columns[expected_dtype]`, in C order of `expected_shape`; `expected_output` is the number of
    the output they are of. An outcome's row is that of its first output, and the rows of its
    other outputs follow. Nothing in a batch may be changed: vectors with equal attributes share
    them, and a file may hand out the same batch again.
    """

    operator: str
    numbers: Ints
    ids: list[str]
    attributes: list[dict[str, Any]]
    inputs: list[tuple[Array, ...]]
    tier: list[str]
    pattern: list[str]
    provenance: list[str]
    source: list[str]
    tags: list[tuple[str, ...]]
    clauses: list[dict[str, tuple[str, ...]]]
    outcome_vector: Ints
    outcome_kind: npt.NDArray[np.uint8]
    outcome_element_type: npt.NDArray[np.bool_]
    outcome_flushed: npt.NDArray[np.bool_]
    outcome_expected: Ints
    outcome_readings: list[tuple[dict[str, str], ...]]
    expected_vector: Ints
    expected_output: Ints
    expected_dtype: list[str]
    expected_shape: list[tuple[int, ...]]
    expected_start: Ints
    expected_size: Ints
    columns: dict[str, ExpectedColumns]

    @property
    def first(self) -> int:
        """Number of the first vector in its file."""
        return int(self.numbers[0]) if len(self.numbers) else 0

    @property
    def outputs(self) -> int:
        """Number of outputs of each outcome with values; 1 where there is no such outcome."""
        return int(self.expected_output.max(initial=0)) + 1

    def __len__(self) -> int:
        return len(self.ids)


def batch_of(vectors: Sequence[Vector]) -> Batch:
    """Return the columns of `vectors`, which are of one operator, numbered from zero.

    Equal outputs of one vector are stored once. Raises ValueError, naming the vector, where a
    vector has no columns: mixed operators, an unknown element type, rank 0 or above 8, no
    outcome, or an outcome whose arrays do not fit together or are not the operator's outputs.
    """
    operator = vectors[0].case.operator if vectors else ""
    table = _Expected(operator)
    outcomes: list[tuple[int, Outcome, int]] = []
    inputs: list[tuple[Array, ...]] = []
    for index, vector in enumerate(vectors):
        try:
            inputs.append(_inputs(vector, operator))
            outcomes += table.rows(index, vector.outcomes)
        except ValueError as error:
            raise ValueError(f"vector {vector.case.id}: {error}") from error
    cases = [vector.case for vector in vectors]
    return Batch(
        operator=operator,
        numbers=np.arange(len(cases), dtype=np.int64),
        ids=[case.id for case in cases],
        attributes=[
            {name: _plain(value) for name, value in case.attributes.items()} for case in cases
        ],
        inputs=inputs,
        tier=[case.tier for case in cases],
        pattern=[case.pattern for case in cases],
        provenance=[case.provenance for case in cases],
        source=[case.source for case in cases],
        tags=[tuple(case.tags) for case in cases],
        clauses=[
            {name: tuple(readings) for name, readings in vector.clauses.items()}
            for vector in vectors
        ],
        outcome_vector=_ints(index for index, _, _ in outcomes),
        outcome_kind=np.array([KINDS.index(o.kind) for _, o, _ in outcomes], dtype=np.uint8),
        outcome_element_type=np.array(
            [o.accumulator == "element-type" for _, o, _ in outcomes], dtype=np.bool_
        ),
        outcome_flushed=np.array([o.subnormals == "flushed" for _, o, _ in outcomes], np.bool_),
        outcome_expected=_ints(row for _, _, row in outcomes),
        outcome_readings=[tuple(dict(each) for each in o.readings) for _, o, _ in outcomes],
        expected_vector=_ints(table.vector),
        expected_output=_ints(table.output),
        expected_dtype=table.dtype,
        expected_shape=table.shape,
        expected_start=_ints(table.start),
        expected_size=_ints(table.size),
        columns=table.columns(),
    )


def distinct(column: Sequence[_T]) -> tuple[list[_T], Ints]:
    """Return the distinct objects of a column and, per item, which of them it is.

    Objects that are equal are mostly one, as in a batch from a file; where they are not, they
    count as distinct.
    """
    places = np.fromiter(map(id, column), np.int64, len(column))
    _, first, which = np.unique(places, return_index=True, return_inverse=True)
    return [column[index] for index in first.tolist()], which


def vector_at(batch: Batch, index: int) -> Vector:
    """Return vector `index` of `batch` as an object; its arrays are views of the batch's."""
    index = range(len(batch))[index]
    first, last = np.searchsorted(batch.outcome_vector, (index, index + 1)).tolist()
    return Vector(
        case=Case(
            id=batch.ids[index],
            operator=batch.operator,
            attributes={k: _plain(value) for k, value in batch.attributes[index].items()},
            inputs=batch.inputs[index],
            tier=cast("Tier", batch.tier[index]),
            pattern=batch.pattern[index],
            source=batch.source[index],
            provenance=cast("Provenance", batch.provenance[index]),
            tags=batch.tags[index],
        ),
        outcomes=tuple(outcome_at(batch, row) for row in range(first, last)),
        clauses=dict(batch.clauses[index]),
    )


def outcome_at(batch: Batch, row: int) -> Outcome:
    """Return row `row` of the outcome columns as an object; its arrays are views."""
    accumulator: Literal["wider", "element-type"] = "wider"
    if batch.outcome_element_type[row]:
        accumulator = "element-type"
    subnormals: Literal["kept", "flushed"] = "flushed" if batch.outcome_flushed[row] else "kept"
    kind = KINDS[batch.outcome_kind[row]]
    readings = batch.outcome_readings[row]
    if kind != "values":
        return Outcome(kind, readings, accumulator=accumulator, subnormals=subnormals)
    first = int(batch.outcome_expected[row])
    return Outcome(
        kind=kind,
        readings=readings,
        outputs=tuple(_expected_at(batch, first + output) for output in range(batch.outputs)),
        accumulator=accumulator,
        subnormals=subnormals,
    )


def _expected_at(batch: Batch, row: int) -> Expected:
    """Return row `row` of the expected columns as an object; its arrays are views."""
    columns = batch.columns[batch.expected_dtype[row]]
    start = int(batch.expected_start[row])
    part = slice(start, start + int(batch.expected_size[row]))
    return Expected(
        columns.values[part].reshape(batch.expected_shape[row]),
        columns.addends[part],
        columns.divisor[part],
        columns.magnitude[part],
    )


class _Expected:
    """The table of expected arrays of an operator while it grows."""

    def __init__(self, operator: str) -> None:
        self.vector: list[int] = []
        self.output: list[int] = []
        self.dtype: list[str] = []
        self.shape: list[tuple[int, ...]] = []
        self.start: list[int] = []
        self.size: list[int] = []
        self._operator = operator
        self._dtypes = output_dtypes(operator)
        self._parts: dict[str, list[tuple[Array, ...]]] = {}
        self._length: dict[str, int] = {}

    def rows(self, vector: int, outcomes: tuple[Outcome, ...]) -> list[tuple[int, Outcome, int]]:
        """Return each outcome of a vector with its row in the table."""
        known: dict[tuple[object, ...], int] = {}
        return [(vector, outcome, self._row(vector, outcome, known)) for outcome in outcomes]

    def _row(self, vector: int, outcome: Outcome, known: dict[tuple[object, ...], int]) -> int:
        """Return the row of the outcome's first output, a new one if `known` has no equal."""
        if outcome.kind != "values":
            if outcome.outputs:
                raise ValueError(f"an outcome of kind {outcome.kind!r} holds expected values")
            return -1
        if not outcome.outputs:
            raise ValueError("an outcome of kind 'values' lacks an array")
        columns = [_columns_of(expected) for expected in outcome.outputs]
        names = tuple(name_of(values.dtype) for values, *_ in columns)
        if self._dtypes is not None:
            _check_outputs(names, self._operator, self._dtypes)
        key = tuple(
            (name, parts[0].shape, *(part.tobytes() for part in parts))
            for name, parts in zip(names, columns, strict=True)
        )
        if key not in known:
            known[key] = len(self.vector)
            for output, (name, parts) in enumerate(zip(names, columns, strict=True)):
                self._add(vector, output, name, parts)
        return known[key]

    def _add(self, vector: int, output: int, name: str, parts: tuple[Array, ...]) -> None:
        values, *rest = parts
        self.vector.append(vector)
        self.output.append(output)
        self.dtype.append(name)
        self.shape.append(values.shape)
        self.start.append(self._length.get(name, 0))
        self.size.append(values.size)
        self._length[name] = self.start[-1] + values.size
        self._parts.setdefault(name, []).append((values.ravel(), *rest))

    def columns(self) -> dict[str, ExpectedColumns]:
        """Return the flat columns, one set per element type."""
        return {
            name: ExpectedColumns(*(np.concatenate(column) for column in zip(*parts, strict=True)))
            for name, parts in self._parts.items()
        }


def output_dtypes(operator: str) -> tuple[str, ...] | None:
    """Return the element type of each output of an operator, "" for that of the data.

    None for an operator that there is not.
    """
    from conformance.operators import OPERATORS  # noqa: PLC0415 - a batch needs no more of it

    found = OPERATORS.get(operator)
    return None if found is None else tuple(output.dtype for output in found.outputs)


def _check_outputs(names: tuple[str, ...], operator: str, dtypes: tuple[str, ...]) -> None:
    """Raise ValueError unless outputs of the types named are those of an operator."""
    if len(names) != len(dtypes):
        raise ValueError(f"outputs of an outcome: {len(names)}, of {operator}: {len(dtypes)}")
    for output, (name, wanted) in enumerate(zip(names, dtypes, strict=True)):
        if wanted not in {"", name}:
            raise ValueError(f"output {output} is of {name}, and of {wanted} in {operator}")


def _columns_of(expected: Expected) -> tuple[Array, ...]:
    """Return the values of an output, in their shape, and its other columns, flat."""
    values = _frozen(expected.values)
    rest = (
        np.ascontiguousarray(expected.addends, np.int32),
        np.ascontiguousarray(expected.divisor, np.int32),
        np.ascontiguousarray(expected.magnitude, np.float64),
    )
    if any(column.shape != (values.size,) for column in rest):
        raise ValueError("addends, divisor and magnitude are not one per expected element")
    return (values, *rest)


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _inputs(vector: Vector, operator: str) -> tuple[Array, ...]:
    """Return the inputs of `vector` as a batch holds them, or raise ValueError."""
    if vector.case.operator != operator:
        raise ValueError(f"operator {vector.case.operator} in a batch of {operator}")
    if not vector.outcomes:
        raise ValueError("it has no outcome")
    return tuple(_frozen(array) for array in vector.case.inputs)


def _frozen(array: Array) -> Array:
    """Return a read-only view of `array` in C order, or raise ValueError."""
    if not is_known(array.dtype):
        raise ValueError(f"element type {array.dtype} is unknown")
    if not 1 <= array.ndim <= MAX_RANK:
        raise ValueError(f"rank {array.ndim} is not 1 to {MAX_RANK}")
    frozen = np.ascontiguousarray(array).view()
    frozen.flags.writeable = False
    return frozen


def _plain(value: Any) -> Any:
    """Return an attribute value with its own lists."""
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
