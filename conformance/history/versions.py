"""Versions of a package: their order, and which there are."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from conformance.errors import UsageError
from conformance.process import Launch, run_command
from conformance.text import quoted

_LONGEST = 64
"""Characters of a version, which is part of the name of a file."""


def in_order(versions: Sequence[str]) -> list[str]:
    """Return versions, each once, the oldest first; UsageError for a text that is none."""
    for version in versions:
        if not is_version(version):
            raise UsageError(f"{quoted(version)} is no version: give one such as 1.20.0")
    return sorted(dict.fromkeys(versions), key=Version)


def is_version(text: str) -> bool:
    """Say whether a text is a version as packages have it, without spaces."""
    try:
        Version(text)
    except InvalidVersion:
        return False
    return text == text.strip() and len(text) <= _LONGEST


def is_package(text: str) -> bool:
    """Say whether a text is the name of a package, with extras or without, and nothing else."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return False
    others = (requirement.specifier, requirement.url, requirement.marker)
    return text == text.strip() and not any(others)


def newest(package: str, count: int) -> list[str]:
    """Return the newest releases of a package that there are for this Python, as pip knows them.

    Raises UsageError if pip knows none, or is not there.
    """
    name = Requirement(package).name  # pip looks for no extra there
    output = run_command(Launch((sys.executable, "-m", "pip", "index", "versions", name))).output
    listed = re.search(r"^Available versions: (.+)$", output.decode(errors="replace"), re.MULTILINE)
    if listed is None:
        raise UsageError(f"pip knows no releases of {quoted(package)}: name the versions")
    return in_order([v for v in listed[1].split(", ") if is_version(v)][:count])
