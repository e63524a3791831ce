"""conformance init: what it writes, and that a run as the workflow's is green until a bug comes."""

import re
import shlex
import shutil
import subprocess

import pytest
from support.command_line import run, write_backends
from support.paths import ROOT
from support.report_samples import write_cases

from conformance.backends import parse_backend
from conformance.cli import init_command, starting_files
from conformance.errors import UsageError
from conformance.vectorfile import open_vectors

KEPT = "pooling-first-run.jsonl"
WORKFLOW, EXPECTED = ".github/workflows/pooling.yml", "pooling-expected.txt"
NEEDED = {"c": "cc", "javascript": "node"}
BACKENDS = {
    "python": "my_backend.py:backend",
    "c": "exec:./my_kernel",
    "javascript": "exec:node my_kernel.mjs",
}
FILES = {
    "python": {"my_backend.py"},
    "c": {"my_kernel", "my_kernel.c"},
    "javascript": {"my_kernel.mjs", "protocol.mjs"},
}
BUGS = {
    "python": ("my_backend.py", "windows.sum(reduced)", "2 * windows.sum(reduced)"),
    "c": ("my_kernel.c", "sum += cell", "sum += 2 * cell"),
    "javascript": ("my_kernel.mjs", "sum += ", "sum += 2 * "),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return an empty folder, the current one; five vectors take the place of the suite."""
    vectors = tmp_path / "vectors"
    vectors.mkdir()
    write_cases(vectors)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(init_command, "opened", lambda *_: open_vectors(vectors))
    return folder


@pytest.fixture
def again(project):
    """Return what runs the workflow's check, over the vectors of the first run."""

    def check():
        text = (project / WORKFLOW).read_text()
        (script,) = re.findall(r"(conformance check (?:.*\\\n)+.*)\n", text)
        words = shlex.split(script.replace("\\\n", " ").replace("$GITHUB_STEP_SUMMARY", "s.md"))
        return run(*words[1:3], project.parent / "vectors", *words[3:], "--diagnose", "none")

    return check


def files_in(folder):
    """Return the names of the files that init wrote, but for those that it always writes."""
    every = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in every if "__pycache__" not in name} - {WORKFLOW, EXPECTED}


@pytest.fixture(params=[*BACKENDS])
def language(request):
    """Return a language whose compiler or interpreter is there."""
    needed = NEEDED.get(request.param)
    if needed and shutil.which(needed) is None:
        pytest.skip(f"there is no {needed}")
    return request.param


