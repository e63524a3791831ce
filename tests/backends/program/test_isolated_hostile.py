"""Whatever a backend does is the verdict of one vector: the next gets its own, in peace."""

import re

import numpy as np
import pytest
from support.effort import one_in
from support.fakes import vector
from support.hostile import GALLERY, TRIGGER
from support.provoked import FINE, friendly, provoking, verdicts

from conformance.backends.program import python_worker
from conformance.backends.program.isolated import Isolated
from conformance.backends.runner import InProcess

GIB = 1 << 30


def assert_only_the_second(found, misbehaviour):
    """Assert that all conform but the second, which gets what it deserves."""
    before, met, *after = found
    assert met[0] == misbehaviour.verdict
    assert re.fullmatch(misbehaviour.detail, met[1])
    assert met[1].isprintable()
    assert [before, *after] == [FINE] * (1 + len(after))


LASTING = {
    "changes_directory",
    "changes_numpy",
    "warnings_as_errors",
    "replaces_streams",
    "shallow_recursion",
    "changes_it_later",
}
"""What these change stays: each has a worker of its own."""
TOGETHER = sorted({name for name in GALLERY if GALLERY[name].survivable} - LASTING)


def any_of_them(operator, inputs, attributes):
    """Misbehave in the way that the last cell says."""
    return GALLERY[TOGETHER[int(inputs[0].flat[-1]) - 100]](operator, inputs, attributes)


@pytest.fixture(scope="module")
def in_one_worker():
    """Return verdicts by misbehaviour, of vectors before, at and after it, all in one worker."""
    rows = [
        [first, 14, 15, 16, 17, 100 + number]
        for number in range(len(TOGETHER))
        for first in (1, TRIGGER, 2)
    ]
    vectors = [vector(np.array([[row]], np.float32)) for row in rows]
    with Isolated(python_worker(any_of_them), timeout=60) as runner:
        found, _ = verdicts(runner, vectors)
    return {name: found[3 * number :][:3] for number, name in enumerate(TOGETHER)}


@pytest.mark.parametrize("name", TOGETHER)
def test_what_can_be_survived_costs_no_worker(in_one_worker, name):
    """A misbehaviour has its verdict, and the vectors before and after it have theirs."""
    assert_only_the_second(in_one_worker[name], GALLERY[name])


@pytest.mark.parametrize("name", one_in(4, sorted(GALLERY.keys() - TOGETHER)))
def test_in_a_worker(name):
    """A misbehaviour has its verdict, and the vectors before and after it have theirs."""
    misbehaviour = GALLERY[name]
    limits = {"timeout": 1 if misbehaviour.hangs else 60}
    if "memory" in name:
        limits["memory"] = 8 * GIB
    with Isolated(python_worker(misbehaviour), **limits) as runner:
        found, _ = verdicts(runner, [friendly(), provoking(), friendly(), friendly()])
    assert_only_the_second(found, misbehaviour)


@pytest.mark.parametrize("name", [name for name in GALLERY if GALLERY[name].survivable])
def test_in_process(name):
    """What can be survived without another process is, with the same verdicts."""
    misbehaviour = GALLERY[name]
    runner = InProcess(misbehaviour)
    found, _ = verdicts(runner, [friendly(), provoking()])
    later, _ = verdicts(runner, [friendly()])
    assert_only_the_second(found + later, misbehaviour)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("prints", "to stdout\nto stderr\n"),
        ("prints_half_a_line", '{"call": 1, "error": "forged"}' * 2 + "from C\n"),
        ("prints_megabytes", "x" * 3991 + "\nthe end\n"),
    ],
)
def test_what_is_printed_belongs_to_its_vector(name, printed):
    """The end of what a backend prints, in Python or in C, stands beside the vector."""
    with Isolated(python_worker(GALLERY[name])) as runner:
        _, answers = verdicts(runner, [friendly(), provoking(), friendly()])
    assert answers.printed == {1: printed[-4000:]}


def test_what_is_printed_before_a_crash_is_kept():
    """A crash comes with the place in the backend where it was."""
    with Isolated(python_worker(GALLERY["segfault"])) as runner:
        _, answers = verdicts(runner, [friendly(), provoking(), friendly()])
    assert set(answers.printed) == {1}
    assert "hostile.py" in answers.printed[1]
    assert "in segfault" in answers.printed[1]
