"""Operators x sweep x reference -> vector files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance import __version__
from conformance.errors import UsageError
from conformance.operators import OPERATORS, operator_named, vector_of
from conformance.sweep import collect
from conformance.sweep.model import Covered, Progress
from conformance.vector import TIERS, Tier
from conformance.vectorfile import VectorWriter

STRENGTHS = range(1, 5)


def generate(
    directory: str | Path,
    *,
    operators: Sequence[str] | None = None,
    tier: Tier = "standard",
    strength: int = 3,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Path]:
    """Write one vector file per operator into a directory and return their paths.

    `operators` are names (all by default); `tier` smoke, standard or exhaustive, each holding the
    smaller ones; `strength` t of the covering arrays: every feasible combination of t levels is in
    some vector of the standard tier. The same arguments give the same content. `progress` is
    called with what is being done, how far it is and the total (0 where that is not known). Each
    file is complete or absent. Raises UsageError for arguments that are not allowed.
    """
    names = list(dict.fromkeys(operators or OPERATORS))
    for name in names:
        operator_named(name)
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    if strength not in STRENGTHS:
        raise UsageError(f"strength {strength}: must be {STRENGTHS[0]} to {STRENGTHS[-1]}")
    if seed < 0:
        raise UsageError(f"seed {seed}: must be 0 or more")
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error
    return [_write(folder, name, tier, strength, seed, progress) for name in names]


def _shown(array: Covered) -> dict[str, int]:
    return {
        "strength": array.strength,
        "feasible": array.coverage.feasible,
        "covered": array.coverage.covered,
        "infeasible": array.coverage.infeasible,
    }


def _write(
    folder: Path, name: str, tier: Tier, strength: int, seed: int, progress: Progress | None
) -> Path:
    collection = collect(name, tier=tier, strength=strength, seed=seed, progress=progress)
    header: dict[str, object] = {
        "package": __version__,
        "tier": tier,
        "strength": strength,
        "seed": seed,
    }
    if tier != "smoke":  # which holds a few rows of the arrays only
        header["coverage"] = {array.name: _shown(array) for array in collection.arrays}
    path = folder / f"{name}.h5"
    with VectorWriter(path, name, header=header) as writer:
        for done, case in enumerate(collection.cases, start=1):
            writer.add(vector_of(case))
            if progress is not None and done % 16 == 0:
                progress(f"{name}: vectors", done, 0)
    return path
