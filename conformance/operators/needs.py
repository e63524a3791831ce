"""Conditions that an operator meets for a clause or a fault to concern it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from conformance.operators.attributes import Role, roles_of

if TYPE_CHECKING:
    from conformance.operators.operator import Operator


@dataclass(frozen=True, slots=True)
class Needs:
    """Conditions on an operator; every operator meets `Needs()`.

    The operator has all of `roles`, at least one of `some` (if not empty) and none of `without`.
    Attributes of the roles in `optional` have a default, those in `required` have none. `says` and
    `other_default` hold pairs (role, value of `Params`): the attribute of the role can have the
    value, and, for `other_default`, has another value by default. `reduction` is the name of the
    reduction. If not None, `sums`, `powers`, `integers`, `limited_axes` and `indices` say whether
    the reduction sums, it is a norm or the gradient of one, the data may be integers, the document
    limits the number of spatial axes, and an output says where a value was found. The data may have
    every type in `dtypes`. The operator has at least `outputs` outputs. If not None, `gradient`
    says whether it is a gradient.
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

    def met_by(self, operator: Operator) -> bool:
        """Say whether an operator meets all conditions."""
        attributes = operator.attributes
        required = roles_of(attribute for attribute in attributes if attribute.required)
        optional = roles_of(attribute for attribute in attributes if not attribute.required)
        return (
            operator.roles.issuperset(self.roles)
            and (not self.some or not operator.roles.isdisjoint(self.some))
            and operator.roles.isdisjoint(self.without)
            and optional.issuperset(self.optional)
            and required.issuperset(self.required)
            and all(_can_say(operator, role, meaning) for role, meaning in self.says)
            and all(
                _has_other_default(operator, role, meaning) for role, meaning in self.other_default
            )
            and self.reduction in {"", operator.reduction.name}
            and self.sums in {None, operator.reduction.sums}
            and self.powers in {None, operator.reduction.powers}
            and self.integers in {None, operator.takes_integers}
            and self.limited_axes in {None, operator.limits_axes}
            and self.indices in {None, operator.has_indices}
            and set(self.dtypes) <= set(operator.dtypes)
            and len(operator.outputs) >= self.outputs
            and self.gradient in {None, operator.is_gradient}
        )


def _can_say(operator: Operator, role: Role, meaning: Any) -> bool:
    return any(
        attribute.role == role and (attribute.is_list or meaning in attribute.values.values())
        for attribute in operator.attributes
    )


def _has_other_default(operator: Operator, role: Role, meaning: Any) -> bool:
    return _can_say(operator, role, meaning) and any(
        attribute.role == role
        and not attribute.required
        and attribute.values.get(attribute.default, attribute.default) != meaning
        for attribute in operator.attributes
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
