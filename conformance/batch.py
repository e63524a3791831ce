"""Vectors as columns in memory: what a vector file stores, and what is judged at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from conformance.dtypes import is_known, name_of
from conformance.vector import (
    Anything,
    Arithmetic,
    Array,
    Case,
    Combination,
    Expected,
    Outcome,
    Provenance,
    Raises,
    Tier,
    Values,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ints = npt.NDArray[np.int64]
_T = TypeVar("_T")

KINDS: tuple[type[Outcome], ...] = (Values, Raises, Anything)
VALUES, RAISES, ANYTHING = range(len(KINDS))
"""Codes of `Batch.outcome_kind`."""
MAX_RANK = 8
_PER_VECTOR = (
    "ids",
    "attributes",
    "tier",
    "pattern",
    "provenance",
    "source",
    "tags",
    "clauses",
)
"""Fields of `Batch` that are lists with an item for each vector, but for the inputs."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Vectors of one operator, one list item or array row per vector, outcome, expected array.

    `numbers` are the vectors' numbers in their file, ascending. `inputs` are read-only, C-order
    views. Outcome rows: `outcome_vector` is the index of the vector within the batch,
    ascending; `outcome_kind` one of VALUES, RAISES, ANYTHING; `outcome_arithmetic` an `Arithmetic`;
    `outcome_expected` a row of the expected table, -1 where the outcome has no values; outcomes of
    one vector may share a row. Expected rows: elements `expected_start` to `expected_start +
    expected_size` of `columns[expected_dtype]`, the expected elements of one type, flat, in C order
    of `expected_shape`; `expected_output` is the number of the output they are of. An outcome's row
    is that of its first output, and the rows of its other outputs follow. Nothing in a batch may be
    changed: vectors with equal attributes share them.
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
    outcome_arithmetic: npt.NDArray[np.uint8]
    outcome_expected: Ints
    outcome_readings: list[tuple[dict[str, str], ...]]
    expected_vector: Ints
    expected_output: Ints
    expected_dtype: list[str]
    expected_shape: list[tuple[int, ...]]
    expected_start: Ints
    expected_size: Ints
    columns: Mapping[str, Expected]

    @property
    def alone(self) -> bool:
        """Whether its one vector is called in a process of its own, which then ends."""
        return False

    @property
    def handing_over(self) -> float:
        """Seconds that a call may take besides its limit, in which arrays are made and passed."""
        return 0.0

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
    table = _ExpectedTable(operator)
    outcomes: list[tuple[int, Outcome, int]] = []
    inputs: list[tuple[Array, ...]] = []
    for index, vector in enumerate(vectors):
        try:
            inputs.append(_inputs(vector, operator))
            rows = table.add(index, vector.outcomes)
        except ValueError as error:
            raise ValueError(f"vector {vector.case.id}: {error}") from error
        outcomes += [
            (index, outcome, row) for outcome, row in zip(vector.outcomes, rows, strict=True)
        ]
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
        outcome_kind=np.array([KINDS.index(type(o)) for _, o, _ in outcomes], dtype=np.uint8),
        outcome_arithmetic=np.array(
            [o.arithmetic if isinstance(o, Values) else 0 for _, o, _ in outcomes], np.uint8
        ),
        outcome_expected=_ints(row for _, _, row in outcomes),
        outcome_readings=[
            tuple(dict(combination) for combination in o.readings) for _, o, _ in outcomes
        ],
        expected_vector=_ints(row.vector for row in table.rows),
        expected_output=_ints(row.output for row in table.rows),
        expected_dtype=[row.dtype for row in table.rows],
        expected_shape=[row.values.shape for row in table.rows],
        expected_start=_ints(row.start for row in table.rows),
        expected_size=_ints(row.values.size for row in table.rows),
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
    """Return vector `index` of `batch` as an object; its arrays are views of the batch's.

    Outcomes that share a row of the expected table share what they expect.
    """
    index = range(len(batch))[index]
    first, last = batch.outcome_vector.searchsorted((index, index + 1)).tolist()
    firsts, count = batch.outcome_expected[first:last].tolist(), batch.outputs
    outputs = {
        row: tuple([_expected_at(batch, each) for each in range(row, row + count)])
        for row in {*firsts} - {-1}
    }
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
        outcomes=tuple(
            [
                _outcome(kind, outputs.get(row, ()), readings, arithmetic)
                for kind, row, readings, arithmetic in zip(
                    batch.outcome_kind[first:last].tolist(),
                    firsts,
                    batch.outcome_readings[first:last],
                    batch.outcome_arithmetic[first:last].tolist(),
                    strict=True,
                )
            ]
        ),
        clauses=dict(batch.clauses[index]),
    )


