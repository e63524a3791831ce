"""What can be wrong, said once.

    wrong behaviour  =  where (a condition)  x  step (a place)  x  atom

An atom is words and a function: what is read, counted or moved in place of what should be. A place
is the step of the pipeline in which that happens, see atom.py. Each module here yields `every`
fault that its atoms make; the catalogue has names for some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from conformance.faults.atoms import (
    calls,
    cells,
    divisors,
    entries,
    gradients,
    indices,
    layouts,
    lists,
    norms,
    numbers,
    reductions,
    windows,
    words,
)
from conformance.faults.fault import OWN_CODES, Fault
from conformance.operators.operator import Operator

KINDS = {
    "calls": (calls,),
    "entries": (entries,),
    "shapes": (words, lists, layouts),
    "numbers": (norms, numbers, reductions),
    "places": (divisors, windows, cells),
    "indices": (indices,),
    "gradients": (gradients,),
}
"""The modules of atoms, by what their faults change: of those alike the simplest come first."""


@cache
def faults_of(kind: str) -> tuple[Fault, ...]:
    """Return every fault of a kind."""
    return tuple(chain(*(module.every() for module in KINDS[kind])))


@lru_cache(maxsize=128)
def enumerated(operator: Operator, kinds: Sequence[str] = tuple(KINDS)) -> tuple[Fault, ...]:
    """Return every fault of some kinds that an operator may have, also in code of its own."""
    every = [fault for kind in kinds for fault in faults_of(kind)]
    for code in OWN_CODES:
        if code.need(operator):
            every += [twin for fault in every if (twin := fault.within(code))]
    return tuple(fault for fault in every if fault.concerns(operator))


@cache
def by_words() -> Mapping[str, Fault]:
    """Return every fault by what it is in words."""
    return {fault.summary: fault for kind in KINDS for fault in faults_of(kind)}
