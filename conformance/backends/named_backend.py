"""BACKEND as a user types it: one parser, and what follows from the text.

A text names an adapter of this package (`numpy`, `torch:device=cuda`), a Python callable
(`module:attribute`, `path/to/file.py:attribute`, each with options if it has some), a program
(`exec:COMMAND`) or stored results (`results:PATH`). A worker imports this module: what it does not
need is imported where it is used.
"""

# ruff: noqa: PLC0415 - see above
from __future__ import annotations

import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from conformance.backends.answer import Backend
from conformance.backends.builtin import available
from conformance.backends.options import with_options
from conformance.backends.python_callable import existing, is_path, load_callable
from conformance.errors import UsageError
from conformance.text import did_you_mean

if TYPE_CHECKING:
    from conformance.process import Launch


@dataclass(frozen=True, slots=True)
class NamedBackend:
    """What a text names.

    `name` is that of an adapter of this package, a module, a command or a path, as `kind` says;
    `attribute` is that of a module, `options` are those of an adapter or a callable.
    """

    text: str
    kind: Literal["builtin", "callable", "exec", "results"]
    name: str
    attribute: str = ""
    options: str = ""

    def load(self) -> Backend:
        """Return the backend, loaded in this process or opened.

        Raises UsageError if it cannot be, ResultFileError for results that are not sound.
        """
        match self.kind:
            case "builtin":
                return available()[self.name].load(self.options)
            case "callable":
                return _load_callable(self)
            case "exec":
                from conformance.backends.program.external import External

                return External(self.name)
            case "results":
                from conformance.backends.results.stored_results import StoredResults

                return StoredResults(self.name)

    @property
    def launch(self) -> Launch:
        """How to start it in a process of its own; UsageError if nothing can be started."""
        from conformance.backends.program.launch import program_launch, python_worker

        if self.kind == "results":
            raise UsageError(
                f"{self.text}: stored results are looked up, and no process computes them"
            )
        return program_launch(self.name) if self.kind == "exec" else python_worker(self.text)

    def check(self) -> None:
        """Raise UsageError if it names a file of Python that is not there."""
        if self.kind == "callable" and is_path(self.name):
            existing(self.text, self.name)

    @property
    def engine_version(self) -> str:
        """The version of the engine of an adapter of this package, "" for any other."""
        return available()[self.name].version if self.kind == "builtin" else ""

    @property
    def paths(self) -> tuple[str, ...]:
        """What may be paths of files that the backend is read from."""
        if self.kind == "results" or (self.kind == "callable" and is_path(self.name)):
            return (self.name,)
        if self.kind == "exec":
            with suppress(ValueError):  # an open quote: said when the program is started
                return tuple(shlex.split(self.name))
        return ()


def parse_backend(text: str) -> NamedBackend:
    """Return what a text names; nothing is imported, started or opened.

    Raises UsageError, in one line that says what would do, if it is of no known form.
    """
    kind, colon, rest = text.partition(":")
    if kind in available() and (not colon or "=" in rest):
        return NamedBackend(text, "builtin", kind, options=rest)
    if kind == "exec":
        return NamedBackend(text, "exec", rest)
    if kind == "results" and colon:
        return NamedBackend(text, "results", rest)
    named, options = _without_options(text)
    module, _, attribute = named.rpartition(":")
    if not (module and attribute):
        refuse_unknown(text)
    return NamedBackend(text, "callable", module, attribute, options)


def parsed(backend: Backend | str) -> Backend | NamedBackend:
    """Return what a text names, as `parse_backend` does, and what is no text as it is."""
    return parse_backend(backend) if isinstance(backend, str) else backend


def _without_options(text: str) -> tuple[str, str]:
    """Split `module:attribute:NAME=VALUE,...`; a path may have colons and signs of equality."""
    found = re.fullmatch(r"(.+:[^\W\d][\w.]*):(\w*=.*)", text, re.DOTALL)
    return (found[1], found[2]) if found else (text, "")


def _load_callable(backend: NamedBackend) -> Backend:
    try:
        loaded = load_callable(backend.text, backend.name, backend.attribute)
    except ModuleNotFoundError:
        names = available()
        raise UsageError(
            f"backend {backend.text!r}: no module {backend.name!r} on the import path, which has "
            f"the current directory{did_you_mean(backend.name, names)}; "
            f"built-in names: {', '.join(names)}"
        ) from None
    return with_options(backend.text, loaded, backend.options) if backend.options else loaded


def load_backend(spec: str) -> Backend:
    """Return the backend that a text names, loaded in this process.

    `spec` is a built-in name, one with options (`torch:device=cuda`), `module:attribute`,
    `path/to/file.py:attribute`, `exec:COMMAND` for a program or `results:PATH` for stored outputs;
    an attribute may be dotted (`Class.method`), and take options too if it is an instance of a
    dataclass (`file.py:attribute:device=cuda`). The current directory, or the file's, is put on
    the import path and stays there, since a backend may import more when called. Raises UsageError
    with one line that says what was tried and what would do.
    """
    return parse_backend(spec).load()


def engine_version(text: str) -> str:
    """Return the version of the engine of a built-in backend, "" for any other text."""
    with suppress(UsageError):
        return parse_backend(text).engine_version
    return ""


def refuse_unknown(text: str, *, or_else: str = "") -> NoReturn:
    """Raise the UsageError of a text that names no backend; `or_else` is what would also do."""
    names = available()
    if text.endswith(".py"):
        raise UsageError(f"backend {text!r}: name the callable in that file, {text}:ATTRIBUTE")
    other = f", or {or_else}" if or_else else ""
    raise UsageError(
        f"no backend {text!r}{did_you_mean(text, names)}; built-in names: {', '.join(names)}; "
        f"otherwise give module:attribute, path/to/file.py:attribute or exec:COMMAND{other}"
    )


def name_of(backend: object) -> str:
    """Return what a report calls a backend that has no other name."""
    named = backend if hasattr(backend, "__qualname__") else type(backend)
    return f"{named.__module__}:{named.__qualname__}"
