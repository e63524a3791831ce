"""State told from arithmetic: each fake has one stated fault, and the calls that show it are named."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from support.fakes import check, pool, ramp, right, vector

from conformance.diagnosis.fresh_starts import fresh_starts_of
from conformance.diagnosis.run_history import history_of
from conformance.diagnosis.state import of_state
from conformance.vectorfile.sources import opened


def vectors(*, count=24):
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


def told(backend, some=None, seconds=200, **options):
    """Run a backend, and return what is found out about its state."""
    some = vectors() if some is None else some
    start = fresh_starts_of(backend)  # before it is called here
    report = check(backend, some)
    assert report.failing
    with opened(some) as sources:
        return of_state(history_of(report, sources), start, seconds=seconds, **options)


def only(backend, some=None):
    """Return the only finding."""
    found = told(backend, some)
    (finding,) = found.findings
    assert found.note == ""
    return finding


def kept_by(key):
    """Return a backend with a cache of outputs."""
    kept = {}

    def backend(operator, inputs, attributes):
        name = repr(key(operator, inputs[0], attributes))
        if name not in kept:
            kept[name] = right(operator, inputs, attributes)
        return kept[name].copy()

    return backend


def everything(operator, data, attributes):
    """Return all that an output depends on."""
    return operator, data.tobytes(), data.shape, sorted(attributes.items())


class TestFaults:
    """What depends on earlier calls is found, with the fewest calls that show it."""

    def test_a_cache_that_ignores_pads(self):
        """The two calls differ in pads; what comes is the output of the first of them."""

        def key(operator, data, attributes):
            return data.shape, {**attributes, "pads_begin": 0}

        finding = only(kept_by(key))
        print(finding)
        assert 0
