"""The tier `large`: who may be asked for it, and for which vectors the memory is enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from conformance.backends import Backend
from conformance.backends.named_backend import NamedBackend
from conformance.backends.program.external import External
from conformance.backends.results.stored_results import StoredResults
from conformance.cases.large import Recipe, Recipes
from conformance.errors import UsageError
from conformance.settings import NONE, SAMPLE, Settings
from conformance.text import listed
from conformance.vectorfile.sources import Selected

_GIB = 1 << 30
_SHOWN = 50


def check_large(backend: Backend | NamedBackend, settings: Settings) -> None:
    """Raise UsageError for a backend or settings that this tier has no use for."""
    if settings.variations not in {SAMPLE, NONE}:
        raise UsageError("vectors of tier large are called once, in no variation")
    if settings.cluster is not None or settings.jobs != 1:
        raise UsageError("tier large runs one vector at a time, here: no cluster, and one job")
    in_python = not isinstance(backend, NamedBackend) or backend.kind in {"builtin", "callable"}
    if not in_python or isinstance(backend, StoredResults | External):
        raise UsageError("tier large is for backends in Python: no pipe or file takes such tensors")


def fitting(selected: Sequence[Selected], memory: int | None) -> tuple[list[Selected], list[str]]:
    """Return the vectors that memory is enough for, and a note about the others if there are any.

    `memory` is in bytes, by default what the machine has free.
    """
    limit = memory or memory_free()
    fit, left_out = [], []
    for part in selected:
        assert isinstance(part.source, Recipes)
        needs = [part.source.recipes[number] for number in part.numbers.tolist()]
        too_large = np.array([recipe.memory > limit for recipe in needs], np.bool_)
        fit.append(Selected.of(part.source, part.numbers[~too_large]))
        left_out += [recipe for recipe in needs if recipe.memory > limit]
    total = sum(len(part.numbers) for part in selected)
    return fit, [_note(left_out, total, limit)] if left_out else []


def memory_free() -> int:
    """Return the bytes of memory that the machine has free; UsageError where it does not say so."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    raise UsageError("this system does not say how much memory is free: give --memory")


def _note(left_out: Sequence[Recipe], total: int, memory: int) -> str:
    """Say which vectors were left out for want of memory, and what they need."""
    needs = [f"{recipe.id} needs {recipe.memory / _GIB:.1f} GiB" for recipe in left_out[:_SHOWN]]
    more = [f"{len(left_out) - _SHOWN} more"] if len(left_out) > _SHOWN else []
    allowed = f"{memory / _GIB:.1f} GiB that are free, or that --memory allows"
    which = f"{len(left_out)} of {total} vectors need more than the {allowed}"
    return f"{which}, and were not run: {listed(needs + more)}"
