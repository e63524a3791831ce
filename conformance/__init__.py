"""Conformance test vectors and a checker for pooling operators.

The names here are the public Python API; each loads its module when it is first used, so that
`import conformance` and `conformance --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module

from conformance.version import __version__ as __version__

TYPE_CHECKING = False  # as in typing, which takes long to load
if TYPE_CHECKING:
    from typing import Any

    from conformance.api.check import check
    from conformance.api.compare import compare
    from conformance.api.strength import strength
    from conformance.backends import load_backend
    from conformance.cases.generate import generate
    from conformance.errors import (
        ConformanceError,
        InvalidCase,
        ReportFileError,
        ResultFileError,
        Unsupported,
        UsageError,
        VectorFileError,
    )
    from conformance.operators import Pooling, as_called, evaluate, pooling_of
    from conformance.record.jsonl import read as read_report
    from conformance.record.report import Interrupted, Report
    from conformance.vectorfile import open_vectors

_HOME = {
    "ConformanceError": "errors",
    "Interrupted": "record.report",
    "InvalidCase": "errors",
    "Pooling": "operators",
    "Report": "record.report",
    "ReportFileError": "errors",
    "ResultFileError": "errors",
    "Unsupported": "errors",
    "UsageError": "errors",
    "VectorFileError": "errors",
    "as_called": "operators",
    "check": "api.check",
    "compare": "api.compare",
    "evaluate": "operators",
    "generate": "cases.generate",
    "load_backend": "backends",
    "open_vectors": "vectorfile",
    "pooling_of": "operators",
    "read_report": "record.jsonl",
    "strength": "api.strength",
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
    "as_called",
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
