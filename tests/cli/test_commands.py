"""The command line, in this process and as a program."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from support.arbitrary_vectors import with_first
from support.command_line import run, words_of, write_backends
from support.effort import one_in
from support.fakes import pool, ramp, vector
from support.paths import ROOT
from support.report_samples import PLAIN, case, cases, write, write_cases

from conformance.cli import generate_command, main
from conformance.cli.options import FLOAT_TYPES, LARGE, TIERS
from conformance.dtypes import WIDE_FLOATS
from conformance.faults import CATALOGUE
from conformance.operators import CLAUSES, vector_of
from conformance.vector import LARGE as LARGE_TIER
from conformance.vector import TIERS as ALL_TIERS
from conformance.vector import Arithmetic
from conformance.vectorfile import VectorWriter

SOUND = "CONFORMS: 5 of 5 answered vectors; standard"
FAULTY = "DOES NOT CONFORM: 1 mismatch; 4 of 5 answered vectors conform; standard"

COMMANDS = [
    "generate",
    "check",
    "init",
    "compare",
    "history",
    "report",
    "diff",
    "merge",
    "site",
    "probe",
    "verify",
    "list",
    "show",
    "fuzz",
    "reveal",
    "clauses",
    "faults",
    "strength",
    "export",
]
BACKENDS = """
calls = 0
def nothing(operator, inputs, attributes):
    raise NotImplementedError
def stopped(operator, inputs, attributes):
    global calls
    calls += 1
    if calls == 3:
        raise KeyboardInterrupt
    return right(operator, inputs, attributes)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a vector file, backends, and files that are no vectors."""
    path = tmp_path_factory.mktemp("suite")
    write_cases(path)
    write_backends(path, BACKENDS)
    (path / "nothing").mkdir()
    (path / "text.h5").mkdir()
    (path / "text.h5" / "a.h5").write_text("not HDF5")
    return path


def printed_by(code):
    """Return what a new interpreter prints."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout


