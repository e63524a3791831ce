"""What adapters of engines share: which function computes an operator, and what is refused.

Attributes are handed to an engine in common terms (`pooling_of`), lengths and ranges unchecked:
refusing them is the engine's task. What would reach it as something else is Unsupported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from math import prod
from typing import Any, TypeVar, cast

from conformance.errors import Unsupported
from conformance.operators import OPERATORS, Operator, Params, Pooling
from conformance.operators.pooling import check_or_unsupported
from conformance.vector import Array, own_inputs

_T = TypeVar("_T")
SHAPES = ("static", "dynamic")
"""The option `shapes` of some adapters: what is compiled is for one shape, or for all."""


@contextmanager
def missing(package: str) -> Iterator[None]:
    """Let a package seem not to be installed, unless it is imported already."""
    nothing = cast("Any", None)  # makes an import of it fail
    found = sys.modules.setdefault(package, nothing)
    try:
        yield
    finally:
        if found is nothing:
            del sys.modules[package]


def frozen(attributes: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return attributes, sorted by name, as a key under which what was compiled is kept."""
    return tuple(
        (key, tuple(value) if isinstance(value, list) else value)
        for key, value in sorted(attributes.items())
    )


def known_operator(name: str, own: str = "") -> Operator:
    """Return an operator by name; Unsupported if there is none that an adapter translates.

    Of those with another call convention, or whose output size is an attribute, these are the ones
    of the publisher `own`.
    """
    operator = OPERATORS.get(name)
    is_own = name.partition("-")[0] == own
    if operator is None or not (is_own or operator.convention.is_plain):
        raise Unsupported(f"operator {name}")
    named = operator.attribute("output") is not None
    if named and not is_own:
        raise Unsupported(f"operator {name}: its output size is an attribute")
    return operator


def forward_of(
    operator: Operator, inputs: Sequence[Array]
) -> tuple[Operator, tuple[Array, ...], Array | None]:
    """Return what an engine computes before it differentiates: an operator, and its own inputs.

    The gradient of the output comes third, None for an operator that is no gradient.
    """
    own = own_inputs(operator.name, inputs)
    if operator.forward is None:
        return operator, own, None
    return operator.forward, own, inputs[0]


def counterpart(operator: Operator, by_reduction: Mapping[str, _T]) -> _T:
    """Return an engine's counterpart of an operator, by its reduction; Unsupported without one.

    The counterpart computes the first output, which has the type of the data.
    """
    value = by_reduction.get(operator.reduction.name)
    if value is None or operator.outputs[0].dtype:
        raise Unsupported(f"operator {operator.name}")
    return value


def for_axes(module: Any, name: str) -> tuple[Callable[..., Any], ...]:
    """Return the functions of a module for one, two and three axes: NAME1d, NAME2d, NAME3d."""
    return tuple(getattr(module, f"{name}{axes}d") for axes in (1, 2, 3))


def of_axes(functions: Sequence[_T], axes: int, engine: str) -> _T:
    """Return an engine's function for a number of spatial axes; Unsupported if it has none."""
    if not 1 <= axes <= len(functions):
        most = ("one", "two", "three")[len(functions) - 1]
        raise Unsupported(f"{axes} spatial axes: {engine} pools over one to {most}")
    return functions[axes - 1]


def check_most_axes(operator: Operator, axes: int, engine: str) -> None:
    """Raise Unsupported for more than three spatial axes where the document allows them."""
    if axes > 3 and operator.takes_axes(axes):
        raise Unsupported(f"{axes} spatial axes: {engine} pools over one to three")


def output_sizes(size: Array, axes: int) -> list[int]:
    """Return the second input of an adaptive operator; Unsupported without an integer per axis."""
    if size.shape != (axes,) or size.dtype.kind != "i":
        raise Unsupported(f"output_size={size.tolist()}: no integer for each spatial axis")
    sizes: list[int] = size.tolist()
    return sizes


def adaptive_params(
    operator: Operator, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Params:
    """Return the attributes of an adaptive operator in common terms.

    Unsupported for a value that an engine without such an attribute could not refuse.
    """
    axes = inputs[0].ndim - 2
    for attribute in operator.attributes:
        if attribute.key in attributes:
            check_or_unsupported(attribute, attributes[attribute.key], axes)
    return operator.translate(inputs[0].shape[2:], attributes)


def has_counted_indices(
    operator: Operator,
    params: Params,
    shape: Sequence[int],
    *,
    axis: int,
    dtype: str = "int64",
) -> bool:
    """Say whether a case has indices of a type, row-major, of the cells of the axes from `axis` on.

    Where an engine counts in this way and a case asks for others, the values alone are its answer.
    """
    if not operator.has_indices:
        return False
    first, last = sorted((axis, params.index_axis % len(shape)))
    alike = is_row_major(params) and params.index_type == dtype
    return alike and prod(shape[first:last]) == 1


def is_row_major(params: Params) -> bool:
    """Say whether indices count cells in row-major order, which of one axis any order is."""
    return len(params.sizes) == 1 or params.storage_order == "row-major"


def pad_pairs(of: Params | Pooling) -> list[tuple[int, int]]:
    """Return begin and end of each axis; Unsupported where there are more of one than the other."""
    begins, ends = of.pads_begin, of.pads_end
    if len(begins) != len(ends):
        raise Unsupported(f"pads {list(begins)} and {list(ends)}: they make no pairs")
    return list(zip(begins, ends, strict=True))


def padding_word(pooling: Pooling, engine: str) -> str:
    """Return SAME or VALID for an engine that has these words, "" for pads that are none of them.

    Unsupported for what such engines do not do: they round down, and leave padding out of divisors.
    """
    params = pooling.params
    if pooling.ceil_matters:
        raise Unsupported(f"rounding_type=ceil: {engine} rounds down")
    if pooling.reduction == "average" and pooling.include_pad and pooling.include_pad_matters:
        raise Unsupported(f"padding that counts: {engine} leaves it out of divisors")
    if params.auto_pad not in {"explicit", "same_upper", "valid"}:
        raise Unsupported(f"auto_pad={params.auto_pad}: {engine} has SAME and VALID")
    for numbers in (pooling.kernel, pooling.strides, pooling.dilations, pooling.pads_begin):
        if len(numbers) != len(params.sizes):  # an engine may take one number for every axis, too
            raise Unsupported(f"{list(numbers)}: not a number for each axis")
    if params.auto_pad != "explicit":
        return "SAME" if params.same else "VALID"
    return "" if any(chain.from_iterable(pad_pairs(params))) else "VALID"
