"""What backends with a stated fault make of cases, as samples."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.cases.perturb import near
from conformance.diagnosis.sample import Sample
from conformance.judging.judge import accepts
from conformance.operators import vector_of
from conformance.reference.rounding import widen
from conformance.vector import UNDEFINED, Array, Case, Vector


class Everything:
    """What holds whatever it is asked for: all faults, where they are to be left out."""

    def __contains__(self, _: object) -> bool:
        return True


Alter = Callable[[Vector, Array], Any]
"""Changes a copy of the right output of a vector: in place, or by what it returns or raises."""


def sample(vector: Vector, alter: Alter) -> Sample:
    """Return what a backend makes of a vector that is right but for what `alter` changes."""
    expected = vector.values[0].outputs[0]
    right = expected.values
    try:
        got = right.copy()
        changed = alter(vector, got)
        got = got if changed is None else changed
    except ValueError:
        return Sample(vector, None, failed=True)
    failed = not accepts(vector, (got,))
    if (got.shape, got.dtype) != (right.shape, right.dtype):
        return Sample(vector, (got,), failed=failed)
    defined = (expected.addends != UNDEFINED).reshape(right.shape)
    differs = _doubles(got) != _doubles(right)
    differs &= ~(np.isnan(_doubles(got)) & np.isnan(_doubles(right)))
    return Sample(vector, (got,), failed, defined & differs & failed, defined)


def samples(cases: Sequence[Case], alter: Alter) -> list[Sample]:
    """Return what a backend makes of cases."""
    vectors = map(vector_of, cases)
    return [sample(vector, alter) for vector in vectors if vector.values]


def around(cases: Sequence[Case], count: int, seed: int = 0) -> list[Case]:
    """Return so many cases near some, cases near these among them."""
    rng = np.random.default_rng(seed)
    known = list(cases)
    while len(known) < count + len(cases):
        made = near(known[int(rng.integers(len(known)))], rng)
        if made is not None and made.inputs[0].size <= 4096:
            known.append(made)
    return known[len(cases) :]


def _doubles(array: Array) -> Any:
    return array.astype(np.float64) if array.dtype.kind in "iu" else widen(array)
