"""What is found out about state, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.diagnosis.call_pairs import differences
from conformance.diagnosis.run_history import aspects
from conformance.text import listed
from conformance.vector import Case

_NAMED = 3


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
