"""An environment of its own for one release, and the check that runs there."""

from __future__ import annotations

import os
import re
import shutil
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from conformance import version
from conformance.errors import UsageError
from conformance.process import Launch, run_command
from conformance.text import one_line

Installer = Callable[[Path, Sequence[str]], Path]
"""Makes an environment in an empty folder, with requirements as pip takes them, and returns the
path of its Python. Raises `NotRun`."""

_DISTRIBUTION = "pooling-conformance"
_LONGEST = 240
_PREFIX = re.compile(r"^(error|ERROR|cause): ")
_NO_VERDICT = 2
"""Exit codes of `check` from this one on: the backend was not judged."""


class NotRun(Exception):  # noqa: N818 - what became of a release, for its history
    """A release cannot be installed, imported or checked; the text says why, on one line."""


def install(folder: Path, requirements: Sequence[str]) -> Path:
    """Make an environment with uv where it is installed, else with pip; nothing is built."""
    builder = venv.EnvBuilder(symlinks=os.name != "nt")
    builder.create(folder)
    python = Path(builder.ensure_directories(folder).env_exe)
    uv = shutil.which("uv")
    pip = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    place = ["install", "--python", str(python)] if uv else ["--python", str(python), "install"]
    temporary = folder / "temporary"
    temporary.mkdir()  # which goes with the environment, however the installer ends
    command = [*pip, *place, "--quiet", "--only-binary", ":all:", *requirements]
    _run(command, environment={"TMPDIR": str(temporary)})
    return python


def own_requirements() -> list[str]:
    """Return what this package needs to run, as pip takes it.

    Raises UsageError where it is not installed, and only its source is on the path.
    """
    try:
        needed = requires(_DISTRIBUTION) or []
    except PackageNotFoundError:
        raise UsageError(
            f"{_DISTRIBUTION} is not installed, so that what it needs is not known: pip install ."
        ) from None
    return [requirement for requirement in needed if "extra ==" not in requirement]


def copy_source(folder: Path) -> None:
    """Copy this package into a folder, without vectors: compiled files are those of this Python."""
    package = Path(version.__file__).parent
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("_vectors"))


def check(python: Path, source: Path, words: Sequence[str], report: Path) -> None:
    """Run `conformance check` with a Python, and the package that is in the folder `source`.

    Raises NotRun if it does not judge the backend, and so does not write the `report`: a Python
    that fails has the exit code of a backend that does.
    """
    command = [str(python), "-m", "conformance", "check", *words]
    # Nothing else is on the path, where the engine could be in another version.
    said = _run(command, fine=range(_NO_VERDICT), environment={"PYTHONPATH": str(source)})
    if not report.exists():
        raise NotRun(said)


def _run(
    command: Sequence[str],
    *,
    fine: Sequence[int] = (0,),
    environment: Mapping[str, str],
) -> str:
    """Run a command, with variables besides those of this process; return its last words.

    They are its last line on standard error, or its exit code. Raises NotRun with them if its exit
    code is not fine.
    """
    ending = run_command(Launch(tuple(command), environment=environment))
    lines = ending.errors.decode("utf-8", "replace").strip().splitlines()
    said = _PREFIX.sub("", lines[-1].strip()) if lines else f"exit code {ending.status}"
    if ending.status not in fine:
        raise NotRun(one_line(said, _LONGEST))
    return one_line(said, _LONGEST)
