"""How a command ends where the world is unkind: signals, streams that are gone, full disks."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import run, started, words_of
from support.effort import one_in
from support.paths import ROOT
from support.report_samples import write_cases

from conformance.record import jsonl

HANGING = """
import json, os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
sys.stdin.readline()
print('{"version": 1, "name": "hanging"}', flush=True)
sys.stdin.readline()
with open(os.environ["REACHED"], "w"):
    while True:
        signal.pause()
"""
WRONG = """
from conformance.backends import load_backend

def backend(operator, inputs, attributes):
    return load_backend("numpy")(operator, inputs, attributes) + 1
"""
CHECK = "check wrong.py:backend AvgPool-1.h5 --diagnose none"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with five vectors, a program that hangs and a backend that is wrong."""
    path = tmp_path_factory.mktemp("suite")
    write_cases(path)
    (path / "hanging.py").write_text(HANGING)
    (path / "wrong.py").write_text(WRONG)
    return path


def shell(folder, line, *words, **environment):
    """Run a command in a folder, `"$@"` in a line of a shell."""
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", *words_of(*words)],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


class TestSignals:
    """What ends a process from outside."""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_cancelled_job_leaves_a_report_and_no_process(self, folder, tmp_path, number):
        """Ctrl-C, a cancelled job, a closed terminal: also if the program ignores signals."""
        words = ("check", f"exec:{sys.executable} -ISs hanging.py", "AvgPool-1.h5")
        report = ("--json", tmp_path / "report")
        with started(folder, tmp_path / "reached", *words, *report) as (process, program):
            process.send_signal(number)
            printed, said = process.communicate(timeout=60)
            assert program.read() == ""  # which waits until the program is gone
        assert (process.returncode, said) == (130, "error: interrupted\n")
        assert "INCOMPLETE" in printed.splitlines()[-1]
        found = jsonl.read(tmp_path / "report")
        assert (found.stopped, found.complete, found.ok) == ("interrupted", False, False)

    def test_a_killed_job_leaves_no_process(self, folder, tmp_path):
        """Nobody has time to end the program, which hangs and ignores signals."""
        words = ("check", f"exec:{sys.executable} -ISs hanging.py", "AvgPool-1.h5")
        with started(folder, tmp_path / "reached", *words) as (process, program):
            process.kill()
            assert program.read() == ""  # which waits until the program is gone


class TestStreams:
    """Standard output as it may be."""

    def test_it_may_be_closed(self, folder, tmp_path):
        """The exit code and the files say what there is to say."""
        report = tmp_path / "report"
        got = shell(folder, 'exec "$@" >&-', "check", "numpy", "AvgPool-1.h5", "--json", report)
        assert (got.returncode, got.stderr) == (0, "")
        assert jsonl.read(report).ok

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    @pytest.mark.parametrize("words", [("--help",), ("check", "numpy", "AvgPool-1.h5")])
    def test_a_full_disk_is_one_line(self, folder, words):
        got = shell(folder, '"$@" > /dev/full', *words)
        said = "error: the output cannot be written: No space left on device\n"
        assert (got.returncode, got.stderr) == (2, said)

    def test_a_reader_that_leaves_costs_no_report(self, folder, tmp_path):
        """Files are written though standard output, which another form goes to, is closed."""
        page = tmp_path / "page.html"
        words = (
            "check",
            "wrong.py:backend",
            "AvgPool-1.h5",
            "--diagnose",
            "none",
            "--json",
            "-",
            "--html",
            page,
        )
        shell(folder, '"$@" | true', *words)
        assert page.read_text().rstrip().endswith("</html>")

    @pytest.mark.parametrize("columns", ["0", "1"])
    def test_a_terminal_without_columns_is_written_to(self, folder, columns):
        """Some say that they have none; the last line is whole."""
        got = shell(folder, '"$@"', "check", "numpy", "AvgPool-1.h5", COLUMNS=columns)
        assert got.stdout.splitlines()[1] == "backend numpy"
        assert got.stdout.splitlines()[-1] == "CONFORMS: 5 of 5 answered vectors; standard"


