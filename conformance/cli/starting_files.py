"""What `conformance init` writes: the examples of this project, with names put in.

They are in an installed package, or beside it in a checkout.
"""

from __future__ import annotations

import ast
import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from conformance.errors import UsageError
from conformance.text import quoted

if TYPE_CHECKING:
    from conformance.backends.named_backend import NamedBackend

WORKFLOW = Path(".github", "workflows", "pooling.yml")
EXPECTED = Path("pooling-expected.txt")

_SUFFIXES = {".py": "python", ".mjs": "javascript"}
"""Languages of the files that an interpreter runs."""
_ADAPTER = "adapter.py"
_LOOP = "protocol.mjs"
_PROGRAMS = {
    "python": "exec_backend.py",
    "c": "exec_backend.c",
    "javascript": "javascript/exec_backend.mjs",
}
_WORKFLOW = "ci-github.yml"
EXAMPLES = (_ADAPTER, _WORKFLOW, f"javascript/{_LOOP}", *_PROGRAMS.values())
"""The examples that are written, with names put in."""
_NAME = re.compile(r"(?![-@])[\w.+ /-]+")
"""Paths that a source, a shell and a compiler take for nothing else."""
_LANGUAGES = "Python (NAME.py:backend), C (exec:./NAME) and JavaScript (exec:node NAME.mjs)"
_COMPILER = ("cc", "-std=c99", "-O2")
_FLOOR = re.compile(r"^( *--min-supported )\d+(?= |$)", re.MULTILINE)
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
"""Any of these makes a folder one that pip installs."""

_INSTALLS = "pip install . ./pooling-conformance # CHANGE: how your project is installed"
_INSTALLS_SUITE = "pip install ./pooling-conformance # CHANGE: install what your backend needs, too"
_CHANGES = {
    "Copy to .github/workflows/pooling.yml and change what is marked.": "Change what is marked.",
    _INSTALLS: _INSTALLS,
    "CHANGE: the name of your backend, and the file of its known failures, if it has any.": (
        "The minimum is what the backend supported at first, so that it cannot lose support"
    ),
    "CHANGE: what the backend supports, so that it cannot lose support unnoticed.": (
        "unnoticed: raise it when it supports more."
    ),
}
"""What is replaced in the example of a workflow."""


@dataclass(frozen=True, slots=True)
class StartingAdapter:
    """The files of an adapter, by their paths, and the program that is compiled, if one is.

    There are no files where a source is there that is not compiled.
    """

    language: str
    files: Mapping[Path, str]
    program: Path | None = None


def starting_adapter(backend: NamedBackend) -> StartingAdapter | None:
    """Return what has to be written for a backend, None if it is there.

    UsageError where it is not there and nothing can be written for it.
    """
    from conformance.backends.python_callable import is_path

    if backend.kind == "callable" and is_path(backend.name):
        path = Path(backend.name)
        return None if path.exists() else _callable(backend, path)
    if backend.kind == "exec":
        return _program(backend)
    return None


def workflow(backend: NamedBackend, tier: str, floor: int) -> str:
    """Return the workflow of a backend in this folder, with a step that builds a program."""
    changes = dict(_CHANGES)
    if not any(Path(name).exists() for name in _PROJECTS):
        changes[_INSTALLS] = _INSTALLS_SUITE
    if build := _build_line(backend):
        changes[_INSTALLS] += f"\n      - run: |\n          {build}"
    option = "" if tier == "standard" else f" --tier {tier}"
    changes["conformance check my_backend.py:backend"] = (
        f"conformance check {shlex.quote(backend.text)}{option}"
    )
    changes["--min-supported 90%,AdaptiveAvgPool-8"] = f"--min-supported {floor}"
    return _changed(_example(_WORKFLOW), changes)


def with_floor(text: str, floor: int) -> str:
    """Return a workflow with another floor; UsageError where it has none, or several."""
    changed, number = _FLOOR.subn(rf"\g<1>{floor}", text)
    if number != 1:
        raise UsageError(f"{WORKFLOW}: no line --min-supported NUMBER to bring up to date")
    return changed


def _callable(backend: NamedBackend, path: Path) -> StartingAdapter:
    _check_name(backend, path)
    if not backend.attribute.isidentifier() or backend.options:
        raise UsageError(
            f"{backend.text}: there is no {path}; a starting adapter is a function, "
            f"such as {path}:backend"
        )
    example = _example(_ADAPTER)
    text = _changed(example, {"def backend(": f"def {backend.attribute}("})
    if not _is_free(backend.attribute, example, text):
        raise UsageError(
            f"{backend.text}: {backend.attribute} cannot name a function of the starting adapter; "
            f"another name can, such as {path}:backend"
        )
    return StartingAdapter("python", {path: text})


