"""Commands run in this process or as a program, and a file of backends for them."""

import os
import subprocess
import sys
from contextlib import contextmanager

from click.testing import CliRunner
from support.paths import ROOT

from conformance.cli import main

_BACKENDS = """
import os, threading
from conformance import load_backend

right = load_backend("numpy")

def upper(operator, inputs, attributes):
    if attributes.get("auto_pad") == "same_lower":
        attributes = attributes | {"auto_pad": "same_upper"}
    return right(operator, inputs, attributes)

def crashing(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        print("here it comes", flush=True)
        os.abort()
    return right(operator, inputs, attributes)

def hanging(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        threading.Event().wait()
    return right(operator, inputs, attributes)

def partial(operator, inputs, attributes):
    if attributes.get("rounding_type") == "ceil":
        raise NotImplementedError("no ceil")
    return right(operator, inputs, attributes)

def general(operator, inputs, attributes):
    return inputs[0] if 0 in attributes["strides"] else right(operator, inputs, attributes)
"""


def write_backends(folder, more=""):
    """Write backends.py: those above, the right one, and more as Python text."""
    (folder / "backends.py").write_text(_BACKENDS + more)


def run(*words, command=main):
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(word) for word in words])


def words_of(*words):
    """Return the words of a command that runs as a program."""
    return [sys.executable, "-m", "conformance", *map(str, words)]


def program(*words, folder=ROOT, environment=None):
    """Run a command as a program in a folder."""
    return subprocess.run(
        words_of(*words),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
    )


@contextmanager
def started(folder, pipe, *words):
    """Start a command in a folder; yield its process and what its backend opened, for reading.

    The backend opens the pipe that $REACHED names when it is called, and holds it until it ends.
    """
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            words_of(*words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "REACHED": str(pipe), "PYTHONPATH": str(ROOT)},
        ) as process,
        pipe.open() as held,  # which waits until the backend opens it
    ):
        yield process, held
