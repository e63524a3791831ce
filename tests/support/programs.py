"""The commands of tests/support/fake_program.py, and vectors on which its faults show."""

import shlex
import sys
from pathlib import Path

import numpy as np

from conformance.operators import vector_of
from conformance.vector import Case

FAKE = Path(__file__).parent / "fake_program.py"
WHOLE = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0]}
WHOLE |= {"exclude_pad": True}


def words(fault: str = "", *, always: bool = False) -> tuple[str, ...]:
    """Return the command of the fake program with a fault, as words."""
    # Without site and the environment it starts in a third of the time.
    return (sys.executable, "-ISs", str(FAKE), fault, *["always"] * always)


def command(fault: str = "") -> str:
    """Return the command of the fake program with a fault."""
    return shlex.join(words(fault))


def data(first: float) -> np.ndarray:
    """Return an input whose first cell is given."""
    return np.array([first, 2, 3, 4], np.float32).reshape(1, 1, 2, 2)


def vectors():
    """Return three vectors; a fault of an answer shows on the second."""
    return [
        vector_of(Case(f"AvgPool-1/{name}", "AvgPool-1", WHOLE, (data(first),)))
        for name, first in (("before", 1), ("faulty", 13), ("after", 5))
    ]
