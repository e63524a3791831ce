"""Backends side by side: what a comparison holds of each."""

import os

import numpy as np
import pytest
from support.fakes import altered, following, pool, ramp, right, vector

from conformance.api.compare import InterruptedComparison, compare
from conformance.errors import UsageError

CEIL = vector(
    ramp(1, 1, 6, dtype="float32"),
    pool(kernel=[1], strides=[1], pads_end=[2], rounding_type="ceil"),
    id="past the input",
)
PLAIN = [
    vector(id="pairs"),
    vector(ramp(1, 1, 4, dtype="float64"), id="doubles"),
    vector(operator="MaxPool-1", id="maxima"),
    CEIL,
]


def nothing(*case):
    raise NotImplementedError("not today")


def no_doubles(operator, inputs, attributes):
    if inputs[0].dtype == np.float64:
        raise NotImplementedError("no double precision")
    return right(operator, inputs, attributes)


def compared(**backends):
    return compare(backends, PLAIN)


def test_vectors_are_counted_by_operator_type_and_verdict():
    """Each cell of the matrix counts what became of its vectors."""
    (each,) = compared(partial=no_doubles).backends
    assert each.counts == {
        "AvgPool-1": {"float32": {"conforms": 2}, "float64": {"unsupported": 1}},
        "MaxPool-1": {"float32": {"conforms": 1}},
    }
    assert each.total == {"conforms": 3, "unsupported": 1}


def test_failures_name_the_operator():
    """What is wrong in one operator is no failure of another."""
    odd = altered(lambda output: output + 1)

    def backend(operator, inputs, attributes):
        return (odd if operator == "MaxPool-1" else right)(operator, inputs, attributes)

    (each,) = compared(odd=backend).backends
    assert each.failures_by_operator() == {"MaxPool-1": {"mismatch": 1}}


def test_each_backend_keeps_its_own_readings():
    """Two readings of one clause stand side by side."""
    found = compared(kept=right, dropped=following(ceil_window_past_input="dropped"))
    assert [
        clause.followed
        for each in found.backends
        for clause in each.summary.readings
        if clause.clause == "ceil-window-past-input"
    ] == ["kept", "dropped"]


def test_causes_are_those_of_the_diagnosis():
    """A backend that fails has likely causes, one that conforms has none."""
    backends = {"right": right, "wrong": altered(lambda output: output * 2)}
    found = compare(backends, PLAIN, diagnose="seen")
    assert [bool(each.summary.diagnoses) for each in found.backends] == [False, True]


def test_a_backend_that_cannot_be_loaded_says_why_and_the_others_run():
    """It is a part of the comparison, not the end of it."""
    found = compare({"gone": "no_such_module_anywhere:pool", "here": right}, PLAIN)
    gone, here = found.backends
    assert "no module 'no_such_module_anywhere'" in gone.problem
    assert (found.missing, found.ran) == ((gone,), (here,))
    assert here.total["conforms"] == 4


def test_arithmetic_is_that_of_the_first_average_that_conforms():
    """If it is asked for; a backend without such an average has none."""
    found = compare({"right": right, "none": nothing}, PLAIN, arithmetic=True)
    (name, revealed), *others = found.arithmetic.items()
    assert (name, revealed.operator, revealed.dtype) == ("right", "AvgPool-1", "float32")
    assert others == []
    assert compared(right=right).arithmetic == {}


def test_an_interrupt_keeps_what_was_done():
    """The backends before it are whole, it and those after it say why they are not."""

    def stops(*case):
        raise KeyboardInterrupt

    with pytest.raises(InterruptedComparison) as caught:
        compared(first=right, second=stops, third=right)
    found = caught.value.comparison
    assert [each.backend for each in found.ran] == ["first"]
    assert [each.problem for each in found.missing] == ["interrupted", "interrupted"]


@pytest.mark.parametrize(
    ("backends", "message"),
    [
        (["numpy", "numpy"], "named twice"),
        ([], "no backends"),
        ("numpy", "give a list"),
    ],
)
def test_what_cannot_be_compared(backends, message):
    """Wrong usage is told before anything runs."""
    with pytest.raises(UsageError, match=message):
        compare(backends, PLAIN)


def test_a_wrong_selection_is_no_fault_of_a_backend():
    """It ends the comparison instead of filling it with the same line."""
    with pytest.raises(UsageError, match="matches no vector"):
        compare(["numpy"], PLAIN, select="nowhere")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"jobs": 0}, "jobs is 0"),
        ({"jobs": "2"}, "jobs is '2'"),
        ({"timeout": 0}, "timeout is 0 s"),
        ({"timeout": "soon"}, "timeout is 'soon'"),
        ({"memory": -1}, "memory is -1 bytes"),
        ({"profile": "zzz"}, "no profile 'zzz'"),
        ({"require": {"zzz": "a"}}, "no disputed clause 'zzz'"),
        ({"diagnose": "zzz"}, "diagnose is 'zzz'"),
        ({"max_failures": 0}, "max_failures is 0"),
        ({"variations": "zzz"}, "no variation 'zzz'"),
        ({"min_supported": "zzz"}, "no minimum"),
        ({"min_supported": 99}, "the minimum supported 99 is out of reach"),
        ({"expected_failures": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"tier": "zzz"}, "no tier 'zzz'"),
    ],
)
def test_a_wrong_argument_is_no_problem_of_a_backend(wrong, message):
    """It is refused before any backend is run."""
    with pytest.raises(UsageError, match=message):
        compare({"right": nothing}, PLAIN, **wrong)


@pytest.mark.parametrize("how", [{"isolate": True}, {"jobs": 2}, {"timeout": 60.0}])
def test_arithmetic_is_revealed_where_the_backend_is_called(how, tmp_path):
    """In its worker: a crash there ends no harness."""
    path = tmp_path / "own.py"
    path.write_text(_NOTES_ITS_PROCESS.format(log=str(tmp_path / "log")))
    found = compare({"own": f"{path}:backend"}, PLAIN, arithmetic=True, **how)
    assert [*found.arithmetic] == ["own"]
    assert str(os.getpid()) not in (tmp_path / "log").read_text().split()


_NOTES_ITS_PROCESS = """
import os
from conformance import load_backend
right = load_backend("numpy")
def backend(*case):
    with open({log!r}, "a") as log:
        print(os.getpid(), file=log)
    return right(*case)
"""
