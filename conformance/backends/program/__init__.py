"""Backends in processes of their own: programs, and the worker of this package."""

from __future__ import annotations

from conformance.backends.program.launch import python_worker
from conformance.process import Launch

__all__ = ["Launch", "python_worker"]
