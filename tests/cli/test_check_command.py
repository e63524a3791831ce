"""The options of conformance check: how a backend is run, what counts, and what is written."""

import json
import os
import sys

import click
import pytest
from support.command_line import run, write_backends
from support.report_samples import write_cases

from conformance.cli.options import size
from conformance.judging import run as check_run

BACKENDS = """
import resource

def limited(operator, inputs, attributes):
    if resource.getrlimit(resource.RLIMIT_AS)[0] != 3 << 30:
        raise MemoryError("not the limit that was asked for")
    return right(operator, inputs, attributes)

def apart(operator, inputs, attributes):
    if os.environ["HARNESS"] == str(os.getpid()):
        raise RuntimeError("in the process of the harness")
    return right(operator, inputs, attributes)

def leaving_a_mark(operator, inputs, attributes):
    open(os.environ["MARK"], "w").close()
    return right(operator, inputs, attributes)
"""

SOUND = "CONFORMS: 5 of 5 answered vectors; standard"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with five vectors and some backends."""
    path = tmp_path_factory.mktemp("suite")
    write_cases(path)
    write_backends(path, BACKENDS)
    return path


@pytest.fixture
def check(folder, monkeypatch):
    """Return what runs conformance check in that folder, with a backend of it or any other.

    Causes are not searched for, which takes seconds.
    """
    monkeypatch.chdir(folder)

    def check(backend, *options):
        ours = f"def {backend}(" in (folder / "backends.py").read_text()
        name = f"backends.py:{backend}" if ours else backend
        return run("check", name, "AvgPool-1.h5", "--diagnose", "none", *options)

    return check


@pytest.fixture
def check_here(check):
    """Return what runs it with the backend in this process, which starts sooner."""
    return lambda backend, *options: check(backend, "--in-process", *options)


def verdict(got):
    """Return the last line that a command printed."""
    return got.stdout.splitlines()[-1]


class TestSizes:
    """What --memory takes."""

    @pytest.mark.parametrize(
        ("text", "bytes_"),
        [
            ("4096", 4096),
            ("1k", 1024),
            ("500M", 500 << 20),
            ("2G", 2 << 30),
            ("2gb", 2 << 30),
            ("2GiB", 2 << 30),
            ("1T", 1 << 40),
            (None, None),
        ],
    )
    def test_a_number_and_a_unit(self, text, bytes_):
        """Units are powers of 1024, whatever they are called."""
        assert size(None, None, text) == bytes_

    @pytest.mark.parametrize("text", ["", "0", "0G", "-1", "1.5G", "2X", "G", "2 G", "9" * 16])
    def test_anything_else_is_refused(self, text):
        """No limit is not a size of 0: leave the option out."""
        with pytest.raises(click.BadParameter, match="is no size: a number of bytes, 500M, 2G"):
            size(None, None, text)


class TestWorkers:
    """Where a backend runs."""

    def test_a_backend_runs_in_a_process_of_its_own(self, check, monkeypatch):
        """Unless --in-process asks for this one."""
        monkeypatch.setenv("HARNESS", str(os.getpid()))
        assert check("apart").exit_code == 0
        assert "3 error" in verdict(check("apart", "--in-process"))

    @pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory needs Linux")
    def test_memory_limits_a_worker(self, check):
        """Its address space."""
        assert verdict(check("limited", "--memory", "3G")) == SOUND

    def test_several_workers_give_the_same_report(self, check, tmp_path):
        """Every result and reading, in the order of the file."""
        reports = []
        for name, options in (("one", []), ("several", ["--jobs", 2])):
            assert check("upper", "--json", tmp_path / name, *options).exit_code == 1
            *results, footer = (tmp_path / name).read_text().splitlines()[1:]
            reports.append((results, json.loads(footer)["readings"]))
        assert reports[0] == reports[1]

    @pytest.mark.parametrize(
        "option",
        [["--jobs", "1"], ["--timeout", "60"], ["--memory", "2G"], ["--cluster", "zzz"]],
    )
    def test_options_of_workers_need_workers(self, check, option):
        """In process there is nothing that could keep to them."""
        got = check("numpy", "--in-process", *option)
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (2, "", 1)
        assert option[0] in got.stderr
        assert got.stderr.endswith("for workers: not with --in-process\n")


class TestExtensions:
    def test_they_fail_unless_they_are_allowed(self, check_here):
        """And then they are counted beside what conforms."""
        failed = check_here("general")
        assert failed.exit_code == 1
        assert verdict(failed).startswith("DOES NOT CONFORM: 1 accepted-invalid; ")
        allowed = check_here("general", "--allow-extensions")
        assert allowed.exit_code == 0
        assert verdict(allowed) == "CONFORMS: 4 of 5 answered vectors; 1 extension; standard"


class TestParts:
    """What is run of the selection."""

    def test_a_run_that_was_stopped_is_incomplete(self, check_here, monkeypatch):
        """--max-failures: what was not reached may fail too."""
        monkeypatch.setattr(check_run, "_BETWEEN_COUNTS", 1)
        got = check_here("upper", "--max-failures", 1)
        assert got.exit_code == 1
        assert verdict(got).startswith("DOES NOT CONFORM, INCOMPLETE: 1 mismatch")


class TestReports:
    """Files that a run writes."""

    def test_json_to_standard_output_is_all_there_is(self, check_here):
        """So that it can be piped; the exit code says the rest."""
        got = check_here("upper", "--json", "-")
        assert (got.exit_code, got.stderr) == (1, "")
        lines = [json.loads(line)["kind"] for line in got.stdout.splitlines()]
        assert lines == ["header", *["result"] * 5, "footer"]

    def test_every_form_is_written_beside_the_text(self, check_here, tmp_path):
        """The text for the terminal stays."""
        names = ("json", "junit", "markdown", "html")
        options = [each for name in names for each in (f"--{name}", tmp_path / name)]
        assert verdict(check_here("numpy", *options)) == SOUND
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)

    @pytest.mark.parametrize(
        "option", ["--json", "--junit", "--markdown", "--html", "--write-expected-failures"]
    )
    def test_a_file_that_cannot_be_written_is_found_before_the_run(
        self, check_here, tmp_path, monkeypatch, option
    ):
        """A run may take minutes."""
        monkeypatch.setenv("MARK", str(tmp_path / "mark"))
        got = check_here("leaving_a_mark", option, tmp_path / "nowhere" / "file")
        assert (got.exit_code, got.stdout) == (2, "")
        assert "there is no directory" in got.stderr
        assert list(tmp_path.iterdir()) == []

    def test_stored_results_that_are_broken_exit_3(self, check, tmp_path):
        """They say nothing of the backend."""
        (tmp_path / "r").write_text("passed")
        got = check(f"results:{tmp_path / 'r'}")
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (3, "", 1)
        assert (
            "r: not a sound file of safetensors (its header is longer than the file)" in got.stderr
        )

    def test_a_program_that_does_not_speak_exits_2(self, check):
        """It is a wrong argument, not a backend that does not conform."""
        got = check("exec:false")
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr == "error: exec:false: exit status 1\n"


class TestFloors:
    @pytest.mark.parametrize(
        ("option", "code"),
        [
            (("--min-supported", "80%"), 0),
            (("--min-supported", "4", "--min-supported", "81%,AvgPool-1"), 1),
            (("--strict-unsupported",), 1),
            (("--min-supported", "6"), 2),
            (("--min-supported", "most"), 2),
            (("--baseline", "nowhere.jsonl"), 2),
            (("--baseline", "AvgPool-1.h5"), 3),
        ],
    )
    def test_exit_codes(self, check_here, option, code):
        """A floor that is missed is no conformance; one that cannot be judged is wrong usage."""
        assert check_here("partial", *option).exit_code == code

    def test_a_baseline_is_a_saved_report(self, check_here, tmp_path):
        """The last line says how much was lost, and the baseline is not written over."""
        base = tmp_path / "base.jsonl"
        check_here("numpy", "--json", base)
        lost = check_here("partial", "--baseline", base)
        assert verdict(lost).startswith(f"DOES NOT CONFORM: 1 lost since {base}")
        assert check_here("partial", "--baseline", base, "--json", base).exit_code == 2


class TestSkip:
    def test_what_a_file_names_is_not_called(self, check_here, tmp_path):
        """The backend is wrong there, and nobody sees it; the report says that nobody looked."""
        file = tmp_path / "skip.txt"
        file.write_text("skip */lower # 12: hangs the device\n")
        got = check_here("upper", "--skip", file)
        assert got.exit_code == 0
        assert "  1 vector: 12: hangs the device\n" in got.stdout
        assert verdict(got) == "CONFORMS: 4 of 4 answered vectors; 1 skipped; standard"

    def test_the_file_is_not_written_over(self, check_here, tmp_path):
        file = tmp_path / "skip.txt"
        file.write_text("skip */lower # 12: hangs the device\n")
        got = check_here("upper", "--skip", file, "--json", file)
        assert (got.exit_code, got.stdout) == (2, "")
        assert file.read_text().startswith("skip */lower")


class TestExpectedFailures:
    def test_a_file_goes_with_its_run(self, check_here, tmp_path):
        """Written from failures, it announces them; when they are mended it has to change."""
        file = tmp_path / "expected.txt"
        first = check_here("upper", "--write-expected-failures", file, "--max-shown", 0)
        assert first.exit_code == 1
        assert f"wrote {file}: 1 line added\n" in first.stdout
        known = check_here("upper", "--expected-failures", file)
        assert (known.exit_code, verdict(known)) == (
            0,
            "CONFORMS: 4 of 5 answered vectors; 1 expected failure; standard",
        )
        mended = check_here("numpy", "--expected-failures", file)
        assert mended.exit_code == 1
        assert verdict(mended).startswith("DOES NOT CONFORM: 1 passed unexpectedly")
        options = ["--expected-failures", file, "--write-expected-failures", file]
        assert check_here("numpy", *options).exit_code == 1
        assert check_here("numpy", "--expected-failures", file).exit_code == 0

    def test_another_file_is_not_written_over(self, check_here, folder):
        """It may be somebody's work."""
        before = (folder / "backends.py").read_text()
        got = check_here("numpy", "--write-expected-failures", "backends.py")
        assert (got.exit_code, got.stdout) == (2, "")
        assert "backends.py:2: no verdict 'import'" in got.stderr
        assert (folder / "backends.py").read_text() == before
