"""A comparison of backends: on a terminal, as Markdown, as a web page."""

from collections import Counter

import pytest
from support.fakes import right, vector
from support.releases import counted
from support.rendered import RENDERERS, in_terminal

from conformance.api.compare import Comparison, compare
from conformance.record.report import Accuracy, ClauseReport, Diagnosis, Proof, UndefinedReport
from conformance.report import comparison_report, markdown
from conformance.report.document import plain
from conformance.report.json_documents import comparison_json
from conformance.reveal.values import Property, RevealedAverage, Window, WindowOrder

HOSTILE = '<script>alert(1)</script> | `a` **b** [c](http://d) "e"'
CONFORMING = {"AvgPool-1": {"float32": Counter({"conforms": 1})}}
FAILING = Counter({"mismatch": 1234, "error": 22, "timed-out": 1})
NAMES = ("my_backend.py:the_first_one", "my_backend.py:the_other_one", "my_backend.py:third")


@pytest.fixture(scope="module")
def hostile():
    """Return a comparison of a backend with a hostile name and one that cannot be loaded."""
    return compare({HOSTILE: right, "gone": "no_such_module_anywhere:pool"}, [vector()])


def made(*backends, **others):
    """Return a comparison of backends."""
    return comparison_report.describe(
        Comparison(backends, (), "standard", 1, "2026-01-02T03:04:05", "Linux x86_64", **others)
    )


def shown(*backends, width=80, **others):
    """Return the lines of a comparison in a terminal."""
    return in_terminal(made(*backends, **others), width=width)


class TestInATerminal:
    """Tables of many backends fit 80 columns."""

    def test_failures_of_each_operator_are_on_a_line(self):
        """Under the name of the backend."""
        names = ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "nGraph-AvgPool")
        counts = {name: {"float32": FAILING} for name in names}
        lines = shown(counted("b", counts))
        start, end = map(lines.index, ("Failures and their likely causes", "By operator"))
        assert lines[start + 1 : end - 1] == [
            "  b",
            "    AvgPool-1: 1,234 mismatch, 22 error, 1 timed-out",
            "    MaxPool-1: 1,234 mismatch, 22 error, 1 timed-out",
            "    AdaptiveAvgPool-8: 1,234 mismatch, 22 error, 1 timed-out",
            "    nGraph-AvgPool: 1,234 mismatch, 22 error, 1 timed-out",
        ]

    def test_causes_come_first(self):
        """Right after the summary, and before the failures that they explain."""
        cause = Diagnosis("half the padding is lost", (), explained=3, exact=3, total=1257)
        lines = shown(counted("b", {"AvgPool-1": {"float32": FAILING}}, diagnoses=(cause,)))
        start = lines.index("Failures and their likely causes")
        assert lines[start - 2].startswith("b ")
        assert lines[start + 1] == "  b"
        assert "half the padding is lost" in lines[start + 2]
        assert lines[start + 3] == "    AvgPool-1: 1,234 mismatch, 22 error, 1 timed-out"

    def test_a_cause_says_what_fresh_cases_made_of_it(self):
        """In the same line, so that a page shows which causes are confirmed."""
        cause = Diagnosis("half is lost", (), 3, 3, 1257, proof=Proof(9, 10, 1))
        lines = shown(counted("b", {"AvgPool-1": {"float32": FAILING}}, diagnoses=(cause,)))
        assert "half is lost (confirmed on 9 of 10 held-out cases, seed 1)." in " ".join(
            " ".join(lines).split()
        )

    def test_backends_that_follow_one_reading_stand_together(self):
        """Where their names have no room as columns; no name is divided between lines."""
        split = ClauseReport("accumulator", "split", by="axes", values={"1": "wider", "2": "wider"})
        lines = shown(*(counted(name, CONFORMING, readings=(split,)) for name in NAMES))
        start = lines.index("  accumulator")
        assert lines[start + 1 :] == [
            "    wider (axes: 1, 2): my_backend.py:the_first_one,",
            "      my_backend.py:the_other_one, my_backend.py:third",
        ]

    def test_short_names_are_columns(self):
        followed = ClauseReport("accumulator", "followed", followed="wider")
        other = ClauseReport("accumulator", "inconsistent")
        lines = shown(
            counted("a", CONFORMING, readings=(followed,)),
            counted("b", CONFORMING, readings=(other,)),
        )
        assert ["accumulator", "wider", "inconsistent"] in [line.split() for line in lines]

    def test_backends_of_one_arithmetic_stand_together(self):
        """What is summed in another order or type stands apart."""
        order = WindowOrder(Window((3,), per_plane=2), "tree")
        names = ("sums", "quotient", "division", "subnormals")
        single, double = (
            RevealedAverage(
                "AvgPool-1",
                "float32",
                (order,),
                "first to last",
                properties={name: Property((name,)) for name in names} | {"sums": Property((in_,))},
            )
            for in_ in ("float32", "float64")
        )
        lines = shown(
            *(counted(name, CONFORMING) for name in NAMES),
            arithmetic=dict(zip(NAMES, (single, double, double), strict=True)),
        )
        start = lines.index("  sums")
        assert lines[start + 1 : start + 3] == [
            "    float32: my_backend.py:the_first_one",
            "    float64: my_backend.py:the_other_one, my_backend.py:third",
        ]

    def test_what_is_done_where_nothing_is_defined_is_counted(self):
        """The commonest first; a backend that did something else is on a line of its own."""
        counts = {"nan": 33, "raised": 4444}
        first = UndefinedReport("zero-sign", counts)
        other = UndefinedReport("zero-sign", {"nan": 4477})
        lines = shown(
            *(
                counted(name, CONFORMING, undefined=(what,))
                for name, what in zip(NAMES, (first, other, first), strict=True)
            )
        )
        start = lines.index("  zero-sign")
        assert lines[start + 1 :] == [
            "    raised an exception 4,444, nan 33: my_backend.py:the_first_one,",
            "      my_backend.py:third",
            "    nan 4,477: my_backend.py:the_other_one",
        ]

    @pytest.mark.parametrize("width", [40, 80])
    def test_what_is_longer_than_a_line_is_folded(self, width):
        """Nothing is lost, and no line is longer than the terminal."""
        named = counted("b" * 100, {"AvgPool-1": {"float32": FAILING}})
        lines = shown(named, width=width)
        assert max(map(len, lines)) <= width
        assert "".join(lines).replace(" ", "").count("b" * 100) >= 1
        assert "AvgPool-1: 1,234 mismatch," in "\n".join(lines)