class TestProgram:
    """What every command does."""

    def test_help_waits_for_no_library(self):
        """numpy, h5py and rich are imported when a command runs, not for the help of any."""
        code = f"""if True:
            import sys
            from click.testing import CliRunner
            from conformance.cli import main
            for words in ["--help"], *([command, "--help"] for command in {COMMANDS}):
                assert "Usage:" in CliRunner().invoke(main, words).stdout
            print(*{{"numpy", "h5py", "rich"}} & {{*sys.modules}})
        """
        assert printed_by(code) == "\n"

    def test_the_list_of_commands_loads_none_of_them(self):
        code = """if True:
            import sys
            from click.testing import CliRunner
            from conformance.cli import main
            assert "Usage:" in CliRunner().invoke(main, ["--help"]).stdout
            print(*(name for name in sys.modules if name.endswith(("_command", "_commands"))))
        """
        assert printed_by(code) == "conformance.cli.main_command\n"

    def test_each_command_is_listed_with_the_first_line_of_its_help(self):
        assert main.list_commands(None) == COMMANDS
        for name, line in main.listed.items():
            loaded = main.get_command(None, name)
            assert (loaded.name, loaded.help.split("\n")[0]) == (name, line)

    @pytest.mark.parametrize(
        ("words", "expected"),
        [(["re"], ["report", "reveal"]), (["check", "--clu"], ["--cluster"])],
    )
    def test_a_shell_completes_commands_and_options(self, words, expected):
        completion = ShellComplete(main, {}, "conformance", "_CONFORMANCE_COMPLETE")
        got = completion.get_completions(words[:-1], words[-1])
        assert [item.value for item in got] == expected

    def test_no_command_is_wrong_usage_and_shows_help(self):
        """Help goes to standard error, where a script does not read it."""
        got = run()
        assert (got.exit_code, got.stdout) == (2, "")
        assert "Commands:" in got.stderr

    def test_tiers_are_those_of_the_vectors(self):
        """The command line may not import them, since they come with numpy."""
        assert (*TIERS, LARGE) == (*ALL_TIERS, LARGE_TIER)

    def test_types_are_those_of_the_suite(self):
        """The command line may not import these either."""
        assert FLOAT_TYPES == WIDE_FLOATS

    def test_a_reader_that_goes_away_is_no_error(self, folder):
        """`conformance list --ids | head -0` ends quietly with the status of SIGPIPE."""
        with subprocess.Popen(
            words_of("list", "--ids", folder / "AvgPool-1.h5"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        ) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141

    def test_a_bug_of_ours_is_not_a_failing_backend(self, monkeypatch, folder):
        """An error nobody foresaw exits 3 with a traceback; 1 would blame the backend."""

        def broken(*_arguments, **_options):
            raise ZeroDivisionError("a bug")

        monkeypatch.setattr("conformance.api.check.check", broken)
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
        ("check numpy {f}/nothing", 2, "{f}/nothing: no vector files (*.h5) in this directory"),
        ("check numpy {f}/backends.py", 3, "{f}/backends.py: not an HDF5 file"),
        ("check numpi {v}", 2, "no backend 'numpi' (did you mean numpy?); built-in names: numpy"),
        ("check {f}/gone.py:a {v}", 2, "no file {f}/gone.py"),
        ("check numpy {v} --operator MaxPool-1", 2, "no vectors of MaxPool-1; there are"),
        ("check numpy {v} --tier huge", 2, "'huge' is not one of 'smoke', 'standard'"),
        ("check numpy {v} --select zzz", 2, "select 'zzz' matches no vector of tier standard"),
        ("check numpy {v} --require zzz", 2, "'zzz' is not CLAUSE=READING"),
        (
            "check numpy {v} --require accumulator=wider --require accumulator=element-type",
            2,
            "accumulator is asked to be both wider and element-type",
        ),
        ("check numpy {v} --max-shown -1", 2, "-1 is not in the range x>=0"),
        ("check numpy {v} --memory 2X", 2, "'2X' is no size: a number of bytes, 500M, 2G"),
        ("check numpy {v} --jobs 0", 2, "0 is not in the range x>=1"),
        ("check numpy {v} --timeout 0", 2, "0.0 is not in the range x>0"),
        ("check numpy {v} --expected-failures {f}/gone", 2, "{f}/gone: "),
        ("check numpy {v} --skip {f}/gone", 2, "file of vectors to skip {f}/gone: No such file"),
        ("verify {f}/gone", 2, "{f}/gone: no such file or directory"),
        ("verify {f}/text.h5", 3, "{f}/text.h5/a.h5: not an HDF5 file"),
        ("list {f}/gone", 2, "{f}/gone: no such file or directory"),
        ("list {v} --select zzz", 2, "select 'zzz' matches no vector"),
        ("show {f}/gone a", 2, "{f}/gone: no such file or directory"),
        ("show", 2, "Missing argument '[VECTORS] CASE'"),
        ("show {v}", 2, "{v}: which vector of it? see conformance list {v} --ids"),
        ("show {v} plain more", 2, "3 arguments; give the vectors, or none, and one id"),
        ("report {f}", 2, "{f}: a directory; give a report that --json wrote"),
        (
            "show {v} AvgPool-1/lowr",
            2,
            "no vector 'AvgPool-1/lowr' among 5 (did you mean AvgPool-1/lower?)",
        ),
        ("show {v} zzz", 2, "no vector 'zzz' among 5: see conformance list --ids"),
        ("show {v} plain --output a", 2, "'a' is not a list of integers like 0,2"),
        ("show {v} plain --output 9,9", 2, "output 9,9 does not exist"),
        ("show {v} plain --plane 0,9", 2, "plane 0,9 does not exist"),
        ("show {v} plain --reading accumulator=wider", 2, "no reading accumulator=wider applies"),
        ("faults zzz", 2, "no fault 'zzz': see conformance faults"),
        ("faults ceil-ignore", 2, "did you mean ceil-ignored?"),
        ("clauses zzz", 2, "no clause 'zzz': see conformance clauses"),
        ("clauses overhang-divisr", 2, "did you mean overhang-divisor?"),
        ("generate", 2, "Missing argument 'DIR'"),
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
    def test_a_backend_that_conforms_exits_0(self, folder):
        """The verdict is the last line."""
        got = run("check", "numpy", folder / "AvgPool-1.h5")
        assert (got.exit_code, got.stderr) == (0, "")
        assert got.stdout.endswith(f"\n{SOUND}\n")

    def test_a_backend_that_does_not_exits_1_with_a_script(self, folder):
        """The script between the marks runs as it is and shows the difference."""
        backend = f"{folder / 'backends.py'}:upper"
        got = run("check", backend, folder / "AvgPool-1.h5", "--diagnose", "none")
        assert (got.exit_code, got.stderr) == (1, "")
        assert got.stdout.endswith(f"\n{FAULTY}\n")
        script = got.stdout.partition("# to reproduce\n")[2].partition("# end\n")[0]
        shown = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        value, expected = shown.stdout.split(" instead of ")
        assert float(value) != float(expected)
        assert f"is {np.float32(value):g}, expected {np.float32(expected):g}" in got.stdout

    @pytest.mark.parametrize(
        "option", [["--require", "overhang-divisor=whole-kernel"], ["--profile", "openvino"]]
    )
    def test_a_required_reading_that_is_not_followed_exits_1(self, folder, option):
        """The numpy backend counts overhang within the padded extent."""
        got = run(
            "check", "numpy", folder / "AvgPool-1.h5", "--select", "ceil", *option, "--in-process"
        )
        assert got.exit_code == 1
        assert "follows overhang-divisor=padded-extent" in got.stdout

    def test_an_interrupt_reports_what_was_done(self, folder):
        """Exit 130, the report of what was run, and a loud word that it is incomplete."""
        backend = f"{folder / 'backends.py'}:stopped"
        got = run("check", backend, folder / "AvgPool-1.h5", "--in-process")
        assert got.exit_code == 130
        assert got.stderr.strip() == "error: interrupted"
        assert "INCOMPLETE: 3 selected vectors never reached" in got.stdout
        assert got.stdout.splitlines()[-1].endswith("3 never reached; standard")

    def test_colours_are_for_terminals(self, folder):
        """A pipe gets plain text of 80 columns."""
        backend = f"{folder / 'backends.py'}:upper"
        words = ("check", backend, folder / "AvgPool-1.h5", "--in-process", "--diagnose", "seen")
        got = run(*words)
        assert "\x1b" not in got.stdout
        # Paths, ids and commands are to be copied, and never break.
        copied = (backend, "AvgPool-1/")
        lines = [line for line in got.stdout.splitlines() if not any(map(line.count, copied))]
        assert max(map(len, lines)) <= 80


class TestGenerateAndVerify:
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
            "--verbose",
        )
        assert (made.exit_code, made.stderr) == (0, "")
        assert [path.name for path in tmp_path.iterdir()] == ["AdaptiveAvgPool-8.h5"]
        (digest,) = re.findall(r"digest (\w{64})$", made.stdout, re.MULTILINE)
        verified = run("verify", tmp_path)
        assert verified.exit_code == 0
        assert digest in verified.stdout
        assert re.search(r"^VERIFIED: (\d+) of \1 vectors", verified.stdout, re.MULTILINE)

    @pytest.mark.parametrize(
        ("options", "jobs"),
        [
            ([], 3),
            (["--operator", "MaxPool-1"], 1),
            (["--operator", "MaxPool-1", "--tier", "exhaustive"], 3),
            (["--jobs", 1], 1),
            (["--jobs", 2], 2),
        ],
    )
    def test_several_files_are_made_by_one_process_per_cpu(
        self, tmp_path, monkeypatch, options, jobs
    ):
        """One file, or --jobs 1, needs no other process."""
        opened = []

        def generate(folder, *, jobs, **_):
            opened.append(jobs)
            return []

        monkeypatch.setattr(generate_command, "usable_cpus", lambda: 3)
        monkeypatch.setattr("conformance.cases.generate.generate", generate)
        assert run("generate", tmp_path, *options).exit_code == 0
        assert opened == [jobs]

    def test_a_wrong_expected_value_exits_3(self, tmp_path):
        """The digest is right, the value is not: one line names vector and element."""
        vector = vector_of(cases()[0])
        (outcome,) = vector.outcomes
        wrong = with_first(outcome, values=outcome.outputs[0].values + np.float32(1))
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
        outcome = replace(vector.outcomes[0], arithmetic=Arithmetic.ELEMENT_TYPE)
        wrong = [
            replace(vector, case=replace(vector.case, id=f"v{number}"), outcomes=(outcome,))
            for number in range(30)
        ]
        got = run("verify", write(tmp_path / "a.h5", wrong))
        assert got.stdout.count("arithmetic is element-type, computed the usual one") == 20
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
    one_in(
        3,
        [
            pool(pads_begin=[2**40], strides=[1]),
            pool(strides=[10**30]),
            pool(kernel=[2**62], pads_begin=[2**62]),
        ],
    ),
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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list"], 2),
        (["verify"], 2),
        (["check", "numpy"], 2),
        (["generate", "d", "--like"], 2),
        (["report"], 3),
        (["merge"], 3),
    ],
)
def test_a_name_that_no_system_allows_is_one_line(words, code):
    got = run(*words, "x" * 300)
    assert (got.exit_code, got.stderr.count("\n")) == (code, 1)
    assert "name too long" in got.stderr.lower()


