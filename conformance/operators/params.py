"""The parameters of a case in terms common to all documents, and translation to and from them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conformance.operators.attributes import Attribute, Role
from conformance.operators.windows import span_of


@dataclass(frozen=True, slots=True)
class Params:
    """The parameters of a case in terms common to all documents.

    Tuples have one entry per spatial axis, in cells; those that an operator has no attribute for
    are empty. `auto_pad` is explicit, same_upper, same_lower or valid; `pads_beside` says that pads
    in one list are given beside one that is not explicit. `rounding` is floor, ceil or
    ceil_torch (ceil, but no last window that starts in padding). `include_pad` says whether padding
    counts in the divisor, `fixed_divisor` what it is instead. `exponent` is p of a p-norm. `output`
    is the requested output size of an adaptive operator, and `fixed_output` that of an unpooling,
    or of windows, 0 on every axis where it is inferred. Indices are of type `index_type` and count
    cells of the data's axes (of an unpooling, of the output's) from `index_axis` on (negative: from
    the end), in `storage_order`. An integer less its zero point, times its scale, is the number
    that it stands for. `nan` says what a NaN does in a maximum. `channels_last` says that the
    caller has channels last: the data here have them second all the same, see `CallConvention`.
    `activation` clamps the first output. `accumulator` says whether the caller asks for sums in a
    type wider than that of the data, or in that.
    """

    sizes: tuple[int, ...]
    kernel: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dilations: tuple[int, ...] = ()
    pads_begin: tuple[int, ...] = ()
    pads_end: tuple[int, ...] = ()
    auto_pad: str = "explicit"
    pads_beside: bool = False
    rounding: str = "floor"
    include_pad: bool = False
    exponent: int = 1
    fixed_divisor: int | None = None
    input_scale: float = 1.0
    output_scale: float = 1.0
    input_zero_point: int = 0
    output_zero_point: int = 0
    output: tuple[int, ...] = ()
    fixed_output: tuple[int, ...] = ()
    index_axis: int = 0
    index_type: str = "int64"
    storage_order: str = "row-major"
    nan: str = "propagates"
    channels_last: bool = False
    activation: str = "none"
    accumulator: str = "wider"

    @property
    def spans(self) -> tuple[int, ...]:
        """Cells from the first to the last of a window per spatial axis, (k - 1) dilation + 1.

        A dilation that is not there is 1.
        """
        dilations = self.dilations or (1,) * len(self.kernel)
        return tuple(span_of(k, n) for k, n in zip(self.kernel, dilations, strict=True))

    @property
    def same(self) -> bool:
        """Whether the pads follow from the output size: auto_pad is same_upper or same_lower."""
        return self.auto_pad in {"same_upper", "same_lower"}

    @property
    def ceil(self) -> bool:
        """Whether the number of windows is rounded up."""
        return self.rounding != "floor"


UNSAID: Mapping[str, int] = {"strides": 1, "dilations": 1, "pads_begin": 0, "pads_end": 0}
"""The value on every axis where an operator with a kernel has no such attribute."""


def params_of(
    declared: Sequence[Attribute],
    given: Mapping[str, Any],
    sizes: tuple[int, ...],
    output: tuple[int, ...] = (),
    constants: Mapping[Role, Any] = MappingProxyType({}),
    said: Container[str] | None = None,
) -> Params:
    """Return the parameters that attributes of a document stand for, with defaults and constants.

    Lists, and values that the document does not have, are taken as they are given. `said` are the
    keys that the caller gives, if `given` has defaults, too. KeyError if a required attribute is
    missing.
    """
    fields: dict[str, Any] = {"sizes": sizes, **dict(constants.items())}
    for attribute in declared:
        key = attribute.key
        if attribute.role == "ignored":
            continue
        if attribute.is_left_out(given):
            value = attribute.default_for(fields)
        else:
            value = attribute.spread(given[key], len(sizes))
        fields |= attribute.by_role(attribute.meaning(value, sizes))
    if "kernel" in fields:
        for field, number in UNSAID.items():
            fields.setdefault(field, (number,) * len(sizes))
    pads = [attribute.key for attribute in declared if attribute.role == "pads"]
    is_said = any(key in (given if said is None else said) for key in pads)
    beside = is_said and fields.get("auto_pad", "explicit") != "explicit"
    return Params(**{"output": output, "pads_beside": beside, **fields})


def attributes_of(declared: Sequence[Attribute], meanings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a document that stand for values of `Params`, given by role.

    In the order of `meanings`. Roles that the document has no attribute for are left out; KeyError
    for a value that its attribute cannot have.
    """
    by_role: dict[str, Attribute] = {attribute.role: attribute for attribute in declared}
    given: dict[str, Any] = {}
    for role, meaning in meanings.items():
        if role in {"pads_begin", "pads_end"} and "pads" in by_role:
            begins, ends = (meanings[end] for end in ("pads_begin", "pads_end"))
            given[by_role["pads"].key] = by_role["pads"].pads(begins, ends)
        elif role in by_role:
            given[by_role[role].key] = by_role[role].spelled(meaning)
    return given
