"""Public reports of wrong pooling behaviour, known_bugs.txt: what was wrong, and where it was told.

    BUG | THREADS | WHY IT IS NO FAULT
    strides_swapped | Samsung/ONE/pull/2636

Every thread of GitHub was read; one behaviour may have been reported in several projects. Faults
refer to the behaviours by `Fault.bug`, but for those that are none.
"""

from __future__ import annotations

from pathlib import Path

KNOWN_BUGS: dict[str, tuple[str, ...]] = {}
"""URLs of the reports of each behaviour."""
NOT_FAULTS: dict[str, str] = {}
"""Behaviours without a fault, and why."""

for _line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
    if _line and not _line.startswith("#"):
        _bug, _threads, _reason = [*map(str.strip, _line.split("|")), ""][:3]
        KNOWN_BUGS[_bug] = tuple(f"https://github.com/{each}" for each in _threads.split())
        if _reason:
            NOT_FAULTS[_bug] = _reason
