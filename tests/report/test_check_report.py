"""The report of a check, in a terminal."""

from dataclasses import replace

import pytest
from support.arbitrary_reports import made, real, reference, result
from support.rendered import report_in_terminal as text_of

from conformance.operators import OPERATORS
from conformance.record.report import (
    VERDICTS,
    Accuracy,
    ClauseReport,
    Diagnosis,
    Expectations,
    Floor,
    Proof,
    SlowVector,
    Support,
    UndefinedReport,
    VectorsUsed,
)
from conformance.report import html
from conformance.vectorfile import shipped_suite


@pytest.fixture(scope="module")
def sound():
    """Return the report of a backend that conforms."""
    return real(reference)


@pytest.fixture(scope="module")
def faulty():
    """Return the report of a backend with a wrong answer to one vector."""
    return real()


def test_the_first_and_the_last_line_are_the_verdict_with_its_denominator(sound):
    used = (VectorsUsed("AvgPool-1", "a.h5", "0", 5, 9),)
    cut = made(result("a"), not_run=8, stopped="stopped", vectors=used)
    assert text_of(sound)[0] == text_of(sound)[-1]
    assert text_of(sound)[-1] == "CONFORMS: 5 of 5 answered vectors; standard"
    assert text_of(cut)[-1].startswith("DOES NOT CONFORM, INCOMPLETE: ")
    assert text_of(cut)[-1].endswith("1 of 1 answered vector conforms; 4 never reached; standard")


def many_operators():
    """Return a report in which some operators conform, some are unsupported, and one fails."""
    names = list(OPERATORS)
    verdicts = dict.fromkeys(names, "conforms") | dict.fromkeys(names[5:], "unsupported")
    verdicts |= {"AvgPool-1": "mismatch"}
    return made(*(result(name, verdict, operator=name) for name, verdict in verdicts.items()))


def test_operators_in_which_nothing_is_remarkable_share_a_row():
    """Of one family, in one of each outcome; the unsupported are named."""
    lines = text_of(many_operators())
    rows = lines[: lines.index(next(line for line in lines if line.startswith("all ")))]
    assert len([row for row in rows if row]) <= 17
    assert any(row.split()[:3] == ["AvgPool-1", "+", "gradient"] for row in rows)
    text = " ".join(lines)
    assert "56 operators unsupported: AvgPool-16, MaxPool-8, MaxPool-14" in text
    assert "no gradient is supported" in " ".join(text.split())


class TestBrief:
    """Unless all is asked for, a terminal has what most look for."""

    def test_a_sound_backend_of_two_operators_takes_at_most_25_lines(self):
        """Of operators that are unsupported there is a line, and no row."""
        sound = real(reference)
        names = [name for name in OPERATORS if name not in sound.counts_by_operator]
        others = (result(name, "unsupported", operator=name) for name in names)
        report = replace(sound, results=[*sound.results, *others])
        lines = text_of(report, brief=True)
        assert len(lines) <= 25
        text = " ".join(" ".join(lines).split())
        number = len(names)
        assert f"unsupported {number} vectors: all of {number} operators and gradients" in text
        assert [line for line in lines if "ONNX" in line] == []
        assert lines[-3].split() == ["more", "--verbose"]

    def test_what_is_wrong_is_there_in_full(self, faulty):
        """The failures, and readings that are inconsistent."""
        reading = ClauseReport("d-clause", "inconsistent", counts={"one": 3, "two": 1})
        lines = text_of(replace(faulty, readings=(reading,)), brief=True)
        assert "AvgPool-1: wrong values in 1 vector" in lines
        assert "  d-clause  INCONSISTENT: one 3, two 1, of 0 vectors" in lines

    def test_readings_are_named_as_they_are_required(self):
        readings = (ClauseReport("a-clause", "followed", "one"), ClauseReport("b", "either"))
        lines = text_of(made(result("a"), readings=readings), brief=True)
        assert "readings  a-clause=one, b=either" in lines

    def test_undefined_behaviour_that_is_unsupported_is_not_counted(self):
        clauses = (
            UndefinedReport("all-padding-average", {"unsupported": 3, "nan": 2}),
            UndefinedReport("empty-dimension", {"unsupported": 3}),
        )
        lines = text_of(made(result("a"), undefined=clauses), brief=True)
        assert "undefined  all-padding-average nan 2" in lines
        assert "empty-dimension" not in " ".join(lines)

    def test_where_nothing_is_supported_each_family_has_its_row(self):
        lines = text_of(made(result("a", "unsupported")), brief=True)
        assert any(line.startswith("AvgPool-1 ") for line in lines)


def test_a_page_has_each_operator_for_those_who_look_for_one():
    """Folded away."""
    page = html.render_report(many_operators())
    folded = page[page.index("Each operator and gradient") :]
    assert all(f'<th scope="row">{name}</th>' in folded for name in OPERATORS)