class TestFullDisk:
    """Files for which there is no room, as a limit of their size has it."""

    @pytest.mark.parametrize(
        ("command", "blocks"),
        one_in(
            2,
            [
                (
                    "generate out --operator ONNX-GlobalMaxPool-22 --tier smoke --jobs 2",
                    20,
                ),
                (f"{CHECK} --json out", 1),
                (f"{CHECK} --html out", 1),
                (f"{CHECK} --write-expected-failures out", 0),
                ("export safetensors out AvgPool-1.h5", 1),
            ],
        ),
    )
    def test_it_is_wrong_usage_in_the_words_of_the_system(self, folder, tmp_path, command, blocks):
        """No signal ends the process, and nothing half-written is left."""
        words = [*words_of(*command.replace(" out", f" {tmp_path / 'out'}").split())]
        words = [str(folder / w) if w in {"AvgPool-1.h5", "wrong.py:backend"} else w for w in words]
        # Without room, Python keeps half of the bytecode of a module, and later runs would fail.
        no_bytecode = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
        with (tmp_path / "printed").open("w") as printed:
            got = subprocess.run(
                ["/bin/sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *words],
                check=False,
                stdout=printed,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                timeout=60,
                env={**os.environ, **no_bytecode},
            )
        assert (got.returncode, got.stderr.count("\n")) == (2, 1)
        assert got.stderr.endswith("File too large\n")
        assert {path.name for path in tmp_path.iterdir()} <= {"printed", ".hypothesis"}

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    @pytest.mark.parametrize("words", [("--help",), ("check",), ("list", "AvgPool-1.h5")])
    def test_the_exit_code_is_told_where_nothing_can_be(self, folder, words):
        """Not 1, which is for a backend that does not conform."""
        assert shell(folder, '"$@" > /dev/full 2> /dev/full', *words).returncode == 2


class TestReports:
    """Files that cannot be written."""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_one_that_fails_costs_none_of_the_others(self, folder, tmp_path):
        """A run may have taken an hour. No verdict is printed: the exit code is that of errors."""
        report = tmp_path / "report.xml"
        words = ("check", "numpy", "AvgPool-1.h5", "--json", "/dev/full", "--junit", report)
        got = shell(folder, '"$@"', *words)
        said = "error: /dev/full: cannot be written: No space left on device\n"
        assert (got.returncode, got.stdout, got.stderr) == (2, "", said)
        assert "</testsuites>" in report.read_text()

    def test_a_long_name_is_as_good_as_any(self, folder, tmp_path):
        """Nothing is added to it that the file system has no room for."""
        report = tmp_path / ("r" * 255)
        got = run("check", "numpy", folder / "AvgPool-1.h5", "--in-process", "--json", report)
        assert (got.exit_code, list(tmp_path.iterdir())) == (0, [report])

    def test_a_name_that_is_too_long_is_wrong_usage(self, folder, tmp_path):
        """Before the run, in one line."""
        report = tmp_path / ("r" * 256)
        got = run("check", "numpy", folder / "AvgPool-1.h5", "--in-process", "--json", report)
        said = f"error: cannot write {report}: File name too long\n"
        assert (got.exit_code, got.stdout, got.stderr) == (2, "", said)

    @pytest.mark.skipif(sys.platform != "linux", reason="where such a directory can be left")
    def test_a_directory_that_is_gone_is_wrong_usage(self, tmp_path):
        """The one the command runs in may have been removed."""
        (tmp_path / "gone").mkdir()
        line = 'cd gone && rmdir ../gone && exec "$@"'
        for words in (("numpy", "--json", "report"), ("exec:./program",)):
            got = shell(tmp_path, line, "check", *words)
            assert (got.returncode, got.stdout, got.stderr.count("\n")) == (2, "", 1)
