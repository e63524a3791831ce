"""The command line: `conformance COMMAND`, also `python -m conformance`."""

from __future__ import annotations

from conformance.cli.main_command import main

__all__ = ["main"]
