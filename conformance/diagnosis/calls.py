"""Calls as Python and in words; and two of them: how they differ, what comes back of the first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.cases.gradients import with_gradient
from conformance.cases.sweep.sweep_model import case_of
from conformance.diagnosis.run_history import aspects
from conformance.dtypes import dtype_of, name_of
from conformance.judging.judge import accepts
from conformance.literals import array_expression
from conformance.operators import as_called, operator_named, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.reference.rounding import equal_numbers
from conformance.text import listed
from conformance.vector import Array, Case, Outputs, Values, Vector

_NAMED = 3
"""Calls that are named."""
_WRITTEN_OUT = 64
"""Elements of an array that are written out."""
_OF_DATA = ("element type", "shape", "data")


def as_python(case: Case) -> str:
    """Return a call of `backend` with a case; "" where its data are too many to write out."""
    given, attributes = as_called(case)
    arrays = [array_expression(array) for array in given]
    if any(len(elements) > _WRITTEN_OUT for _, elements, _ in arrays):
        return ""
    inputs = [f"{begin}{', '.join(elements)}{end}" for begin, elements, end in arrays]
    return f"backend({case.operator!r}, [{', '.join(inputs)}], {attributes!r})"


def differences(earlier: Case, later: Case) -> list[str]:
    """Return the aspects in which two calls differ: attributes, "shape", "data" and the like."""
    one, other = (aspects(c.operator, c.inputs, c.attributes) for c in (earlier, later))
    found = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    tensors = 1 if earlier.gradient is None else 2
    same = _equal(earlier.inputs[:tensors], later.inputs[:tensors])
    return found if same else [*found, "data"]


def mixed(earlier: Case, later: Case, kept: Collection[str]) -> Vector | None:
    """Return the later call, with some aspects of the earlier one; None if that is not defined.

    Where the shape is that of the one and the data are of the other, they are cut or repeated.
    """

    def of(key: str) -> Case:
        return earlier if key in kept else later

    attributes = {
        key: of(key).attributes[key]
        for key in (earlier.attributes | later.attributes)  # type: ignore[operator]
        if key in of(key).attributes
    }
    data = np.resize(of("data").data, of("shape").data.shape)
    names = operator_named(later.operator).input_names[-len(later.own_inputs) :]
    rest = [of(name).own_inputs[number] for number, name in enumerate(names[1:], 1)]
    return _defined(later, attributes, (data, *rest), name_of(of("element type").data.dtype))


def with_other_data(case: Case) -> Vector | None:
    """Return a case with data that differ from its own; None if that is not defined.

    Nor is it where there are no elements.
    """
    data = case.data
    ramps = (np.resize(np.arange(count, 0, -1), data.shape) for count in (97, 89))
    other = next((ramp for ramp in ramps if not np.array_equal(ramp, data)), None)
    if other is None:
        return None
    return _defined(case, case.attributes, (other, *case.own_inputs[1:]), name_of(data.dtype))


def instead(
    later: Vector, earlier: Vector, kept: Collection[str], outputs: tuple[Outputs | None, ...]
) -> str:
    """Say what comes back in place of what is right, "" where that is not simple.

    `outputs` are those of the earlier call, of the later one after it, and of that one alone.
    """
    before, got, alone = outputs
    if got is None:
        return ""
    of_windows = [key for key in kept if key not in {*_OF_DATA, "operator"}]
    meant = mixed(earlier.case, later.case, of_windows) if of_windows else None
    if meant is not None and accepts(meant, got):
        return f"it is what is right with the {listed(of_windows)} of the call before"
    if before is not None and _equal(got, before):
        return "it is the output of the call before"
    # What the call before left in memory may not be what it returned.
    right = tuple(output.values for output in earlier.values[0].outputs) if earlier.values else None
    of = {"of the output of": before, "that are right for": right}
    return "" if alone is None else _left_over(got[0], alone[0], of)


def described(case: Case) -> str:
    """Return a call in words: "AvgPool-1 of float32 [1, 1, 5, 5] with kernel=[3, 3]"."""
    of = dict(aspects(case.operator, case.inputs, case.attributes))
    operator, dtype, shape = (of.pop(key) for key in ("operator", "element type", "shape"))
    return f"{operator} of {dtype} {shape}{_with(of)}"


def described_calls(cases: Sequence[Case]) -> str:
    """Return in words a sequence of calls, of which the last is wrong."""
    *earlier, last = cases
    if not earlier:
        return f"{described(last)}, when it is called first"
    if not any(differences(case, last) for case in earlier):
        return f"{described(last)}, after {_calls(len(earlier))} of the same"
    if len(earlier) == 1 and earlier[0].operator == last.operator:
        return f"{described(last)}, after the same{_but(earlier[0], last)}"
    named = [described(case) for case in earlier[-_NAMED:]]
    more = [_calls(len(earlier) - _NAMED)] if len(earlier) > _NAMED else []
    return f"{described(last)}, after {', then '.join(more + named)}"


def depends_on(calls: int, kept: Sequence[str]) -> str:
    """Return in words that outputs depend on some earlier calls, which have to differ in `kept`."""
    which = "an earlier call" if calls == 1 else f"{calls:,} earlier calls"
    return f"the output depends on {which}" + (f" with other {listed(kept)}" if kept else "")


def by_number(wrong: Sequence[bool], of: str = "") -> str:
    """Return in words which calls of a process are wrong; `of` says which calls are counted."""
    numbers = [number for number, is_wrong in enumerate(wrong, 1) if is_wrong]
    first, count, called = numbers[0], len(numbers), len(wrong)
    if numbers == list(range(1, count + 1)):
        return f"the first {f'{count} calls' if count > 1 else 'call'}{of} {_are(count)} wrong"
    if count > 1 and numbers == list(range(first, called + 1)):
        return f"calls{of} from the {_ordinal(first)} on are wrong"
    if count > 1 and numbers == list(range(first, called + 1, first)):
        return f"every {_ordinal(first)} call{of} is wrong"
    named = listed([_ordinal(number) for number in numbers[:_NAMED]])
    return f"the {named} call{'s' * (count > 1)}{of} {_are(count)} wrong"


def _left_over(got: Array, alone: Array, of: Mapping[str, Outputs | None]) -> str:
    """Say how an output comes from what was left in memory, in place of what is right alone."""
    if (got.shape, got.dtype) != (alone.shape, alone.dtype):
        return ""
    wrong = np.flatnonzero(~equal_numbers(got, alone))
    for words, outputs in of.items():
        if outputs is None or outputs[0].dtype != got.dtype:
            continue
        left = outputs[0]
        was_there = wrong.size and wrong[-1] < left.size
        if was_there and equal_numbers(got.ravel()[wrong], left.ravel()[wrong]).all():
            return f"its wrong elements are those {words} the call before"
        with np.errstate(all="ignore"):
            if left.shape == got.shape and equal_numbers(got, alone + left).all():
                return "it is added to the output of the call before"
    return ""


def _defined(
    case: Case, attributes: Mapping[str, Any], own_inputs: Outputs, dtype: str
) -> Vector | None:
    with np.errstate(all="ignore"):
        data = own_inputs[0].astype(dtype_of(dtype))
    operator = operator_named(case.operator)
    inputs = with_gradient(operator, case.gradient, (data, *own_inputs[1:]), attributes)
    vector = vector_of(case_of(case.operator, attributes, inputs, pattern="mixed"))
    is_defined = isinstance(vector.outcomes[0], Values) and is_judgeable(operator, vector)
    return vector if is_defined else None


def _equal(one: Outputs, other: Outputs) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and bool(equal_numbers(a, b).all())
        for a, b in zip(one, other, strict=True)
    )


def _but(earlier: Case, later: Case) -> str:
    """Return in words how an earlier call differs from a later one."""
    keys = differences(earlier, later)
    of = aspects(earlier.operator, earlier.inputs, earlier.attributes)
    return _with({key: of.get(key, "unset") for key in keys if key != "data"}) or " with other data"


def _with(attributes: Mapping[str, object]) -> str:
    said = [f"{key}={_plain(value)}" for key, value in attributes.items()]
    return f" with {listed(said)}" if said else ""


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _calls(count: int) -> str:
    return f"{count:,} calls" if count > 1 else "a call"


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number // 10 % 10 != 1 else "th"
    return f"{number:,}{ending}"
