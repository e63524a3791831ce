"""Conformance test vectors and a checker for pooling operators.

The names here are the public Python API; each loads its module when it is first used, so that
`import conformance` and `conformance --help` stay quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False  # as in typing, which takes long to load
if TYPE_CHECKING:
    from typing import Any

    from conformance.backends import load_backend
    from conformance.cases.generate import generate
    from conformance.check import Interrupted, Report
    from conformance.check.api import check
    from conformance.check.comparison import compare
    from conformance.errors import (
        ConformanceError,
        InvalidCase,
        ReportFileError,
        ResultFileError,
        Unsupported,
        UsageError,
        VectorFileError,
    )
    from conformance.faults.strength import strength
    from conformance.operators import Pooling, evaluate, pooling_of
    from conformance.report.jsonl import read as read_report
    from conformance.vectorfile import open_vectors

__version__ = "0.1.0"

_HOME = {
    "ConformanceError": "errors",
    "Interrupted": "check",
    "InvalidCase": "errors",
    "Pooling": "operators",
    "Report": "check",
    "ReportFileError": "errors",
    "ResultFileError": "errors",
    "Unsupported": "errors",
    "UsageError": "errors",
    "VectorFileError": "errors",
    "check": "check.api",
    "compare": "check.comparison",
    "evaluate": "operators",
    "generate": "cases.generate",
    "load_backend": "backends",
    "open_vectors": "vectorfile",
    "pooling_of": "operators",
    "read_report": "report.jsonl",
    "strength": "faults.strength",
}
_NAME_AT_HOME = {"read_report": "read"}

__all__ = [
    "ConformanceError",
    "Interrupted",
    "InvalidCase",
    "Pooling",
    "Report",
    "ReportFileError",
    "ResultFileError",
    "Unsupported",
    "UsageError",
    "VectorFileError",
    "check",
    "compare",
    "evaluate",
    "generate",
    "load_backend",
    "open_vectors",
    "pooling_of",
    "read_report",
    "strength",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'conformance' has no attribute {name!r}")
    value = getattr(import_module(f"conformance.{_HOME[name]}"), _NAME_AT_HOME.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


class _Package(ModuleType):
    """Keeps public names what they are where a module has the same name.

    Importing conformance.check would else put the module in the place of the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
