"""What a sweep is: a covering-array model of symbolic levels and a way to make a row concrete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.sweep.covering import Coverage, Model, Row, covering_array
from conformance.cases.sweep.patterns import fill
from conformance.dtypes import INTEGERS, name_of
from conformance.operators import OPERATORS, vector_of
from conformance.operators.attributes import ZERO_POINTS, Attribute
from conformance.operators.axis import Axis, by_role, sizes
from conformance.operators.operator import Operator
from conformance.operators.outcomes import is_judgeable
from conformance.operators.windows import ceil_div
from conformance.progress import Progress, counts_of, from_counts
from conformance.vector import Array, Case, Tier, own_inputs

ABSENT = "absent"
"""Level of an optional attribute that a case leaves out."""


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """Everything of a case but its data; `output_size` comes with its element type.

    `gradient` is the pattern of the gradient that an operator takes which is one.
    """

    operator: str
    attributes: Mapping[str, Any]
    shape: tuple[int, ...]
    dtype: str
    pattern: str
    output_size: tuple[tuple[int, ...], str] | None = None
    tags: tuple[str, ...] = ()
    gradient: str = "names"

    def own_inputs(self, data: Array) -> tuple[Array, ...]:
        """Return the inputs with this data, but for the gradient that an operator may take.

        The indices of an unpooling follow from shape and attributes.
        """
        operator = OPERATORS[self.operator]
        if operator.scatters:
            return data, pooled_indices(operator, self.shape, self.attributes)
        return (data,) if self.output_size is None else (data, np.array(*self.output_size))

    @property
    def window_cells(self) -> int:
        """Cells of one window, about."""
        sizes = self.shape[2:]
        if self.output_size is not None:
            return _block(sizes, self.output_size[0])
        operator = OPERATORS[self.operator]
        params = operator.stated(self.attributes, sizes)
        if operator.is_adaptive:
            return _block(sizes, params.output)
        if operator.scatters:
            return 1
        return prod(params.kernel if operator.has_windows else sizes)


def _block(sizes: Sequence[int], output: Sequence[int]) -> int:
    return prod(ceil_div(d, max(1, o)) + 1 for d, o in zip(sizes, output, strict=True))


Layout = tuple[tuple[int, int], tuple[Axis, ...]]
"""Batch and channels, and each axis: a row of a table of cases."""


def case_of_axes(
    operator: Operator,
    planes: tuple[int, int],
    axes: Sequence[Axis],
    words: Mapping[str, Any],
    dtype: str,
    pattern: str,
    *,
    roles: Iterable[str] = Axis._fields[1:],
    size_type: str = "int64",
    tags: tuple[str, ...] = (),
    gradient: str = "names",
) -> CaseSpec:
    """Return a case of batch and channels and of axes, with lists of the `roles`, without data.

    `words` are other values of `Params` by role; a required number is the first of its samples
    unless they say it. Roles that the operator does not have are left out, and numbers that its
    document refuses are changed to others nearby; where it takes more axes, those before the others
    have one cell.
    """
    padded = (*(Axis(1),) * (operator.axes[0] - len(axes)), *axes)
    every = [axis.allowed(operator) for axis in padded]
    lists = by_role(every)
    if not any(lists["fixed_output"]):
        del lists["fixed_output"]
    sampled: dict[str, Any] = {
        each.role: each.samples[0] if each.samples else 0
        for each in operator.attributes
        if each.required and each.is_scalar
    }
    return CaseSpec(
        operator.name,
        operator.attributes_of(
            {
                **{role: lists[role] for role in roles if role in lists},
                **held(operator, {**sampled, **words}, dtype),
            }
        ),
        (*planes, *sizes(every)),
        dtype,
        pattern,
        (lists["output"], size_type) if operator.takes_output_size else None,
        tags,
        gradient,
    )


def held(operator: Operator, said: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """Return values of `Params` by role such as data of a type may have: see `fitted`.

    A required number is 0 for a type that has no other.
    """
    typed = (each for each in operator.attributes if each.required)
    zeros: dict[str, Any] = {each.role: 0 for each in typed if not each.concerns_type(dtype)}
    return {**fitted(operator, said, dtype), **zeros}


def fitted(operator: Operator, said: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    """Return values of `Params` by role, zero points as a type of integers has their low bits.

    What may be left out is, where the type has no other value.
    """
    optional = (each for each in operator.attributes if not each.required)
    fixed = {each.role for each in optional if not each.concerns_type(dtype)}
    kept = {role: value for role, value in said.items() if role not in fixed}
    if dtype in INTEGERS:
        points = (role for role in ZERO_POINTS if role in kept)
        kept |= {role: int(np.int64(kept[role]).astype(dtype)) for role in points}
    return kept


Concrete = Callable[[Row, int], CaseSpec]


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """A covering array to be made: its factors, and how a row becomes numbers.

    `concrete(row, turn)` picks numbers that satisfy all levels of a row; `turn`, its number,
    rotates the choice among equally good ones. The array is covered at `more` than the strength
    that is asked for, or less.
    """

    name: str
    model: Model
    concrete: Concrete
    more: int = 0


@dataclass(frozen=True, slots=True)
class Sweep:
    """The covering arrays of one operator, first that of every factor."""

    operator: str
    specs: tuple[ArraySpec, ...]

    def arrays(self, strength: int, seed: int, progress: Progress | None = None) -> list[Covered]:
        """Return the covering arrays."""
        covered = []
        for spec in self.specs:
            counts = from_counts(counts_of(progress, f"{self.operator}: {spec.name}"))
            t = max(1, strength + spec.more)
            array = covering_array(spec.model, strength=t, seed=seed, progress=counts)
            covered.append(Covered(spec.name, t, spec.model, spec.concrete, *array))
        return covered


@dataclass(frozen=True)
class Covered:
    """A covering array of a model: its strength t, its rows and what they cover."""

    name: str
    strength: int
    model: Model
    concrete: Concrete
    rows: list[Row]
    coverage: Coverage


def build(spec: CaseSpec, *, seed: int, tier: Tier = "standard", source: str = "") -> Case:
    """Fill in the data of a case and name it."""
    key = json.dumps(
        [spec.operator, dict(spec.attributes), spec.shape, spec.dtype, spec.output_size],
        sort_keys=True,
    )
    data = fill(
        spec.pattern, spec.shape, spec.dtype, window_cells=spec.window_cells, key=key, seed=seed
    )
    inputs, pattern = spec.own_inputs(data), spec.pattern
    operator = OPERATORS[spec.operator]
    if operator.forward is not None:
        gradient = fill(
            spec.gradient,
            operator.forward.output_shape(inputs, spec.attributes),
            spec.dtype,
            window_cells=spec.window_cells,
            key=f"gradient {key}",
            seed=seed,
        )
        inputs, pattern = (gradient, *inputs), f"{spec.gradient} by {spec.pattern}"
    return case_of(
        spec.operator,
        spec.attributes,
        inputs,
        pattern=pattern,
        tier=tier,
        source=source,
        tags=spec.tags,
    )


def case_of(
    operator: str,
    attributes: Mapping[str, Any],
    inputs: tuple[Array, ...],
    *,
    pattern: str,
    tier: Tier = "standard",
    source: str = "",
    tags: tuple[str, ...] = (),
) -> Case:
    """Return a case whose id is derived from what it is: readable, stable and unique."""
    definition = OPERATORS[operator]
    data, *sizes = own_inputs(operator, inputs)
    digest = hashlib.sha256(json.dumps([operator, dict(attributes)], sort_keys=True).encode())
    for array in inputs:
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(array.tobytes())
    parts = [
        operator,
        name_of(data.dtype),
        _numbers(data.shape),
        *([f"o{_numbers(sizes[0].tolist())}"] if definition.takes_output_size else []),
        *_shown(definition, attributes),
        f"{pattern.replace(' ', '-')}-{digest.hexdigest()[:8]}",
    ]
    return Case(
        id="/".join(filter(None, ["/".join(parts[:3]), "-".join(parts[3:-1]), parts[-1]])),
        operator=operator,
        attributes=dict(attributes),
        inputs=inputs,
        tier=tier,
        pattern=pattern,
        source=source,
        tags=tags,
    )


def has_one_answer(case: Case) -> bool:
    """Say whether a case has one right answer, if its integers are quantised.

    It has none where the order of a sum decides; of numbers, bounds are about that.
    """
    operator = OPERATORS[case.operator]
    return not operator.requantises or is_judgeable(operator, vector_of(case))


_SHORT = {
    "kernel": "k",
    "strides": "s",
    "dilations": "d",
    "pads_begin": "b",
    "pads_end": "e",
    "pads": "p",
    "output": "o",
    "fixed_output": "o",
}
_INCLUDE_PAD = {True: "include", False: "exclude"}


@cache
def _by_key(operator: Operator) -> dict[str, Attribute]:
    return {attribute.key: attribute for attribute in operator.attributes}


def _shown(operator: Operator, attributes: Mapping[str, Any]) -> Iterator[str]:
    """Yield attributes in few letters, and alike for all documents."""
    for key, value in attributes.items():
        attribute = _by_key(operator).get(key)
        if attribute is None:
            yield str(value)
        elif attribute.is_list and isinstance(value, list):
            yield _SHORT[attribute.role] + _numbers(value)
        elif attribute.is_scalar:
            yield f"{key}{value}"
        elif attribute.role == "channels_last":
            yield str(value)
        else:
            meaning = attribute.meaning_of(value)
            counts = attribute.role == "include_pad" and isinstance(meaning, bool)
            yield _INCLUDE_PAD[meaning] if counts else str(meaning)


def _numbers(values: Sequence[int]) -> str:
    return "x".join(str(value) for value in values)
