"""An operator that no document of the suite has: the minimum of each window, and how many cells.

It is all that a package has to contain to add an operator: docs/development/adding-an-operator.md.
"""

from __future__ import annotations

import numpy as np

from conformance.operators import (
    ALL_TYPES,
    AUTO_PADS,
    Attribute,
    Clause,
    Example,
    Operator,
    Output,
    Printed,
    Reading,
    Reduction,
    sliding,
)
from conformance.reference import choose


def highest(dtype):
    """Return what is above every cell."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def minimum(gathered, _divisor):
    """Take the smallest cell of each window; a NaN wins."""
    data, lo, hi = gathered.data, gathered.lo, gathered.hi
    return choose(data, lo, hi, np.minimum, highest(data.dtype))


def ignoring_nan(_reduce):
    """Take the smallest number of each window instead."""

    def reduce(gathered, _divisor):
        data, lo, hi = gathered.data, gathered.lo, gathered.hi
        return choose(data, lo, hi, np.fmin, highest(data.dtype))

    return reduce


def count(gathered, _divisor, first):
    """Count the cells of each window that lie in the input, the same in every channel."""
    cells = np.ones((), np.int64)
    for lo, hi in zip(gathered.lo, gathered.hi, strict=True):
        cells = np.multiply.outer(cells, hi - lo)
    return (np.broadcast_to(cells, first.shape).copy(),)


MINIMUM = Reduction(
    name="minimum",
    sums=False,
    undefined="all-padding-minimum",
    reduce=minimum,
    combine=np.minimum,
    empty=highest,
)

DOCUMENT = "Minimum Pooling 1"

MINIMUM_POOL = Operator(
    name="MinimumPool-1",
    document=DOCUMENT,
    reduction=MINIMUM,
    attributes=(
        Attribute("window", "kernel", "Attributes, window", least=1),
        Attribute("step", "strides", "Attributes, step", default=1, least=1),
        Attribute("pads", "pads", "Attributes, pads", default=0),
        Attribute("round_up", "rounding", "Attributes", default=0, values={0: "floor", 1: "ceil"}),
        Attribute("mode", "auto_pad", "Attributes", default="explicit", values=AUTO_PADS),
    ),
    pipeline=sliding(MINIMUM, further=count),
    outputs=(Output("minimum"), Output("cells", dtype="int64", always_defined=True)),
    dtypes=ALL_TYPES,
    clauses=(
        Clause(
            name="nan-in-minimum",
            kind="disputed",
            document=DOCUMENT,
            section="Definition",
            says="the smallest element, nothing about NaN",
            answer="whether a NaN in a window is its minimum or no candidate",
            evidence="numpy has a function for each",
            readings=(
                Reading("propagates", "a NaN in the window is the result"),
                Reading(
                    "ignored",
                    "the smallest number",
                    (),
                    {"reduce": ignoring_nan},
                    nan_is_undefined=True,
                ),
            ),
        ),
        Clause(
            name="all-padding-minimum",
            kind="undefined",
            document=DOCUMENT,
            section="Definition",
            says="the smallest element, nothing about a window without any",
            answer="any value in those elements of the first output",
            evidence="numpy raises an exception",
        ),
    ),
    examples=(
        Example(
            f"{DOCUMENT}, Example",
            {"window": [2, 2], "step": [1, 1], "pads": [1, 0, 0, 1]},
            ("printed: attributes, data, both outputs",),
            data=((5, 3), (4, 8)),
            pattern="printed",
            outputs=(Printed(((3, 3), (3, 3))), Printed(((2, 1), (4, 2)))),
        ),
    ),
)
