"""A call by the roles of its attributes: what faults of `validate` change, whatever the document.

A document spells attributes in its own way; a call by roles says what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.errors import InvalidCase
from conformance.operators.attributes import Attribute
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.vector import Array


class Unknown(NamedTuple):
    """A value that the document does not have."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An operator, its inputs, and what is given by role; nothing has been checked.

    `given` maps roles to values of `Params`, or to Unknown where the document has no such value;
    lists are as they were given, also of a wrong length. Pads in one list are begins and ends.
    `others` are attributes that mean nothing, or that the document does not have, by their keys.
    """

    operator: Operator
    inputs: tuple[Array, ...]
    given: Mapping[str, Any]
    others: Mapping[str, Any]

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return self.inputs[0].ndim - 2

    def meaning(self, role: str) -> Any:
        """Return what is given for a role, or else the default; KeyError if there is none."""
        if role in self.given:
            return self.given[role]
        defaults: dict[str, Any] = {}
        for attribute in self.operator.attributes:
            if not attribute.required:
                defaults |= _meanings(attribute, attribute.default_for(self.axes))
        return defaults[role]

    def attributes(self) -> dict[str, Any]:
        """Return the attributes as the document spells them."""
        result = dict(self.others)
        for attribute in self.operator.attributes:
            if attribute.role == "pads" and "pads_begin" in self.given:
                begins, ends = self.given["pads_begin"], self.given["pads_end"]
                pads = begins if isinstance(begins, Unknown) else [*begins, *ends]
                result[attribute.key] = _spelled(attribute, pads)
            elif attribute.role in self.given:
                result[attribute.key] = _spelled(attribute, self.given[attribute.role])
        return result

    def validated(self) -> Params:
        """Return the parameters as the operator does; InvalidCase says what is wrong."""
        return self.operator.validate(self.inputs, self.attributes())


def call_of(operator: Operator, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Call:
    """Return a call by roles; `Call.attributes` is the way back."""
    declared = {each.key: each for each in operator.attributes if each.role != "ignored"}
    given: dict[str, Any] = {}
    for key, attribute in declared.items():
        if key in attributes:
            given |= _meanings(attribute, attributes[key])
    others = {key: value for key, value in attributes.items() if key not in declared}
    return Call(operator, tuple(inputs), given, others)


def _meanings(attribute: Attribute, value: Any) -> dict[str, Any]:
    """Return what a document's value means, by role."""
    meaning: Any = Unknown(value)
    if not attribute.is_list:
        with suppress(InvalidCase):
            meaning = attribute.values[attribute.check(value, axes=0)]
        return {attribute.role: meaning}
    if isinstance(value, list | tuple):
        meaning = list(value)
    if isinstance(meaning, Unknown):
        return dict.fromkeys(attribute.by_role(()), meaning)
    return attribute.by_role(meaning)


def _spelled(attribute: Attribute, meaning: Any) -> Any:
    return meaning.value if isinstance(meaning, Unknown) else attribute.spelled(meaning)