def test_causes_come_before_the_tables(faulty):
    """A reader wants to know why first, then what was run, then the rest."""
    cause = Diagnosis("a cause", (), 1, exact=1, total=1, vectors=("AvgPool-1/lower",))
    text = "\n".join(text_of(replace(faulty, diagnoses=(cause,))))
    heads = ("Likely causes", "\noperator", "wrong values in 1 vector", "Readings", "\ntier")
    places = [text.index(head) for head in heads]
    assert places == sorted(places)


def test_no_number_is_cut_in_a_narrow_terminal():
    """Of the longest name, with every verdict."""
    name = "ONNX-GlobalAveragePool-22"
    results = [result(v, v, operator=o) for v in VERDICTS for o in (name, f"{name}-backward")]
    lines = text_of(replace(made(*results), results=results * 12_345))
    assert max(map(len, lines[1:-1])) <= 80
    (row,) = [line for line in lines if line.startswith("ONNX-Glo ")]
    assert row.split() == ["ONNX-Glo", "172,830", *["24,690"] * len(VERDICTS), "0"]


def test_a_wrong_backend_is_shown_with_a_group_and_an_example(faulty):
    """What the failures share, the id, the worst element with got, expected and bound."""
    lines = text_of(faulty, repro=lambda found: f"print({found.id!r})")
    text = "\n".join(lines)
    assert "AvgPool-1: wrong values in 1 vector" in lines
    assert "  AvgPool-1/lower" in lines
    assert "auto_pad=same_lower" in text
    assert "source      AvgPool-1, Attributes (computed)" in text
    assert "worst       [0, 0, " in text
    assert "expected " in text
    assert "allowed " in text
    assert "print('AvgPool-1/lower')" in lines
    assert lines[-1] == "DOES NOT CONFORM: 1 mismatch; 4 of 5 answered vectors conform; standard"


def test_failures_beyond_the_limit_are_counted(faulty):
    """--max-shown 0 hides the example, not the failure."""
    lines = text_of(faulty, shown=0)
    assert "… and 1 more failing vector in 1 group (--max-shown)" in lines
    assert "  AvgPool-1/lower" not in lines


def test_the_report_fits_80_columns(faulty):
    """All lines but ids, scripts and the verdict are folded."""
    wide = [line for line in text_of(faulty) if len(line) > 80]
    assert [line for line in wide if "DOES NOT" not in line] == []


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
        ClauseReport("f-clause", "followed", "one", touched=6, possible=("one", "two")),
    )
    report = made(result("a"), readings=readings, required={"a-clause": "one"})
    lines = [" ".join(line.split()) for line in text_of(report)]
    assert "a-clause (required) one: shown by 3 of 4 vectors" in lines
    assert "b-clause either: no difference in 2 vectors" in lines
    assert "c-clause split by dtype: one for f and h, two for g" in lines
    assert "d-clause INCONSISTENT: one 3, two 1, of 4 vectors" in lines
    assert "e-clause split by dtype: x for f; shown by 5 (x), 1 (y)" in " ".join(lines)
    assert "f-clause one or two: no difference between them in 6 vectors" in lines
    assert lines[-1].startswith("DOES NOT CONFORM: inconsistent readings of d-clause")


def test_the_accuracy_profile_is_a_table():
    """Share correctly rounded, worst error in ulp and as a share of the bound."""
    accuracy = (Accuracy("float32", 1234567, 0.5812, 3.5, 0.75),)
    lines = [line.split() for line in text_of(made(result("a"), accuracy=accuracy))]
    assert ["float32", "1,234,567", "58.12", "%", "3.5", "0.75"] in lines


def test_a_floor_that_was_missed_says_by_how_much_and_what_was_lost():
    """With the reasons that the backend gave, and ids that are never broken."""
    lost = f"a{'b' * 90}"
    support = Support((Floor(90, percent=True),), baseline="base.jsonl", conforming=3, lost=(lost,))
    report = made(result("a"), result(lost, "unsupported", detail="no such type"), support=support)
    lines = text_of(report)
    text = " ".join(" ".join(lines).split())
    assert "minimum supported 90%: 1 of 2 vectors supported, 2 needed." in text
    assert "0 of 3 vectors that conform there are supported, 2 were not run, 1 are not" in text
    assert "1 AvgPool-1 vector: no such type" in text
    assert any(line.strip() == lost for line in lines)
    assert lines[-1].startswith(
        "DOES NOT CONFORM: below the minimum supported 90%: 1 of 2 supported; 1 lost"
    )


def test_an_expected_failure_is_no_example():
    """It is known: only the others are shown."""
    known = result("a", "mismatch", expected="#12")
    expected = Expectations("f", {"mismatch": 1})
    lines = text_of(made(known, result("b"), expectations=expected))
    assert lines[-1] == "CONFORMS: 1 of 2 answered vectors; 1 expected failure; standard"
    assert not any("mismatch in" in line for line in lines)


