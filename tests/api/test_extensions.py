"""Accepting what a document excludes: a verdict of its own, and one that may be allowed."""

import json

import numpy as np
import pytest
from support.fakes import check, pool, ramp, ran, right, vector
from support.rendered import in_terminal

from conformance import InvalidCase
from conformance.api.diff import diff as difference
from conformance.api.expected_failures_update import updated
from conformance.api.merge import merge
from conformance.fuzz import fuzz
from conformance.operators import vector_of
from conformance.record import jsonl
from conformance.report import check_report, fuzz_report
from conformance.vector import Case

RULE = "strides: 0 on the first axis"
PLAIN = vector(id="plain")
INVALID = vector_of(
    Case("zero", "AvgPool-1", pool(strides=[0]), (ramp(1, 1, 6),), tags=("invalid", RULE))
)


def general(operator, inputs, attributes):
    """Answer what the document excludes too."""
    try:
        return right(operator, inputs, attributes)
    except InvalidCase:
        return inputs[0]


def lines_of(report):
    return in_terminal(check_report.describe(report))


@pytest.fixture(scope="module")
def failed():
    return ran(general, PLAIN, INVALID)


@pytest.fixture(scope="module")
def allowed():
    return ran(general, PLAIN, INVALID, allow_extensions=True)


class TestVerdict:
    """What it is a verdict on, and what becomes of the run."""

    def test_it_fails_by_default(self, failed):
        """The document says that there is no answer."""
        assert failed.counts == {"conforms": 1, "accepted-invalid": 1}
        assert failed.problems == ("1 accepted-invalid",)

    def test_it_is_counted_apart_where_extensions_are_allowed(self, allowed):
        """It is neither a pass nor a failure, and no cause is searched for."""
        assert allowed.counts == {"conforms": 1, "accepted-invalid": 1}
        assert (allowed.ok, allowed.diagnoses) == (True, ())

    def test_other_failures_fail_all_the_same(self):
        """Wrong values are no extension."""
        report = ran(lambda *case: case[1][0], PLAIN, INVALID, allow_extensions=True)
        assert report.problems == ("1 mismatch",)

    def test_a_required_exception_is_another_matter(self):
        """The document allows an output: only the user does not."""
        disputed = vector(attributes=pool(pads_end=[2], exclude_pad=False))
        required = {"pads-not-below-kernel": "rejected"}
        report = ran(right, disputed, require=required, allow_extensions=True)
        assert report.problems == ("1 mismatch",)

    def test_extensions_alone_compute_nothing(self):
        """No value of them is defined."""
        report = ran(general, INVALID, allow_extensions=True)
        assert report.problems == ("nothing was computed",)

    def test_it_can_be_expected(self, tmp_path):
        """Its name is a word of expected-failure files."""
        known = tmp_path / "known"
        known.write_text("accepted-invalid zero # 1: strides of 0 are 1\n")
        report = ran(general, PLAIN, INVALID, expected_failures=known)
        assert (report.ok, report.expectations.met) == (True, {"accepted-invalid": 1})

    def test_what_is_allowed_is_not_written_down(self, failed, allowed):
        """Such a file lists failures alone."""
        assert "accepted-invalid zero" in updated(None, failed).text
        assert "accepted-invalid zero" not in updated(None, allowed).text


class TestReports:
    """Every form of a report says what it is, and whether it was allowed."""

    @pytest.mark.parametrize("which", ["failed", "allowed"])
    def test_the_rules_that_are_extended_are_named(self, which, request):
        """With the operators, allowed or not."""
        lines = lines_of(request.getfixturevalue(which))
        start = lines.index("Extensions")
        assert any(RULE in line and "AvgPool-1" in line for line in lines[start:])

    @pytest.mark.parametrize("which", ["failed", "allowed"])
    def test_json(self, which, request, tmp_path):
        """A report that is read again says the same."""
        report = request.getfixturevalue(which)
        path = tmp_path / "report.json"
        jsonl.write(report, path)
        read = jsonl.read(path)
        assert (read.ok, read.counts) == (report.ok, report.counts)
        assert read.allow_extensions is report.allow_extensions

    def test_an_older_report_is_read(self, failed, tmp_path):
        """It has a mismatch there, and does not know of extensions."""
        header, *results, footer = map(json.loads, jsonl.lines(failed))
        del header["allow_extensions"]
        for line in results:
            line.pop("why", None)
        text = json.dumps([header, *results, footer]).replace("accepted-invalid", "mismatch")
        path = tmp_path / "report.json"
        path.write_text("".join(json.dumps(line) + "\n" for line in json.loads(text)))
        read = jsonl.read(path)
        assert (read.allow_extensions, read.problems) == (False, ("1 mismatch",))
        assert difference(read, failed).worse == ()

    def test_shards(self):
        """Of a run that allows extensions, the merged one does."""
        vectors = [PLAIN, INVALID]
        shards = {
            f"{n}": check(general, vectors, shard=f"{n}/2", allow_extensions=True) for n in (1, 2)
        }
        merged = merge(shards)
        assert (merged.ok, merged.counts) == (True, {"conforms": 1, "accepted-invalid": 1})

    def test_what_is_allowed_is_no_worse_than_what_is_unsupported(self, failed, allowed):
        """To extend a document is a change for the worse from refusing alone."""
        found = difference(allowed, failed)
        assert found.caveats == ("extensions: allowed before, not allowed after",)
        assert difference(failed, allowed).worse == ()
        strict = ran(right, PLAIN, INVALID, allow_extensions=True)
        assert difference(strict, allowed).worse == ("1 vector got worse",)


class TestElsewhere:
    """Comparisons and searches."""

    def test_a_search(self):
        """Cases that break a rule are drawn too."""
        options = {"operators": ["AvgPool-1"], "max_examples": 40, "seed": 1, "max_causes": 1}
        found = fuzz(general, **options)
        assert {each.result.verdict for each in found.findings} == {"accepted-invalid"}
        quiet = fuzz(general, **options, allow_extensions=True)
        assert quiet.ok
        assert quiet.counts["accepted-invalid"] == quiet.extensions.total() > 0
        assert "Extensions" in in_terminal(fuzz_report.describe(quiet))


class TestNothingDefined:
    """A run in which no defined value was computed does not conform."""

    EMPTY = vector(np.ones((0, 1, 6), np.float32), id="empty")
    PARTLY = vector(ramp(1, 1, 2), pool(strides=[2], pads_end=[4]), id="one window of three")

    def test_garbage_for_empty_dimensions_alone(self):
        """Whatever was returned would have conformed."""
        report = ran(lambda *case: np.ones(3, np.float32), self.EMPTY)
        assert (report.counts, report.problems) == ({"conforms": 1}, ("nothing was computed",))

    def test_garbage_beside_refusals(self):
        """A backend that supports nothing may still return something."""

        def idle(operator, inputs, attributes):
            if inputs[0].size:
                raise NotImplementedError("later")
            return inputs[0]

        assert ran(idle, self.EMPTY, PLAIN).problems == ("nothing was computed",)

    def test_a_saved_report_says_the_same(self, tmp_path):
        """The file says of which outputs no element is defined."""
        report = ran(lambda *case: np.ones(3, np.float32), self.EMPTY)
        path = tmp_path / "report.json"
        jsonl.write(report, path)
        assert jsonl.read(path).problems == ("nothing was computed",)
