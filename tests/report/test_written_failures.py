"""A file of expected failures made of a report: the next run passes, and changes are small."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from fakes import altered, following, pool, ramp, right, vector
from hypothesis import given
from hypothesis import strategies as st

from conformance.check.expected import ExpectedFailures
from conformance.check.report import FAILURES, VERDICTS, ClauseReport, Report, Result
from conformance.checking import check
from conformance.errors import UsageError
from conformance.faults.diagnosis import Diagnosis
from conformance.report.expected import write_expected, written

SAME = pool(auto_pad="same_upper")
INTRODUCTION = (
    "# Expected failures of b.\n"
    "# A line is a verdict, the id of a vector (* is any text, ? any character), # and why.\n\n"
)


def report(verdicts, details=None, **others):
    """Return a report of AvgPool-1 vectors with some verdicts, by id."""
    results = [
        Result(name, "AvgPool-1", verdict, {}, "", (), (details or {}).get(name, "odd"))
        for name, verdict in verdicts.items()
    ]
    counts = Counter(verdicts.values())
    return Report("b", (), results, counts, {"AvgPool-1": counts}, **others)


def again(text, verdicts, *gone, **others):
    """Return the file that a run makes of one that is there; `gone` vectors are not run."""
    kept = ExpectedFailures.parse(text)
    return written(report(verdicts, **others), kept=kept, ids=[*verdicts, *gone])


class TestNew:
    """A file where there was none."""

    def test_failures_stand_under_the_kind_of_failure(self):
        """Kinds and ids are sorted, the reason is what the report says."""
        found = report(
            {"z": "mismatch", "y": "error", "x": "conforms", "a": "mismatch"},
            {"y": "ValueError: no", "a": "shape (1,) instead of (2,)"},
        )
        assert written(found) == (
            f"{INTRODUCTION}"
            "# AvgPool-1: mismatch\nmismatch z # odd\n\n"
            "# AvgPool-1: raised ValueError\nerror y # ValueError: no\n\n"
            "# AvgPool-1: wrong shape\nmismatch a # shape (1,) instead of (2,)\n"
        )

    def test_a_likely_cause_is_the_heading(self):
        """And the name of the fault is in the reason."""
        cause = Diagnosis("so", ("same-lower-as-upper",), 1, 1, 1, vectors=("a",))
        unknown = Diagnosis("?", (), 1, 0, 1, vectors=("b",))
        found = report({"a": "mismatch", "b": "mismatch"}, diagnoses=(unknown, cause))
        assert written(found) == (
            f"{INTRODUCTION}"
            "# AvgPool-1: mismatch\nmismatch b # odd\n\n"
            "# Likely cause: same_lower treated as same_upper\n"
            "mismatch a # same-lower-as-upper: odd\n"
        )

    def test_nothing_that_failed_is_a_file_without_lines(self):
        """It says what it is, and that is what may be filled in."""
        text = written(report({"a": "conforms", "b": "unsupported"}))
        assert ExpectedFailures.parse(text).entries == ()

    def test_a_long_reason_is_cut(self):
        """A line stays a line that people read."""
        text = written(report({"a": "error"}, {"a": f"E: {'x' * 500}"}))
        assert max(map(len, text.splitlines())) < 200

    @given(
        st.dictionaries(st.text(min_size=1), st.sampled_from(VERDICTS)),
        st.text(),
    )
    def test_what_is_written_can_be_read_and_expects_every_failure(self, verdicts, detail):
        """Whatever the ids and the reasons look like."""
        found = report(verdicts, dict.fromkeys(verdicts, detail))
        expected = ExpectedFailures.parse(written(found)).applied(found, verdicts)
        failing = Counter(each for each in verdicts.values() if each in FAILURES)
        assert expected.expectations.met == failing
        assert expected.expectations.unmatched == ()


class TestAgain:
    """A file that is there is kept as far as it is right."""

    def test_nothing_changes_where_nothing_changed(self):
        """Not even what people wrote in their own way."""
        text = "# ours\n\nmismatch  b*   # 12: known\n# and\nerror a # 13\n"
        assert again(text, {"b1": "mismatch", "b2": "mismatch", "a": "error"}) == text

    def test_a_line_whose_vector_conforms_now_goes(self):
        """The others stay."""
        text = "# why\nmismatch a # 1\nmismatch b # 2\n"
        assert again(text, {"a": "conforms", "b": "mismatch"}) == "# why\nmismatch b # 2\n"

    def test_a_heading_goes_with_the_last_of_its_lines(self):
        """Comments that head nothing stay."""
        text = "# ours\n\n# why\nmismatch a # 1\n\n# more\nmismatch b # 2\n"
        after = again(text, {"a": "conforms", "b": "mismatch"})
        assert after == "# ours\n\n# more\nmismatch b # 2\n"

    def test_a_pattern_of_which_one_vector_conforms_now_becomes_ids(self):
        """Those that still fail are announced one by one."""
        after = again("mismatch a* # 1\n", {"a1": "conforms", "a2": "mismatch"})
        assert after == "# AvgPool-1: mismatch\nmismatch a2 # odd\n"

    def test_a_vector_that_fails_otherwise_gets_a_new_line(self):
        """The old one is gone."""
        after = again("mismatch a # 1\n", {"a": "crashed", "b": "conforms"})
        assert after == "# AvgPool-1: crashed\ncrashed a # odd\n"

    def test_a_line_that_matches_nothing_goes(self):
        """One whose vector was not run stays."""
        assert again("error a # 1\nerror b # 2\n", {"c": "conforms"}, "a") == "error a # 1\n"

    def test_an_unsupported_vector_keeps_its_line(self):
        """It says nothing about the failure."""
        assert again("error a # 1\n", {"a": "unsupported"}) == "error a # 1\n"

    def test_a_new_failure_joins_those_of_its_heading(self):
        """Or a new one at the end."""
        text = "# AvgPool-1: mismatch\nmismatch b # 1\n\n# last\nerror c # 2\n"
        after = again(text, {"a": "mismatch", "b": "mismatch", "c": "error", "d": "timed-out"})
        assert after == (
            "# AvgPool-1: mismatch\nmismatch b # 1\nmismatch a # odd\n\n"
            "# last\nerror c # 2\n\n# AvgPool-1: timed-out\ntimed-out d # odd\n"
        )

    def test_clauses_come_and_go_likewise(self):
        """An inconsistent one gets a line, which goes when the clause is consistent."""
        name = "overhang-divisor"
        found = report({"a": "conforms"})
        odd = ClauseReport(name, "inconsistent", counts={"one": 1_000, "other": 2})
        text = written(replace(found, readings=(odd,)))
        assert text == (
            f"{INTRODUCTION}# Readings that no attribute separates\n"
            f"inconsistent {name} # vectors that need each reading: one 1,000, other 2\n"
        )
        assert again(text, {"a": "conforms"}, readings=(odd,)) == text
        fine = again(text, {"a": "conforms"}, readings=(ClauseReport(name, "followed"),))
        assert fine == INTRODUCTION.rstrip("\n") + "\n"

    @given(
        st.dictionaries(st.text("ab", min_size=1, max_size=3), st.sampled_from(VERDICTS)),
        st.dictionaries(st.text("ab", min_size=1, max_size=3), st.sampled_from(VERDICTS)),
    )
    def test_after_any_change_the_file_is_right_again(self, before, after):
        """Every failure is announced, nothing else, and writing it once more changes nothing."""
        found = report(after)
        text = again(written(report(before)), after)
        kept = ExpectedFailures.parse(text)
        assert written(found, kept=kept, ids=after) == text
        expected = kept.applied(found, after).expectations
        assert (expected.passed, expected.unmatched) == ((), ())
        assert sum(expected.met.values()) == sum(found.counts[each] for each in FAILURES)


class TestFile:
    """The file on the disk."""

    def test_it_is_made_and_then_kept(self, tmp_path):
        """Reasons that people changed survive."""
        path = tmp_path / "expected.txt"
        write_expected(path, report({"a": "error"}), ["a"])
        path.write_text(path.read_text().replace("# odd", "# 12: known"))
        write_expected(path, report({"a": "error", "b": "error"}), ["a", "b"])
        reasons = {each.pattern: each.reason for each in ExpectedFailures.read(path).entries}
        assert reasons == {"a": "12: known", "b": "odd"}
        assert [each.name for each in tmp_path.iterdir()] == ["expected.txt"]

    def test_what_is_something_else_is_left_alone(self, tmp_path):
        """Nobody's notes are overwritten."""
        path = tmp_path / "notes.txt"
        path.write_text("buy milk\n")
        with pytest.raises(UsageError, match=r"notes\.txt:1: no verdict 'buy'"):
            write_expected(path, report({"a": "error"}), ["a"])
        assert path.read_text() == "buy milk\n"

    def test_a_place_that_cannot_be_written_is_named(self, tmp_path):
        """A folder that is not there."""
        with pytest.raises(UsageError, match="nowhere"):
            write_expected(tmp_path / "nowhere" / "f", report({"a": "error"}), ["a"])


def raising(operator, inputs, attributes):
    raise ValueError("no")


def by_size(operator, inputs, attributes):
    """Follow one reading for seven cells and another for the rest."""
    other = following(same_output_size="same-as-input")
    return (other if inputs[0].size == 7 else right)(operator, inputs, attributes)


@pytest.mark.parametrize("backend", [altered(lambda output: output + 1), raising, by_size])
def test_a_second_run_with_the_file_that_the_first_wrote_is_ok(backend, tmp_path):
    """For a backend that is wrong, one that raises, and one that is inconsistent."""
    path = tmp_path / "expected"
    sizes = {f"of{size}": size for size in (5, 7, 9)}
    vectors = [vector(ramp(1, 1, size), SAME, id=name) for name, size in sizes.items()]
    vectors += [vector(id="plain"), vector(attributes=pool(kernel=[0]), id="invalid")]
    ids = [each.case.id for each in vectors]
    first = check(backend, vectors)
    write_expected(path, first, ids)
    second = ExpectedFailures.read(path).applied(check(backend, vectors, diagnose=False), ids)
    assert (first.ok, second.ok) == (False, True)
    before = path.read_text()
    write_expected(path, second, ids)
    assert path.read_text() == before
