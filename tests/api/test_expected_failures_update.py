"""A file of expected failures made of a report: the next run passes, and changes are small."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_reports import made, result
from support.effort import one_in
from support.fakes import following, pool, ramp, right, vector

from conformance.api.check import check
from conformance.api.expected_failures import ExpectedFailures
from conformance.api.expected_failures_update import _INTRODUCTION, updated, write_expected
from conformance.errors import UsageError
from conformance.record.report import FAILURES, VERDICTS, ClauseReport, Diagnosis, Proof

SAME = pool(auto_pad="same_upper")
INTRODUCTION = _INTRODUCTION.format("b")
CAUSED = "same-lower-as-upper"
IDS = st.text("ab", min_size=1, max_size=3)
LINES = st.tuples(
    st.sampled_from(FAILURES), st.sampled_from(["", "?"]), st.text("ab*?", min_size=1, max_size=3)
)


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

    def test_failures_are_named_one_by_one_in_the_words_of_the_report(self):
        found = report(
            {"z": "mismatch", "x": "conforms", "y": "error", "u": "unsupported"},
            {"z": "shape (1,) instead of (2,)", "y": "ValueError: no"},
        )
        assert updated(None, found).text == (
            f"{INTRODUCTION}"
            "error y # found: ValueError: no\n"
            "mismatch z # found: shape (1,) instead of (2,)\n"
        )

    def test_a_cause_is_one_line_for_all_failures_that_it_reproduces(self):
        found = report(dict.fromkeys("abc", "mismatch"))
        update = updated(None, found, (), {"a": [CAUSED], "b": [CAUSED]})
        assert update.text == (
            f"{INTRODUCTION}cause {CAUSED} # found: explains 2, a for one\n"
            "mismatch c # found: odd\n"
        )
        assert update.describe("f") == "wrote f: 2 lines added"

    def test_of_several_causes_the_one_that_reproduces_most_comes_first(self):
        """A cause that reproduces nothing else is not named."""
        few, most, least = CAUSED, "not-divided", "rule:exception:dtype=float16"
        causes = {"a": [few], "b": [few, most], "c": [most], "d": [most, least]}
        text = updated(None, report(dict.fromkeys("abcd", "error")), (), causes).text
        lines = text.removeprefix(INTRODUCTION).splitlines()
        assert [line.split()[1] for line in lines] == [most, few]

    def test_a_long_reason_is_cut(self):
        text = updated(None, report({"a": "error"}, {"a": f"E: {'x' * 500}"})).text
        assert max(map(len, text.splitlines())) < 200

    def test_an_id_that_a_line_cannot_hold_may_match_others_that_pass(self):
        text = updated(None, report({"a b": "error", "a*b": "conforms"})).text
        assert text == f"{INTRODUCTION}error? a?b # found: odd\n"

    @given(st.dictionaries(st.text(min_size=1), st.sampled_from(VERDICTS)), st.text())
    def test_a_run_with_what_is_written_is_ok_whatever_ids_and_reasons_look_like(
        self, verdicts, detail
    ):
        found = report(verdicts, dict.fromkeys(verdicts, detail))
        file = ExpectedFailures.parse(updated(None, found).text)
        expected = file.applied(found, verdicts).expectations
        failing = Counter(each for each in verdicts.values() if each in FAILURES)
        assert (expected.met, expected.unmatched, expected.passed) == (failing, (), ())


class TestAgain:
    """A file that is there: what people wrote stays, what was found is renewed."""

    def test_a_found_line_is_renewed_in_its_place(self):
        text = "mismatch a # found: 1\n# ours\nmismatch b # 2\n"
        after = again(text, {"a": "mismatch", "b": "mismatch", "0": "error"})
        assert after == ("mismatch a # found: odd\n# ours\nmismatch b # 2\nerror 0 # found: odd\n")

    @pytest.mark.parametrize(
        ("line", "verdicts", "new"),
        [
            ("mismatch a # 1", {"a": "conforms"}, ""),
            ("error x # 1", {"a": "conforms"}, ""),
            ("mismatch a* # 1", {"a1": "conforms", "a2": "mismatch"}, "mismatch a2 # found: odd\n"),
            (f"cause {CAUSED} # 1", {"a": "conforms"}, ""),
        ],
    )
    def test_a_line_of_people_that_is_not_true_any_more_becomes_a_comment(
        self, line, verdicts, new
    ):
        """A second time nothing changes."""
        after = f"# no longer true: {line}\n{new}"
        assert again(f"{line}\n", verdicts) == after
        assert again(after, verdicts) == after

    @pytest.mark.parametrize(
        ("line", "verdicts", "new"),
        [
            ("error a # 1", {"a": "unsupported"}, ""),
            ("mismatch a # 1", {"a": "crashed"}, "crashed a # found: odd\n"),
            ("mismatch? a # 1", {"a": "conforms"}, ""),
            (f"cause? {CAUSED} # 1", {"a": "conforms"}, ""),
            ("skip a # 1", {"a": "conforms"}, ""),
        ],
    )
    def test_a_line_of_people_stays_where_nothing_contradicts_it(self, line, verdicts, new):
        assert again(f"{line}\n", verdicts) == f"{line}\n{new}"

    @pytest.mark.parametrize("line", ["error a # found: 1\n", f"cause {CAUSED} # found: 1\n"])
    def test_a_found_line_stays_where_its_vectors_were_not_run(self, line):
        assert again(line, {"c": "conforms"}, "a", not_run=1) == line

    def test_a_cause_of_people_stands_for_what_it_reproduces(self):
        text = f"cause {CAUSED} # 1\n"
        found = report({"a": "mismatch"})
        assert updated(ExpectedFailures.parse(text), found, (), {"a": [CAUSED]}).text == text

    def test_what_was_done_is_said(self):
        old = ExpectedFailures.parse("error a # 1\nerror b # found: 2\nerror c # 3\nerror d # 4\n")
        verdicts = {"a": "error", "b": "conforms", "c": "conforms", "d": "error", "e": "error"}
        assert updated(old, report(verdicts)).describe("f") == (
            "wrote f: 2 lines kept, 1 line removed, 1 line made a comment, 1 line added"
        )

    def test_a_clause_has_a_line_as_long_as_it_is_inconsistent(self):
        name = "overhang-divisor"
        found = report({"a": "conforms"})
        odd = ClauseReport(name, "inconsistent", counts={"one": 1_000, "other": 2})
        text = updated(None, replace(found, readings=(odd,))).text
        assert text == (
            f"{INTRODUCTION}"
            f"inconsistent {name} # found: vectors that need each reading: one 1,000, other 2\n"
        )
        assert again(text, {"a": "conforms"}, readings=(odd,)) == text
        fine = again(text, {"a": "conforms"}, readings=(ClauseReport(name, "followed"),))
        assert fine == INTRODUCTION

    @given(
        st.lists(LINES, unique_by=lambda line: (line[0], line[2])),
        st.dictionaries(IDS, st.sampled_from(VERDICTS)),
        st.dictionaries(IDS, st.sampled_from(VERDICTS)),
    )
    def test_after_any_change_the_file_is_right_again(self, lines, before, after):
        """A run with it is ok, what people wrote is in it, and a second time nothing changes."""
        theirs = [f"{word}{may} {pattern} # {n}" for n, (word, may, pattern) in enumerate(lines)]
        found = report(after)
        text = again("".join(f"{line}\n" for line in theirs), before)
        text = again(text, after)
        assert all(line in text for line in theirs)
        assert again(text, after) == text
        expected = ExpectedFailures.parse(text).applied(found, after).expectations
        assert (expected.passed, expected.unmatched) == ((), ())
        assert sum(expected.met.values()) == sum(found.counts[each] for each in FAILURES)


class TestFile:
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


@pytest.mark.parametrize(
    ("proof", "word"),
    [(Proof(40, 40), "cause"), (Proof(missing="too few"), "mismatch"), (None, "mismatch")],
)
def test_a_cause_has_a_line_where_fresh_cases_confirmed_it(proof, word, tmp_path):
    vectors = [
        vector(ramp(1, 1, 6), pool(auto_pad="same_lower", kernel=[2], strides=[1]), id="odd"),
        vector(),
    ]

    def wrong(operator, inputs, attributes):
        return right(operator, inputs, {**attributes, "auto_pad": "same_upper"})

    found = check(wrong, vectors, diagnose=False)
    cause = Diagnosis("so", (CAUSED,), 1, 1, 1, proof=proof, named=CAUSED, kind="fault")
    path = tmp_path / "expected"
    write_expected(path, replace(found, diagnoses=(cause,)), ["odd"], vectors)
    assert [entry.word for entry in ExpectedFailures.read(path).entries] == [word]
    assert check(wrong, vectors, diagnose=False, expected_failures=path).ok


def adding(operator, inputs, attributes):
    """Add one, but for a kernel of one cell."""
    return right(operator, inputs, attributes) + (attributes["kernel"] != [1])


def raising(operator, inputs, attributes):
    """Raise an exception, but for a kernel of one cell."""
    if attributes["kernel"] != [1]:
        raise ValueError("no")
    return right(operator, inputs, attributes)


def by_size(operator, inputs, attributes):
    """Follow one reading for seven cells and another for the rest."""
    other = following(same_output_size="same-as-input")
    return (other if inputs[0].size == 7 else right)(operator, inputs, attributes)


@pytest.mark.parametrize("backend", one_in(3, [adding, raising, by_size]))
def test_a_second_run_with_the_file_that_the_first_wrote_is_ok(backend, tmp_path):
    """For a backend that is wrong, one that raises, and one that is inconsistent."""
    path = tmp_path / "expected"
    sizes = {f"of{size}": size for size in (5, 7, 9)}
    vectors = [vector(ramp(1, 1, size), SAME, id=name) for name, size in sizes.items()]
    vectors += [vector(id="plain"), vector(attributes=pool(kernel=[0]), id="invalid")]
    vectors += [vector(attributes=pool(kernel=[1]), id="right")]
    ids = [each.case.id for each in vectors]
    first = check(backend, vectors)
    write_expected(path, first, ids, vectors)
    second = check(backend, vectors, diagnose=False, expected_failures=path)
    assert (first.ok, second.ok) == (False, True)
    before = path.read_text()
    write_expected(path, second, ids, vectors)
    assert path.read_text() == before


def of_type(name, change):
    """Return a backend whose averages of one element type are changed."""

    def backend(operator, inputs, attributes):
        output = right(operator, inputs, attributes)
        return change(output, inputs, attributes) if inputs[0].dtype.name == name else output

    return backend


def written(path, backend, vectors, **options):
    """Write what a run found to a file; return the lines that are no comments."""
    found = check(backend, vectors, **options)
    write_expected(path, found, [each.case.id for each in vectors], vectors)
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def one_answer(text):
    """Say whether a line expects one answer alone."""
    return text.startswith("mismatch ") and " answer=" in text


TYPES = [
    vector(ramp(1, 3, size, dtype=dtype), pool(kernel=[2], strides=[1]), id=f"{dtype}/{size}")
    for dtype in ("float16", "float32", "float64")
    for size in range(4, 12)
]


def test_values_that_nothing_predicts_are_one_line_a_vector_and_excuse_no_others(tmp_path):
    """A line for all of them would excuse whatever comes next."""
    path = tmp_path / "expected"
    rng = np.random.default_rng(1)
    garbage = {}

    def noise(output, inputs, attributes):
        return garbage.setdefault(inputs[0].size, rng.normal(size=output.shape).astype("float32"))

    lines = written(path, of_type("float32", noise), TYPES, diagnose="seen")
    assert len(lines) == 8
    assert all(map(one_answer, lines))
    assert check(of_type("float32", noise), TYPES, diagnose=False, expected_failures=path).ok
    for other in (lambda output, *_: output * 0 + 7, lambda output, *_: 11 - 3 * output):
        found = check(of_type("float32", other), TYPES, diagnose=False, expected_failures=path)
        assert found.problems == ("8 mismatch", "8 announced with another answer")


def test_answers_that_vary_are_expected_whatever_they_are(tmp_path):
    """The line says so; another run would return something else."""
    rng = np.random.default_rng(1)
    noisy = of_type(
        "float32", lambda output, *_: output + rng.normal(size=output.shape).astype("f")
    )
    path = tmp_path / "expected"
    lines = written(path, noisy, TYPES)
    assert lines
    assert all("whatever is returned, as answers vary" in line for line in lines)
    assert not any(map(one_answer, lines))
    assert check(noisy, TYPES, diagnose=False, expected_failures=path).ok


def test_a_cause_of_one_type_excuses_nothing_in_others(tmp_path):
    """Its condition is in the line."""
    path = tmp_path / "expected"
    vectors = [
        vector(
            ramp(1, 1, size, dtype=dtype),
            pool(auto_pad=auto_pad, kernel=[kernel], strides=[1]),
            id=f"{auto_pad}/{dtype}/{kernel}/{size}",
        )
        for auto_pad in ("same_lower", "same_upper")
        for dtype in ("float16", "float32", "float64")
        for kernel in (2, 4)
        for size in range(4, 12)
    ]

    def upper(output, inputs, attributes):
        return right("AvgPool-1", inputs, attributes | {"auto_pad": "same_upper"})

    lines = written(path, of_type("float16", upper), vectors)
    assert [line.split(" # ")[0] for line in lines] == ["cause same-lower-as-upper:dtype=float16"]
    assert check(of_type("float16", upper), vectors, diagnose=False, expected_failures=path).ok
    everywhere = check(
        lambda o, i, a: upper(None, i, a), vectors, diagnose=False, expected_failures=path
    )
    assert everywhere.problems == ("32 mismatch",)
