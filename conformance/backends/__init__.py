"""Backends: any callable `backend(operator, inputs, attributes)` that computes an operator.

It returns an array, or a tuple of arrays where an operator has several outputs. A text that a user
types is parsed in `named_backend`; adapters to engines are in `engines`, programs and our own
workers in `program`, stored results in `results`. `runner_of` calls any of them for vectors.
"""

from __future__ import annotations

from conformance.backends.answer import Backend
from conformance.backends.builtin import Builtin, available
from conformance.backends.named_backend import (
    engine_version,
    load_backend,
    parse_backend,
    refuse_unknown,
)

__all__ = [
    "Backend",
    "Builtin",
    "available",
    "engine_version",
    "load_backend",
    "parse_backend",
    "refuse_unknown",
]
