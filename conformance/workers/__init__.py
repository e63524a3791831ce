"""Backends in processes of their own: one protocol, spoken by our worker and by any program."""

from __future__ import annotations

from conformance.workers.launch import Launch, python_worker

__all__ = ["Launch", "python_worker"]