def vectors_of(batch: Batch) -> Iterator[Vector]:
    """Yield the vectors of a batch as `vector_at` returns them."""
    return (vector_at(batch, index) for index in range(len(batch)))


def picked(batch: Batch, indices: Sequence[int]) -> Batch:
    """Return some vectors of a batch as one of their own, numbered from zero.

    Its arrays are copies: the batch they come from may be large, and is not held by them.
    """
    vectors = []
    for vector in (vector_at(batch, index) for index in indices):
        inputs = tuple(map(np.array, vector.case.inputs))
        vectors.append(replace(vector, case=replace(vector.case, inputs=inputs)))
    return batch_of(vectors)


def _outcome(
    kind: int, outputs: tuple[Expected, ...], readings: tuple[Combination, ...], arithmetic: int
) -> Outcome:
    if kind == VALUES:
        return Values(outputs, readings, Arithmetic(arithmetic))
    return Raises(readings) if kind == RAISES else Anything(readings)


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


class _Row(NamedTuple):
    """An expected array: its values, in their shape, and its other columns, flat."""

    vector: int
    output: int
    dtype: str
    start: int
    values: Array
    rest: tuple[Array, ...]


class _ExpectedTable:
    """The table of expected arrays of an operator while it grows."""

    def __init__(self, operator: str) -> None:
        self.rows: list[_Row] = []
        self._operator = operator
        self._dtypes = output_dtypes(operator)
        self._lengths: Counter[str] = Counter()

    def add(self, vector: int, outcomes: Sequence[Outcome]) -> list[int]:
        """Return the row of each outcome's first output, -1 without values; equal ones share it."""
        row_of: dict[tuple[object, ...], int] = {}
        return [self._add(vector, outcome, row_of) for outcome in outcomes]

    def _add(self, vector: int, outcome: Outcome, row_of: dict[tuple[object, ...], int]) -> int:
        if not isinstance(outcome, Values):
            return -1
        if not outcome.outputs:
            raise ValueError("an outcome with values lacks an array")
        columns = [_columns_of(expected) for expected in outcome.outputs]
        names = tuple(name_of(values.dtype) for values, *_ in columns)
        if self._dtypes is not None:
            _check_outputs(names, self._operator, self._dtypes)
        key = tuple(
            (name, parts[0].shape, *(part.tobytes() for part in parts))
            for name, parts in zip(names, columns, strict=True)
        )
        if key not in row_of:
            row_of[key] = len(self.rows)
            for output, (name, (values, *rest)) in enumerate(zip(names, columns, strict=True)):
                start = self._lengths[name]
                self.rows.append(_Row(vector, output, name, start, values, tuple(rest)))
                self._lengths[name] += values.size
        return row_of[key]

    def columns(self) -> dict[str, Expected]:
        """Return the flat columns, one set per element type."""
        columns = {}
        for name in self._lengths:
            parts = [(row.values.ravel(), *row.rest) for row in self.rows if row.dtype == name]
            columns[name] = Expected(*map(np.concatenate, zip(*parts, strict=True)))
        return columns


def output_dtypes(operator: str) -> tuple[tuple[str, ...], ...] | None:
    """Return the element types that each output of an operator may have, () for that of the data.

    None for an operator that there is not.
    """
    from conformance.operators import OPERATORS  # noqa: PLC0415 - a batch needs no more of it

    document = OPERATORS.get(operator)
    return None if document is None else tuple(output.dtypes for output in document.outputs)


def _check_outputs(
    names: tuple[str, ...], operator: str, dtypes: tuple[tuple[str, ...], ...]
) -> None:
    """Raise ValueError unless outputs of the types named are those of an operator."""
    if len(names) != len(dtypes):
        raise ValueError(f"outputs of an outcome: {len(names)}, of {operator}: {len(dtypes)}")
    for output, (name, allowed) in enumerate(zip(names, dtypes, strict=True)):
        if allowed and name not in allowed:
            types = " or ".join(allowed)
            raise ValueError(f"output {output} is of {name}, and of {types} in {operator}")


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
