"""What an operator must have for a clause or a fault to concern it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from conformance.operators.attributes import Attribute, Role


class HasTraits(Protocol):
    """What is asked of an operator."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Its attributes."""

    @property
    def roles(self) -> frozenset[Role]:
        """Roles of its attributes and inputs."""

    @property
    def reduces_by(self) -> str:
        """Name of its reduction."""

    @property
    def takes_integers(self) -> bool:
        """Whether its data may be integers."""

    @property
    def limits_axes(self) -> bool:
        """Whether its document limits the number of spatial axes."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Roles, a reduction and traits; the empty value is met by every operator.

    `roles` must all be there; `optional` names roles of attributes that must have a default.
    `reduction` is the name of one. `integers` asks for data of integers, `limited_axes` for a
    document that limits the number of spatial axes.
    """

    roles: tuple[Role, ...] = ()
    optional: tuple[Role, ...] = ()
    reduction: str = ""
    integers: bool = False
    limited_axes: bool = False

    def met_by(self, operator: HasTraits) -> bool:
        """Say whether an operator has all of this."""
        return (
            operator.roles.issuperset((*self.roles, *self.optional))
            and not _required(operator.attributes).intersection(self.optional)
            and self.reduction in {"", operator.reduces_by}
            and (operator.takes_integers or not self.integers)
            and (operator.limits_axes or not self.limited_axes)
        )


def roles_of(attributes: Iterable[Attribute]) -> frozenset[Role]:
    """Return the roles of attributes; pads in one list are begins and ends too."""
    found = {attribute.role for attribute in attributes} - {"ignored"}
    return frozenset(found | ({"pads_begin", "pads_end"} if "pads" in found else set()))


def _required(attributes: Iterable[Attribute]) -> frozenset[Role]:
    return roles_of(attribute for attribute in attributes if attribute.required)
