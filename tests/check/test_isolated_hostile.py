"""Whatever a backend does is the verdict of one vector: the next gets its own, in peace."""

from __future__ import annotations

import re

import pytest
from hostile import GALLERY
from provoked import FINE, friendly, provoking, verdicts

from conformance.check.isolated import Isolated
from conformance.check.runner import InProcess
from conformance.workers import python_worker

GIB = 1 << 30


def assert_only_the_second(found, misbehaviour):
    """Assert that all conform but the second, which gets what it deserves."""
    before, met, *after = found
    assert met[0] == misbehaviour.verdict
    assert re.fullmatch(misbehaviour.detail, met[1])
    assert met[1].isprintable()
    assert [before, *after] == [FINE] * (1 + len(after))


@pytest.mark.parametrize("name", GALLERY)
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
