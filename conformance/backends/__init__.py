"""Backends by name: what computes operators, found from the text a user typed.

A backend is any callable `backend(operator, inputs, attributes) -> ndarray`, or a tuple of arrays
where an operator has several outputs. Adapters to engines are modules beside this one; they are
imported only when asked for.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from conformance.errors import UsageError
from conformance.operators import MAXIMUM, OPERATORS
from conformance.vector import Array, Outputs

_T = TypeVar("_T")

Backend = Callable[[str, Sequence[Array], Mapping[str, Any]], Array | Outputs]
"""Computes one case: operator name, input arrays, attributes by the document's names.

It returns an array, or a tuple of them where the operator has several outputs.
"""


@dataclass(frozen=True, slots=True)
class Builtin:
    """An adapter of this package: the module that holds its `backend`, and the engine it needs.

    `package` is what is imported, `distribution` what is installed, where it has another name.
    A module whose backend has options has a factory `make(*, option="default", ...)` of texts.
    """

    name: str
    package: str
    summary: str
    distribution: str = ""

    @property
    def module(self) -> str:
        """Full name of the adapter's module."""
        return f"{__name__}.{self.name}_backend"

    @property
    def installed(self) -> bool:
        """Whether the engine's package can be found; nothing is imported."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """Version of the engine, "" if it is not installed."""
        try:
            return version(self.distribution or self.package)
        except PackageNotFoundError:
            return ""

    def load(self, options: str = "") -> Backend:
        """Import the adapter and return its backend, made with `options` ("NAME=VALUE,...").

        Raises UsageError if that fails, an option is unknown, or the backend that the options
        make cannot take the maximum of one float32.
        """
        if not self.installed:
            raise UsageError(
                f"backend {self.name!r} needs the package {self.package}: "
                f"pip install 'pooling-conformance[{self.name}]'"
            )
        module = _guarded(self.name, self.module, lambda: importlib.import_module(self.module))
        if options:
            return _made(f"{self.name}:{options}", module, options)
        return cast("Backend", module.backend)


_BUILTINS = (
    Builtin("numpy", "numpy", "plain loops over the windows of each axis, the default readings"),
    Builtin("torch", "torch", "the pooling functions of torch.nn.functional, on the CPU"),
    Builtin("openvino", "openvino", "OpenVINO's opset1 and opset8 pooling, on its CPU device"),
    Builtin("onnxruntime", "onnxruntime", "AveragePool and MaxPool of ONNX Runtime, on the CPU"),
    Builtin("jax", "jax", "reduce_window of jax.lax, compiled by XLA for the default device"),
    Builtin(
        "paddle",
        "paddle",
        "the pooling functions of paddle.nn.functional, on the CPU",
        "paddlepaddle",
    ),
    Builtin("ncnn", "ncnn", "the Pooling1D, Pooling and Pooling3D layers of ncnn, on the CPU"),
)


def available() -> dict[str, Builtin]:
    """Return the built-in backends by name, installed or not."""
    return {builtin.name: builtin for builtin in _BUILTINS}


def load_backend(spec: str) -> Backend:
    """Return the backend a user named.

    `spec` is a built-in name, one with options (`torch:device=cuda`), `module:attribute`,
    `path/to/file.py:attribute`, `exec:COMMAND` for a program or `results:FILE` for stored outputs;
    an attribute may be dotted (`Class.method`). The current directory, or the file's, is put on
    the import path and stays there, since a backend may import more when called. Raises UsageError
    with one line that says what was tried and what would do.
    """
    builtins = available()
    if spec in builtins:
        return builtins[spec].load()
    name, _, options = spec.partition(":")
    if name in builtins and "=" in options:
        return builtins[name].load(options)
    if name == "exec":
        from conformance.backends.external import External  # noqa: PLC0415 - only for programs

        return External(options)
    if name == "results" and options:
        from conformance.backends.stored import Stored  # noqa: PLC0415 - only for stored results

        return Stored(options)
    place, colon, attribute = spec.rpartition(":")
    if not (colon and place and attribute):
        refuse_unknown(spec)
    is_file = place.endswith(".py") or "/" in place
    module = _module_from_file(spec, place) if is_file else _module_by_name(spec, place)
    found = _attribute(spec, module, attribute)
    _check_callable(spec, found)
    return cast("Backend", found)


def _made(spec: str, module: ModuleType, options: str) -> Backend:
    """Return a backend made with options, after a call that shows that it works at all."""
    make = getattr(module, "make", None)
    names = list(inspect.signature(make).parameters) if make else []
    given: dict[str, str] = {}
    for option in options.split(","):
        name, equals, value = option.partition("=")
        if name not in names:
            allowed = f"it takes {', '.join(names)}" if names else "it takes no options"
            hint = _suggestion(name, names)
            raise UsageError(f"backend {spec!r} has no option {name!r}{hint}; {allowed}")
        if not (equals and value):
            raise UsageError(f"backend {spec!r}: option {name} needs a value, {name}=VALUE")
        if name in given:
            raise UsageError(f"backend {spec!r}: option {name} is given twice")
        given[name] = value
    assert make is not None
    try:
        found = cast("Backend", make(**given))
        _try(found)
    except Exception as error:
        raise UsageError(f"backend {spec!r} cannot be used: {_one_line(error)}") from error
    return found


def _try(backend: Backend) -> None:
    """Let a backend take the maximum of one float32."""
    several = (operator for operator in OPERATORS.values() if operator.has_windows)
    operator = next(each for each in several if each.reduction is MAXIMUM)
    backend(operator.name, [np.ones((1, 1, 1, 1), np.float32)], operator.tiled((1, 1)))


def refuse_unknown(spec: str, *, or_else: str = "") -> NoReturn:
    """Raise the UsageError of a name that no backend has; `or_else` is what would also do."""
    names = available()
    if spec.endswith(".py"):
        raise UsageError(f"backend {spec!r}: name the callable in that file, {spec}:ATTRIBUTE")
    other = f", or {or_else}" if or_else else ""
    raise UsageError(
        f"no backend {spec!r}{_suggestion(spec, names)}; built-in names: {', '.join(names)}; "
        f"otherwise give module:attribute, path/to/file.py:attribute or exec:COMMAND{other}"
    )


def _module_by_name(spec: str, name: str) -> ModuleType:
    _make_importable(Path.cwd())
    try:
        return _guarded(spec, name, lambda: importlib.import_module(name))
    except ModuleNotFoundError:
        names = available()
        raise UsageError(
            f"backend {spec!r}: no module {name!r} on the import path, which has the current "
            f"directory{_suggestion(name, names)}; built-in names: {', '.join(names)}"
        ) from None


def _module_from_file(spec: str, name: str) -> ModuleType:
    path = Path(name).resolve()
    if not path.is_file():
        raise UsageError(f"backend {spec!r}: no file {path}")
    _make_importable(path.parent)
    module_spec = importlib.util.spec_from_file_location(f"_backend_{path.stem}", path)
    if module_spec is None or module_spec.loader is None:
        raise UsageError(f"backend {spec!r}: {path} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    # dataclasses and pickle look a class's module up by its name
    sys.modules[module_spec.name] = module
    loader = module_spec.loader
    _guarded(spec, str(path), lambda: loader.exec_module(module))
    return module


def _guarded(spec: str, name: str, load: Callable[[], _T]) -> _T:
    """Run foreign import code; whatever it raises becomes one line.

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
        raise UsageError(f"backend {spec!r}: importing {name} raised {_one_line(error)}") from error


