"""What an operator must have for a clause or a fault to concern it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

from conformance.operators.attributes import Attribute, Role
from conformance.operators.reduction import Reduction


class HasTraits(Protocol):
    """What is asked of an operator."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Its attributes."""

    @property
    def roles(self) -> frozenset[Role]:
        """Roles of its attributes and inputs."""

    @property
    def reduction(self) -> Reduction:
        """How the cells of a window become a value."""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Element types of its data."""

    @property
    def takes_integers(self) -> bool:
        """Whether its data may be integers."""

    @property
    def limits_axes(self) -> bool:
        """Whether its document limits the number of spatial axes."""

    @property
    def outputs(self) -> Sequence[object]:
        """Its outputs."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Roles, a reduction and traits; the empty value is met by every operator.

    `roles` must all be there, one of `some` where it names any, and none of `without`.
    Attributes of the roles in `optional` must have a default, those in `required` none. `says`
    pairs roles with values of `Params` that their attributes must be able to say, `other_default`
    with values that they can say and do not have by default. `reduction` is the name of one;
    `sums`, `integers` and `limited_axes` say, where not None, whether the reduction sums, the
    data may be integers and the document limits the number of spatial axes. The data may be of
    any of `dtypes`. There are at least so many `outputs`.
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
    integers: bool | None = None
    limited_axes: bool | None = None
    dtypes: tuple[str, ...] = ()
    outputs: int = 0

    def __and__(self, other: Needs) -> Needs:
        """Return what both ask for; ValueError where no value of this kind says it."""
        if self.some and other.some:
            raise ValueError(f"one of {self.some} and one of {other.some}: name the roles")
        return Needs(
            **{
                field.name: _both(getattr(self, field.name), getattr(other, field.name))
                for field in fields(self)
            }
        )

    def met_by(self, operator: HasTraits) -> bool:
        """Say whether an operator has all of this."""
        required = roles_of(each for each in operator.attributes if each.required)
        optional = roles_of(each for each in operator.attributes if not each.required)
        return (
            operator.roles.issuperset(self.roles)
            and (not self.some or not operator.roles.isdisjoint(self.some))
            and operator.roles.isdisjoint(self.without)
            and optional.issuperset(self.optional)
            and required.issuperset(self.required)
            and all(_says(operator, role, meaning) for role, meaning in self.says)
            and all(_has_other(operator, role, meaning) for role, meaning in self.other_default)
            and self.reduction in {"", operator.reduction.name}
            and self.sums in {None, operator.reduction.sums}
            and self.integers in {None, operator.takes_integers}
            and self.limited_axes in {None, operator.limits_axes}
            and set(self.dtypes) <= set(operator.dtypes)
            and len(operator.outputs) >= self.outputs
        )


def roles_of(attributes: Iterable[Attribute]) -> frozenset[Role]:
    """Return the roles of attributes; pads in one list are begins and ends too."""
    found = {attribute.role for attribute in attributes} - {"ignored"}
    return frozenset(found | ({"pads_begin", "pads_end"} if "pads" in found else set()))


def _says(operator: HasTraits, role: Role, meaning: Any) -> bool:
    return any(
        each.role == role and (each.is_list or meaning in each.values.values())
        for each in operator.attributes
    )


def _has_other(operator: HasTraits, role: Role, meaning: Any) -> bool:
    return _says(operator, role, meaning) and any(
        each.role == role
        and not each.required
        and each.values.get(each.default, each.default) != meaning
        for each in operator.attributes
    )


def _both(one: Any, other: Any) -> Any:
    """Return what two values of a field ask for together."""
    if isinstance(one, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    if isinstance(one, int) and not isinstance(one, bool):
        return max(one, other)
    asked = {value for value in (one, other) if value is not None and value != ""}
    if len(asked) > 1:
        raise ValueError(f"no operator has both {one!r} and {other!r}")
    return asked.pop() if asked else one
