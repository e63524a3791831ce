"""Released engines against the shipped vectors: what they get wrong is known, in tests/engines.

A release that mends a defect makes its line fail, and one that brings a new one fails here too.
"""

import pytest
from support.engines import marks_of
from support.paths import TESTS

from conformance.api.check import check
from conformance.backends import available
from conformance.operators import OPERATORS

EXPECTED = sorted((TESTS / "engines" / "expected").glob("*.txt"))
NEWER = "-newer"
"""What a file is called that is of the operators with few levels, and of the smoke tier."""
OLDER = "-older"
"""What a file is called that is of older versions, which are in the standard tier alone."""
WHOLE = {"onnxruntime", "torch"}
"""Engines that compute the standard tier in less than minutes."""
QUICK = {"onnxruntime-newer", "litert-newer"}


def engines():
    """Return the files and the tier that each is of, marked as what needs its engine."""
    for path in EXPECTED:
        name = path.stem.removesuffix(NEWER).removesuffix(OLDER)
        marks = marks_of(name)
        if path.stem.endswith(OLDER):
            marks.append(pytest.mark.slow("the newest versions stand for them"))
            yield pytest.param(path, "standard", id=path.stem, marks=marks)
            continue
        if path.stem.endswith(NEWER) and path.stem not in QUICK:
            marks.append(pytest.mark.slow("one engine stands for it, and this takes seconds"))
        yield pytest.param(path, "smoke", id=path.stem, marks=marks)
        if path.stem in WHOLE:
            slow = pytest.mark.slow("the smoke tier of the same engine")
            yield pytest.param(path, "standard", id=f"{path.stem}-whole", marks=[*marks, slow])


@pytest.mark.parametrize(("expected", "tier"), [*engines()])
def test_failures_of_an_engine_are_those_that_are_known(expected, tier):
    """Every failure has a line, and every line a failure."""
    engine = available()[expected.stem.removesuffix(NEWER).removesuffix(OLDER)]
    newer = expected.stem.endswith(NEWER)
    held = [path.stem for path in (TESTS.parent / "vectors").glob("*.h5")]
    operators = [name for name in held if (OPERATORS[name].levels != "all") == newer]
    if expected.stem.endswith(OLDER):
        operators = [name for name, operator in OPERATORS.items() if operator.newer is not None]
    if not operators:
        pytest.skip("the shipped vectors are not there")
    report = check(
        engine.name,
        operators=operators,
        tier=tier,
        expected_failures=expected,
        isolate=True,
        diagnose=False,
    )
    assert report.problems == (), f"{engine.name} {engine.version}"


def test_every_reason_names_a_finding_that_is_there():
    """The findings are numbered headings of docs/findings.md."""
    findings = (TESTS.parent / "docs" / "findings.md").read_text()
    lines = [
        line
        for path in EXPECTED
        for line in path.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert lines
    for line in lines:
        number = line.partition("# finding ")[2].partition(":")[0]
        assert f"\n### {number}. " in findings, line