def _attribute(spec: str, module: ModuleType, attribute: str) -> Any:
    found: Any = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            names = _callables(found)
            raise UsageError(
                f"backend {spec!r}: {_name(found)} has no {part!r}{_suggestion(part, names)}; "
                f"it has {', '.join(names[:8]) or 'nothing to call'}"
            ) from None
        except Exception as error:
            raise UsageError(f"backend {spec!r}: {part!r} raised {_one_line(error)}") from error
    return found


def _check_callable(spec: str, found: Any) -> None:
    if isinstance(found, type):
        raise UsageError(f"backend {spec!r} is a class: name an instance of it, or a method")
    if not callable(found):
        raise UsageError(f"backend {spec!r} is {type(found).__name__}, not callable")
    try:
        inspect.signature(found).bind("operator", (), {})
    except TypeError as error:
        raise UsageError(
            f"backend {spec!r} cannot be called with (operator, inputs, attributes): {error}"
        ) from None
    except ValueError:
        return  # built-in code without a signature: the first call will tell


def _make_importable(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))


def _callables(owner: Any) -> list[str]:
    return [
        name
        for name in dir(owner)
        if not name.startswith("_") and callable(inspect.getattr_static(owner, name, None))
    ]


def _name(owner: Any) -> str:
    return str(getattr(owner, "__name__", owner)).removeprefix("_backend_")


def _suggestion(word: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(names), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    text = text if len(text) <= 200 else text[:197] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