class TestStartingAdapter:
    def test_a_run_like_the_first_is_green_and_a_bug_is_red(self, project, again, language):
        """In every language that there is an adapter in."""
        made = run("init", BACKENDS[language], "--language", language)
        assert made.exit_code == 0, made.stderr
        assert files_in(project) == FILES[language]
        assert again().exit_code == 0
        name, right, wrong = BUGS[language]
        text = (project / name).read_text()
        assert right in text
        (project / name).write_text(text.replace(right, wrong))
        if language == "c":
            command = re.search(r"- run: \|\n +(cc .*)\n", (project / WORKFLOW).read_text())[1]
            subprocess.run(shlex.split(command, comments=True), check=True)
        got = again()
        assert got.exit_code == 1
        assert "mismatch" in got.stdout.splitlines()[-1]

    def test_a_program_that_is_removed_is_compiled_again_from_its_source(self, project):
        """And the workflow compiles it, too."""
        if shutil.which("cc") is None:
            pytest.skip("there is no C compiler")
        first = run("init", "exec:./my_kernel")
        again = "conformance init exec:./my_kernel --tier standard --renew"
        end = f"next: call your engine in my_kernel.c, compile it, and then {again}"
        assert first.stdout.splitlines()[-1] == end
        for name in (EXPECTED, WORKFLOW, "my_kernel"):
            (project / name).unlink()
        source = project / "my_kernel.c"
        source.write_text(source.read_text() + "/* mine */\n")
        assert run("init", "exec:./my_kernel").exit_code == 0
        assert source.read_text().endswith("/* mine */\n")
        assert "cc -std=c99 -O2 my_kernel.c" in (project / WORKFLOW).read_text()

    def test_lost_support_is_red(self, project, again):
        """The floor is what the first run supported."""
        assert run("init", "my_backend.py:pool").exit_code == 0
        path = project / "my_backend.py"
        path.write_text(path.read_text().replace('== "norm"', '!= "a norm"'))
        assert "below the minimum supported 4" in again().stdout.splitlines()[-1]

    def test_an_adapter_has_the_name_that_the_backend_has(self, project):
        assert run("init", "my_backend.py:pool").exit_code == 0
        assert "def pool(operator, inputs, attributes):" in (project / "my_backend.py").read_text()

    @pytest.mark.parametrize(
        ("backend", "said"),
        [
            ("x.py:a.b", "x.py:a.b: there is no x.py; a starting adapter is a function"),
            ("exec:prog", "exec:prog: there is no prog; a new one is exec:./prog"),
            ("gone/x.py:backend", "cannot write gone/x.py: there is no directory gone"),
            ("m:b", "backend 'm:b': no module 'm' on the import path"),
            ("x.py:class", "x.py:class: class cannot name a function of the starting adapter"),
            ("x.py:None", "x.py:None: None cannot name a function"),
            ("x.py:__debug__", "x.py:__debug__: __debug__ cannot name a function"),
            ("x.py:np", "x.py:np: np cannot name a function"),
            ("x.py:\uff42", "x.py:\uff42: \uff42 cannot name a function"),
            ("exec:./-o", "exec:./-o: init starts no file called -o"),
            ("exec:./@o", "exec:./@o: init starts no file called @o"),
            ("exec:node ./-x.mjs", "exec:node ./-x.mjs: init starts no file called -x.mjs"),
            ("exec:'./a\"`b'", "exec:'./a\"`b': init starts no file called a\"`b"),
            ('a"""b.py:b', 'a"""b.py:b: init starts no file called a"""b.py'),
            ("exec:./k.rs", "exec:./k.rs: init starts adapters in Python (NAME.py:backend), C ("),
            ("exec:./${{x}}", "a workflow cannot name a backend with ${{, which begins an expr"),
            ("x\n.py:b", "a workflow cannot name a backend that holds line breaks"),
        ],
    )
    def test_what_cannot_be_written_is_one_line(self, project, backend, said):
        got = run("init", backend)
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr.startswith(f"error: {said}")
        assert len(got.stderr.splitlines()) == 1
        assert files_in(project) == set()

    @pytest.mark.parametrize("name", ["kernel", "kernel.c"])
    def test_a_file_that_cannot_be_started_stays_as_it_is(self, project, name):
        """A script without chmod, or a source in place of its program."""
        (project / name).write_text("mine")
        got = run("init", f"exec:./{name}")
        said = f"error: exec:./{name}: ./{name} is there, but no program that can be started: of a "
        assert (got.exit_code, got.stderr[: len(said)]) == (2, said)
        assert len(got.stderr.splitlines()) == 1
        assert (project / name).read_text() == "mine"
        assert files_in(project) == {name}

    def test_a_program_is_not_written_over_what_a_link_names(self, project):
        (project / "kernel").symlink_to("gone")
        assert run("init", "exec:./kernel").exit_code == 2
        assert (project / "kernel").is_symlink()
        assert not (project / "gone").exists()

    def test_nothing_is_left_of_an_adapter_that_cannot_be_compiled(self, project, monkeypatch):
        monkeypatch.setattr(starting_files, "_COMPILER", ("false",))
        got = run("init", "exec:./kernel")
        assert got.exit_code == 2
        assert got.stderr.startswith("error: kernel: false failed: it does not say why")
        assert files_in(project) == set()


