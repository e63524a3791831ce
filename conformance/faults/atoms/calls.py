"""Calls: what is taken for an attribute that is left out, what is refused, and what is accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product, starmap
from operator import gt, mod
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS, name_of
from conformance.faults.atoms.atom import Atom, faults
from conformance.faults.atoms.lists import LISTS
from conformance.faults.atoms.numbers import is_float
from conformance.faults.atoms.words import needs_of
from conformance.faults.call import Call, Unknown
from conformance.faults.concerns import (
    ACTIVATED,
    ADAPTIVE,
    APART,
    AUTO_PADDED,
    CHOOSING,
    DILATED,
    EVERY,
    INCLUDING,
    PADDED,
    ROUNDED,
    SINGLE,
    SIZED,
    STRIDED,
    VOLUMETRIC,
    WINDOWED,
)
from conformance.faults.fault import Fault
from conformance.faults.wraps import Refusing
from conformance.operators import OPERATORS
from conformance.operators.attributes import Role, roles_of
from conformance.operators.needs import (
    AVERAGES,
    Needs,
    has,
    has_default,
    has_other_default,
    lacks,
    requires,
    takes,
)
from conformance.operators.needs import INTEGERS as TAKING_INTEGERS
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads, reaches, slacks
from conformance.operators.wraps import StepWrap, before
from conformance.reference.rounding import widen
from conformance.vector import Array

NOUNS: dict[Role, str] = {
    "strides": "strides",
    "dilations": "dilations",
    "pads_begin": "begin pads",
    "pads_end": "end pads",
    "pads": "pads",
    "auto_pad": "the padding mode",
    "rounding": "the rounding",
    "include_pad": "whether padding counts",
    "exponent": "the exponent",
    "index_axis": "the axis that indices start from",
    "index_type": "the type of indices",
    "storage_order": "the storage order",
}
"""What an attribute of a role is, whatever a document calls it."""


ChangedCall = Atom[Callable[[Call], Call]]
"""A call that is validated in place of the one that is given, and words."""


def _with_call(change: Callable[[Call], Call]) -> StepWrap:
    return before(lambda call: (change(call),))


# Attributes that are left out --------------------------------------------------------------------


def _default(role: Role, words: str, of: Callable[[Call], Any], needs: Needs) -> ChangedCall:
    """Take another default for a role, in calls of operators that have yet another."""

    def change(call: Call) -> Call:
        return call if role in call.given else replace(call, given={**call.given, role: of(call)})

    return ChangedCall(f"{NOUNS[role]} left out, taken as {words}", change, needs)


def _other(role: Role, value: Any) -> ChangedCall:
    """Take another word, or another number on every axis."""
    needs, words = (has_other_default(role, value),), str(value).lower()
    is_number = type(value) is int
    return _default(role, words, lambda call: [value] * call.axes if is_number else value, needs)


def _scalar(role: Role, value: int) -> ChangedCall:
    return _default(role, str(value), lambda _: value, (has_default(role),))


def _of_other_end(end: Role, other: Role) -> ChangedCall:
    # Pads in one list are absent together.
    needs = (has_default(end), has(other), lacks("pads"))
    return _default(end, f"the {NOUNS[other]}", lambda call: call.meaning(other), needs)


_DEFAULTS = (
    _other("rounding", "ceil"),
    *(_other("auto_pad", mode) for mode in ("same_upper", "same_lower", "valid")),
    _default(
        "strides",
        "the window shape",
        lambda call: call.meaning("kernel"),
        (*WINDOWED, has_other_default("strides", "kernel")),
    ),
    *(_other("strides", value) for value in (1, 2)),
    _other("dilations", 2),
    *(_scalar("exponent", value) for value in (1, 3)),
    *(_scalar("index_axis", value) for value in (1, 2, -1)),
    _other("index_type", "int32"),
    _other("storage_order", "column-major"),
    _of_other_end("pads_begin", "pads_end"),
    _of_other_end("pads_end", "pads_begin"),
    _other("include_pad", True),  # noqa: FBT003 - the value
)


def _required(role: Role) -> Atom[Callable[[Call], bool]]:
    """Refuse calls without an attribute that has a default."""
    needs: Needs = (has_default(role), *((lacks("pads"),) if role == "pads_end" else ()))
    words = f"that leaves out {NOUNS[role]}, though there is a default"
    return Atom(words, lambda call: role not in call.given, needs)


# What is refused ---------------------------------------------------------------------------------


WhichCalls = Atom[Callable[[Params, Pads, Extent], bool]]
"""Words for some calls, and whether one is among them; or for some data."""
WhichData = Atom[Callable[..., bool]]


def _padded(pads: Pads) -> bool:
    return any(map(any, pads))


def _uneven(pads: Pads) -> bool:
    return any(begin != end for begin, end in pads)


def _overhangs(params: Params, pads: Pads, extent: Extent) -> bool:
    """Say whether the last window of an axis reaches beyond the padded input."""
    slack = zip(extent, params.strides, slacks(params, pads), strict=True)
    return not params.same and any((o - 1) * s > t for o, s, t in slack)


def _leaves_cells_out(params: Params, extent: Extent) -> bool:
    """Say whether windows without begin pads leave out cells at the end of an axis."""
    axes = zip(extent, params.strides, params.kernel, params.sizes, strict=True)
    return any((o - 1) * s + k < d for o, s, k, d in axes)


def _any_pad(holds: Callable[[int, int, int], bool]) -> Callable[[Params, Pads, Extent], bool]:
    """Say whether something holds of the pad, the kernel and the dilated kernel of an axis."""
    return lambda p, pads, _: any(map(holds, map(max, pads), p.kernel, p.spans))


_CALLS: tuple[WhichCalls, ...] = (
    Atom(
        "begin and end pads differ",
        lambda p, pads, _: p.auto_pad == "explicit" and _uneven(pads),
        (*PADDED, *APART),
    ),
    Atom("there are pads", lambda _p, pads, _: _padded(pads), PADDED),
    Atom("pads are above half of the kernel", _any_pad(lambda pad, k, _: k // 2 < pad < k), PADDED),
    Atom("a pad is not below the kernel", lambda p, pads, _: reaches(pads, p.kernel), PADDED),
    Atom("dilations are above 1", lambda p, *_: any(n > 1 for n in p.dilations), DILATED),
    Atom("dilations differ", lambda p, *_: len(set(p.dilations)) > 1, DILATED),
    Atom(
        "pads are above half of the kernel, though not of the dilated kernel",
        _any_pad(lambda pad, k, span: k < 2 * pad <= span),
        (*DILATED, *PADDED),
    ),
    Atom("strides are above the kernel", lambda p, *_: any(map(gt, p.strides, p.kernel)), STRIDED),
    Atom(
        "the kernel is larger than the input",
        lambda p, *_: any(map(gt, p.kernel, p.sizes)),
        WINDOWED,
    ),
    Atom(
        "the dilated kernel is larger than the input",
        lambda p, *_: any(map(gt, p.spans, p.sizes)),
        DILATED,
    ),
    Atom("the kernel is 1 on every axis", lambda p, *_: max(p.kernel, default=0) == 1, WINDOWED),
    Atom("the kernel differs between axes", lambda p, *_: len(set(p.kernel)) > 1, WINDOWED),
    Atom("strides differ between axes", lambda p, *_: len(set(p.strides)) > 1, STRIDED),
    Atom("a kernel is above 16", lambda p, *_: max(p.kernel, default=0) > 16, WINDOWED),
    Atom("there is one spatial axis", lambda p, *_: len(p.sizes) == 1, SINGLE),
    Atom("there are three spatial axes", lambda p, *_: len(p.sizes) == 3, VOLUMETRIC),
    Atom("sizes are rounded up", lambda p, *_: p.ceil, ROUNDED),
    Atom(
        "sizes are rounded up beside pads",
        lambda p, pads, _: p.ceil and not p.same and _padded(pads),
        (*ROUNDED, *PADDED),
    ),
    Atom("the padding is same_*", lambda p, *_: p.same, AUTO_PADDED),
    Atom("the padding is same_lower", lambda p, *_: p.auto_pad == "same_lower", AUTO_PADDED),
    Atom(
        "the padding is same_* and sizes are rounded up",
        lambda p, *_: p.same and p.ceil,
        (*ROUNDED, *AUTO_PADDED),
    ),
    Atom(
        "the padding is same_* and strides are above 1",
        lambda p, *_: p.same and max(p.strides) > 1,
        AUTO_PADDED,
    ),
    Atom(
        "the padding is same_* and windows leave out cells at the end of the input",
        lambda p, _pads, extent: p.same and _leaves_cells_out(p, extent),
        AUTO_PADDED,
    ),
    Atom("the padding of same_* is odd", lambda p, pads, _: p.same and _uneven(pads), AUTO_PADDED),
    Atom(
        "the padding is same_* beside pads, though these are to be ignored",
        lambda p, *_: p.same and any(p.pads_begin + p.pads_end),
        (*AUTO_PADDED, *PADDED),
    ),
    Atom("the padding is valid", lambda p, *_: p.auto_pad == "valid", AUTO_PADDED),
    Atom(
        "the padding is valid beside pads, though these are to be ignored",
        lambda p, *_: p.auto_pad == "valid" and any(p.pads_begin + p.pads_end),
        (*AUTO_PADDED, *PADDED),
    ),
    Atom("windows overhang the padded input", _overhangs, ROUNDED),
    Atom(
        "padding counts, and there is padding",
        lambda p, pads, _: p.include_pad and _padded(pads),
        INCLUDING,
    ),
    Atom(
        "padding does not count, and there is padding",
        lambda p, pads, _: not p.include_pad and _padded(pads),
        INCLUDING,
    ),
    Atom(
        "the output size is above the input",
        lambda p, _, extent: any(map(gt, extent, p.sizes)),
        ADAPTIVE,
    ),
    Atom(
        "the output size does not divide the input",
        lambda p, _, extent: any(map(mod, p.sizes, extent)),
        ADAPTIVE,
    ),
    Atom("the output is as large as the input", lambda p, _, extent: extent == p.sizes, ADAPTIVE),
    Atom(
        "the output size differs between axes", lambda _p, _, extent: len(set(extent)) > 1, ADAPTIVE
    ),
    Atom("an output size is given beside strides", lambda p, *_: any(p.fixed_output), SIZED),
    Atom("there is an activation", lambda p, *_: p.activation != "none", ACTIVATED),
    Atom(
        "sums in the element type are asked for",
        lambda p, *_: p.accumulator != "wider",
        (has("accumulator"),),
    ),
)


def _of_type(kind: str) -> WhichData:
    said = f"the type is {kind}"
    return Atom(said, lambda data, *_: name_of(data.dtype) == kind, (takes(kind),))


_DATA: tuple[WhichData, ...] = (
    Atom("there are several batches", lambda data, *_: data.shape[0] > 1),
    Atom("there is one channel", lambda data, *_: data.shape[1] == 1),
    Atom("there are more than 32 channels", lambda data, *_: data.shape[1] > 32),
    *map(_of_type, FLOATS),
    Atom(
        "the type is of integers",
        lambda data, *_: not is_float(data),
        (*CHOOSING, *TAKING_INTEGERS),
    ),
    Atom(
        "the type is of unsigned integers",
        lambda data, *_: data.dtype.kind == "u",
        (*CHOOSING, takes("uint8")),
    ),
    Atom(
        "there is an infinity or NaN",
        lambda data, *_: is_float(data) and not np.isfinite(widen(data)).all(),
    ),
    Atom(
        "the type is float16, and channels are a multiple of 16",
        lambda data, *_: name_of(data.dtype) == "float16" and data.shape[1] % 16 == 0,
        (*AVERAGES, takes("float16")),
    ),
)


def _is_of_one(value: Any, axes: int) -> bool:
    return isinstance(value, list) and len(value) == 1 and axes > 1


def _spelled(how: Atom[Callable[[Any, int], bool]], role: Role) -> Atom[Callable[..., bool]]:
    """Refuse what the document allows to be spelled in this way."""
    said = f"a {LISTS[role].noun} is {how.words}"
    return Atom(said, lambda call: how.of(call.spelled.get(role), call.axes), needs_of(role))


_LISTS: tuple[Role, ...] = ("kernel", "strides", "dilations", "pads")
_SPELLINGS: tuple[Atom[Callable[[Any, int], bool]], ...] = (
    Atom("one number for all axes", lambda value, _axes: isinstance(value, int)),
    Atom("a list of one number", _is_of_one),
)


# What is accepted --------------------------------------------------------------------------------


def _repaired(words: str, needs: Needs, *roles: str, by: Callable[[Any, int], Any]) -> ChangedCall:
    """Repair the values of some roles instead of refusing them: `by(value, number of axes)`."""

    def change(call: Call) -> Call:
        given = {
            role: by(value, call.axes) if role in roles else value
            for role, value in call.given.items()
        }
        return replace(call, given=given)

    return ChangedCall(words, change, needs)


def _every_number(repair: Callable[[int], int]) -> Callable[[Any, int], Any]:
    return lambda value, _: [repair(v) for v in value] if isinstance(value, list) else value


def _to_length(value: Any, axes: int) -> Any:
    """Cut a list to one entry per axis, or repeat its last entry."""
    if not isinstance(value, list):
        return value
    return (value + (value[-1:] or [1]) * axes)[:axes]


def _of_lists() -> Iterator[ChangedCall]:
    for role in _LISTS[:-1]:
        noun, needs, _ = LISTS[role]
        ones = _every_number(lambda v: v or 1)
        yield _repaired(f"a {noun} of 0", needs, role, by=ones)
        yield _repaired(f"a negative {noun}", needs, role, by=_every_number(abs))
        words = f"a list of more or fewer {noun}s than spatial axes"
        yield _repaired(words, needs, role, by=_to_length)
    zeros, needs = _every_number(lambda v: max(v, 0)), (*PADDED, *APART)
    yield _repaired("a negative begin pad", needs, "pads_begin", by=zeros)
    yield _repaired("a negative end pad", needs, "pads_end", by=zeros)
    words = "a list of more or fewer pads than spatial axes"
    yield _repaired(words, PADDED, "pads_begin", "pads_end", by=_to_length)


def _known(role: Role, words: str, meaning: Any, *, alone: str | None = None) -> ChangedCall:
    """Take a word that the document does not know, any or one `alone`, for one that it does."""

    def known(value: Any, _axes: int) -> Any:
        if not isinstance(value, Unknown):
            return value
        return meaning if alone is None or value.value == alone else value

    return _repaired(words, needs_of(role), role, by=known)


def _in_any_letters(call: Call) -> Call:
    """Take words for those of the document that differ from them in capitals alone."""
    given = dict(call.given)
    for attribute in call.operator.attributes:
        word = given.get(attribute.role)
        if isinstance(word, Unknown) and isinstance(word.value, str):
            known = {str(each).lower(): meaning for each, meaning in attribute.values.items()}
            given[attribute.role] = known.get(word.value.lower(), word)
    return replace(call, given=given)


def _without_limit(call: Call) -> Call:
    """Take data of any number of axes."""
    return replace(call, operator=replace(call.operator, axes=(call.operator.axes[0], None)))


def _output_size(words: str, repair: Callable[[Array, int], Array]) -> ChangedCall:
    """Repair an output size, given the number of axes."""

    def change(call: Call) -> Call:
        data, *sizes = call.inputs
        return replace(call, inputs=(data, *(repair(size, call.axes) for size in sizes)))

    return ChangedCall(words, change, (*ADAPTIVE, lambda operator: operator.takes_output_size))


def _floats_of(call: Call) -> Call:
    """Convert integers where the document takes floating-point data alone."""
    data, *others = call.inputs
    data = data.astype(np.float32) if data.dtype.kind in "iub" else data
    return replace(call, inputs=(data, *others))


def _without_rule(says: str) -> ChangedCall:
    def change(call: Call) -> Call:
        rules = tuple(rule for rule in call.operator.rules if rule.says != says)
        return replace(call, operator=replace(call.operator, rules=rules))

    return ChangedCall(says, change, (lambda operator: bool(operator.rules),))


def _with_required(call: Call) -> Call:
    """Add the required attributes that the call leaves out, with the usual defaults."""
    ones, zeros = [1] * call.axes, [0] * call.axes
    defaults: dict[Role, Any] = {
        "kernel": ones,
        "strides": ones,
        "pads_begin": zeros,
        "pads_end": zeros,
        "rounding": "floor",
        "auto_pad": "explicit",
        "include_pad": True,
    }
    required = roles_of(attribute for attribute in call.operator.attributes if attribute.required)
    added = {str(role): value for role, value in defaults.items() if role in required}
    return replace(call, given={**added, **call.given})


_ACCEPTED: tuple[ChangedCall, ...] = (
    *_of_lists(),
    _known("rounding", "an unknown rounding", "floor"),
    _known("auto_pad", "an unknown padding mode", "explicit"),
    _known("auto_pad", "an empty padding mode", "explicit", alone=""),
    _known("channels_last", "an unknown layout", False),  # noqa: FBT003 - the value
    _known("activation", "an unknown activation", "none"),
    _known("accumulator", "an unknown type of sums", "wider"),
    _known("index_type", "an unknown type of indices", "int64"),
    _known("storage_order", "an unknown storage order", "row-major"),
    ChangedCall(
        "a word in other capitals",
        _in_any_letters,
        (
            lambda operator: any(
                type(word) is str for a in operator.attributes for word in a.values
            ),
        ),
    ),
    _repaired(
        "an axis beyond the data",
        (has("index_axis"),),
        "index_axis",
        by=lambda value, axes: value % (axes + 2) if type(value) is int else value,
    ),
    ChangedCall(
        "data of more dimensions than the document lists",
        _without_limit,
        (lambda operator: operator.axes[1] is not None,),
    ),
    _output_size("a negative output size", lambda size, _axes: np.abs(size)),
    _output_size("more or fewer output sizes than spatial axes", np.resize),
    _output_size(
        "an output size that is neither int32 nor int64", lambda size, _axes: size.astype(np.int64)
    ),
)


# One number for all axes, and None ---------------------------------------------------------------


def _of_one_axis(role: Role, end: int) -> ChangedCall:
    """Take one number for all axes as that of one, and defaults for the others."""
    noun, which = LISTS[role].noun, "last" if end else "first"
    others = "the kernel" if role == "strides" else str(LISTS[role].least)

    def change(call: Call) -> Call:
        spelled = call.spelled.get(role)
        is_one = isinstance(spelled, int) or _is_of_one(spelled, call.axes)
        if not is_one or call.axes < 2 or role not in call.given:
            return call
        numbers = [LISTS[role].least] * call.axes
        if role == "strides" and "kernel" in call.given:
            numbers = [*call.given["kernel"]]
        numbers[end] = call.given[role][end]
        return replace(call, given={**call.given, role: numbers})

    said = f"a {noun} that is one number taken for the {which} axis, and {others} for others"
    return ChangedCall(said, change, needs_of(role))


_OF_ONE_AXIS = [_of_one_axis(role, end) for role, end in product(_LISTS[:-1], (0, -1))]


def _unkept(words: str, size: Callable[[Call, int], int]) -> ChangedCall:
    """Take an output size of None for another one: `size(call, axis)`."""

    def change(call: Call) -> Call:
        spelled = call.spelled.get("output")
        if not isinstance(spelled, list | tuple) or None not in spelled:
            return call
        sizes = [
            size(call, axis) if said is None else meaning
            for axis, (said, meaning) in enumerate(zip(spelled, call.given["output"], strict=True))
        ]
        return replace(call, given={**call.given, "output": sizes})

    return ChangedCall(f"an output size of None taken as {words}", change, (_keeps_sizes,))


def _keeps_sizes(operator: Operator) -> bool:
    return any(attribute.keeps_sizes for attribute in operator.attributes)


_UNKEPT = (
    _unkept("1", lambda _call, _axis: 1),
    _unkept("the size of the last axis", lambda call, _: call.inputs[0].shape[-1]),
    _unkept("the size of the first axis", lambda call, _: call.inputs[0].shape[2]),
    _unkept(
        "the size of the axis from the other end", lambda call, i: call.inputs[0].shape[-1 - i]
    ),
    _unkept("the number of channels", lambda call, _: call.inputs[0].shape[1]),
)

# Faults ------------------------------------------------------------------------------------------


def every() -> Iterator[Fault]:
    """Yield other defaults, calls that are refused, and those that are accepted."""
    yield from faults("{}", EVERY, "validate", _with_call, (*_DEFAULTS, *_UNKEPT, *_OF_ONE_AXIS))
    # Pads in one list are left out where begin pads are.
    required = (_required(role) for role in NOUNS if role != "pads")
    yield from faults("a call refused {}", EVERY, "validate", Refusing, required)
    yield from faults("a call refused where {}", EVERY, "windows", Refusing, _CALLS)
    yield from faults("a call refused where {}", EVERY, "gather", Refusing, _DATA)
    spelled = starmap(_spelled, product(_SPELLINGS, _LISTS))
    yield from faults("a call refused where {}", EVERY, "validate", Refusing, spelled)
    yield from faults("{} accepted", EVERY, "validate", _with_call, _ACCEPTED)
    others = (
        ChangedCall(
            "defaults taken for required attributes that are missing",
            _with_required,
            (requires("kernel"),),
        ),
        ChangedCall(
            "integer data accepted though the document wants floating-point",
            _floats_of,
            (lambda operator: not operator.takes_integers,),
        ),
    )
    yield from faults("{}", EVERY, "validate", _with_call, others)
    rules = (rule.says for operator in OPERATORS.values() for rule in operator.rules)
    without = map(_without_rule, dict.fromkeys(rules))
    yield from faults(
        "a call accepted that breaks the rule that {}", EVERY, "validate", _with_call, without
    )
