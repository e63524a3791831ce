"""The cases that are in the smoke tier for what they catch, by name.

benchmarks/choose_smoke.py chooses them. A name is an id without its digest, which depends on the
seed.
"""

from __future__ import annotations

from pathlib import Path

from conformance.vector import Case

LIST = Path(__file__).with_name("chosen.txt")
NAMES = frozenset(LIST.read_text(encoding="utf-8").split())


def name_of(case: Case) -> str:
    """Return the id of a case without its digest."""
    return case.id.rpartition("-")[0]