def _is_free(name: str, example: str, text: str) -> bool:
    """Say whether a name can be that of the function in `text`, which has it in the `example`."""
    try:
        compile(text, "adapter", "exec", dont_inherit=True)
    except SyntaxError:  # a keyword
        return False
    used = {
        getattr(node, field)
        for node in ast.walk(ast.parse(example))
        for field in ("id", "arg", "name", "asname")
        if isinstance(getattr(node, field, None), str)
    } - {"backend"}
    # Python looks for the normal form of what a source says, and `check` for what it was given.
    return name not in used and unicodedata.normalize("NFKC", name) == name


def _check_name(backend: NamedBackend, path: Path) -> None:
    """Raise UsageError for the path of a new file that a tool may take for something else."""
    if not _NAME.fullmatch(str(path)):
        raise UsageError(
            f"{backend.text}: init starts no file called {path}: take a name of letters, digits, "
            "and _ . + - that begins with none of - @"
        )


def _program(backend: NamedBackend) -> StartingAdapter | None:
    """Return a program for `exec:`: one of C if it is the first word, else the first script."""
    try:
        program, *words = shlex.split(backend.name)
    except ValueError:
        return None  # an empty command, or an open quote: said when the program is started
    if which(program) is None:
        if not _is_of_folder(program):
            raise UsageError(
                f"{backend.text}: there is no {program}; a new one is exec:./{program}"
            )
        path = Path(program)
        if path.exists():
            raise UsageError(
                f"{backend.text}: {program} is there, but no program that can be started: of a "
                f"program or a script, chmod +x {shlex.quote(program)}; of a source, name what it "
                "is compiled to"
            )
        if path.suffix:
            raise UsageError(
                f"{backend.text}: init starts adapters in {_LANGUAGES}, none in {path.suffix}"
            )
        _check_name(backend, path)
        source = source_of(program)
        files = {} if source.exists() else _named(source, "c")
        return StartingAdapter("c", files, path)
    scripts = (Path(word) for word in words if Path(word).suffix in _SUFFIXES)
    missing = next((path for path in scripts if not path.exists()), None)
    if missing is None:
        return None
    _check_name(backend, missing)
    language = _SUFFIXES[missing.suffix]
    files = _named(missing, language)
    if language == "javascript":
        files[missing.parent / _LOOP] = _example(f"javascript/{_LOOP}")
    return StartingAdapter(language, files)


def _build_line(backend: NamedBackend) -> str:
    """Return the line of a shell that builds the program of a backend; "" where nothing has to.

    Only who wrote a program knows how it is built, so the line is a guess, and marked.
    """
    program = shlex.split(backend.name)[0] if backend.kind == "exec" else ""
    if not _is_of_folder(program) or _is_script(Path(program)):
        return ""
    source = source_of(program)
    is_ours = source.exists() and not str(source).startswith(("-", "@"))
    guess = compiling(source, program) if is_ours else ("make",)
    return f"{shlex.join(guess)} # CHANGE: how your program is built"


def _is_of_folder(program: str) -> bool:
    """Whether a program is named by a path from here, not one that the machine has."""
    path = Path(program)
    return not path.is_absolute() and (path.parent != Path() or program.startswith("."))


def _is_script(program: Path) -> bool:
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def source_of(program: str | Path) -> Path:
    """Return the source of a program in C."""
    return Path(f"{program}.c")


def compiling(source: Path, program: str) -> tuple[str, ...]:
    """Return the command that compiles a source to a program."""
    return (*_COMPILER, str(source), "-o", program, "-lm")


def _named(path: Path, language: str) -> dict[Path, str]:
    """Return a program with its own name where the example says that of its file."""
    example = _PROGRAMS[language]
    text = _example(example).replace(f"examples/{example}", path.name)
    return {path: text.replace(Path(example).stem, path.stem)}


def _changed(text: str, changes: Mapping[str, str]) -> str:
    """Return an example with some parts replaced, each of which it has."""
    for part, instead in changes.items():
        if part not in text:
            raise ValueError(f"no {quoted(part)} in an example")
        text = text.replace(part, instead, 1)
    return text


def _example(name: str) -> str:
    package = Path(__file__).resolve().parent.parent
    installed = package / "_examples"
    folder = installed if installed.is_dir() else package.parent / "examples"
    return (folder / name).read_text("utf-8")
