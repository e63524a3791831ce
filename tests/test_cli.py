"""The command line, in this process and as a program."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from arbitrary_vectors import with_first
from click.testing import CliRunner
from fakes import pool, ramp, vector
from samples import PLAIN, case, cases, write, write_cases

from conformance.cli import main
from conformance.cli.common import TIERS
from conformance.operators import CLAUSES, vector_of
from conformance.vector import TIERS as ALL_TIERS
from conformance.vectorfile import VectorWriter

COMMANDS = [
    "generate",
    "check",
    "compare",
    "report",
    "diff",
    "merge",
    "probe",
    "verify",
    "list",
    "show",
    "fuzz",
    "clauses",
    "strength",
    "export",
]
BACKENDS = """
from conformance.backends import load_backend
reference = load_backend("numpy")
calls = 0
def upper(operator, inputs, attributes):
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return reference(operator, inputs, attributes)
def nothing(operator, inputs, attributes):
    raise NotImplementedError
def stopped(operator, inputs, attributes):
    global calls
    calls += 1
    if calls == 3:
        raise KeyboardInterrupt
    return reference(operator, inputs, attributes)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a vector file, backends, and files that are no vectors."""
    path = tmp_path_factory.mktemp("suite")
    write_cases(path)
    (path / "backends.py").write_text(BACKENDS)
    (path / "nothing").mkdir()
    (path / "text.h5").mkdir()
    (path / "text.h5" / "a.h5").write_text("not HDF5")
    return path


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def program(*arguments, **options):
    """Run the command as a program."""
    return subprocess.run(
        [sys.executable, "-m", "conformance", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parent.parent,
        **options,
    )


class TestProgram:
    """What every command does."""

    def test_help_waits_for_no_library(self):
        """numpy, h5py and rich are imported when a command runs."""
        code = "import conformance.cli, sys; print(*{'numpy', 'h5py', 'rich'} & {*sys.modules})"
        got = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
        assert got.stdout == "\n"

    def test_help_names_the_commands_in_the_order_of_use(self):
        """The one that makes vectors comes first."""
        got = program("--help")
        assert got.returncode == 0
        commands = re.findall(
            r"^  (\w+)  +[A-Z]", got.stdout.partition("Commands:")[2], re.MULTILINE
        )
        assert commands == COMMANDS

    def test_version_is_that_of_the_package(self):
        """--version names the program and its version."""
        assert run("--version").output == "conformance, version 0.1.0\n"

    def test_no_command_is_wrong_usage_and_shows_help(self):
        """Help goes to standard error, where a script does not read it."""
        got = program()
        assert (got.returncode, got.stdout) == (2, "")
        assert "Commands:" in got.stderr

    def test_tiers_are_those_of_the_vectors(self):
        """The command line may not import them, since they come with numpy."""
        assert TIERS == ALL_TIERS

    def test_a_reader_that_goes_away_is_no_error(self, folder):
        """`conformance list --ids | head -0` ends quietly with the status of SIGPIPE."""
        with subprocess.Popen(
            [sys.executable, "-m", "conformance", "list", "--ids", str(folder / "AvgPool-1.h5")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parent.parent,
        ) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141

    def test_a_bug_of_ours_is_not_a_failing_backend(self, monkeypatch, folder):
        """An error nobody foresaw exits 3 with a traceback; 1 would blame the backend."""

        def broken(*_arguments, **_options):
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr("conformance.checking.check", broken)
        got = run("check", "numpy", folder / "AvgPool-1.h5")
        assert got.exit_code == 3
        assert "ZeroDivisionError: a bug" in got.stderr
        assert got.stderr.endswith("error: this is a bug in conformance, not in your backend\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            "chek",
            2,
            f"no command 'chek'; there are {', '.join(COMMANDS)}; see",
        ),
        ("check", 2, "Missing argument 'BACKEND'"),
        ("check numpy {f}/gone", 2, "{f}/gone: no such file or directory"),
        ("check numpy {f}/nothing", 3, "{f}/nothing: no vector files (*.h5) in this directory"),
        ("check numpy {f}/backends.py", 3, "{f}/backends.py: not an HDF5 file"),
        ("check numpi {v}", 2, "no backend 'numpi' (did you mean 'numpy'?); built-in names: numpy"),
        ("check {f}/gone.py:a {v}", 2, "no file {f}/gone.py"),
        ("check numpy {v} --operator AvgPol", 2, "unknown operator 'AvgPol'; there are AvgPool-1"),
        ("check numpy {v} --operator MaxPool-1", 2, "no vectors of MaxPool-1; there are"),
        ("check numpy {v} --tier huge", 2, "'huge' is not one of 'smoke', 'standard'"),
        ("check numpy {v} --select zzz", 2, "select 'zzz' matches no vector of tier standard"),
        ("check numpy {v} --require zzz", 2, "'zzz' is not CLAUSE=READING"),
        ("check numpy {v} --require zzz=a", 2, "zzz"),
        ("check numpy {v} --require accumulator=a", 2, "accumulator"),
        (
            "check numpy {v} --require accumulator=wider --require accumulator=element-type",
            2,
            "accumulator is asked to be both wider and element-type",
        ),
        ("check numpy {v} --profile zzz", 2, "no profile 'zzz'; there are openvino, onnx, torch"),
        ("check numpy {v} --max-shown -1", 2, "-1 is not in the range x>=0"),
        ("verify {f}/gone", 2, "{f}/gone: no such file or directory"),
        ("verify {f}/text.h5", 3, "{f}/text.h5/a.h5: not an HDF5 file"),
        ("list {f}/gone", 2, "{f}/gone: no such file or directory"),
        ("list {v} --select zzz", 2, "select 'zzz' matches no vector"),
        ("list {v} --operator zzz", 2, "unknown operator 'zzz'"),
        ("show {f}/gone a", 2, "{f}/gone: no such file or directory"),
        ("show", 2, "Missing argument '[VECTORS] CASE'"),
        ("show {v}", 2, "{v}: which vector of it? see conformance list {v} --ids"),
        ("show {v} plain more", 2, "3 arguments; give the vectors, or none, and one id"),
        ("report {f}", 2, "{f}: a directory; give a report that --json wrote"),
        (
            "show {v} AvgPool-1/lowr",
            2,
            "no vector 'AvgPool-1/lowr' among 5; did you mean AvgPool-1/lower?",
        ),
        ("show {v} zzz", 2, "no vector 'zzz' among 5; see conformance list --ids"),
        ("show {v} plain --output a", 2, "'a' is not a list of integers like 0,2"),
        ("show {v} plain --output 9,9", 2, "output 9,9 does not exist"),
        ("show {v} plain --plane 0,9", 2, "plane 0,9 does not exist"),
        ("show {v} plain --reading accumulator=wider", 2, "no reading accumulator=wider touches"),
        ("clauses zzz", 2, "no clause 'zzz'; there are same-output-size"),
        ("clauses overhang-divisr", 2, "did you mean overhang-divisor?"),
        ("generate", 2, "Missing argument 'DIR'"),
        ("generate {f}/new --operator zzz", 2, "unknown operator 'zzz'; there are AvgPool-1"),
        ("generate {f}/new --strength 9", 2, "strength 9: must be 1 to 4"),
        ("generate {f}/new --seed -1", 2, "-1 is not in the range x>=0"),
        ("generate {f}/backends.py", 2, "cannot write to {f}/backends.py"),
        ("generate {f}/new --like {f}/gone.xml", 2, "{f}/gone.xml: no such file; give the model's"),
    ],
)
def test_wrong_arguments_are_one_line_on_standard_error(folder, arguments, code, message):
    """The line says what was wrong; the code whose fault it is; there is no traceback."""
    places = {"f": folder, "v": folder / "AvgPool-1.h5"}
    got = run(*arguments.format(**places).split())
    assert message.format(**places) in got.stderr
    assert got.stderr.startswith("error: ")
    assert got.stderr.count("\n") == 1
    assert (got.exit_code, got.stdout) == (code, "")


class TestCheck:
    """conformance check."""

    def test_a_backend_that_conforms_exits_0(self, folder):
        """The verdict is the last line."""
        got = run("check", "numpy", folder / "AvgPool-1.h5")
        assert (got.exit_code, got.stderr) == (0, "")
        assert got.stdout.endswith("\nCONFORMS: 5 of 5 vectors conform\n")

    def test_a_backend_that_does_not_exits_1_with_a_script(self, folder):
        """The script between the marks runs as it is and shows the difference."""
        backend = f"{folder / 'backends.py'}:upper"
        got = run("check", backend, folder / "AvgPool-1.h5")
        assert (got.exit_code, got.stderr) == (1, "")
        assert got.stdout.endswith("\nDOES NOT CONFORM: 1 mismatch; 5 of 5 vectors run\n")
        script = got.stdout.partition("# to see it again\n")[2].partition("# end\n")[0]
        shown = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
        value, expected = shown.stdout.split(" instead of ")
        assert float(value) != float(expected)
        assert f"is {np.float32(value):g}, expected {np.float32(expected):g}" in got.stdout

    def test_a_backend_without_an_answer_exits_1(self, folder):
        """Nothing run is never a pass."""
        got = run("check", f"{folder / 'backends.py'}:nothing", folder / "AvgPool-1.h5")
        assert got.exit_code == 1
        assert "nothing was run" in got.stdout.splitlines()[-1]

    def test_select_tier_and_operator_narrow_the_run(self, folder):
        """What was left out is in the verdict."""
        vectors = folder / "AvgPool-1.h5"
        for option in (["--select", "plain"], ["--tier", "smoke"]):
            got = run("check", "numpy", vectors, *option, "--operator", "AvgPool-1")
            assert got.stdout.endswith("\nCONFORMS: 1 of 5 vectors conform, 4 not run\n")

    @pytest.mark.parametrize(
        "option", [["--require", "overhang-divisor=whole-kernel"], ["--profile", "openvino"]]
    )
    def test_a_required_reading_that_is_not_followed_exits_1(self, folder, option):
        """The numpy backend counts overhang within the padded extent."""
        got = run("check", "numpy", folder / "AvgPool-1.h5", "--select", "ceil", *option)
        assert got.exit_code == 1
        assert "follows overhang-divisor=padded-extent" in got.stdout

    def test_an_interrupt_reports_what_was_done(self, folder):
        """Exit 130, the report of what was run, and a loud word that it is incomplete."""
        backend = f"{folder / 'backends.py'}:stopped"
        got = run("check", backend, folder / "AvgPool-1.h5", "--in-process")
        assert got.exit_code == 130
        assert got.stderr.strip() == "error: interrupted"
        assert "INCOMPLETE: 3 selected vectors never reached" in got.stdout
        assert got.stdout.splitlines()[-1].endswith("2 of 5 vectors run")

    def test_colours_are_for_terminals(self, folder):
        """A pipe gets plain text of 80 columns."""
        got = program("check", f"{folder / 'backends.py'}:upper", folder / "AvgPool-1.h5")
        assert "\x1b" not in got.stdout
        # The line to paste that loads the backend is as long as its path.
        lines = [line for line in got.stdout.splitlines() if "load_backend(" not in line]
        assert max(map(len, lines)) <= 80


class TestGenerateAndVerify:
    """conformance generate and verify."""

    def test_what_is_generated_is_verified_and_passes(self, tmp_path):
        """The smallest run of the whole chain; the digest is in all of them."""
        made = run(
            "generate",
            tmp_path,
            "--operator",
            "AdaptiveAvgPool-8",
            "--tier",
            "smoke",
            "--strength",
            1,
        )
        assert (made.exit_code, made.stderr) == (0, "")
        assert [path.name for path in tmp_path.iterdir()] == ["AdaptiveAvgPool-8.h5"]
        (digest,) = re.findall(r"digest (\w{64})$", made.stdout, re.MULTILINE)
        verified = run("verify", tmp_path)
        assert verified.exit_code == 0
        assert digest in verified.stdout
        assert re.search(r"^VERIFIED: (\d+) of \1 vectors", verified.stdout, re.MULTILINE)

    def test_a_wrong_expected_value_exits_3(self, tmp_path):
        """The digest is right, the value is not: one line names vector and element."""
        vector = vector_of(cases()[0])
        (outcome,) = vector.outcomes
        wrong = with_first(outcome, values=outcome.first.values + np.float32(1))
        path = write(tmp_path / "a.h5", [replace(vector, outcomes=(wrong,))])
        got = run("verify", path)
        assert got.exit_code == 3
        line = (
            f"{path}: AvgPool-1/plain: expected [0, 0, 0, 0] is 4.5, computed 3.5 (4 of 4 differ)"
        )
        assert line in got.stdout.splitlines()
        assert got.stderr == f"error: {path}: 1 difference in 1 vector\n"

    def test_only_some_differences_are_printed(self, tmp_path):
        """A file that is wrong throughout does not flood the terminal."""
        vector = vector_of(cases()[0])
        outcome = replace(vector.outcomes[0], accumulator="element-type")
        wrong = [
            replace(vector, case=replace(vector.case, id=f"v{number}"), outcomes=(outcome,))
            for number in range(30)
        ]
        got = run("verify", write(tmp_path / "a.h5", wrong))
        assert got.stdout.count("accumulator is element-type, computed wider") == 20
        assert "30 differences in 30 vectors" in got.stderr

    def test_a_hostile_file_is_refused_without_allocating(self, tmp_path):
        """Pads of a million million cells are compared with the stored shape first."""
        vector = vector_of(cases()[0])
        hostile = case("plain", PLAIN | {"pads_begin": [10**12, 10**12]}, 1, 1, 4, 4)
        path = write(tmp_path / "a.h5", [replace(vector, case=hostile)])
        for command in (["verify", path], ["show", path, "AvgPool-1/plain"]):
            got = run(*command)
            assert got.exit_code == 3
            assert "attributes give output shape" in got.output


@pytest.mark.parametrize(
    "attributes",
    [
        pool(strides=[10**30]),
        pool(pads_begin=[2**40], strides=[1]),
        pool(kernel=[2**62], pads_begin=[2**62]),
    ],
    ids=str,
)
def test_numbers_that_fit_into_no_memory_are_no_bug(tmp_path, attributes):
    """A stranger's file may hold any; each command says what it found, in bounded memory."""
    path, made = tmp_path / "a.h5", vector(ramp(1, 1, 6))
    with VectorWriter(path, "AvgPool-1", header={}) as file:
        file.add(replace(made, case=replace(made.case, attributes=attributes)))
    (tmp_path / "zeros.py").write_text(
        "import numpy\ndef backend(*case):\n    return numpy.zeros((1, 1, 3), numpy.float32)\n"
    )
    page = ("--html", tmp_path / "page.html")
    checked = run("check", tmp_path / "zeros.py:backend", path, "--in-process", *page)
    assert (checked.exit_code, checked.stderr) == (1, "")
    for code, *words in ((3, "verify", path), (3, "show", path, "*"), (0, "strength", path)):
        got = run(*words)
        assert (got.exit_code, got.stderr.count("\n")) == (code, code // 3)


class TestList:
    """conformance list."""

    def test_a_summary_counts_what_is_there(self, folder):
        """Tiers, types, provenance, clauses, digest."""
        got = run("list", folder / "AvgPool-1.h5")
        assert got.exit_code == 0
        lines = [" ".join(line.split()) for line in got.stdout.splitlines()]
        assert lines[0].startswith("AvgPool-1 5 vectors, ")
        assert "tier smoke 1, standard 4" in lines
        assert "dtype float32 5" in lines
        assert "provenance printed 1, computed 4" in lines
        assert re.search(r"^  digest \w{64}$", got.stdout, re.MULTILINE)

    def test_coverage_is_shown_where_the_header_has_it(self, tmp_path):
        """As counted by the generator."""
        coverage = {"all factors": {"strength": 3, "feasible": 5113, "covered": 5113}}
        path = write(tmp_path / "a.h5", [vector_of(cases()[0])], coverage=coverage)
        shown = run("list", path).stdout
        assert "all factors: 5,113 of 5,113 feasible combinations of 3 levels" in shown

    def test_ids_are_printed_one_per_line(self, folder):
        """For pipes: nothing else is printed."""
        got = run("list", folder / "AvgPool-1.h5", "--ids")
        assert got.stdout.splitlines() == [each.id for each in cases()]

    def test_select_narrows_ids_and_counts(self, folder):
        """Part of an id or a pattern."""
        vectors = folder / "AvgPool-1.h5"
        assert run("list", vectors, "--ids", "--select", "*l*in").stdout == "AvgPool-1/plain\n"
        assert "1 of 5 vectors" in run("list", vectors, "--select", "plain").stdout


class TestShow:
    """conformance show."""

    @pytest.mark.parametrize("name", ["AvgPool-1/ceil", "AvgPool-1/c", "*ceil", "ceil"])
    def test_a_vector_is_found_by_id_prefix_pattern_or_part(self, folder, name):
        """As long as one id is meant."""
        got = run("show", folder / "AvgPool-1.h5", name)
        assert got.exit_code == 0
        assert got.stdout.startswith("AvgPool-1/ceil\n")

    def test_an_exact_id_wins_over_longer_ones(self, tmp_path):
        """An id that begins another can still be named."""
        vectors = [vector_of(replace(cases()[0], id=name)) for name in ("a", "ab")]
        assert run("show", write(tmp_path / "a.h5", vectors), "a").stdout.startswith("a\n")

    def test_several_matches_are_listed(self, tmp_path):
        """Up to ten of them, with their number."""
        vectors = [vector_of(replace(cases()[0], id=f"v{number}")) for number in range(12)]
        got = run("show", write(tmp_path / "a.h5", vectors), "v")
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr.splitlines() == [
            *(f"  v{number}" for number in range(10)),
            "  … and 2 more",
            "error: 'v' matches 12 vectors; name one of those above",
        ]

    def test_options_choose_window_and_reading(self, folder):
        """The outlined output and its divisor change."""
        vectors = folder / "AvgPool-1.h5"
        options = ["--output", "3,3", "--reading", "overhang-divisor=whole-kernel"]
        got = run("show", vectors, "ceil", *options)
        assert "expected[0, 0, 3, 3] = 4: the sum of 1 of the window's 9 cells" in got.stdout

    def test_readings_that_no_document_has_do_no_harm(self, tmp_path):
        """A stranger's file may name any; the default windows are drawn."""
        vector = vector_of(cases()[0])
        outcomes = (replace(vector.outcomes[0], readings=({"overhang-divisor": "a", "b": "c"},)),)
        path = write(tmp_path / "a.h5", [replace(vector, outcomes=outcomes)])
        got = run("show", path, "AvgPool-1/plain")
        assert (got.exit_code, got.stderr) == (0, "")

    def test_answers_with_shapes_of_other_readings_are_refused(self, tmp_path):
        """Two answers were swapped: the shapes are right, their readings are not."""
        vector = vector_of(replace(cases()[1], id="swapped"))
        first, second = vector.outcomes
        swapped = (
            replace(first, readings=second.readings),
            replace(second, readings=first.readings),
        )
        path = write(tmp_path / "a.h5", [replace(vector, outcomes=swapped)])
        got = run("show", path, "swapped")
        assert got.exit_code == 3
        assert got.stderr == "error: swapped: an answer has not the shape of its readings\n"

    def test_a_strangers_text_cannot_steer_the_terminal(self, tmp_path):
        """Escape codes of a file are not printed."""
        vector = vector_of(replace(cases()[0], source="\x1b[2J\x07gone"))
        got = run("show", write(tmp_path / "a.h5", [vector]), "AvgPool-1/plain")
        assert got.exit_code == 0
        assert not set(got.stdout) & {"\x1b", "\x07"}


class TestClauses:
    """conformance clauses."""

    def test_every_clause_is_listed(self):
        """Disputed, undefined and ruled."""
        got = run("clauses")
        assert got.exit_code == 0
        assert [name for name in CLAUSES if name not in got.stdout] == []

    @pytest.mark.parametrize("name", list(CLAUSES))
    def test_one_clause_is_explained_in_full(self, name):
        """Document, section, evidence, and every reading with the default marked."""
        got = run("clauses", name)
        clause = CLAUSES[name]
        text = " ".join(got.stdout.split())
        for part in (clause.document, clause.section, clause.evidence, clause.says):
            assert " ".join(part.split()) in text
        assert [r for r in clause.readings if f"{name}={r.name}" not in text] == []
        assert text.count("(default)") == bool(clause.readings)


class TestStrength:
    """conformance strength."""

    def test_faults_caught_and_missed_are_counted_and_named(self, folder):
        """Five small vectors catch some faults and miss others, which are listed."""
        got = run("strength", folder / "AvgPool-1.h5")
        assert got.exit_code == 0
        assert re.search(r"AvgPool-1 +5 +\d+ of \d+ +\d+", got.stdout)
        assert "Missed" in got.stdout
        assert re.search(r"\d+ of \d+ faults caught in every operator", got.stdout)

    def test_all_names_the_smallest_vector_that_catches_each(self, folder):
        """--all lists a vector per fault and operator."""
        got = run("strength", folder / "AvgPool-1.h5", "--all")
        assert "smallest vector that catches it" in got.stdout
        assert any(each.id[:20] in got.stdout for each in cases())


class TestCauses:
    """What conformance check says of why."""

    def test_a_planted_fault_is_named(self, tmp_path):
        """A backend with one fault of the catalogue is told which."""
        (tmp_path / "backends.py").write_text(
            "from conformance import evaluate\n"
            "def swapped(operator, inputs, attributes):\n"
            "    changed = dict(attributes)\n"
            "    if changed.get('auto_pad') == 'same_lower':\n"
            "        changed['auto_pad'] = 'same_upper'\n"
            "    return evaluate(operator, inputs, changed)\n"
        )
        run("generate", tmp_path / "v", "--operator", "MaxPool-1", "--tier", "smoke")
        got = run("check", f"{tmp_path / 'backends.py'}:swapped", tmp_path / "v")
        assert got.exit_code == 1
        assert "Likely causes" in got.stdout
        assert "fault same-lower-as-upper" in got.stdout
