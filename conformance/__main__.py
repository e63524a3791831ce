"""`python -m conformance`."""

from __future__ import annotations

from conformance.cli import main

main(prog_name="conformance")
