"""What a sweep is: a covering-array model of symbolic levels and a way to make a row concrete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.sweep.covering import Coverage, Model, Row, covering_array
from conformance.cases.sweep.patterns import fill
from conformance.dtypes import INTEGERS, name_of
from conformance.operators import OPERATORS, vector_of
from conformance.operators.attributes import MEANINGS, ZERO_POINTS, Attribute
from conformance.operators.axis import Axis, by_role, sizes
from conformance.operators.operator import Operator
from conformance.operators.outcomes import is_judgeable
from conformance.operators.windows import ceil_div
from conformance.progress import Progress
from conformance.vector import TIERS, Array, Case, Provenance, Tier, own_inputs

ABSENT = "absent"
"""Level of an optional attribute that a case leaves out."""


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """A row of a table of cases: everything of a case but its data, which follow.

    `pattern` says what the data hold, and `gradient` what the gradient holds that an operator takes
    which is one, unless `inputs` are given. `output_size` comes with its element type. With
    `if_judgeable`, the case is left out where its data leave nothing to judge.
    """

    operator: str
    attributes: Mapping[str, Any]
    shape: tuple[int, ...]
    dtype: str
    pattern: str
    output_size: tuple[tuple[int, ...], str] | None = None
    tags: tuple[str, ...] = ()
    gradient: str = "names"
    tier: Tier = "standard"
    source: str = ""
    provenance: Provenance = "computed"
    inputs: tuple[Array, ...] | None = None
    if_judgeable: bool = False

    def __str__(self) -> str:
        """Return the case in a line: its name, its tier and what it is for."""
        return ", ".join((f"{self.name} {self.tier}", *self.tags))

    @property
    def name(self) -> str:
        """The id of the case without its digest, which depends on the data."""
        operator = OPERATORS[self.operator]
        size = () if self.output_size is None else (f"o{_numbers(self.output_size[0])}",)
        parts = (
            f"{self.operator}/{self.dtype}/{_numbers(self.shape)}",
            "-".join((*size, *_shown(operator, self.attributes))),
            self.data_pattern.replace(" ", "-"),
        )
        return "/".join(filter(None, parts))

    @property
    def data_pattern(self) -> str:
        """What data hold and, unless they are given, the gradient beside them."""
        is_filled = self.inputs is None and OPERATORS[self.operator].is_gradient
        return f"{self.gradient} by {self.pattern}" if is_filled else self.pattern

    def with_data(self, data: Array, *others: Array) -> CaseSpec:
        """Return the case with this data, and maybe other inputs, of an operator no gradient."""
        return replace(
            self, shape=data.shape, inputs=(data, *others) if others else self.own_inputs(data)
        )

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


Geometry = tuple[tuple[int, int], tuple[Axis, ...]]
"""Batch and channels, and each axis."""


def plain_type(operator: Operator) -> str:
    """Return the element type of cases that are not about types."""
    return "float32" if "float32" in operator.dtypes else operator.dtypes[0]


def required_words(operator: Operator) -> dict[str, Any]:
    """Return the first meaning of each word that has to be said, by role."""
    required = (word for word in operator.of_roles(MEANINGS).values() if word.required)
    return {word.role: word.meanings[0] for word in required}


def case_of_axes(
    operator: Operator,
    planes: tuple[int, int],
    axes: Sequence[Axis],
    pattern: str,
    dtype: str = "",
    words: Mapping[str, Any] | None = None,
    *,
    roles: Iterable[str] = Axis._fields[1:],
    size_type: str = "int64",
    **others: Any,
) -> CaseSpec:
    """Return a case of batch and channels and of axes, with lists of the `roles`.

    The type is by default the plain one. `words` are other values of `Params` by role, by default
    those that have to be said; a required number is the first of its samples unless they say it.
    Roles that the operator does not have are left out, and numbers that its document refuses are
    changed to others nearby; where it takes more axes, those before the others have one cell.
    `others` are further fields.
    """
    padded = (*(Axis(1),) * (operator.axes[0] - len(axes)), *axes)
    every = [axis.allowed(operator) for axis in padded]
    lists = by_role(every)
    if not any(lists["fixed_output"]):
        del lists["fixed_output"]
    dtype = dtype or plain_type(operator)
    said: dict[str, Any] = {
        each.role: each.samples[0] if each.samples else 0
        for each in operator.attributes
        if each.required and each.is_scalar
    }
    said |= required_words(operator) if words is None else words
    meanings = {role: lists[role] for role in roles if role in lists}
    return CaseSpec(
        operator.name,
        operator.attributes_of({**meanings, **held(operator, said, dtype)}),
        (*planes, *sizes(every)),
        dtype,
        pattern,
        (lists["output"], size_type) if operator.takes_output_size else None,
        **others,
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

    def covered(self, strength: int, seed: int, progress: Progress | None) -> Covered:
        """Return the covering array."""
        t = max(1, strength + self.more)
        array = covering_array(self.model, strength=t, seed=seed, progress=progress)
        return Covered(self.name, t, self.concrete, *array)


@dataclass(frozen=True)
class Covered:
    """A covering array: its strength t, its rows and what they cover."""

    name: str
    strength: int
    concrete: Concrete
    rows: list[Row]
    coverage: Coverage


def cases_of(
    specs: Iterable[CaseSpec], *, seed: int = 0, tiers: Container[Tier] = TIERS
) -> Iterator[Case]:
    """Yield the cases of some tiers, each once, but for those that leave nothing to judge."""
    seen: set[bytes] = set()
    for spec in specs:
        case = build(spec, seed=seed)
        # A short digest of each id: little memory even for a million cases.
        key = blake2b(case.id.encode(), digest_size=8).digest()
        if (
            key not in seen
            and case.tier in tiers
            and has_one_answer(case, if_judgeable=spec.if_judgeable)
        ):
            yield case
        seen.add(key)


def build(spec: CaseSpec, *, seed: int) -> Case:
    """Fill in the data of a case, unless they are given, and name it.

    The id is derived from what the case is: readable, stable and unique.
    """
    inputs = _filled(spec, seed) if spec.inputs is None else spec.inputs
    attributes = dict(spec.attributes)
    digest = hashlib.sha256(json.dumps([spec.operator, attributes], sort_keys=True).encode())
    for array in inputs:
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(array.tobytes())
    return Case(
        f"{spec.name}-{digest.hexdigest()[:8]}",
        spec.operator,
        attributes,
        inputs,
        spec.tier,
        spec.data_pattern,
        spec.source,
        spec.provenance,
        spec.tags,
    )


def _filled(spec: CaseSpec, seed: int) -> tuple[Array, ...]:
    """Return the inputs of a case, filled with its patterns."""
    key = json.dumps(
        [spec.operator, dict(spec.attributes), spec.shape, spec.dtype, spec.output_size],
        sort_keys=True,
    )
    cells, forward = spec.window_cells, OPERATORS[spec.operator].forward
    data = fill(spec.pattern, spec.shape, spec.dtype, window_cells=cells, key=key, seed=seed)
    inputs = spec.own_inputs(data)
    if forward is None:
        return inputs
    shape, key = forward.output_shape(inputs, spec.attributes), f"gradient {key}"
    gradient = fill(spec.gradient, shape, spec.dtype, window_cells=cells, key=key, seed=seed)
    return (gradient, *inputs)


def given(
    operator: str,
    attributes: Mapping[str, Any],
    inputs: tuple[Array, ...],
    pattern: str,
    **others: Any,
) -> CaseSpec:
    """Return the case of a call, whose data a pattern names; `others` are further fields."""
    data, *sizes = own_inputs(operator, inputs)
    size = None
    if OPERATORS[operator].takes_output_size:
        size = tuple(sizes[0].tolist()), name_of(sizes[0].dtype)
    return CaseSpec(
        *(operator, attributes, data.shape, name_of(data.dtype), pattern, size),
        inputs=inputs,
        **others,
    )


def case_of(
    operator: str,
    attributes: Mapping[str, Any],
    inputs: tuple[Array, ...],
    *,
    pattern: str,
    source: str = "",
    tags: tuple[str, ...] = (),
) -> Case:
    """Return the case of a call, named as all are: see `build`."""
    return build(given(operator, attributes, inputs, pattern, source=source, tags=tags), seed=0)


def has_one_answer(case: Case, *, if_judgeable: bool = False) -> bool:
    """Say whether a case has one right answer, if its integers are quantised.

    It has none where the order of a sum decides; of numbers, bounds are about that, which are to
    say something `if_judgeable`.
    """
    operator = OPERATORS[case.operator]
    is_asked = operator.requantises or if_judgeable
    return not is_asked or is_judgeable(operator, vector_of(case))


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
