"""Conditions that an operator meets for a clause or a fault to concern it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from conformance.operators.attributes import Role


@dataclass(frozen=True, slots=True)
class Needs:
    """Conditions on an operator, see `Operator.meets`; every operator meets `Needs()`.

    The operator has all of `roles`, at least one of `some` (if not empty) and none of `without`.
    Attributes of the roles in `optional` have a default, those in `required` have none. `says` and
    `other_default` hold pairs (role, value of `Params`): the attribute of the role can have the
    value, and, for `other_default`, has another value by default. `reduction` is the name of the
    reduction. If not None, `sums`, `powers`, `integers`, `limited_axes` and `indices` say whether
    the reduction sums, it is a norm or the gradient of one, the data may be integers, the document
    limits the number of spatial axes, and an output says where a value was found. The data may have
    every type in `dtypes`. The operator has at least `outputs` outputs, and takes data of so many
    `axes`, or of more. If not None, `gradient` says whether it is a gradient, `one_axis` whether it
    takes data of one axis, `uneven_pads` whether pads may differ at the two ends of an axis,
    `ruled` whether its document refuses numbers that are in their range, `beyond_planes` whether
    indices may count more than a plane, `size_input` whether its output size is an input,
    `odd_exponents` whether its cases have norms of such, `rounds_integers` whether its document
    says how averages of integers round, `rest` whether the stride may leave cells over, `split`
    whether lists are an attribute for each axis, and `scatters` whether it is an unpooling.
    Attributes of the roles in `worded` have other values than true and false. No clause in
    `without_clauses` is one of its document.
    """

    roles: tuple[Role, ...] = ()
    some: tuple[Role, ...] = ()
    without: tuple[Role, ...] = ()
    optional: tuple[Role, ...] = ()
    required: tuple[Role, ...] = ()
    says: tuple[tuple[Role, Any], ...] = ()
    other_default: tuple[tuple[Role, Any], ...] = ()
    reduction: str = ""
    sums: bool | None = None
    powers: bool | None = None
    integers: bool | None = None
    limited_axes: bool | None = None
    indices: bool | None = None
    dtypes: tuple[str, ...] = ()
    outputs: int = 0
    gradient: bool | None = None
    axes: int = 0
    one_axis: bool | None = None
    uneven_pads: bool | None = None
    ruled: bool | None = None
    beyond_planes: bool | None = None
    size_input: bool | None = None
    odd_exponents: bool | None = None
    rounds_integers: bool | None = None
    rest: bool | None = None
    split: bool | None = None
    scatters: bool | None = None
    worded: tuple[Role, ...] = ()
    without_clauses: tuple[str, ...] = ()

    def in_gradients(self) -> Needs:
        """Return the same conditions on the gradients of operators."""
        reduction = self.reduction and f"gradient of {self.reduction}"
        return replace(self, gradient=True, reduction=reduction)

    def __and__(self, other: Needs) -> Needs:
        """Return the conditions of both; ValueError if they contradict or cannot be combined."""
        if self.some and other.some:
            raise ValueError(f"one of {self.some} and one of {other.some}: name the roles")
        return Needs(
            **{
                field.name: _both(getattr(self, field.name), getattr(other, field.name))
                for field in fields(self)
            }
        )


def _both(one: Any, other: Any) -> Any:
    """Return the value of a field that two values together ask for."""
    if isinstance(one, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    if isinstance(one, int) and not isinstance(one, bool):
        return max(one, other)
    asked = {value for value in (one, other) if value is not None and value != ""}
    if len(asked) > 1:
        raise ValueError(f"no operator has both {one!r} and {other!r}")
    return asked.pop() if asked else one
