"""A report as JUnit XML: a suite per operator, a test case per vector, and one suite for the run.

Whatever makes a report not ok is a failure or an error here: what reads only this file is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.record.report import (
    FAILURES,
    RETURNED,
    Report,
    Result,
    SkippedVector,
)
from conformance.report import phrases
from conformance.report import values as words

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_SUITE = "pooling-conformance"
_RUN = "run"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def render(report: Report) -> str:
    """Return a report as the text of an XML file."""
    root = Element("testsuites", name=_SUITE)
    by_operator: dict[str, list[Result]] = {name: [] for name in report.counts_by_operator}
    for result in report.results:
        by_operator.setdefault(result.operator, []).append(result)
    skipped: dict[str, list[SkippedVector]] = {}
    for each in report.skipped:
        skipped.setdefault(each.operator, []).append(each)
    for operator in dict.fromkeys([*by_operator, *skipped]):
        results, not_called = by_operator.get(operator, []), skipped.get(operator, [])
        if results or not_called:
            suite = _suite(root, operator, report)
            for result in results:
                _vector(suite, result, report)
            for each in not_called:
                test = _test_of(suite, each.id, operator)
                _child(test, "skipped", f"skipped: {each.reason}")
    run = _suite(root, _RUN, report)
    _properties(run, report)
    _whole_run(run, report)
    for suite in root:
        _count(suite)
    run.set("time", f"{report.seconds:.3f}")
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{report.seconds:.3f}")
    indent(root)
    return f"{_DECLARATION}\n{tostring(root, 'unicode')}\n"


def _suite(root: Element, name: str, report: Report) -> Element:
    suite = SubElement(root, "testsuite", name=_legal(name))
    if _DATE.match(report.started):
        suite.set("timestamp", report.started[:19])  # readers want it without a time zone
    return suite


def _test_of(suite: Element, vector_id: str, operator: str) -> Element:
    """Add the test case of a vector."""
    # "AvgPool-1/float32/1x1x4/..." : a class for operator and type, the rest is the name.
    first, *rest = vector_id.split("/", 2)
    classname = ".".join([first, *rest[:-1]]) if rest else operator
    return _test(suite, classname, rest[-1] if rest else first)


def _vector(suite: Element, result: Result, report: Report) -> None:
    test = _test_of(suite, result.id, result.operator)
    if result.verdict == "unsupported":
        _child(test, "skipped", f"unsupported: {result.detail}")
    elif result.verdict in FAILURES and result.verdict not in report.failing:
        _child(test, "skipped", f"extension: {result.detail}")
    elif result.verdict in FAILURES and result.expected:
        what = f"{result.verdict}: {result.detail}"
        _child(test, "skipped", f"expected failure: {result.expected} ({what})")
    elif result.verdict in RETURNED:
        _child(test, "failure", result.detail, _described(result), kind=result.verdict)
    elif result.verdict in FAILURES:
        said = f"{result.verdict}: {result.detail}"
        _child(test, "error", said, _described(result), kind=result.verdict)
    if result.printed:
        SubElement(test, "system-out").text = _legal(result.printed)


def _described(result: Result) -> str:
    facts = (f"{name}: {value}" for name, value in phrases.facts(result))
    return "\n".join([result.id, *facts])


def _whole_run(suite: Element, report: Report) -> None:
    """Add a test case for each thing that a run as a whole has to be."""
    for name, problem in _checks(report):
        test = _test(suite, _RUN, name)
        if problem:
            _child(test, "failure", problem, kind="run")
    red = any(test.find("failure") is not None for test in suite)
    failed = (r.verdict in report.failing and not r.expected for r in report.results)
    if not (report.ok or red or any(failed)):
        _child(_test(suite, _RUN, "conforms"), "failure", "; ".join(report.problems), kind="run")


def _checks(report: Report) -> Iterator[tuple[str, str]]:
    unreached = phrases.cut_short(report)
    yield "every selected vector was run", "" if report.complete else unreached
    ran = any(n for verdict, n in report.counts.items() if verdict != "unsupported")
    yield "something was run", "" if ran else "no vector was computed"
    excused = report.expectations.inconsistent if report.expectations else ()
    for clause in report.readings:
        if clause.status == "inconsistent" and clause.clause not in excused:
            yield f"one reading of {clause.clause}", phrases.followed(clause)[0]
    if report.repeated is not None:
        expected = {result.id for result in report.results if result.expected}
        for vector in report.repeated.failing:
            if vector not in expected:
                yield f"repeats {vector}", "right when called first, wrong when called again"
    yield from _floors(report)
    if report.expectations is not None:
        for vector in report.expectations.passed:
            yield f"fails {vector}", f"passed unexpectedly: {report.expectations.path} announces it"
    yield from _unmatched(report)


def _unmatched(report: Report) -> Iterator[tuple[str, str]]:
    """Yield a failed check for each line of a file that matches no vector."""
    for file in (report.expectations, report.skips):
        if file is not None:
            for pattern in file.unmatched:
                yield f"matches {pattern}", f"a line of {file.path} matches no vector"


def _floors(report: Report) -> Iterator[tuple[str, str]]:
    """Yield a check for each floor that is judged, and for each vector that lost support."""
    if report.support is None:
        return
    for floor, said, kept in phrases.floors(report):
        if kept is not None:
            yield floor, "" if kept else said
    lost = frozenset(report.support.lost)
    why = {
        result.id: f"unsupported now: {result.detail}"
        for result in report.results
        if result.id in lost
    }
    why |= {each.id: f"skipped now: {each.reason}" for each in report.skipped}
    for vector in report.support.lost:
        yield f"supports {vector}", why.get(vector, "unsupported now")


def _properties(suite: Element, report: Report) -> None:
    properties = SubElement(suite, "properties")
    for name, value in _facts(report):
        SubElement(properties, "property", name=_legal(name), value=_legal(value))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    yield "verdict", str(phrases.verdict(report))
    yield "backend", report.backend
    yield "tier", report.tier
    if report.shard:
        yield "shard", report.shard
    if report.required:
        yield "required", phrases.required(report)
    if report.allow_extensions:
        yield "extensions", "allowed"
    yield from ((f"version.{name}", version) for name, version in report.versions.items())
    for used in report.vectors:
        yield f"vectors.{used.operator}", f"{used.path} {used.digest}".strip()
    for clause in report.readings:
        yield f"reading.{clause.clause}", ", ".join(filter(None, phrases.followed(clause)))
    for undefined in report.undefined:
        yield f"undefined.{undefined.clause}", phrases.behaviours(undefined)
    for output in report.outputs:
        computed = f"{output.computed:,} of {words.count(output.vectors, 'vector')}"
        yield f"computed.{output.operator}.{output.output}", computed
    for measured in report.accuracy:
        yield f"accuracy.{measured.dtype}.elements", str(measured.elements)
        yield f"accuracy.{measured.dtype}.correctly-rounded", f"{measured.correctly_rounded:.6g}"
        yield f"accuracy.{measured.dtype}.worst-ulp", f"{measured.worst_ulp:.6g}"
        yield f"accuracy.{measured.dtype}.worst-of-bound", f"{measured.worst_of_bound:.6g}"
    for number, cause in enumerate(report.diagnoses, 1):
        proof = f" ({cause.proof})" if cause.proof is not None else ""
        yield f"cause.{number}", cause.summary + proof


def _test(suite: Element, classname: str, name: str) -> Element:
    return SubElement(suite, "testcase", classname=_legal(classname), name=_legal(name), time="0")


def _child(test: Element, tag: str, message: str, text: str = "", kind: str = "") -> None:
    child = SubElement(test, tag, message=_legal(message))
    if kind:
        child.set("type", kind)
    if text:
        child.text = _legal(text)


def _count(suite: Element) -> None:
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    for name, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(name, str(sum(test.find(tag) is not None for test in tests)))
    suite.set("time", "0")


def _legal(text: str) -> str:
    """Return text with a mark for each character that XML has no way to write."""
    return _FORBIDDEN.sub("\ufffd", text)
