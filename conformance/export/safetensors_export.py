"""Vectors as a file of safetensors: arrays are tensors, the rest is JSON in the header.

docs/results.md describes what is written; its version changes when that page does.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import msgspec
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from conformance.batch import Batch, vectors_of
from conformance.errors import UsageError
from conformance.export.limits import Limits, limits
from conformance.judging.tied_indices import indices_of_value
from conformance.operators import CallConvention, operator_named
from conformance.vector import TIED, Array, Outcome, Values, Vector

KEY: Final = "pooling-conformance vectors"
"""The one key of the header's `__metadata__`: several would have no order that stays."""
VERSION: Final = 1


class Tensors:
    """The tensors of a file, by their names; equal arrays are one."""

    def __init__(self) -> None:
        self.by_name: dict[str, Array] = {}
        self._names: dict[tuple[np.dtype[Any], tuple[int, ...], bytes], str] = {}

    def name(self, array: Array) -> str:
        """Return the name of the tensor with an array, a new one if there is none."""
        key = array.dtype, array.shape, array.tobytes()
        name = self._names.setdefault(key, str(len(self._names)))
        if name not in self.by_name:
            self.by_name[name] = np.frombuffer(key[2], array.dtype).reshape(array.shape)
        return name


def all_cases(
    batches: Iterable[Batch], tensors: Tensors, advance: Callable[[], None]
) -> list[msgspec.Raw]:
    """Return the JSON of every vector, as text: millions of small objects would slow down Python.

    `advance` is called for each.
    """
    cases = []
    for batch in batches:
        for case in cases_of(batch, tensors):
            cases.append(msgspec.Raw(msgspec.json.encode(case)))
            advance()
    return cases


def write_safetensors(
    stream: BinaryIO, cases: Sequence[object], tensors: Tensors, *, compressed: bool
) -> None:
    """Write one file, compressed by gzip if asked.

    Raises UsageError if no reader would take its header.
    """
    text = msgspec.json.encode({"version": VERSION, "cases": cases}).decode()
    try:
        content = save(tensors.by_name, {KEY: text})
    except SafetensorError as error:  # readers refuse a header of more than 100 MB
        raise UsageError(
            f"{len(cases):,} vectors are too many for one file of safetensors ({error}): choose "
            "fewer, or give a folder, which gets a file for each operator"
        ) from None
    # Level 6 takes three times as long and saves a tenth; a time would make equal files differ.
    stream.write(gzip.compress(content, compresslevel=3, mtime=0) if compressed else content)


def cases_of(batch: Batch, tensors: Tensors) -> Iterator[dict[str, Any]]:
    """Yield the JSON of each vector of a batch; its arrays are added to the tensors."""
    operator = operator_named(batch.operator)
    within, row = _limits(batch), iter(batch.outcome_expected.tolist())
    for vector in vectors_of(batch):
        case = vector.case
        convention = operator.convention_of(case.attributes)
        inputs, attributes = convention.given(case.inputs, case.attributes)
        yield {
            "id": case.id,
            "operator": case.operator,
            "attributes": attributes,
            "inputs": [tensors.name(array) for array in inputs],
            "accepted": [
                _accepted(vector, outcome, next(row), within, convention, tensors)
                for outcome in vector.outcomes
            ],
            "clauses": vector.clauses,
            "tier": case.tier,
            "pattern": case.pattern,
            "provenance": case.provenance,
            "source": case.source,
            "tags": case.tags,
        }


def _accepted(
    vector: Vector,
    outcome: Outcome,
    row: int,
    within: Mapping[tuple[int, int], Limits],
    convention: CallConvention,
    tensors: Tensors,
) -> dict[str, Any]:
    """Return the JSON of an outcome, which has a row in the expected table."""
    accepted: dict[str, Any] = {"kind": outcome.kind, "readings": outcome.readings}
    if isinstance(outcome, Values):
        accepted["outputs"] = [
            _output(
                vector, outcome, each, within[row + each, outcome.arithmetic], convention, tensors
            )
            for each in range(len(outcome.outputs))
        ]
    return accepted


def _output(
    vector: Vector,
    outcome: Values,
    number: int,
    within: Limits,
    convention: CallConvention,
    tensors: Tensors,
) -> dict[str, str]:
    """Return the names of the tensors that say what an output must be, as it is handed over.

    Limits and masks that add nothing are left out.
    """
    of = outcome.outputs[number]
    shape = of.values.shape

    def name(flat: Array) -> str:
        return tensors.name(convention.array_given(flat.reshape(shape)))

    output = {"expected": name(of.values)}
    limits_of = {"lower": name(within.lower), "upper": name(within.upper)}
    if {*limits_of.values()} != {*output.values()}:
        output |= limits_of
    if within.mask.any():
        output["mask"] = name(within.mask)
    tied = np.flatnonzero(of.addends == TIED)
    if tied.size:
        places = np.argsort(
            convention.array_given(np.arange(of.values.size).reshape(shape)).ravel()
        )
        whose, indices = indices_of_value(vector, outcome, tied)
        output["ties"] = tensors.name(np.stack([places[tied[whose]], indices], axis=1))
    return output


def _limits(batch: Batch) -> dict[tuple[int, int], Limits]:
    """Return the limits, flat, of each row of the expected table and arithmetic that it has."""
    axes = np.array([arrays[0].ndim - 2 if arrays else 0 for arrays in batch.inputs])
    names = np.array(batch.expected_dtype)
    valued = batch.outcome_expected >= 0
    found = {}
    for arithmetic in np.unique(batch.outcome_arithmetic[valued]).tolist():
        firsts = np.unique(
            batch.outcome_expected[valued & (batch.outcome_arithmetic == arithmetic)]
        )
        for number, output in enumerate(operator_named(batch.operator).outputs):
            for dtype, columns in batch.columns.items():
                rows = (firsts + number)[names[firsts + number] == dtype]
                sizes = batch.expected_size[rows]
                stops = np.cumsum(sizes)
                elements = np.repeat(batch.expected_start[rows] - stops + sizes, sizes)
                elements += np.arange(len(elements))
                within = limits(
                    columns.at(elements),
                    np.repeat(axes[batch.expected_vector[rows]], sizes),
                    arithmetic,
                    average=output.comparison == "bound",
                )
                for key, stop, size in zip(rows.tolist(), stops, sizes, strict=True):
                    part = slice(stop - size, stop)
                    found[key, arithmetic] = Limits(
                        within.lower[part], within.upper[part], within.mask[part]
                    )
    return found
