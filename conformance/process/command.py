"""A command that is run to its end."""

from __future__ import annotations

from typing import NamedTuple

from conformance.interrupts import held
from conformance.process.launch import Launch
from conformance.process.transport import Transport


class Ending(NamedTuple):
    """How a command ended: its exit status, negative for a signal, and the last that it wrote."""

    status: int
    output: bytes
    errors: bytes


def run_command(launch: Launch) -> Ending:
    """Run a command without input to its end.

    Whatever it has started is ended with it, also where this is interrupted or this process is
    killed. Raises UsageError if it cannot be started.
    """
    process: Transport | None = None
    try:
        with held():  # until somebody knows of it
            process = Transport(launch)
        status = process.finish(None)
        process.read_errors()
        return Ending(status, bytes(process.received), process.errors.text)
    finally:
        if process is not None:
            process.kill()
            process.wait_for_group()
