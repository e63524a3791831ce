"""Every fault that atoms enumerate and an operator may have, in code of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from conformance.faults.atoms import KINDS, faults_of
from conformance.faults.fault import Fault
from conformance.operators.operator import Operator


@lru_cache(maxsize=128)
def enumerated(operator: Operator, kinds: Sequence[str] = tuple(KINDS)) -> tuple[Fault, ...]:
    """Return the faults of some kinds that an operator may have, in its own code.

    That of gradients is their own, and so is that of unpoolings.
    """
    every: list[Fault | None] = [fault for kind in kinds for fault in faults_of(kind)]
    if operator.is_gradient:
        every += [fault and fault.in_gradients() for fault in every]
    if operator.scatters:
        every = [fault and fault.in_unpoolings() for fault in every]
    return tuple(fault for fault in every if fault is not None and fault.concerns(operator))
