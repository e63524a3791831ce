"""The table of names, names.txt: faults that atoms make, or that are written by hand.

    NAME | WORDS | NEEDS | BUG
    kernel-one-less  | every kernel size taken as one less
    tiles-nan-as-zero | nan-as-zero, for strides equal to a kernel above 1

A row has the words of the fault that is written by hand under its name. Any other row names the
fault that has these words, or that name. It may end with a condition, where the fault shows alone.
The fault concerns the operators that also have what the row needs: names of `concerns` and of
`operators.needs`, roles and element types, with spaces between. A row without words is that of
gradients which its name says.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

from conformance.dtypes import FLOATS, INTEGERS
from conformance.faults import concerns
from conformance.faults.atoms import by_words
from conformance.faults.conditions import CONDITIONS
from conformance.faults.fault import BACKWARD, IN_GRADIENT, OWN_CODES, Fault
from conformance.operators import needs as of_clauses
from conformance.operators.attributes import Role
from conformance.operators.needs import Needs, all_of, has, takes
from conformance.text import did_you_mean

_NEEDS: dict[str, Needs] = {
    **{role: (has(role),) for role in get_args(Role)},
    **{name: (takes(name),) for name in (*FLOATS, *INTEGERS)},
    **{
        name.lower(): each
        for module in (of_clauses, concerns)
        for name, each in vars(module).items()
        if isinstance(each, tuple)
    },
}


def named(by_hand: Mapping[str, Fault]) -> Iterator[tuple[str, Fault]]:
    """Yield the names of the table and their faults: those `by_hand` are given by name.

    KeyError for words of another row that are not those of a fault.
    """
    names: dict[str, Fault] = {}
    known = ChainMap(names, dict(by_words()))
    for line in Path(__file__).with_name("names.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, words, needs, bug = [*map(str.strip, line.split("|")), "", "", ""][:4]
        if name in by_hand:
            fault = _saying(words, by_hand[name])
        else:
            fault = _of_words(words or f"{IN_GRADIENT.words}{name.removeprefix(BACKWARD)}", known)
        needed = all_of(fault.needs, *(_NEEDS[each] for each in needs.split()))
        names[name] = fault.but(needs=needed, bug=bug)
        yield name, names[name]


def _saying(words: str, fault: Fault) -> Fault:
    """Return a fault with words, perhaps where the condition holds that ends them."""
    for condition in CONDITIONS:
        if words.endswith(condition.words):
            return fault.but(summary=words.removesuffix(condition.words)).where(condition)
    return fault.but(summary=words)


def _of_words(words: str, known: Mapping[str, Fault]) -> Fault:
    if words in known:
        return known[words]
    for code in OWN_CODES:
        if words.startswith(code.words):
            fault = _of_words(words.removeprefix(code.words), known).within(code)
            assert fault is not None, words
            return fault
    for condition in CONDITIONS:
        if words.endswith(condition.words) and words.removesuffix(condition.words) in known:
            return known[words.removesuffix(condition.words)].where(condition)
    raise KeyError(f"no fault {words!r}{did_you_mean(words, [*known])}")
