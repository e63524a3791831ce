"""How much the tests of a run try: examples of a property, parameters of a test."""

import pytest
from hypothesis import settings

QUICK, THOROUGH = 4, 100
"""Examples of a property in a plain run, and with --all."""


def examples(factor, **others):
    """Return settings with `factor` times the examples that other properties draw.

    For a property whose examples are slow (below 1), or cheap and many-sided (above 1).
    """
    number = max(1, round(factor * settings.default.max_examples))
    return settings(max_examples=number, **others)


def one_in(step, values):
    """Return parameters of a test: every `step`-th, from the first, always runs, all with --all."""
    others = pytest.mark.slow("parameters of the same kind stand for it")
    return [
        value if number % step == 0 else pytest.param(*_fields(value), marks=others)
        for number, value in enumerate(values)
    ]


def _fields(value):
    return value if type(value) is tuple else (value,)
