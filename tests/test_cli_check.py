"""The options of conformance check: how a backend is run, what counts, and what is written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from samples import cases, write_cases

from conformance.check import going
from conformance.cli import main
from conformance.cli.sizes import size
from conformance.report import jsonl

ROOT = Path(__file__).parent.parent
BACKENDS = """
import os, resource, threading
from conformance.backends import load_backend

right = load_backend("numpy")

def upper(operator, inputs, attributes):
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return right(operator, inputs, attributes)

def crashing(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        os.abort()
    return right(operator, inputs, attributes)

def hanging(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        threading.Event().wait()
    return right(operator, inputs, attributes)

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

def reached(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        with open(os.environ["REACHED"], "w"):
            threading.Event().wait()
    return right(operator, inputs, attributes)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with five vectors and some backends."""
    path = tmp_path_factory.mktemp("suite")
    write_cases(path)
    (path / "backends.py").write_text(BACKENDS)
    return path


@pytest.fixture
def check(folder, monkeypatch):
    """Return what runs conformance check in that folder, with a backend of it or any other."""
    monkeypatch.chdir(folder)

    def run(backend, *options):
        name = f"backends.py:{backend}" if f"def {backend}(" in BACKENDS else backend
        return CliRunner().invoke(main, ["check", name, "AvgPool-1.h5", *map(str, options)])

    return run


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

    def test_a_crash_is_the_verdict_on_one_vector(self, check):
        """The others are run; the signal is named."""
        got = check("crashing")
        assert (got.exit_code, got.stderr) == (1, "")
        assert verdict(got) == "DOES NOT CONFORM: 1 crashed; 5 of 5 vectors run"
        assert "signal SIGABRT (6)" in got.stdout

    def test_a_hang_is_the_verdict_on_one_vector(self, check):
        """After the seconds of --timeout."""
        got = check("hanging", "--timeout", 0.5)
        assert verdict(got) == "DOES NOT CONFORM: 1 timed-out; 5 of 5 vectors run"
        assert "no answer within 0.5 s" in got.stdout

    @pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory needs Linux")
    def test_memory_limits_a_worker(self, check):
        """Its address space."""
        assert verdict(check("limited", "--memory", "3G")) == "CONFORMS: 5 of 5 vectors conform"

    @pytest.mark.parametrize("how", [["--jobs", 2], ["--executor", "process", "--jobs", 2]])
    def test_several_workers_give_the_same_report(self, check, tmp_path, how):
        """Every result and reading, in the order of the file."""
        reports = []
        for name, options in (("one", []), ("several", how)):
            assert check("upper", "--json", tmp_path / name, *options).exit_code == 1
            *results, footer = (tmp_path / name).read_text().splitlines()[1:]
            reports.append((results, json.loads(footer)["readings"]))
        assert reports[0] == reports[1]

    @pytest.mark.parametrize(
        "option",
        [["--jobs", "1"], ["--timeout", "60"], ["--memory", "2G"], ["--executor", "process"]],
    )
    def test_options_of_workers_need_workers(self, check, option):
        """In process there is nothing that could keep to them."""
        got = check("numpy", "--in-process", *option)
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (2, "", 1)
        assert option[0] in got.stderr
        assert got.stderr.endswith("for workers: not with --in-process\n")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--memory", "2X"], "'2X' is no size: a number of bytes, 500M, 2G"),
            (["--jobs", "0"], "0 is not in the range x>=1"),
            (["--timeout", "0"], "0.0 is not in the range x>0"),
            (["--executor", "zzz"], "no executor 'zzz'; there are process and dask:ADDRESS"),
            (["--executor", "process", "--max-failures", "1"], "leave out max_failures"),
        ],
    )
    def test_options_that_are_wrong_are_one_line(self, check, options, message):
        """Before anything is run."""
        got = check("numpy", *options)
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (2, "", 1)
        assert message in got.stderr

    def test_an_interrupt_ends_workers_and_keeps_the_report(self, folder, tmp_path):
        """Ctrl-C in a call that hangs: exit 130, with what was done in every form."""
        reached = tmp_path / "reached"
        os.mkfifo(reached)
        command = ["check", "backends.py:reached", "AvgPool-1.h5", "--json", str(tmp_path / "r")]
        with (
            subprocess.Popen(
                [sys.executable, "-m", "conformance", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=folder,
                env={**os.environ, "REACHED": str(reached), "PYTHONPATH": str(ROOT)},
            ) as process,
            reached.open() as worker,
        ):  # which waits until the backend opens it
            process.send_signal(signal.SIGINT)
            printed, said = process.communicate(timeout=60)
            assert worker.read() == ""  # which waits until the backend is gone
        assert (process.returncode, said) == (130, "error: interrupted\n")
        assert "INCOMPLETE" in printed.splitlines()[-1]
        report = jsonl.read(tmp_path / "r")
        assert (report.complete, report.ok) == (False, False)
        assert [each.id for each in report.results] == [each.id for each in cases()[:2]]


class TestParts:
    """What is run of the selection."""

    def test_shards_share_the_vectors(self, check, tmp_path):
        """Each vector is in one of them."""
        for shard in ("1/2", "2/2"):
            got = check("numpy", "--shard", shard, "--json", tmp_path / shard[0])
            assert got.exit_code == 0
        ids = [each.id for shard in "12" for each in jsonl.read(tmp_path / shard).results]
        assert sorted(ids) == sorted(each.id for each in cases())

    @pytest.mark.parametrize("shard", ["3/2", "0/2", "1", "a/b", "1/0"])
    def test_a_shard_that_there_is_not_is_wrong_usage(self, check, shard):
        """The form is in the message."""
        got = check("numpy", "--shard", shard)
        assert (got.exit_code, got.stdout) == (2, "")
        assert f"shard '{shard}' is not i/n, the i-th of n parts: 1/4 for example" in got.stderr

    def test_a_run_that_was_stopped_is_incomplete(self, check, monkeypatch):
        """--max-failures: what was not reached may fail too."""
        monkeypatch.setattr(going, "_PORTION", 1)
        got = check("upper", "--max-failures", 1)
        assert got.exit_code == 1
        assert verdict(got).startswith("DOES NOT CONFORM, INCOMPLETE: 1 mismatch")

    def test_a_run_that_had_nothing_left_is_complete(self, check):
        """The last failure that is allowed may be that of the last vector."""
        got = check("upper", "--max-failures", 1)
        assert verdict(got).startswith("DOES NOT CONFORM: 1 mismatch")


class TestReports:
    """Files that a run writes."""

    def test_json_to_standard_output_is_all_there_is(self, check):
        """So that it can be piped; the exit code says the rest."""
        got = check("upper", "--json", "-")
        assert (got.exit_code, got.stderr) == (1, "")
        lines = [json.loads(line)["kind"] for line in got.stdout.splitlines()]
        assert lines == ["header", *["result"] * 5, "footer"]

    def test_every_form_is_written_beside_the_text(self, check, tmp_path):
        """The text for the terminal stays."""
        names = ("json", "junit", "markdown", "html")
        options = [each for name in names for each in (f"--{name}", tmp_path / name)]
        assert verdict(check("numpy", *options)) == "CONFORMS: 5 of 5 vectors conform"
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)

    @pytest.mark.parametrize(
        "option", ["--json", "--junit", "--markdown", "--html", "--write-expected-failures"]
    )
    def test_a_file_that_cannot_be_written_is_found_before_the_run(
        self, check, tmp_path, monkeypatch, option
    ):
        """A run may take minutes."""
        monkeypatch.setenv("MARK", str(tmp_path / "mark"))
        got = check("leaving_a_mark", "--in-process", option, tmp_path / "nowhere" / "file")
        assert (got.exit_code, got.stdout) == (2, "")
        assert "there is no directory" in got.stderr
        assert list(tmp_path.iterdir()) == []

    def test_stored_results_that_are_broken_exit_3(self, check, tmp_path):
        """They say nothing of the backend."""
        (tmp_path / "status.tsv").write_text("passed\tAvgPool-1/plain\t\n")
        got = check(f"results:{tmp_path}")
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (3, "", 1)
        assert "status.tsv: line 1 is not 'raised' or 'unsupported'" in got.stderr

    def test_a_program_that_does_not_speak_exits_2(self, check):
        """It is a wrong argument, not a backend that does not conform."""
        got = check("exec:false")
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr == "error: exec:false: exit status 1\n"


class TestExpectedFailures:
    """--expected-failures and --write-expected-failures."""

    def test_a_file_goes_with_its_run(self, check, tmp_path):
        """Written from failures, it announces them; when they are mended it has to change."""
        file = tmp_path / "expected.txt"
        assert check("upper", "--write-expected-failures", file).exit_code == 1
        known = check("upper", "--expected-failures", file)
        assert (known.exit_code, verdict(known)) == (
            0,
            "CONFORMS: 4 of 5 vectors conform, 1 expected failure",
        )
        mended = check("numpy", "--expected-failures", file)
        assert mended.exit_code == 1
        assert verdict(mended).startswith("DOES NOT CONFORM: 1 passed unexpectedly")
        options = ["--expected-failures", file, "--write-expected-failures", file]
        assert check("numpy", *options).exit_code == 1
        assert check("numpy", "--expected-failures", file).exit_code == 0

    def test_another_file_is_not_written_over(self, check, folder):
        """It may be somebody's work."""
        before = (folder / "backends.py").read_text()
        got = check("numpy", "--write-expected-failures", "backends.py")
        assert (got.exit_code, got.stdout) == (2, "")
        assert "backends.py:2: no verdict 'import'" in got.stderr
        assert (folder / "backends.py").read_text() == before

    def test_a_file_that_is_not_there_is_wrong_usage(self, check):
        """A run without it would say too much."""
        got = check("numpy", "--expected-failures", "nowhere.txt")
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr.startswith("error: nowhere.txt: ")
