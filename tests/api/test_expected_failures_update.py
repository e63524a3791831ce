"""A file of expected failures made of a report: the next run passes, and changes are small."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_reports import made, result
from support.fakes import altered, following, pool, ramp, right, vector

from conformance.api.check import check
from conformance.api.expected_failures import ExpectedFailures
from conformance.api.expected_failures_update import _INTRODUCTION, updated, write_expected
from conformance.errors import UsageError
from conformance.record.report import FAILURES, VERDICTS, ClauseReport, Diagnosis

SAME = pool(auto_pad="same_upper")
INTRODUCTION = f"{_INTRODUCTION.format('b')}\n\n"


def report(verdicts, details=None, **others):
    """Return a report of AvgPool-1 vectors with some verdicts, by id."""
    details = details or {}
    results = (
        result(name, verdict, detail=details.get(name, "odd")) for name, verdict in verdicts.items()
    )
    return made(*results, **others)


def again(text, verdicts, *gone, **others):
    """Return the file that a run makes of one that is there; `gone` vectors are not run."""
    old = ExpectedFailures.parse(text)
    return updated(old, report(verdicts, **others), [*verdicts, *gone]).text


class TestNew:
    """A file where there was none."""

    def test_failures_stand_under_the_kind_of_failure(self):
        """Kinds and ids are sorted, the reason is what the report says."""
        found = report(
            {"z": "mismatch", "y": "error", "x": "conforms", "a": "mismatch"},
            {"y": "ValueError: no", "a": "shape (1,) instead of (2,)"},
        )
        assert updated(None, found).text == (
            f"{INTRODUCTION}"
            "## AvgPool-1: mismatch\nmismatch a # found: shape (1,) instead of (2,)\n"
            "mismatch z # found: odd\n\n"
            "## AvgPool-1: raised ValueError\nerror y # found: ValueError: no\n"
        )

    def test_a_likely_cause_is_the_heading(self):
        """And the name of the fault is in the reason."""
        cause = Diagnosis("so", ("same-lower-as-upper",), 1, 1, 1, vectors=("a",))
        unknown = Diagnosis("?", (), 1, 0, 1, vectors=("b",))
        found = report({"a": "mismatch", "b": "mismatch"}, diagnoses=(unknown, cause))
        assert updated(None, found).text == (
            f"{INTRODUCTION}"
            "## AvgPool-1: mismatch\nmismatch b # found: odd\n\n"
            "## Likely cause: same_lower treated as same_upper\n"
            "mismatch a # found: same-lower-as-upper: odd\n"
        )

    def test_several_failures_of_a_cause_are_one_line(self):
        """Those that the search did not look at are compared with it, too."""
        cause = Diagnosis("so", ("same-lower-as-upper",), 1, 1, 1, vectors=("a",))
        found = report({"a": "mismatch", "b": "mismatch", "c": "mismatch"}, diagnoses=(cause,))
        update = updated(None, found, (), {"b": ["same-lower-as-upper"]})
        assert update.text == (
            f"{INTRODUCTION}"
            "## AvgPool-1: mismatch\nmismatch c # found: odd\n\n"
            "## Likely cause: same_lower treated as same_upper\n"
            "cause same-lower-as-upper # found: 2 failures, a for one\n"
        )
        assert update.describe("f") == (
            "wrote f: 1 new cause, 1 new id; 3 failures that it did not announce"
        )

    def test_a_pattern_stands_for_the_vectors_that_fail(self):
        """One that also matches a vector that was not run is not written."""
        failing = [f"P/float16/1x{n}/k2-same/x-{n}a" for n in range(1, 6)]
        fine = [f"P/{dtype}/1x{n}/k2-valid/x-{n}b" for n in range(3) for dtype in ("float16", "f")]
        verdicts = dict.fromkeys(failing, "mismatch") | dict.fromkeys(fine, "conforms")
        (entry,) = ExpectedFailures.parse(updated(None, report(verdicts)).text).entries
        assert (entry.pattern, entry.reason) == ("P/*same*", "found: 5 vectors, odd")
        more = ["P/float32/1x1/k2-same/x-c"]
        (entry,) = ExpectedFailures.parse(updated(None, report(verdicts), more).text).entries
        assert entry.pattern == "P/float16/*same*"

    def test_a_pattern_that_also_matches_a_few_that_pass_says_so(self):
        """Where nearly all of an element type fails; one more that passes is too many."""
        failing = [f"P/float16/1x{n}/k2/x-{n}a" for n in range(9)]
        verdicts = dict.fromkeys(failing, "error") | {"P/float16/1x9/k2/y-b": "conforms"}
        verdicts |= {f"P/float32/1x{n}/k2/x-{n}a": "conforms" for n in range(9)}
        (entry,) = ExpectedFailures.parse(updated(None, report(verdicts)).text).entries
        found = (entry.word, entry.pattern, entry.may_pass)
        assert found == ("error", "P/float16/*", True)

    def test_nothing_that_failed_is_a_file_without_lines(self):
        """It says what it is, and that is what may be filled in."""
        text = updated(None, report({"a": "conforms", "b": "unsupported"})).text
        assert ExpectedFailures.parse(text).entries == ()

    def test_a_long_reason_is_cut(self):
        """A line stays a line that people read."""
        text = updated(None, report({"a": "error"}, {"a": f"E: {'x' * 500}"})).text
        assert max(map(len, text.splitlines())) < 200

    @given(
        st.dictionaries(st.text(min_size=1), st.sampled_from(VERDICTS)),
        st.text(),
    )
    def test_what_is_written_can_be_read_and_expects_every_failure(self, verdicts, detail):
        """Whatever the ids and the reasons look like."""
        found = report(verdicts, dict.fromkeys(verdicts, detail))
        expected = ExpectedFailures.parse(updated(None, found).text).applied(found, verdicts)
        failing = Counter(each for each in verdicts.values() if each in FAILURES)
        assert expected.expectations.met == failing
        assert expected.expectations.unmatched == ()


class TestAgain:
    """A file that is there is kept as far as it is right."""

    def test_nothing_changes_where_nothing_changed(self):
        """Not even what people wrote in their own way."""
        text = "# ours\n\nmismatch  b*   # 12: known\n# and\nerror a # 13\n"
        assert again(text, {"b1": "mismatch", "b2": "mismatch", "a": "error"}) == text

    def test_a_line_that_was_written_here_goes_when_its_vector_conforms(self):
        """The others stay, and so does a comment."""
        text = "# why\nmismatch a # found: 1\nmismatch b # 2\n"
        assert again(text, {"a": "conforms", "b": "mismatch"}) == "# why\nmismatch b # 2\n"

    def test_a_heading_that_was_written_here_goes_with_the_last_of_its_lines(self):
        """Comments of people stay."""
        text = "# ours\n\n## why\n# us\nmismatch a # found: 1\n\n# more\nmismatch b # 2\n"
        after = again(text, {"a": "conforms", "b": "mismatch"})
        assert after == "# ours\n\n# us\n\n# more\nmismatch b # 2\n"

    @pytest.mark.parametrize(
        ("line", "verdicts", "after"),
        [
            ("mismatch a # 1", {"a": "conforms"}, "# passes now: mismatch a # 1"),
            ("error x # 1", {"a": "conforms"}, "# matches no vector: error x # 1"),
            (
                "mismatch a # 1",
                {"a": "crashed"},
                (
                    "# fails otherwise now: mismatch a # 1\n\n"
                    "## AvgPool-1: crashed\ncrashed a # found: odd"
                ),
            ),
            ("mismatch a* # 1", {"a1": "conforms", "a2": "mismatch"}, "mismatch? a* # 1"),
            (
                "cause same-lower-as-upper # 1",
                {"a": "conforms"},
                "# explains nothing now: cause same-lower-as-upper # 1",
            ),
        ],
    )
    def test_a_line_of_people_is_never_deleted(self, line, verdicts, after):
        """It becomes a comment, or allows what passes; a second time nothing changes."""
        assert again(f"{line}\n", verdicts) == f"{after}\n"
        assert again(f"{after}\n", verdicts) == f"{after}\n"

    def test_a_pattern_that_was_written_here_is_made_anew(self):
        """Those that still fail are announced one by one."""
        after = again("mismatch a* # found: 1\n", {"a1": "conforms", "a2": "mismatch"})
        assert after == "## AvgPool-1: mismatch\nmismatch a2 # found: odd\n"

    def test_a_line_whose_vector_was_not_run_stays(self):
        """It may still be right."""
        assert again("error a # found: 1\n", {"c": "conforms"}, "a") == "error a # found: 1\n"

    def test_what_was_done_is_said(self):
        """In numbers of lines."""
        old = ExpectedFailures.parse("error a # 1\nerror b # found: 2\nerror c # 3\nerror d* # 4\n")
        verdicts = {"a": "error", "b": "conforms", "c": "conforms", "d1": "error", "d2": "conforms"}
        assert updated(old, report(verdicts)).describe("f") == (
            "wrote f: 1 line kept, 1 line dropped, 1 line made a comment, 1 line given a ?; "
            "0 failures that it did not announce"
        )

    def test_an_unsupported_vector_keeps_its_line(self):
        """It says nothing about the failure."""
        assert again("error a # 1\n", {"a": "unsupported"}) == "error a # 1\n"

    def test_a_new_failure_joins_those_of_its_heading(self):
        """Or a new one at the end."""
        text = "## AvgPool-1: mismatch\nmismatch b # 1\n\n# last\nerror c # 2\n"
        after = again(text, {"a": "mismatch", "b": "mismatch", "c": "error", "d": "timed-out"})
        assert after == (
            "## AvgPool-1: mismatch\nmismatch b # 1\nmismatch a # found: odd\n\n"
            "# last\nerror c # 2\n\n## AvgPool-1: timed-out\ntimed-out d # found: odd\n"
        )

    def test_clauses_come_and_go_likewise(self):
        """An inconsistent one gets a line, which goes when the clause is consistent."""
        name = "overhang-divisor"
        found = report({"a": "conforms"})
        odd = ClauseReport(name, "inconsistent", counts={"one": 1_000, "other": 2})
        text = updated(None, replace(found, readings=(odd,))).text
        assert text == (
            f"{INTRODUCTION}## Readings that no attribute separates\n"
            f"inconsistent {name} # found: vectors that need each reading: one 1,000, other 2\n"
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
        text = again(updated(None, report(before)).text, after)
        old = ExpectedFailures.parse(text)
        assert updated(old, found, after).text == text
        expected = old.applied(found, after).expectations
        assert (expected.passed, expected.unmatched) == ((), ())
        assert sum(expected.met.values()) == sum(found.counts[each] for each in FAILURES)


class TestFile:
    """The file on the disk."""

    def test_it_is_made_and_then_kept(self, tmp_path):
        """Reasons that people changed survive."""
        path = tmp_path / "expected.txt"
        write_expected(path, report({"a": "error"}), ["a"])
        path.write_text(path.read_text().replace("# found: odd", "# 12: known"))
        write_expected(path, report({"a": "error", "b": "error"}), ["a", "b"])
        reasons = {each.pattern: each.reason for each in ExpectedFailures.read(path).entries}
        assert reasons == {"a": "12: known", "b": "found: odd"}
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
    write_expected(path, first, ids, vectors)
    second = check(backend, vectors, diagnose=False, expected_failures=path)
    assert (first.ok, second.ok) == (False, True)
    before = path.read_text()
    write_expected(path, second, ids, vectors)
    assert path.read_text() == before
