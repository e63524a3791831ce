"""State told from arithmetic: each fake has one stated fault, of which the fewest calls are found."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from support.fakes import check, pool, ramp, right, vector

from conformance.backends.runner import InProcess
from conformance.diagnosis.state import of_state
from conformance.vectorfile.sources import opened


def vectors(count=24):
    """Return averages of some shapes, kernels and pads, each with data of its own."""
    return [
        vector(
            ramp(1, 1 + i % 2, 6 + i % 3, 7) * np.float32(i + 1),
            pool(
                kernel=[2 + i % 2, 2],
                strides=[1, 1],
                pads_begin=[i % 2, i // 2 % 2],
                pads_end=[0, 0],
            ),
            id=f"{i:03}",
        )
        for i in range(count)
    ]


def told(make, some=None, *, seconds=60, **options):
    """Run a backend that `make` makes, and return what is found out about its state."""
    some = vectors() if some is None else some
    report = check(make(), some)
    with opened(some) as sources:
        return of_state(report, sources, lambda: InProcess(make()), seconds=seconds, **options)


def only(make, some=None):
    """Return the only finding."""
    found = told(make, some)
    (finding,) = found.findings
    assert found.note == ""
    return finding