class TestExistingBackend:
    def test_it_is_used_as_it_is_and_its_failures_are_expected(self, project, again):
        """A second bug is still found."""
        write_backends(project)
        before = (project / "backends.py").read_text()
        got = run("init", "backends.py:upper")
        assert got.exit_code == 0
        assert "DOES NOT CONFORM: 1 mismatch" in got.stdout
        assert "fault same-lower-as-upper" in got.stdout
        assert "\ncause same-lower-as-upper # found: " in (project / EXPECTED).read_text()
        assert (project / "backends.py").read_text() == before
        assert again().exit_code == 0
        (project / "backends.py").write_text(
            before.replace("return right(", "return 2 * right(", 1)
        )
        assert again().exit_code == 1

    @pytest.mark.parametrize(
        ("first", "source", "step"),
        [
            ("\x7fELF", "p.c", "cc -std=c99 -O2 p.c -o ./p -lm"),
            ("\x7fELF", "p.rs", "make"),
            ("#!/bin/sh", "p.c", ""),
        ],
    )
    def test_the_workflow_builds_a_program_that_is_no_script(self, project, first, source, step):
        """Where it was built by hand, too: the job has a clone, without what was built."""
        (project / "p").write_text(first)
        (project / source).touch()
        text = starting_files.workflow(parse_backend("exec:./p --fast"), "smoke", 1)
        marked = re.findall(r"- run: \|\n +(.*) # CHANGE: how your program is built\n", text)
        assert marked == [step] * bool(step)

    @pytest.mark.parametrize("name", [WORKFLOW, EXPECTED])
    def test_nothing_is_written_over(self, project, name):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        got = run("init", "my_backend.py:backend")
        assert got.exit_code == 2
        assert got.stderr.startswith(f"error: {name}: there already, and init writes over nothing")
        assert path.read_text() == "mine"
        assert not (project / "my_backend.py").exists()

    def test_a_backend_that_computes_nothing_gets_no_workflow(self, project):
        (project / "b.py").write_text("def backend(*case):\n    raise NotImplementedError\n")
        got = run("init", "b.py:backend")
        assert got.exit_code == 2
        said = "nothing was computed: no workflow was written (pooling-first-run.jsonl has the run)"
        assert got.stderr == f"error: b.py:backend: {said}\n"
        assert not (project / EXPECTED).exists()

    def test_a_backend_that_is_right_nowhere_gets_no_workflow(self, project):
        """A job would fail whatever its file of expected failures says."""
        (project / "b.py").write_text("def backend(*case):\n    raise ValueError\n")
        got = run("init", "b.py:backend", "--tier", "smoke")
        assert got.exit_code == 2
        assert "b.py:backend: nothing that was computed conforms: no workflow" in got.stderr
        assert not (project / EXPECTED).exists()


class TestRenew:
    def test_expected_failures_and_floor_follow_what_the_backend_does_now(self, project, again):
        """What somebody wrote stays: a reason, and a step of the workflow."""
        write_backends(project)
        assert run("init", "backends.py:upper").exit_code == 0
        expected, flow = project / EXPECTED, project / WORKFLOW
        (line,) = [each for each in expected.read_text().splitlines() if each.startswith("cause")]
        mine = f"{line.partition(' #')[0]} # bug 12"
        expected.write_text(expected.read_text().replace(line, mine))
        flow.write_text(flow.read_text().replace("--min-supported 5", "--min-supported 3") + "#me")
        assert run("init", "backends.py:upper").exit_code == 2
        assert run("init", "backends.py:upper", "--renew").exit_code == 0
        assert mine in expected.read_text()
        assert "--min-supported 5 " in flow.read_text()
        assert flow.read_text().endswith("#me")
        assert again().exit_code == 0

    def test_a_workflow_without_a_floor_stays_as_it_is(self, project):
        path = project / WORKFLOW
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        got = run("init", "numpy", "--renew")
        assert (got.exit_code, path.read_text()) == (2, "mine")
        assert "no line --min-supported NUMBER to bring up to date" in got.stderr


