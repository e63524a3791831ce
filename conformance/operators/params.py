"""What a case asks for, in one vocabulary for all documents, and back in a document's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.operators.attributes import Attribute


@dataclass(frozen=True, slots=True)
class Params:
    """What is asked for, in one vocabulary for all documents; one entry per spatial axis.

    `auto_pad` is explicit, same_upper, same_lower or valid, `rounding` floor or ceil;
    `include_pad` says whether padding counts in the divisor. `output` is the wanted output extent
    of an adaptive operator and empty otherwise.
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    pads_begin: tuple[int, ...] = ()
    pads_end: tuple[int, ...] = ()
    auto_pad: str = "explicit"
    rounding: str = "floor"
    include_pad: bool = False
    output: tuple[int, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the pads follow from the wanted output size."""
        return self.auto_pad in {"same_upper", "same_lower"}

    @property
    def ceil(self) -> bool:
        """Whether the number of windows is rounded up."""
        return self.rounding != "floor"


UNSAID: Mapping[str, int] = {"strides": 1, "pads_begin": 0, "pads_end": 0}
"""What windows have on each axis where a document has no attribute for it."""


def params_of(
    declared: Sequence[Attribute],
    given: Mapping[str, Any],
    sizes: tuple[int, ...],
    output: tuple[int, ...] = (),
) -> Params:
    """Translate attributes of a document, defaults filled in and lists as they are given.

    KeyError for a required attribute that is missing, InvalidCase for a word that the document
    does not have.
    """
    axes = len(sizes)
    fields: dict[str, Any] = {}
    for attribute in declared:
        key = attribute.key
        if attribute.role == "ignored":
            continue
        is_given = key in given or attribute.required
        meaning = attribute.meaning(given[key] if is_given else attribute.default_for(axes))
        fields |= attribute.by_role(meaning)
    if "kernel" in fields:
        for unsaid, number in UNSAID.items():
            if unsaid not in fields:
                fields[unsaid] = (number,) * axes
    return Params(sizes=sizes, output=output, **fields)


def attributes_of(declared: Sequence[Attribute], meanings: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes of a document, in the order of some meanings: roles and their values.

    Meanings that the document has no attribute for are left out; KeyError where its attribute
    cannot say one.
    """
    by_role: dict[str, Attribute] = {attribute.role: attribute for attribute in declared}
    given: dict[str, Any] = {}
    for role, meaning in meanings.items():
        if role in {"pads_begin", "pads_end"} and "pads" in by_role:
            begins, ends = (meanings[end] for end in ("pads_begin", "pads_end"))
            given[by_role["pads"].key] = [*begins, *ends]
        elif role in by_role:
            given[by_role[role].key] = by_role[role].spelled(meaning)
    return given