def test_a_pipe_is_no_report(tmp_path):
    """Nobody waits for one that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    got = run("report", tmp_path / "pipe")
    assert (got.exit_code, got.stderr.count("\n")) == (3, 1)
    assert "not a regular file" in got.stderr


class TestList:
    def test_a_summary_counts_what_is_there(self, folder):
        """Tiers, types, provenance, clauses, digest."""
        got = run("list", folder / "AvgPool-1.h5")
        assert got.exit_code == 0
        lines = [" ".join(line.split()) for line in got.stdout.splitlines()]
        assert lines[0] == "AvgPool-1"
        assert lines[1].startswith("5 vectors, ")
        assert "tier smoke 1, standard 4" in lines
        assert "dtype float32 5" in lines
        assert "provenance derived 1, computed 4" in lines
        assert re.search(r"^  digest \w{64}$", got.stdout, re.MULTILINE)

    def test_several_files_of_an_operator_are_each_listed(self, tmp_path, folder):
        """With their own ids; and a report of them knows their vectors again."""
        for name, part in (("a.h5", cases()[:2]), ("b.h5", cases()[2:4])):
            write(tmp_path / name, [vector_of(each) for each in part])
        ids = run("list", tmp_path, "--ids").stdout.splitlines()
        assert ids == [each.id for each in cases()[:4]]
        shown = run("list", tmp_path).stdout
        assert "a.h5" in shown
        assert "b.h5" in shown
        backend, saved = f"{folder / 'backends.py'}:right", tmp_path / "r.jsonl"
        run("check", backend, tmp_path, "--in-process", "--json", saved)
        assert run("report", saved, "--vectors", tmp_path).exit_code == 0

    def test_select_narrows_ids_and_counts(self, folder):
        """Part of an id or a pattern."""
        vectors = folder / "AvgPool-1.h5"
        assert run("list", vectors, "--ids", "--select", "*l*in").stdout == "AvgPool-1/plain\n"
        assert "1 of 5 vectors" in run("list", vectors, "--select", "plain").stdout


class TestShow:
    @pytest.mark.parametrize("name", ["AvgPool-1/ceil", "AvgPool-1/c", "*ceil", "ceil"])
    def test_a_vector_is_found_by_id_prefix_pattern_or_part(self, folder, name):
        """As long as one id is meant."""
        got = run("show", folder / "AvgPool-1.h5", name)
        assert got.exit_code == 0
        assert got.stdout.startswith("AvgPool-1/ceil\n")

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


class TestFaults:
    def test_one_fault_is_explained_in_full(self):
        """What is wrong, the step, the operators, public reports; also that of gradients."""
        text = " ".join(run("faults", "ceil-ignored").stdout.split())
        assert "rounding=ceil and ceil_torch taken as floor" in text
        assert "resolve" in text
        assert "ONNX-LpPool-22" in text
        assert "https://github.com/opencv/opencv/pull/21159" in text
        assert "in the gradient, " in run("faults", "backward-strides-ignored").stdout


class TestStrength:
    def test_faults_caught_and_missed_are_counted_and_named(self, folder, monkeypatch):
        """Five small vectors catch some faults, --all says which of them, and miss others."""
        monkeypatch.setattr("conformance.api.strength.CATALOGUE", CATALOGUE[::8])
        got = run("strength", folder / "AvgPool-1.h5", "--all")
        assert got.exit_code == 0
        assert re.search(r"AvgPool-1 +5 +\d+ of \d+ +\d+", got.stdout)
        assert "smallest vector that catches it" in got.stdout
        assert any(each.id[:20] in got.stdout for each in cases())
        assert "Missed" in got.stdout
        assert re.search(r"\d+ of \d+ faults caught in every operator", got.stdout)
