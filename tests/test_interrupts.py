"""Interrupts: at any moment, one line and exit code 130."""

import subprocess
import sys

import pytest
from support.paths import ROOT

_INTERRUPTED = (130, "error: interrupted\n")

_LATE = """
import signal, sys, time
from conformance import interrupts

class Late:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

interrupts.leave_at_once()
started = time.monotonic()
try:
    with interrupts.raised():
        Late()
        time.sleep(60)
except KeyboardInterrupt:
    slept = time.monotonic() - started
    sys.exit(interrupts.EXIT_CODE if slept < 50 else f"only after {slept} s")
"""
_MEANWHILE = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupting(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            signal.raise_signal(signal.{number})

sys.meta_path.insert(0, Interrupting())
from conformance.__main__ import main
sys.argv[1:] = ["list"]
main()
"""
_STARTING = """
import os, signal, sys
from threading import Timer
from importlib.abc import MetaPathFinder

class Interrupting(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "multiprocessing.popen_spawn_posix":
            Timer({seconds}, os.killpg, [0, signal.SIGINT]).start()

sys.meta_path.insert(0, Interrupting())
from conformance.__main__ import main
sys.argv[1:] = ["generate", {folder!r}, "--jobs", "2"]
main()
"""


def ended(code):
    """Return the exit code and the last words of a program, when its processes have ended too."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        start_new_session=True,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("conformance.interrupts", "SIGINT"),
        ("conformance.cli", "SIGINT"),
        ("click", "SIGINT"),
        ("click.types", "SIGTERM"),
        ("numpy", "SIGINT"),
        ("numpy._core._multiarray_umath", "SIGINT"),
        ("h5py", "SIGHUP"),
    ],
)
def test_an_interrupt_while_modules_are_loaded(name, number):
    """From the first one on, whatever would become of an exception there."""
    assert ended(_MEANWHILE.format(name=name, number=number)) == _INTERRUPTED


def test_an_interrupt_in_a_finalizer_is_not_lost():
    """Python ignores exceptions there; it is raised a moment later, in the midst of a sleep."""
    assert ended(_LATE) == (130, "")


@pytest.mark.parametrize("seconds", [0, 0.1, 0.3, 0.6, 1])
def test_an_interrupt_while_the_pool_starts(tmp_path, seconds):
    """The terminal sends it to every process of the command."""
    folder = tmp_path / "out"
    assert ended(_STARTING.format(folder=str(folder), seconds=seconds)) == _INTERRUPTED
    assert not folder.exists()
