"""Reports, drawings and scripts of an operator with two outputs."""

import contextlib
import io
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from support.fakes import check
from support.paths import DOCS
from support.rendered import printed, report_as_markdown, report_in_terminal
from support.two_outputs import NAME, both, first_only, minimum_case, minimum_vectors, miscounting

from conformance.api.failure_groups import failure_groups
from conformance.api.merge import merge
from conformance.cli import main
from conformance.errors import ReportFileError
from conformance.operators import vector_of
from conformance.record import jsonl
from conformance.record.report import OutputReport
from conformance.report import console, junit
from conformance.report.concentration import concentrations
from conformance.report.html import render_report as render
from conformance.report.repro import script
from conformance.report.vector_report import describe
from conformance.vectorfile import VectorWriter, open_vectors

SCHEMA = json.loads((DOCS / "report.schema.json").read_text())
NOTE = "output cells of MinimumPool-1: not computed in 4 of 4 vectors"
BACKEND = """
from conformance.operators import evaluate
def miscounting(*case):
    low, cells = evaluate(*case)
    cells = cells.copy()
    cells.flat[-1] += 1
    return low, cells
def doubled(*case):
    low, cells = evaluate(*case)
    return low * 2 + 1, cells
def doubled_alone(*case):
    return doubled(*case)[0]
def cropped(*case):
    low, cells = evaluate(*case)
    return low, cells[..., :1]
"""


@pytest.fixture
def files(minimum_pool, tmp_path):
    """Return a file of the small vectors, open."""
    path = tmp_path / "vectors" / f"{NAME}.h5"
    path.parent.mkdir()
    with VectorWriter(path, NAME, header={}) as writer:
        for vector in minimum_vectors():
            writer.add(vector)
    with open_vectors(path) as opened:
        yield opened


def drawn(vector, **options):
    """Return the drawing of a vector."""
    return "\n".join(printed(console.render(describe(vector, **options), width=100), width=100))


def shown(report):
    """Return a report as a terminal shows it."""
    return "\n".join(report_in_terminal(report, width=100))


class TestTexts:
    """Every form of a report says which output is wrong, and which is not there."""

    def test_the_worst_element_is_named_by_its_output(self, files):
        """On a terminal, in Markdown and in JUnit."""
        report = check(miscounting, files)
        element = "cells[0, 0, 1, 1] is 5, expected 4"
        assert element in shown(report)
        assert element in report_as_markdown(report).replace("\\", "")
        suites = junit.render(report)
        assert element in suites
        assert 'message="cells: 1 of 4 elements differ"' in suites

    def test_outputs_left_out_are_counted(self, files):
        """A backend of first outputs conforms, and its report says how much that is."""
        report = check(first_only, files)
        assert NOTE in shown(report)
        assert NOTE in report_as_markdown(report)
        assert f"{NOTE}." in render(report, files)
        computed = 'name="computed.MinimumPool-1.cells" value="0 of 4 vectors"'
        assert computed in junit.render(report)

    def test_failures_are_grouped_by_the_output_that_is_wrong(self, files):
        """Wrong counts are another failure than wrong minima, or a wrong shape."""

        def kinds(backend):
            return {group.kind for group in failure_groups(check(backend, files))}

        assert kinds(miscounting) == {"wrong values of cells"}
        assert kinds(lambda *case: (both(*case)[0], both(*case)[1][..., :1])) == {
            "wrong shape of cells"
        }
        assert kinds(lambda *case: both(*case) * 2) == {"wrong number of arrays"}


class TestJsonLines:
    """What was written is read, and a validator agrees."""

    @pytest.mark.parametrize("backend", [miscounting, first_only, both])
    def test_a_report_comes_back(self, files, tmp_path, backend):
        """With the output of the worst element, and how often each was computed."""
        report = check(backend, files)
        jsonl.write(report, tmp_path / "r.json")
        back = jsonl.read(tmp_path / "r.json")
        assert [each.worst for each in back.results] == [each.worst for each in report.results]
        assert back.outputs == report.outputs
        validator = Draft202012Validator(SCHEMA)
        for line in (tmp_path / "r.json").read_text("utf-8").splitlines():
            validator.validate(json.loads(line))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"number": -1}, "worst.number: Expected `int` >= 0"),
            ({"dtype": "f32"}, "dtype is 'f32', not a known element type"),
            ({"dtype": "int8", "got": 300}, "got is 300, not an element of int8"),
            ({"output": 3}, "worst.output: Expected `str`, got `int`"),
        ],
    )
    def test_a_strangers_output_is_refused(self, files, tmp_path, change, message):
        """One line names what is wrong."""
        path = tmp_path / "r.json"
        jsonl.write(check(miscounting, files), path)
        lines = list(map(json.loads, path.read_text("utf-8").splitlines()))
        lines[1]["worst"] |= change
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        with pytest.raises(ReportFileError, match=re.escape(message)):
            jsonl.read(path)


