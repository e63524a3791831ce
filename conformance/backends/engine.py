"""What adapters ask of an operator: is it one that the engine has, over these axes, and as what.

Attributes are handed to an engine in common terms (`Operator.translate`), lengths and ranges
unchecked: refusing them is the engine's task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from conformance.errors import Unsupported
from conformance.operators import OPERATORS, Operator, Params

_T = TypeVar("_T")


def known_operator(name: str) -> Operator:
    """Return an operator by name; Unsupported if there is none."""
    try:
        return OPERATORS[name]
    except KeyError:
        raise Unsupported(f"operator {name}") from None


def counterpart(operator: Operator, by_reduction: Mapping[str, _T]) -> _T:
    """Return what an engine has for the reduction of an operator; Unsupported if it has nothing.

    It computes the first output, of the type of the data.
    """
    found = by_reduction.get(operator.reduction.name)
    if found is None or operator.outputs[0].dtype:
        raise Unsupported(f"operator {operator.name}")
    return found


def check_axes(operator: Operator, axes: int, engine: str) -> None:
    """Refuse numbers of spatial axes of which an engine has no pooling: it has one to three."""
    if not 1 <= axes <= 3:
        check_most_axes(operator, axes, engine)
        raise ValueError(f"{operator.name} of {axes + 2} dimensions")


def check_most_axes(operator: Operator, axes: int, engine: str) -> None:
    """Raise Unsupported for more than three spatial axes where the document allows them."""
    if axes > 3 and operator.takes_axes(axes):
        raise Unsupported(f"{axes} spatial axes: {engine} pools over one to three")


def check_lengths(params: Params) -> None:
    """Refuse lists without one value per axis, for engines that get them joined or padded."""
    axes = len(params.sizes)
    for values in (params.kernel, params.strides, params.pads_begin, params.pads_end):
        if len(values) != axes:
            raise ValueError(f"{list(values)}: {axes} values, one per spatial axis")
