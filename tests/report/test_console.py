"""The report in a terminal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console
from samples import PLAIN, cases

from conformance.backends import load_backend
from conformance.check import check
from conformance.check.report import (
    VERDICTS,
    Accuracy,
    ClauseReport,
    Expectations,
    Repeatability,
    Report,
    Result,
    UndefinedReport,
    VectorsUsed,
)
from conformance.operators import vector_of
from conformance.report.console import render, verdict

reference = load_backend("numpy")
VECTORS = [vector_of(case) for case in cases()]


def text_of(report, **options):
    """Return a report as lines of 80 columns, without spaces at their ends."""
    console = Console(width=80, highlight=False, markup=False, force_terminal=False)
    with console.capture() as captured:
        console.print(render(report, **options), crop=False)
    return [line.rstrip() for line in captured.get().splitlines()]


def upper(operator, inputs, attributes):
    """Treat same_lower as same_upper."""
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return reference(operator, inputs, attributes)


@pytest.fixture(scope="module")
def sound():
    """Return the report of a backend that conforms."""
    return check(reference, VECTORS, name="reference")


@pytest.fixture(scope="module")
def faulty():
    """Return the report of a backend with a wrong answer to one vector."""
    return check(upper, VECTORS, name="upper")


def result(name, dtype="float32", **others):
    """Return a result that conforms."""
    return Result(name, "AvgPool-1", "conforms", PLAIN, dtype, ((1, 1, 4, 4),), **others)


def made(*results, **others):
    """Return a report of some results."""
    counts = Counter(each.verdict for each in results)
    return Report("b", (), results, counts, {"AvgPool-1": counts}, **others)


def test_a_sound_backend_conforms_and_the_last_line_says_so(sound):
    """Every vector is in the denominator."""
    assert text_of(sound)[-1] == "CONFORMS: 5 of 5 vectors conform"


def test_counts_are_given_per_operator(sound):
    """Run, conforming and not run vectors stand in columns."""
    (row,) = [line for line in text_of(sound) if line.startswith("AvgPool-1 ")]
    assert row.split() == ["AvgPool-1", "5", "5", "0", "0", "0"]


def test_a_wrong_backend_is_shown_with_a_group_and_an_example(faulty):
    """What the failures share, the id, the worst element with got, expected and bound."""
    lines = text_of(faulty, repro=lambda found: f"print({found.id!r})")
    text = "\n".join(lines)
    assert "AvgPool-1: wrong values in 1 vector" in lines
    assert "  AvgPool-1/lower" in lines
    assert "auto_pad=same_lower" in text
    assert "source     AvgPool-1, Attributes (computed)" in text
    assert "worst      [0, 0, " in text
    assert "expected " in text
    assert "allowed " in text
    assert "print('AvgPool-1/lower')" in lines
    assert lines[-1] == "DOES NOT CONFORM: 1 mismatch; 5 of 5 vectors run"


def test_failures_beyond_the_limit_are_counted(faulty):
    """--max-shown 0 hides the example, not the failure."""
    lines = text_of(faulty, max_shown=0)
    assert "… and 1 more failing vector in 1 group (--max-shown)" in lines
    assert "  AvgPool-1/lower" not in lines


def test_the_report_fits_80_columns(faulty):
    """All lines but ids, scripts and the verdict are folded."""
    wide = [line for line in text_of(faulty) if len(line) > 80]
    assert [line for line in wide if "DOES NOT" not in line] == []


def test_a_pipe_gets_no_escape_codes(faulty):
    """Colours are for terminals."""
    assert "\x1b" not in "\n".join(text_of(faulty))


def test_unsupported_and_left_out_vectors_are_named_in_the_verdict():
    """They are no pass: the reader sees both numbers."""
    skipped = result("b")
    skipped = replace(skipped, verdict="unsupported")
    used = (VectorsUsed("AvgPool-1", "a.h5", "0", 2, 9),)
    report = replace(made(result("a"), skipped, not_run=7), vectors=used)
    lines = text_of(report)
    assert lines[-1] == "CONFORMS: 1 of 9 vectors conform, 1 unsupported, 7 not run"
    assert "7 vectors left out by operator, tier or selection" in lines


def test_an_incomplete_run_is_said_loudly():
    """Vectors that were selected and never reached make the run incomplete."""
    used = (VectorsUsed("AvgPool-1", "a.h5", "0", 5, 9),)
    report = replace(made(result("a"), not_run=8, complete=False), vectors=used)
    lines = text_of(report)
    assert "INCOMPLETE: 4 selected vectors never reached" in lines
    assert lines[-1].startswith("DOES NOT CONFORM, INCOMPLETE: ")
    assert lines[-1].endswith("1 of 9 vectors run")


def test_a_run_of_nothing_does_not_conform():
    """No answer at all is no pass."""
    report = made(replace(result("a"), verdict="unsupported"))
    assert verdict(report).plain.startswith("DOES NOT CONFORM: nothing was run")


def test_readings_are_reported_one_by_one():
    """Followed, required, undecided, split and inconsistent clauses each read as such."""
    readings = (
        ClauseReport("a-clause", "followed", "one", counts={"one": 3}, touched=4),
        ClauseReport("b-clause", "either", touched=2),
        ClauseReport("c-clause", "split", by="dtype", values={"f": "one", "g": "two", "h": "one"}),
        ClauseReport("d-clause", "inconsistent", counts={"one": 3, "two": 1}, touched=4),
        ClauseReport(
            "e-clause", "split", by="dtype", values={"f": "x"}, counts={"x": 5, "y": 1}, touched=9
        ),
    )
    report = made(result("a"), readings=readings, required={"a-clause": "one"})
    lines = [" ".join(line.split()) for line in text_of(report)]
    assert "a-clause (required) one shown by 3 of 4 vectors" in lines
    assert "b-clause either: nothing separates them in 2 vectors" in lines
    assert "c-clause split by dtype: one for f and h, two for g" in lines
    assert "d-clause INCONSISTENT: one 3, two 1, of 4 vectors" in lines
    assert "e-clause split by dtype: x for f shown by 5 (x), 1 (y)" in " ".join(lines)
    assert lines[-1].startswith("DOES NOT CONFORM: inconsistent readings of d-clause")


def test_a_heading_is_on_one_line_however_narrow_its_table():
    """Of a table of two short columns."""
    undefined = (UndefinedReport("a", {"nan": 1}),)
    assert "Where the documents define nothing" in text_of(made(result("a"), undefined=undefined))


def test_half_types_summed_in_their_own_type_are_a_warning():
    """Only the types with a vector that needs the loose reading are named."""
    loose = ({"accumulator": "element-type"},)
    either = ({"accumulator": "wider"}, {"accumulator": "element-type"})
    report = made(
        result("a", "float16", readings=loose),
        result("b", "bfloat16", readings=either),
        result("c", "float64", readings=loose),
        readings=(ClauseReport("accumulator", "followed", "element-type", touched=3),),
    )
    text = " ".join(" ".join(text_of(report)).split())
    assert "WARNING: sums of float16 are kept in the element type" in text
    assert "Sums of float64 overflow where the average does not." in text


def test_a_wider_accumulator_needs_no_warning():
    """Nothing is said where the strict reading is followed."""
    clause = ClauseReport("accumulator", "followed", "wider", touched=1)
    report = made(result("a", readings=({"accumulator": "wider"},)), readings=(clause,))
    assert "WARNING" not in "\n".join(text_of(report))


def test_behaviour_on_undefined_elements_is_counted():
    """The commonest behaviour comes first."""
    undefined = (UndefinedReport("all-padding-average", {"raised": 1, "nan": 12}),)
    lines = text_of(made(result("a"), undefined=undefined))
    assert "  all-padding-average  nan 12, raised 1" in lines


def test_the_accuracy_profile_is_a_table():
    """Share correctly rounded, worst error in ulp and as a share of the bound."""
    accuracy = (Accuracy("float32", 1234567, 0.5812, 3.5, 0.75),)
    lines = [line.split() for line in text_of(made(result("a"), accuracy=accuracy))]
    assert ["float32", "1,234,567", "58.12", "%", "3.5", "0.75"] in lines


def test_a_shard_says_so():
    """And that the rest was left out for it."""
    report = replace(made(result("a"), not_run=7, shard="1/8"))
    lines = text_of(report)
    assert "tier standard, shard 1/8, 0.00 s, 0.00 s of it in the backend" in lines


def test_why_a_run_stopped_is_said():
    """Beside the number of vectors it did not reach."""
    used = (VectorsUsed("AvgPool-1", "a.h5", "0", 5, 5),)
    report = made(result("a"), not_run=4, complete=False, stopped="interrupted")
    lines = text_of(replace(report, vectors=used))
    assert "INCOMPLETE: 4 selected vectors never reached: interrupted" in lines


def test_answers_that_differ_when_repeated_are_loud():
    """Their ids are named; those that do not differ are counted."""
    report = made(result("a"), repeated=Repeatability(12, ("a", "b", "c", "d"), ("b",)))
    text = " ".join(" ".join(text_of(report)).split())
    assert (
        "NOT REPEATABLE: 4 of 12 vectors called again gave other bits: a, b, c and 1 more" in text
    )
    assert "no longer right: b" in text
    assert "8 vectors called again gave the same bits" in text


def test_expected_failures_are_counted_and_the_unmet_named():
    """Those that passed and the lines that match nothing."""
    expected = Expectations("known.txt", {"mismatch": 1}, ("c",), ("b",), ("x*", "y"))
    text = " ".join(" ".join(text_of(made(result("a"), expectations=expected))).split())
    assert "failed as known.txt says: 1 mismatch, inconsistent c" in text
    assert "1 vector passed unexpectedly: b" in text
    assert "2 lines that match nothing: x*, y" in text


def test_an_expected_failure_is_no_example():
    """It is known: only the others are shown."""
    known = replace(result("a"), verdict="mismatch", expected="#12")
    expected = Expectations("f", {"mismatch": 1})
    lines = text_of(made(known, result("b"), expectations=expected))
    assert lines[-1] == "CONFORMS: 1 of 2 vectors conform, 1 expected failure"
    assert not any("mismatch in" in line for line in lines)


def test_no_part_of_a_long_path_that_a_backend_printed_is_hidden():
    """It is folded."""
    path = "/" + 100 * "p" + "/last.py"
    wrong = replace(result("a"), verdict="crashed", detail="exit status 3", printed=path)
    assert path in "".join("".join(text_of(made(wrong))).split())


def test_what_a_backend_printed_is_beside_its_failure():
    """The last lines of it."""
    printed = "".join(f"line {n}\n" for n in range(40))
    wrong = replace(result("a"), verdict="crashed", detail="signal SIGSEGV (11)", printed=printed)
    lines = text_of(made(wrong))
    assert "AvgPool-1: crashed in 1 vector" in lines
    assert "  what       signal SIGSEGV (11)" in lines
    assert "  printed    line 24" in lines
    assert "             line 39" in lines
    assert "line 23" not in "\n".join(lines)


def test_notes_are_shown():
    """What a runner has to say of the run."""
    assert "12 answers are not for any vector" in text_of(
        made(result("a"), notes=("12 answers are not for any vector",))
    )


def test_every_column_fits_80_characters():
    """Also if there is every verdict, and of the longest name many."""
    longest = "AdaptiveAvgPool-8"
    found = [replace(result(verdict), verdict=verdict) for verdict in VERDICTS]
    many = Counter(dict.fromkeys(VERDICTS, 1803))
    used = (VectorsUsed(longest, "a.h5", "0", 9999, 99999),)
    report = replace(made(*found), counts_by_operator={longest: many}, vectors=used, counts=many)
    lines = text_of(report)
    (row,) = [line for line in lines if line.startswith(longest)]
    assert row.split() == [longest, "10,818", *["1,803"] * 6, "89,181"]
    head = lines[lines.index(row) - 1].split()
    assert head == ["operator", "run", "forms", "match", "error", "ported", "crashed", "out", "run"]
