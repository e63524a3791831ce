"""A case without its data, of which each number and word can be read and changed.

What makes cases out of one (neighbours, perturbations of a layer, cases near a failure, smaller
ones) says which numbers and words it changes; a draft knows where these stand in the attributes of
a document, its shape or its output size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from conformance.cases.sweep.sweep_model import CaseSpec, fitted
from conformance.dtypes import name_of
from conformance.operators import operator_named
from conformance.operators.attributes import PADS, SCALARS, WORDS, Attribute, complete
from conformance.operators.axis import Axis, by_role, sizes
from conformance.operators.operator import Operator, output_size_of
from conformance.vector import Case

AXIS_NUMBERS = ("size", "kernel", "strides", "dilations", "pads_begin", "pads_end", "output")
"""The numbers of one spatial axis: its input size, its entries of attributes, its output size."""


class Place(NamedTuple):
    """Where a number of a case stands: its name, and its spatial axis in the order of the data.

    `axis` is 0 for "batch" and "channels", which are of no axis.
    """

    name: str
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A case without data, by what its numbers and words mean.

    `axes` are in the data's order; `words` are the meanings of words and scalars by role. `given`
    are the attributes that the case does not leave out, as it gives them: they stay given, and
    in this order, whatever they change to, and the others stay left out while they have their
    defaults.
    """

    operator: Operator
    batch: int
    channels: int
    axes: tuple[Axis, ...]
    words: Mapping[str, Any]
    dtype: str
    given: Mapping[str, Any]
    size_type: str = "int64"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape (N, C, d1..dr) of the data."""
        return (self.batch, self.channels, *sizes(self.axes))

    @property
    def auto_pad(self) -> str:
        """How pads come about, as in `Params`."""
        return str(self.words.get("auto_pad", "explicit"))

    @property
    def axis_numbers(self) -> tuple[str, ...]:
        """The numbers of an axis that the operator knows."""
        known = {"size", *self.operator.roles}
        return tuple(name for name in AXIS_NUMBERS if name in known)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes as the document spells them, those that were given first."""
        allowed = [axis.allowed(self.operator) for axis in self.axes]
        said = fitted(self.operator, {**by_role(allowed), **self.words}, self.dtype)
        spelled = self.operator.attributes_of(said)
        declared = {attribute.key: attribute for attribute in self.operator.attributes}
        attributes = {}
        for key, value in self.given.items():
            if self._is_kept(declared[key], value, said):
                attributes[key] = value
            elif key in spelled:  # else it has one value alone for the type
                attributes[key] = spelled[key]
        for key, value in spelled.items():
            default = declared[key].default_for(self._numbers)
            if declared[key].meaning(value) != declared[key].meaning(default):
                attributes.setdefault(key, value)
        return attributes

    @property
    def _numbers(self) -> dict[str, tuple[int, ...]]:
        """The numbers of all axes by the field of `Params`."""
        return {"sizes": sizes(self.axes), **by_role(self.axes)}

    def _is_kept(self, attribute: Attribute, value: Any, said: Mapping[str, Any]) -> bool:
        """Say whether a value is as it was given: a document may have two words for one meaning."""
        if attribute.role in self.words:
            return bool(attribute.meaning_of(value) == said.get(attribute.role))
        return attribute.role == "ignored"

    def spec(self, pattern: str = "", **others: Any) -> CaseSpec:
        """Return the case with data of a pattern; `others` are further fields."""
        output = tuple(axis.output for axis in self.axes), self.size_type
        return CaseSpec(
            self.operator.name,
            self.attributes,
            self.shape,
            self.dtype,
            pattern,
            output if self.operator.takes_output_size else None,
            **others,
        )

    def places(self, *names: str) -> list[Place]:
        """Return the places of numbers on every axis, one number after the other."""
        return [Place(name, axis) for name in names for axis in range(len(self.axes))]

    def places_of(self, attribute: Attribute) -> list[Place]:
        """Return the places of a list's numbers, in its order; none for other attributes."""
        if not attribute.is_list:
            return []
        if attribute.role != "pads":
            return self.places(attribute.role)
        begins = self.places("pads_begin")
        ends = begins if attribute.order == "both" else self.places("pads_end")
        places: list[Place] = attribute.pads(begins, ends)
        return places

    def at(self, place: Place) -> int:
        """Return the number at a place."""
        name, axis = place
        number: int = getattr(self if name in _PLANES else self.axes[axis], name)
        return number

    def put(self, numbers: Mapping[Place, int]) -> Draft:
        """Return the draft with other numbers at some places.

        Pads at both ends, where a document has one number for them.
        """
        planes: dict[str, Any] = {}
        axes = list(self.axes)
        for (name, i), number in numbers.items():
            if name in _PLANES:
                planes[name] = number
            else:
                pads = name in PADS and self.operator.pads_both_ends
                names = ("pads_begin", "pads_end") if pads else (name,)
                axes[i] = axes[i]._replace(**dict.fromkeys(names, number))
        return replace(self, axes=tuple(axes), **planes)

    def with_word(self, role: str, meaning: Any) -> Draft:
        """Return the draft with another word or scalar."""
        return replace(self, words={**self.words, role: meaning})

    def saying(self, attribute: Attribute) -> Draft:
        """Return the draft with an attribute given, also where it has its default."""
        return replace(self, given={**self.given, attribute.key: self.given.get(attribute.key)})

    def without(self, attribute: Attribute) -> Draft:
        """Return the draft with an attribute left out, which then has its default."""
        given = {key: value for key, value in self.given.items() if key != attribute.key}
        default = attribute.default_for(self._numbers)
        left_out = replace(self, given=given)
        if attribute.is_list:
            return left_out.put(dict(zip(self.places_of(attribute), default, strict=True)))
        if attribute.role in self.words:
            return left_out.with_word(attribute.role, attribute.meaning_of(default))
        return left_out


_PLANES = ("batch", "channels")
PLANES = (Place("batch"), Place("channels"))


def each_one_off(
    draft: Draft, places: Iterable[Place], step: int, least: int = 0
) -> Iterator[Draft]:
    """Yield the draft with `step` more at one of some places, where that is not below `least`."""
    for place in places:
        if draft.at(place) + step >= least:
            yield draft.put({place: draft.at(place) + step})


def draft_of_spec(spec: CaseSpec) -> Draft:
    """Return the draft of a case; InvalidCase if an attribute is not valid."""
    operator, (batch, channels, *extents) = operator_named(spec.operator), spec.shape
    output, size_type = spec.output_size or ((), "int64")
    stated = complete(operator.attributes, spec.attributes, tuple(extents))
    params = operator.stated(stated, tuple(extents), output)
    lists = {name: values for name in Axis._fields if (values := getattr(params, name, ()))}
    axes = (
        Axis(size, **{name: values[i] for name, values in lists.items()})
        for i, size in enumerate(extents)
    )
    words: dict[str, Any] = {
        role: getattr(params, role)
        for role in (*WORDS, *SCALARS)
        if operator.attribute(role) is not None
    }

    return Draft(
        operator, batch, channels, tuple(axes), words, spec.dtype, spec.attributes, size_type
    )


def draft_of(case: Case) -> Draft:
    """Return the draft of a case; InvalidCase where its numbers and words are not valid."""
    data, *sizes = case.own_inputs
    output = None
    if operator_named(case.operator).takes_output_size:
        output = output_size_of(sizes[0], data.ndim - 2), name_of(sizes[0].dtype)
    spec = CaseSpec(case.operator, case.attributes, data.shape, name_of(data.dtype), "", output)
    return draft_of_spec(spec)
