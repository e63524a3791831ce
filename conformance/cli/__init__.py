"""The command line: `conformance COMMAND`, also `python -m conformance`."""

from __future__ import annotations

from conformance.cli.commands import main

__all__ = ["main"]
