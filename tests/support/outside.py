"""The package of tests/outside, as if it were installed: it adds the operator MinimumPool-1."""

import os
from contextlib import contextmanager

import pytest
from support.paths import ROOT, TESTS

from conformance.operators import registry

OUTSIDE = TESTS / "outside"
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(OUTSIDE)])}
"""What makes the package importable in a process that is started."""


@contextmanager
def installed():
    """Install the package for this process and for those that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(OUTSIDE)
        patch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
        forget_operators()
        yield
    forget_operators()


def forget_operators():
    """Let the operators be loaded again at the next use."""
    registry._operators.cache_clear()
    registry._clauses.cache_clear()
