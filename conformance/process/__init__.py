"""Processes: how they are started and limited, one deadline, and that nothing is left of them."""

from __future__ import annotations

from conformance.process.command import Ending, run_command
from conformance.process.launch import Launch, python_launch
from conformance.process.memory import SharedMemory, oom_kills
from conformance.process.separate import ProcessFailed, call_separately, seconds_to_read
from conformance.process.transport import status_in_words

__all__ = [
    "Ending",
    "Launch",
    "ProcessFailed",
    "SharedMemory",
    "call_separately",
    "oom_kills",
    "python_launch",
    "run_command",
    "seconds_to_read",
    "status_in_words",
]
