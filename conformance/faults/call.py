"""A call by the roles of its attributes, so that faults of `validate` fit every document.

Documents name and spell attributes differently; a call by roles says what they mean.
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
    """A value that the document gives no meaning to."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An operator, its inputs and the attributes given to it by role; nothing is checked yet.

    `given` maps roles to values of `Params`, or to Unknown. Lists and single integers are as they
    were given, of any length and size; pads in one list are split into pads_begin and pads_end.
    `others` maps keys to values of all other attributes: those of role "ignored", and those that
    the document does not have. `spelled` maps roles to values as they were given: one number may
    stand for all axes.
    """

    operator: Operator
    inputs: tuple[Array, ...]
    given: Mapping[str, Any]
    others: Mapping[str, Any]
    spelled: Mapping[str, Any]

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return self.inputs[0].ndim - 2

    def meaning(self, role: str) -> Any:
        """Return the value given for a role, or its default; KeyError if there is neither."""
        if role in self.given:
            return self.given[role]
        known: dict[str, Any] = {"sizes": self.inputs[0].shape[2:], **self.given}
        for attribute in self.operator.attributes:
            if not attribute.required and attribute.role not in self.given:
                known |= _meanings(attribute, attribute.default_for(known), known["sizes"])
        return known[role]

    def attributes(self) -> dict[str, Any]:
        """Return the attributes by the document's keys, with its values."""
        attributes = dict(self.others)
        for attribute in self.operator.attributes:
            if attribute.role == "pads" and "pads_begin" in self.given:
                begins, ends = self.given["pads_begin"], self.given["pads_end"]
                pads = begins if isinstance(begins, Unknown) else attribute.pads(begins, ends)
                attributes[attribute.key] = _spelled(attribute, pads)
            elif attribute.role in self.given:
                attributes[attribute.key] = _spelled(attribute, self.given[attribute.role])
        return attributes

    def validated(self) -> Params:
        """Check the call as the document says and return its parameters; InvalidCase if invalid."""
        return self.operator.validate(self.inputs, self.attributes())


def call_of(operator: Operator, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Call:
    """Return a call by roles; `Call.attributes` is the inverse."""
    declared = {
        attribute.key: attribute for attribute in operator.attributes if attribute.role != "ignored"
    }
    given: dict[str, Any] = {}
    spelled: dict[str, Any] = {}
    for key, attribute in declared.items():
        if key in attributes and not attribute.is_left_out(attributes):
            given |= _meanings(attribute, attributes[key], inputs[0].shape[2:])
            spelled[attribute.role] = attributes[key]
    others = {key: value for key, value in attributes.items() if key not in declared}
    return Call(operator, tuple(inputs), given, others, spelled)


def _meanings(attribute: Attribute, value: Any, sizes: Sequence[int]) -> dict[str, Any]:
    """Return the meaning of a document's value by role: two roles for pads in one list.

    `sizes` are those of the spatial axes of the data.
    """
    value = attribute.spread(value, len(sizes))
    if attribute.is_scalar:
        return {attribute.role: value}
    meaning: Any = Unknown(value)
    if not attribute.is_list:
        with suppress(InvalidCase):
            meaning = attribute.values[attribute.check(value, axes=0)]
        return {attribute.role: meaning}
    if isinstance(value, list | tuple):
        meaning = list(attribute.meaning(value, sizes))
    if isinstance(meaning, Unknown):
        return dict.fromkeys(attribute.by_role(()), meaning)
    return attribute.by_role(meaning)


def _spelled(attribute: Attribute, meaning: Any) -> Any:
    return meaning.value if isinstance(meaning, Unknown) else attribute.spelled(meaning)