def test_shards_add_up(files):
    """What one shard computed and another did not is counted once in both."""
    shards = {
        "a": check(both, files, shard="1/2", name="b"),
        "b": check(first_only, files, shard="2/2", name="b"),
    }
    merged = merge(shards)
    assert merged.outputs == (
        OutputReport(NAME, "minimum", 4, 4),
        OutputReport(NAME, "cells", shards["a"].outputs[1].computed, 4),
    )
    assert 0 < merged.outputs[1].computed < 4


class TestDrawings:
    """What `show` and the page draw."""

    def test_each_output_has_a_grid(self, minimum_pool):
        """And each says what the outlined window gives."""
        data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        case = minimum_case("a", {"window": [2, 2], "step": [2, 2], "pads": [1, 1, 1, 1]}, data)
        text = drawn(vector_of(case))
        titles = re.findall(r"(\S[^\[\n]*)\[[^\]]*:\]", text)
        assert [title.strip() for title in titles] == [
            "data",
            "expected minimum",
            "expected cells",
        ]
        assert "expected minimum[0, 0, 0, 0] = 0: the minimum of 1 of the window's 4 cells" in text
        assert "expected cells[0, 0, 0, 0] = 1" in text

    def test_show_draws_it(self, files):
        """The command is told a file and an id."""
        done = CliRunner().invoke(main, ["show", str(files[0].path), f"{NAME}/plain"])
        assert done.exit_code == 0, done.output
        assert "expected cells[0, 0, :, :]" in done.output

    def test_failures_concentrate_by_what_attributes_mean(self, minimum_pool):
        """Kernel, strides, pads and rounding have other names and values in this document."""
        data = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
        attributes = {
            "even": {"window": [2, 2], "step": [2, 2], "pads": [1, 1, 1, 1], "round_up": 0},
            "odd": {"window": [3, 3], "step": [3, 3], "pads": [0, 0, 1, 1], "round_up": 1},
        }
        vectors = [vector_of(minimum_case(*each, data)) for each in attributes.items()]

        def wrong_if_odd(*case):
            return (miscounting if case[2]["window"] == [3, 3] else both)(*case)

        found = {
            each.attribute: each for each in concentrations(check(wrong_if_odd, vectors).results)
        }
        assert {
            name: [(row.value, row.failing) for row in found[name].rows]
            for name in ("kernel parity", "pads given", "round_up")
        } == {
            "kernel parity": [("odd", 1), ("even", 0)],
            "pads given": [("unequal", 1), ("equal at both ends", 0)],
            "round_up": [("1", 1), ("0", 0)],
        }


class TestScripts:
    """Scripts that show a failure again."""

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("miscounting", "5 instead of 4\n"),
            ("doubled", "3.0 instead of 1\n"),
            ("doubled_alone", "3.0 instead of 1\n"),
            ("cropped", "float32 (1, 1, 2, 2)\nint64 (1, 1, 2, 1)\n"),
        ],
    )
    def test_a_script_prints_what_is_wrong(self, files, tmp_path, name, said):
        """Of the output that is meant, also where the backend returns the first alone."""
        from conformance import load_backend  # noqa: PLC0415 - the test's subject comes first

        (tmp_path / "broken.py").write_text(BACKEND)
        spec = f"{tmp_path / 'broken.py'}:{name}"
        vector = vector_of(
            minimum_case(
                "a",
                {"window": [2, 2], "step": [2, 2]},
                np.array([[[[9, 9, 8, 8], [9, 1, 8, 2], [3, 9, 9, 9], [9, 9, 9, 3]]]], np.float32),
            )
        )
        (result,) = check(load_backend(spec), [vector]).results
        text = script(vector.case, result, backend=spec)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, "script", "exec"), {})
        assert printed.getvalue() == said
