"""Saved reports on the command line: rendered again, compared and merged."""

import json
import shlex
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import click
import pytest
from support.arbitrary_reports import made, real, reference, result, upper
from support.command_line import run
from support.fakes import check
from support.report_samples import write_cases

from conformance.cli.group import OneLineErrors
from conformance.cli.outputs import check_writable, report_options
from conformance.cli.report_files import write_reports
from conformance.errors import UsageError
from conformance.record import jsonl

FAULTY = "DOES NOT CONFORM: 1 mismatch; 4 of 5 answered vectors conform; standard"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with vectors and reports of them: right, faulty, and two shards."""
    path = tmp_path_factory.mktemp("reports")
    write_cases(path)
    vectors = path / "AvgPool-1.h5"
    jsonl.write(check(reference, vectors, name="b"), path / "right.json")
    jsonl.write(check(upper, vectors, name="b"), path / "faulty.json")
    for shard in (1, 2):
        report = check(upper, vectors, name="b", shard=f"{shard}/2")
        jsonl.write(report, path / f"shard{shard}.json")
    data = (path / "right.json").read_bytes()
    (path / "cut.json").write_bytes(data[: len(data) // 2])
    return path


class TestReport:
    def test_it_shows_what_check_showed(self, folder):
        """And exits 0, whatever the report says."""
        got = run("report", folder / "faulty.json")
        assert got.exit_code == 0
        assert "AvgPool-1: wrong values in 1 vector" in got.stdout
        assert got.stdout.endswith(f"{FAULTY}\n")
        assert "# to reproduce" not in got.stdout

    def test_verbose_shows_what_is_left_out_in_brief(self, folder):
        """The tables of readings and accuracy, and what was done where nothing is defined."""
        brief = run("report", folder / "faulty.json").stdout
        whole = run("report", folder / "faulty.json", "--verbose").stdout
        assert ("more" in brief, "Accuracy of results that conform" in brief) == (True, False)
        assert "Accuracy of results that conform" in whole

    def test_vectors_add_a_script(self, folder):
        """If they are those of the run."""
        vectors = folder / "AvgPool-1.h5"
        got = run("report", folder / "faulty.json", "--vectors", vectors)
        assert "# to reproduce" in got.stdout

    def test_other_vectors_are_refused(self, folder, tmp_path):
        """Their drawings would be of something else."""
        report = jsonl.read(folder / "faulty.json")
        used = (replace(report.vectors[0], digest="0"),)
        jsonl.write(replace(report, vectors=used), tmp_path / "r")
        got = run("report", tmp_path / "r", "--vectors", folder / "AvgPool-1.h5")
        assert got.exit_code == 2
        assert "not the AvgPool-1 vectors of this report" in got.stderr

    def test_every_form_is_written(self, folder, tmp_path):
        """Nothing is printed beside them."""
        names = {name: tmp_path / name for name in ("json", "junit", "markdown", "html")}
        options = [each for name, path in names.items() for each in (f"--{name}", path)]
        got = run("report", folder / "faulty.json", *options)
        assert (got.exit_code, got.stdout) == (0, "")
        assert names["json"].read_bytes() == (folder / "faulty.json").read_bytes()
        assert ET.fromstring(names["junit"].read_text()).get("failures") == "1"
        assert names["markdown"].read_text().startswith("## ❌ DOES NOT CONFORM")
        assert "<html" in names["html"].read_text()

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (["--json", "nowhere/r"], "cannot write nowhere/r: there is no directory"),
            (["--junit", "."], "cannot write .: it is a directory"),
            (["--junit", "-"], "--junit - is not possible"),
            (["--json", "-", "--markdown", "-"], "- is given for two reports"),
            (["--json", "a", "--markdown", "./a"], "./a is given for two reports"),
        ],
    )
    def test_a_file_that_cannot_be_written_is_wrong_usage(
        self, folder, tmp_path, monkeypatch, options, why
    ):
        """Before anything is done."""
        monkeypatch.chdir(tmp_path)
        got = run("report", folder / "faulty.json", *options)
        assert (got.exit_code, got.stdout) == (2, "")
        assert why in got.stderr
        assert list(tmp_path.iterdir()) == []

    def test_a_strangers_text_cannot_steer_the_terminal(self, tmp_path):
        """Escape codes are not printed."""
        wrong = result("a", "mismatch", detail="\x1b[2J\x07gone", printed="\x1b]0;x\x07")
        jsonl.write(made(wrong, backend="\x1b[2J"), tmp_path / "r")
        got = run("report", tmp_path / "r")
        assert got.exit_code == 0
        assert not set(got.stdout) & {"\x1b", "\x07"}


class TestDiff:
    def test_something_worse_exits_1(self, folder):
        got = run("diff", folder / "right.json", folder / "faulty.json")
        assert got.exit_code == 1
        assert "AvgPool-1: conforms → mismatch in 1 vector (wrong values)" in got.stdout
        assert "    AvgPool-1/lower" in got.stdout

    def test_nothing_worse_exits_0(self, folder):
        assert run("diff", folder / "faulty.json", folder / "right.json").exit_code == 0
        assert run("diff", folder / "right.json", folder / "right.json").exit_code == 0

    def test_json_is_one_object(self, folder):
        """With what got worse in words."""
        got = run("diff", folder / "right.json", folder / "faulty.json", "--json")
        found = json.loads(got.stdout)
        assert (got.exit_code, found["got_worse"]) == (1, ["1 vector got worse"])
        assert found["verdicts"][0]["ids"] == ["AvgPool-1/lower"]


class TestMerge:
    def test_shards_make_the_report_of_the_run(self, folder, tmp_path):
        """Written and shown; the exit code is its verdict."""
        got = run("merge", folder / "shard2.json", folder / "shard1.json", "--json", tmp_path / "m")
        assert got.exit_code == 1
        assert got.stdout.endswith(f"{FAULTY}\n")
        merged, whole = jsonl.read(tmp_path / "m"), jsonl.read(folder / "faulty.json")
        assert [each.id for each in merged.results] == [each.id for each in whole.results]
        assert (merged.readings, merged.shard) == (whole.readings, "")

    def test_the_same_shard_twice_is_wrong_usage(self, folder):
        """Under one name or two."""
        got = run("merge", folder / "shard1.json", folder / "shard1.json")
        assert (got.exit_code, got.stdout) == (2, "")
        assert "shard1.json is given twice" in got.stderr
        (folder / "copy.json").write_bytes((folder / "shard1.json").read_bytes())
        got = run("merge", folder / "shard1.json", folder / "copy.json")
        assert got.exit_code == 2
        assert "are both shard 1/2" in got.stderr


class TestOptions:
    """The options that every command with a report has."""

    def test_a_command_gets_them_as_one_value(self, tmp_path):
        """Its own options stay."""

        @click.group(cls=OneLineErrors)
        def group():
            pass

        @group.command("make")
        @click.argument("word")
        @report_options
        def make(word, outputs):
            """Say a word."""
            outputs.check([])
            write_reports(real(), outputs)
            click.echo(f"{word} {outputs.to_stdout}")

        got = run("make", "yes", "--junit", tmp_path / "x", command=group)
        assert got.stdout == "yes False\n"
        assert (tmp_path / "x").is_file()
        assert "Say a word." in run("make", "--help", command=group).stdout

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    def test_a_folder_that_may_not_be_written_is_refused(self, tmp_path, monkeypatch):
        """Before a run that takes minutes."""
        monkeypatch.setattr("os.access", lambda *_: False)
        with pytest.raises(UsageError, match="permission denied"):
            check_writable([tmp_path / "r"], [])


class TestInputs:
    """A file that a command reads is none that it writes: one slip would cost a run of hours."""

    @pytest.mark.parametrize(
        "words",
        [
            "merge shard1.json shard2.json --json shard1.json",
            "merge shard1.json shard2.json --html ./shard2.json",
            "merge shard1.json shard2.json --junit link",
            "report right.json --markdown right.json",
            "report right.json --vectors AvgPool-1.h5 --html AvgPool-1.h5",
            "check numpy AvgPool-1.h5 --json AvgPool-1.h5",
            "check numpy . --junit AvgPool-1.h5",
            "check numpy . --write-expected-failures AvgPool-1.h5",
            "check numpy . --expected-failures known --json known",
            "check results:stored . --json stored",
            "check backend.py:backend . --markdown backend.py",
            "check 'exec:./program --model model' . --json model",
            "compare numpy AvgPool-1.h5 --json AvgPool-1.h5",
            "compare numpy results:stored . --markdown stored",
        ],
    )
    def test_it_is_not_written_over(self, folder, monkeypatch, words):
        """One line says so, whatever the path is written like, and everything stays."""
        monkeypatch.chdir(folder)
        for name in ("stored", "known", "backend.py", "program", "model"):
            (folder / name).touch()
        (folder / "link").unlink(missing_ok=True)
        (folder / "link").symlink_to("shard2.json")
        before = {each: each.read_bytes() for each in folder.iterdir()}
        got = run(*shlex.split(words))
        assert (got.exit_code, got.stdout, got.stderr.count("\n")) == (2, "", 1)
        assert got.stderr.startswith(f"error: cannot write {shlex.split(words)[-1]}: ")
        assert "this command reads it; name another file" in got.stderr
        assert {each: each.read_bytes() for each in folder.iterdir()} == before

    def test_known_failures_may_be_brought_up_to_date(self, folder, monkeypatch, tmp_path):
        """The one file that is read to be written again."""
        monkeypatch.chdir(folder)
        known = tmp_path / "known"
        known.touch()
        got = run(
            *("check", "numpy", "AvgPool-1.h5", "--in-process"),
            *("--expected-failures", known, "--write-expected-failures", known),
        )
        assert got.exit_code == 0

    def test_a_report_may_lie_beside_the_vectors(self, folder, monkeypatch):
        """And be written over the next time."""
        monkeypatch.chdir(folder)
        for _ in range(2):
            assert run("check", "numpy", ".", "--in-process", "--json", "again").exit_code == 0


class TestSite:
    """`conformance site`: what is made of reports of engines and their releases."""

    def test_it_says_what_it_made(self, folder, tmp_path):
        """The first page, and what the site is about."""
        got = run("site", folder / "faulty.json", tmp_path / "site")
        said = f"{tmp_path / 'site' / 'index.html'}: 1 engine, 1 release; 1 vector that fails\n"
        assert (got.exit_code, got.stdout) == (0, said)
        assert (tmp_path / "site" / "index.html").is_file()

    def test_two_reports_of_one_release_are_wrong_usage(self, folder, tmp_path):
        """Shards, say, which merge joins."""
        got = run("site", folder / "right.json", folder / "right.json", tmp_path / "site")
        assert got.exit_code == 2
        assert "are both of b " in got.stderr
