"""What adapters of engines share: which function computes an operator, and what is refused.

Attributes are handed to an engine in common terms (`Operator.translate`), lengths and ranges
unchecked: refusing them is the engine's task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from conformance.errors import Unsupported
from conformance.operators import OPERATORS, Operator, Params
from conformance.vector import Array

_T = TypeVar("_T")


def known_operator(name: str) -> Operator:
    """Return an operator by name; Unsupported if there is none."""
    try:
        return OPERATORS[name]
    except KeyError:
        raise Unsupported(f"operator {name}") from None


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


def check_axes(operator: Operator, axes: int, engine: str) -> None:
    """Refuse numbers of spatial axes of which an engine has no pooling: it has one to three."""
    if not 1 <= axes <= 3:
        check_most_axes(operator, axes, engine)
        raise ValueError(f"{operator.name} of {axes + 2} dimensions")


def check_most_axes(operator: Operator, axes: int, engine: str) -> None:
    """Raise Unsupported for more than three spatial axes where the document allows them."""
    if axes > 3 and operator.takes_axes(axes):
        raise Unsupported(f"{axes} spatial axes: {engine} pools over one to three")


def output_sizes(size: Array, axes: int) -> list[int]:
    """Return the second input of an adaptive operator; refuse it without an integer per axis."""
    if size.shape != (axes,) or size.dtype.kind != "i":
        raise ValueError(f"output_size={size.tolist()}: one integer per spatial axis")
    sizes: list[int] = size.tolist()
    return sizes


def check_lengths(params: Params) -> None:
    """Refuse lists without one value per axis, for engines that get them joined or padded."""
    axes = len(params.sizes)
    for values in (params.kernel, params.strides, params.pads_begin, params.pads_end):
        if len(values) != axes:
            raise ValueError(f"{list(values)}: {axes} values, one per spatial axis")