@pytest.fixture
def full(project, monkeypatch):
    """Make a first run of numpy lead to no files, as on a full disk."""

    def fail(parts):
        raise UsageError(f"cannot write {[*parts][-1]}: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(init_command, "place", fail)
        assert run("init", "numpy").exit_code == 2


@pytest.fixture
def runs(monkeypatch):
    """Return a list with the backend of every run that is made."""
    made, first_run = [], init_command._first_run

    def counted(backend, *rest):
        made.append(backend)
        return first_run(backend, *rest)

    monkeypatch.setattr(init_command, "_first_run", counted)
    return made


@pytest.mark.usefixtures("full")
class TestKeptRun:
    def test_a_run_that_led_to_no_files_is_used_and_then_gone(self, project, runs):
        assert files_in(project) == {KEPT}
        assert not (project / EXPECTED).exists()
        got = run("init", "numpy")
        assert (got.exit_code, runs) == (0, [])
        assert got.stdout.startswith(f"the run that {KEPT} holds, not a new one: --renew runs")
        assert files_in(project) == set()

    @pytest.mark.parametrize("words", [["--renew"], ["--tier", "smoke"]], ids=" ".join)
    def test_it_is_not_used_for_another_tier_or_with_renew(self, project, runs, words):
        assert run("init", "numpy", *words).exit_code == 0
        assert runs == ["numpy"]

    def test_it_is_not_used_for_other_vectors(self, project, runs):
        kept = (project / KEPT).read_text()
        (project / KEPT).write_text(re.sub(r'"digest": ?"\w+"', '"digest":"other"', kept))
        assert run("init", "numpy").exit_code == 0
        assert runs == ["numpy"]

    def test_what_is_no_report_is_not_written_over(self, project):
        (project / KEPT).write_text("mine")
        got = run("init", "numpy")
        assert (got.exit_code, (project / KEPT).read_text()) == (2, "mine")
        assert len(got.stderr.splitlines()) == 1


def test_a_run_is_not_used_when_its_backend_has_changed(project, runs):
    source = project / "b.py"
    source.write_text("def backend(*case):\n    raise NotImplementedError\n")
    for changed in (False, False, True):
        if changed:
            source.write_text(source.read_text())
        assert run("init", "b.py:backend").exit_code == 2
    assert runs == ["b.py:backend"] * 2


class TestWorkflow:
    def test_it_names_backend_tier_and_floor(self, project):
        assert run("init", "numpy", "--tier", "smoke").exit_code == 0
        text = (project / WORKFLOW).read_text()
        assert "          conformance check numpy --tier smoke \\\n" in text
        assert "            --min-supported 1 \\\n" in text
        assert "AdaptiveAvgPool" not in text

    def test_it_is_yaml(self, project):
        yaml = pytest.importorskip("yaml")
        (project / "a # b").touch()
        (project / "a # b.c").touch()
        text = starting_files.workflow(parse_backend("exec:'./a # b'"), "smoke", 9)
        steps = yaml.safe_load(text)["jobs"]["conformance"]["steps"]
        built = [step["run"] for step in steps if "run" in step][1]
        assert built.startswith("cc -std=c99 -O2 'a # b.c' -o './a # b' -lm # CHANGE: ")


@pytest.mark.parametrize("name", ["a'b", 'a"b', "a`id`b", "a$(id)b", "a # b", "a: b", "a\\b"])
def test_a_shell_reads_the_backend_from_the_workflow_as_it_was_given(project, name):
    """Whatever YAML or the shell takes for something else."""
    yaml = pytest.importorskip("yaml")
    backend = f"{name}.py:backend"
    text = starting_files.workflow(parse_backend(backend), "smoke", 9)
    steps = yaml.safe_load(text)["jobs"]["conformance"]["steps"]
    script = next(step["run"] for step in steps if "conformance check" in step.get("run", ""))
    said = 'conformance() { printf "%s\\n" "$2"; }\n' + script
    done = subprocess.run(["sh", "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == f"{backend}\n"


def test_every_example_that_is_written_is_in_the_wheel():
    """And the starting adapter is shown in the documents."""
    text = (ROOT / "pyproject.toml").read_text()
    names = [*starting_files.EXAMPLES]
    assert names
    for name in names:
        assert f'"examples/{name}" = "conformance/_examples/{name}"' in text
