"""What all tests share: which of them run, with how many examples, and on which operators."""

import os
import signal

import pytest
from hypothesis import settings
from support.effort import QUICK, THOROUGH
from support.outside import installed

from conformance.backends.builtin import is_found
from conformance.operators import OPERATORS

# Of a job in the background, or under nohup, these are ignored: by all that it starts, too.
for _name in ("SIGHUP", "SIGINT", "SIGQUIT"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) == signal.SIG_IGN:
        normal = signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL
        signal.signal(_number, normal)


def pytest_addoption(parser):
    """Add the options that say how much is run."""
    group = parser.getgroup("how much is run")
    group.addoption(
        "--all",
        action="store_true",
        help="run the slow tests too, and more examples of each property",
    )
    group.addoption(
        "--rest", action="store_true", help="run what --all adds and a run without it leaves out"
    )


def pytest_configure(config):
    """Choose the number of examples before a test module asks for a part of it."""
    config.option.all |= config.option.rest
    in_ci = bool(os.environ.get("CI"))
    settings.register_profile(
        "tests",
        deadline=None,  # a shared machine makes single examples slow; that is no finding
        max_examples=THOROUGH if config.option.all else QUICK,
        derandomize=in_ci,  # the same examples every time, and how to repeat the one that failed
        print_blob=in_ci,
    )
    settings.load_profile("tests")


def pytest_collection_modifyitems(config, items):
    """Leave out what is slow without --all, and all but the rest with --rest."""
    chosen = [item for item in items if _is_chosen(item, config)]
    left_out = set(items) - set(chosen)
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = chosen


def _is_chosen(item, config):
    slow = item.get_closest_marker("slow") is not None or _is_of_another_rank(item)
    if not config.option.rest:
        return config.option.all or not slow
    # A property is tested again: with more examples.
    needs_engine = item.get_closest_marker("needs_engine") is not None
    return slow or needs_engine or getattr(item.obj, "is_hypothesis_test", False)


def _is_of_another_rank(item):
    """Say whether a test has an operator for a parameter that adds axes alone to another."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec is not None else ()
    names = [value for value in values if isinstance(value, str) and value in OPERATORS]
    return any(OPERATORS[name].levels == "least" for name in names)


def pytest_runtest_setup(item):
    """Skip a test that needs an engine which is not installed, and say so."""
    named = [name for mark in item.iter_markers("needs_engine") for name in mark.args]
    if missing := [name for name in named if not is_found(name)]:
        pytest.skip(f"needs {' and '.join(missing)}")


@pytest.fixture
def minimum_pool():
    """Return MinimumPool-1, which is one of the operators while the test runs."""
    with installed():
        yield OPERATORS["MinimumPool-1"]
