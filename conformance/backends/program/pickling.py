"""Callables sent to a worker: pickled by name, or by value if the worker cannot import them."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import cloudpickle

from conformance.backends.answer import error_line
from conformance.errors import UsageError


def pickled(backend: Callable[..., Any]) -> bytes:
    """Return the callable as bytes that `unpickled` reads.

    Raises UsageError if it cannot be pickled.
    """
    stream = io.BytesIO()
    pickler = _Pickler(stream)
    try:
        pickler.dump(backend)
    except Exception as error:
        raise UsageError(
            f"the backend cannot be sent to a worker ({error_line(error)}): name it as "
            "module:attribute or path/to/file.py:attribute, or run it in this process"
        ) from error
    finally:
        pickler.forget()
    return stream.getvalue()


def unpickled(data: bytes) -> Callable[..., Any]:
    """Return the callable; UsageError if it cannot be made in this process."""
    try:
        backend: Callable[..., Any] = pickle.loads(data)  # noqa: S301 - the parent's own bytes
    except BaseException as error:
        raise UsageError(
            f"the backend cannot be made in a worker ({error_line(error)}): name it as "
            "module:attribute or path/to/file.py:attribute, or run it in this process"
        ) from error
    return backend


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles by value all that belongs to a module that a fresh interpreter could not import."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self._importable: dict[str, bool] = {}
        self._registered: list[ModuleType] = []

    def reducer_override(self, obj: Any) -> Any:
        """Reduce an object, by value if its module cannot be imported elsewhere; see pickle."""
        if isinstance(obj, ModuleType):
            self._register(obj.__name__)
        elif isinstance(obj, FunctionType | type) and isinstance(obj.__module__, str):
            self._register(obj.__module__)
        return super().reducer_override(obj)

    def forget(self) -> None:
        """Leave cloudpickle as it was."""
        for module in self._registered:
            cloudpickle.unregister_pickle_by_value(module)

    def _register(self, name: str) -> None:
        """Have a module pickled by value if a fresh interpreter could not import it."""
        module = sys.modules.get(name)
        if module is None or name in self._importable:
            return
        self._importable[name] = _importable(module, name)
        if not self._importable[name] and name not in cloudpickle.list_registry_pickle_by_value():
            cloudpickle.register_pickle_by_value(module)
            self._registered.append(module)


def _importable(module: ModuleType, name: str) -> bool:
    """Say whether `import name` gives this module in an interpreter with this sys.path."""
    if name == "__main__":
        return True  # cloudpickle knows
    path = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = _spec(".".join(parts[:count]), path)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    # A module that is built in, or frozen into the interpreter, has no place.
    return not spec.has_location or spec.origin == getattr(module, "__file__", None)


def _spec(name: str, path: Any) -> Any:
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, path)
        except Exception:  # noqa: BLE001, S112 - a finder that fails does not know the module
            continue
        if spec is not None:
            return spec
    return None
