"""Backends that are Python callables: `module:attribute` and `path/to/file.py:attribute`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from conformance.backends.answer import MAX_TEXT, Backend, error_line
from conformance.errors import UsageError
from conformance.text import did_you_mean, one_line

_T = TypeVar("_T")


def load_callable(text: str, module: str, attribute: str) -> Backend:
    """Return the callable that backend `text` names: a dotted `attribute` of a module.

    `module` is the dotted name of a module, or the path of a file. The current directory, or the
    file's, is put on the import path and stays there, since a backend may import more when it is
    called. Raises ModuleNotFoundError if there is no such module, UsageError for all else.
    """
    if is_path(module):
        loaded = _module_from_file(text, module)
    else:
        _make_importable(Path.cwd())
        loaded = guarded_import(text, module, lambda: importlib.import_module(module))
    backend = _attribute(text, loaded, attribute)
    _check_callable(text, backend)
    return cast("Backend", backend)


def check_signature(backend: Callable[..., Any], said: str) -> None:
    """Raise UsageError for a callable, `said` so, that cannot be called as a backend is.

    One that does not tell what it takes, as functions of C, passes.
    """
    try:
        signature = inspect.signature(backend)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("", (), {})
    except TypeError as error:
        raise UsageError(
            f"{said} cannot be called with (operator, inputs, attributes): {error}"
        ) from None


def is_path(module: str) -> bool:
    """Say whether a text is the path of a file, and not the name of a module."""
    return module.endswith(".py") or "/" in module


def existing(text: str, name: str) -> Path:
    """Return the path of the file that backend `text` names; UsageError if there is none."""
    path = Path(name).resolve()
    if not path.is_file():
        raise UsageError(f"backend {text!r}: no file {path}")
    return path


def guarded_import(text: str, name: str, load: Callable[[], _T]) -> _T:
    """Run foreign import code for backend `text`; whatever it raises becomes one line.

    ModuleNotFoundError passes where it is about the module `name` itself, or a parent of it.
    """
    importlib.invalidate_caches()  # the file may be younger than the last look at its directory
    try:
        return load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            raise
        raise UsageError(
            f"backend {text!r}: importing {name} raised {error_line(error)}"
        ) from error


def version_given_by(backend: object) -> str:
    """Return the `engine_version` that a callable has, or its module; "" without a text there."""
    kind = backend if hasattr(backend, "__qualname__") else type(backend)
    module = sys.modules.get(getattr(kind, "__module__", None) or "")
    with suppress(Exception):  # what a backend gives is not trusted
        for owner in (backend, module):
            version = getattr(owner, "engine_version", None)
            if type(version) is str:
                return one_line(version, MAX_TEXT)
    return ""


def _module_from_file(text: str, name: str) -> ModuleType:
    path = existing(text, name)
    _make_importable(path.parent)
    spec = importlib.util.spec_from_file_location(f"_backend_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"backend {text!r}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses and pickle look a class's module up by its name
    sys.modules[spec.name] = module
    loader = spec.loader
    guarded_import(text, str(path), lambda: loader.exec_module(module))
    return module


def _attribute(text: str, module: ModuleType, attribute: str) -> Any:
    value: Any = module
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            names = _callables(value)
            owner = str(getattr(value, "__name__", value)).removeprefix("_backend_")
            raise UsageError(
                f"backend {text!r}: {owner} has no {part!r}{did_you_mean(part, names)}; "
                f"it has {', '.join(names[:8]) or 'nothing to call'}"
            ) from None
        except Exception as error:
            raise UsageError(f"backend {text!r}: {part!r} raised {error_line(error)}") from error
    return value


def _check_callable(text: str, value: Any) -> None:
    if isinstance(value, type):
        raise UsageError(f"backend {text!r} is a class: name an instance of it, or a method")
    if not callable(value):
        raise UsageError(f"backend {text!r} is {type(value).__name__}, not callable")
    check_signature(value, f"backend {text!r}")


def _make_importable(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _callables(owner: Any) -> list[str]:
    return [
        name
        for name in dir(owner)
        if not name.startswith("_") and callable(inspect.getattr_static(owner, name, None))
    ]