class TestOnPages:
    """Other people's texts stay texts."""

    def test_an_operator_and_its_gradient_are_a_row_and_what_is_unremarkable_folds(self):
        """Beside each other what every backend conforms to."""
        right, wrong = {"float32": Counter({"conforms": 3})}, {"float32": FAILING}
        names = ("AvgPool-1", "MaxPool-1", "MaxPool-8", "AvgPool-1-backward")
        counts = [dict.fromkeys(names, right), dict.fromkeys(names, right) | {names[-1]: wrong}]
        page = markdown.render(made(*(counted(n, c) for n, c in zip("ab", counts, strict=True))))
        assert "| AvgPool-1 + gradient | 6/6 | 3/1,260 |" in page
        assert "| OpenVINO: 2 operators | 6/6 | 6/6 |" in page

    def test_types_of_operators_in_which_nothing_is_remarkable_are_left_out(self):
        """Those that conform, or are unsupported, in all backends; without others, the table."""
        right, none = (
            {"float32": Counter({verdict: 3})} for verdict in ("conforms", "unsupported")
        )
        in_part = {"float32": Counter({"conforms": 2, "unsupported": 1})}
        one = counted("a", {"AvgPool-1": right, "MaxPool-1": right, "MaxPool-8": right})
        other = counted("b", {"AvgPool-1": right, "MaxPool-1": none, "MaxPool-8": in_part})
        title = "## By operator and element type"
        _, _, types = markdown.render(made(one, other)).partition(title)
        assert "| MaxPool-8 | float32 | 3/3 | 2/2 |" in types
        assert "AvgPool-1" not in types
        assert "MaxPool-1" not in types
        assert title not in markdown.render(made(one))

    def test_json_has_no_numbers_that_json_lacks(self, hostile):
        """NaN and infinities would break strict readers."""
        assert "NaN" not in comparison_json(hostile)


@pytest.mark.parametrize("form", RENDERERS)
def test_a_backend_that_was_not_run_says_why(hostile, form):
    """It is never left out without a word."""
    assert "gone not run: backend" in RENDERERS[form](comparison_report.describe(hostile))


@pytest.mark.parametrize("form", RENDERERS)
def test_everything_that_was_measured_is_there(form):
    """In every form."""
    text = RENDERERS[form](
        made(
            counted(
                "b",
                CONFORMING,
                version="1.2.3",
                accuracy=(Accuracy("float32", 1, 0.5812, 3.5, 0.75),),
                backend_seconds=0.0021,
            )
        )
    )
    for fact in ("1.2.3", "2.1 ms", "1/1", "58.1%", "3.5", "0.75", "Linux x86", "2026-01-02"):
        assert fact in text.replace("\\", "")


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        (ClauseReport("c", "followed", followed="kept"), "kept"),
        (ClauseReport("c", "followed", followed="a", possible=("a", "b")), "a or b"),
        (ClauseReport("c", "either"), "either"),
        (ClauseReport("c", "inconsistent"), "inconsistent"),
        (
            ClauseReport("c", "inconsistent", contradicting={"P": "a", "P-backward": "b"}),
            "inconsistent: P follows a, P-backward follows b",
        ),
        (
            ClauseReport("c", "split", by="dtype", values={"float16": "a", "float32": "b"}),
            "a (float16); b (float32)",
        ),
        (
            ClauseReport("c", "split", by="axes", values={"1": "a", "2": "b", "3": "b"}),
            "a (axes: 1); b (axes: 2, 3)",
        ),
        (
            ClauseReport("c", "split", by="dtype", values={"float16": "a", "float64": "either"}),
            "a (float16)",
        ),
    ],
)
def test_readings_of_a_cell(clause, text):
    """What is followed, and by which values it is split."""
    assert plain(comparison_report.reading(clause)) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0000123, "12.3 µs"), (0.0021, "2.1 ms"), (1.5, "1.5 s"), (0, "0 µs")]
)
def test_durations(seconds, text):
    """Three digits and a unit."""
    assert comparison_report.duration(seconds) == text


def test_a_share_of_nothing_is_a_dash():
    """Unsupported vectors are in no denominator, and few failures are no alarm."""
    shares = [
        comparison_report.share(counts)
        for counts in (
            {"unsupported": 3},
            {"conforms": 1200, "error": 1},
            {"conforms": 12, "error": 1, "unsupported": 5000},
        )
    ]
    assert [(share.text, share.tone) for share in shares] == [
        ("-", "quiet"),
        ("1,200/1,201", "warn"),
        ("12/13", "bad"),
    ]
