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
    Accuracy,
    ClauseReport,
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
    )
    report = made(result("a"), readings=readings, required={"a-clause": "one"})
    lines = [" ".join(line.split()) for line in text_of(report)]
    assert "a-clause (required) one shown by 3 of 4 vectors" in lines
    assert "b-clause either: nothing separates them in 2 vectors" in lines
    assert "c-clause split by dtype: one for f and h, two for g" in lines
    assert "d-clause INCONSISTENT: one 3, two 1, of 4 vectors" in lines
    assert lines[-1].startswith("DOES NOT CONFORM: inconsistent readings of d-clause")


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
