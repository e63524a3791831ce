"""Environments: how they are made, and how a check in one ends."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.processes import wait_for_end

from conformance.errors import UsageError
from conformance.history import environment
from conformance.history.environment import NotRun, check, install, own_requirements

METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.5\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return what puts a shell script on the only path, and its path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(name, line):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return path

    return write


def test_an_environment_has_what_is_required_and_nothing_of_this_one(tmp_path, monkeypatch):
    """From a wheel: neither a network nor a build."""
    wheel = tmp_path / "tiny-1.5-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "VERSION = 1.5")
        archive.writestr("tiny-1.5.dist-info/METADATA", METADATA)
        archive.writestr("tiny-1.5.dist-info/WHEEL", WHEEL)
        archive.writestr("tiny-1.5.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without uv
    monkeypatch.delenv("PYTHONPATH", raising=False)
    python = install(tmp_path / "environment", ["tiny==1.5"])
    code = "import tiny, importlib.util as u; print(tiny.VERSION, u.find_spec('numpy'))"
    shown = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "1.5 None\n"


def test_what_does_not_install_is_the_last_line_of_the_installer(tmp_path, programs):
    """The installer is uv where it is there."""
    programs("uv", 'echo "resolving" >&2; echo "error: no version of $8" >&2; exit 1')
    with pytest.raises(NotRun, match=r"^no version of tiny==9$"):
        install(tmp_path / "environment", ["tiny==9"])


def test_what_an_installer_has_started_and_written_goes_with_it(tmp_path, programs):
    """Its temporary files are in the environment, which is removed."""
    line = f'sleep 600 & echo $! > {tmp_path}/child; echo "$TMPDIR" > {tmp_path}/where; exit 1'
    programs("uv", line)
    with pytest.raises(NotRun):
        install(tmp_path / "environment", ["tiny==9"])
    wait_for_end(int((tmp_path / "child").read_text()))
    where = Path((tmp_path / "where").read_text().strip())
    assert where.is_relative_to(tmp_path / "environment")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_an_installer_ends_with_this_process_however_that_ends(tmp_path, programs, end):
    """And so does what the installer has started."""
    programs("uv", f"sleep 600 & echo $! > {tmp_path}/child; wait")
    script = f"""if True:
        import sys
        sys.path[:] = {sys.path!r}
        from pathlib import Path
        from conformance.interrupts import raised
        from conformance.history.environment import install
        with raised():
            install(Path({str(tmp_path / "environment")!r}), ["tiny==9"])
    """
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL) as harness:
        while not ((child := tmp_path / "child").exists() and child.read_text()):
            assert harness.poll() is None
            time.sleep(0.05)
        harness.send_signal(end)
    wait_for_end(int(child.read_text()))


def test_a_check_has_this_package_and_no_other_path(tmp_path, programs, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    python = programs("python", f'echo "$PYTHONPATH $*" > {tmp_path}/asked; exit 1')
    report = tmp_path / "report"
    report.touch()
    check(python, tmp_path / "source", ["engine"], report)
    expected = f"{tmp_path}/source -m conformance check engine\n"
    assert (tmp_path / "asked").read_text() == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('echo "error: engine cannot be imported" >&2; exit 2', "engine cannot be imported"),
        ("exit 3", "exit code 3"),
        ("exit 1", "exit code 1"),
        ('echo "Traceback" >&2; echo "ImportError: engine" >&2; exit 1', "ImportError: engine"),
        ("kill -9 $$", "exit code -9"),
        (r'printf "error: \033[2J" >&2; exit 2', r"\x1b[2J"),
    ],
)
def test_a_backend_that_was_not_judged(tmp_path, programs, line, said):
    """One line, which steers no terminal."""
    with pytest.raises(NotRun) as problem:
        check(programs("python", line), tmp_path, [], tmp_path / "report")
    assert str(problem.value) == said


def test_extras_are_not_installed():
    needed = own_requirements()
    assert any(requirement.startswith("numpy") for requirement in needed)
    assert not any(requirement.startswith("torch") for requirement in needed)


def test_what_this_package_needs_is_known_only_where_it_is_installed(monkeypatch):
    monkeypatch.setattr(environment, "_DISTRIBUTION", "no-such-distribution")
    with pytest.raises(UsageError, match="is not installed"):
        own_requirements()