def test_what_a_backend_printed_is_beside_its_failure():
    """The last lines of it."""
    printed = "".join(f"line {n}\n" for n in range(40))
    wrong = result("a", "crashed", detail="signal SIGSEGV (11)", printed=printed)
    lines = text_of(made(wrong))
    assert "AvgPool-1: crashed in 1 vector" in lines
    assert "  what        signal SIGSEGV (11)" in lines
    assert "  printed     line 24" in lines
    assert "              line 39" in lines
    assert "line 23" not in "\n".join(lines)


def test_every_column_fits_80_characters():
    """Also if there is every verdict but one, and of the longest name many."""
    longest = "AdaptiveAvgPool-8"
    given = [verdict for verdict in VERDICTS if verdict != "timed-out"]
    used = (VectorsUsed(longest, "a.h5", "0", 9999, 99999),)
    found = [result(verdict, verdict, operator=longest) for verdict in given]
    lines = text_of(replace(made(*found), vectors=used, results=found * 1803))
    (row,) = [line for line in lines if line.startswith(f"{longest} ")]
    assert row.split() == [longest, "10,818", *["1,803"] * 6, "89,181"]
    head = lines[lines.index(row) - 1].split()
    assert head == [
        "operator",
        "run",
        "forms",
        "match",
        "accept.",
        "error",
        "ported",
        "crashed",
        "run",
    ]


class TestIds:
    """An id can be copied, however narrow the terminal."""

    id = "AvgPool-1/" + "float32-" * 20

    def test_in_likely_causes_each_of_which_has_an_example(self):
        """The failure with the least data."""
        diagnosis = Diagnosis("1 of 1 is", ("f",), 1, 1, 1, vectors=(self.id,), kind="fault")
        wrong = result(self.id, "mismatch", detail="shape")
        lines = text_of(made(wrong, diagnoses=(diagnosis,)), width=40)
        assert f"    example {self.id}" in lines
        assert "  Likely cause: f" in lines

    def test_beside_the_proof_of_its_cause_and_a_small_call(self):
        """A cause says on how many held-out cases it was confirmed, or why it was not."""
        call = "backend('MaxPool-1', [np.array([[[1, 2]]], np.float32)], {})"
        for proof, said in (
            (Proof(40, 41, 3), "confirmed on 40 of 41 held-out cases, seed 3"),
            (Proof(3, 3, None), "confirmed on 3 of 3 fresh processes"),
            (Proof(missing="time was up"), "not confirmed: time was up"),
        ):
            words = "1 of 1 failures is of one kind: an exception"
            diagnosis = Diagnosis(
                *(words, (), 1, 0, 1),
                vectors=(self.id,),
                kind="rule",
                proof=proof,
                smallest=call,
                behaviour="an exception",
            )
            wrong = result(self.id, "error", detail="ValueError")
            lines = text_of(made(wrong, diagnoses=(diagnosis,)))
            assert f"    {said}" in lines
            assert f"    minimal reproducer {call}" in lines
            assert "  Likely cause: an exception" in lines


class TestNextSteps:
    """A failing run ends with the commands that help most."""

    def shown(self, backend="torch", path="", **others):
        """Return what stands between the last group and the verdict."""
        used = (VectorsUsed("AvgPool-1", path, "0", 1, 1),)
        report = made(result("a b", "mismatch", detail="shape"), **others)
        lines = text_of(replace(report, backend=backend, vectors=used), width=40)
        if "What to try next" not in lines:
            return []
        return lines[lines.index("What to try next") + 1 : -2]

    def test_a_failure_is_shown_and_its_operator_searched(self):
        """As words for a shell, each command on one line."""
        shipped = str(shipped_suite() / "AvgPool-1.h5")
        assert self.shown(path=shipped) == [
            "  conformance show 'a b'",
            "  conformance fuzz torch --operator AvgPool-1",
        ]

    def test_the_vectors_are_named_unless_they_are_those_of_the_package(self):
        """So that the command finds the vector."""
        assert self.shown(path="/my/AvgPool-1.h5")[0] == (
            "  conformance show /my/AvgPool-1.h5 'a b'"
        )

    @pytest.mark.parametrize("backend", ["results:out", "fakes.altered.<locals>.<lambda>"])
    def test_a_command_that_cannot_work_is_left_out(self, backend):
        """Vectors in memory are not shown, and stored results not searched."""
        assert self.shown(backend=backend) == []

    def test_an_inconsistent_clause_is_explained(self):
        """Where nothing else is wrong."""
        clause = ClauseReport("same-with-ceil", "inconsistent")
        lines = text_of(made(result("a"), readings=(clause,)))
        assert "  conformance clauses same-with-ceil" in lines


def test_the_slowest_vectors_are_named_with_their_seconds(sound):
    slow = replace(sound, backend_seconds=20.0, slowest=(SlowVector("AvgPool-1/slow", 12.344),))
    lines = text_of(slow)
    assert "Slowest vectors" in lines
    assert [line.split() for line in lines if "AvgPool-1/slow" in line] == [
        ["AvgPool-1/slow", "12.34"]
    ]
