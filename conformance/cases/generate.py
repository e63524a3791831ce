"""Operators x sweep x reference -> vector files, in one process, several or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from conformance.cases.sweep import collect
from conformance.cases.sweep.exhaustive import exhaustive, parts
from conformance.cases.sweep.sweep_model import Covered
from conformance.cluster import connected
from conformance.errors import UsageError, VectorFileError
from conformance.executors import completed
from conformance.files import Target, folder_for, writing
from conformance.operators import OPERATORS, contradicts_document, operators_named, vector_of
from conformance.progress import Progress
from conformance.settings import check_jobs
from conformance.vector import TIERS, Case, Tier, Vector
from conformance.vectorfile import VectorFile, VectorWriter
from conformance.version import __version__

STRENGTHS = range(1, 5)


@dataclass(frozen=True, slots=True)
class Portion:
    """What one vector file holds: all vectors of the smaller tiers, or a part of the product.

    `part` counts from 1 in the exhaustive tier, of `parts`; it is 0 for the smaller tiers.
    `max_shapes` is 0 where shapes are not limited.
    """

    operator: str
    tier: Tier
    strength: int
    seed: int
    part: int = 0
    parts: int = 0
    max_shapes: int = 0

    @property
    def name(self) -> str:
        """The name of the file."""
        if not self.part:
            return f"{self.operator}.h5"
        return f"{self.operator}.exhaustive-{self.part:0{len(str(self.parts))}}-of-{self.parts}.h5"

    @property
    def arguments(self) -> dict[str, object]:
        """What the header of the file says of how it was made."""
        said = {"package": __version__, "tier": self.tier, "seed": self.seed}
        if self.part:
            return said | {"part": self.part, "parts": self.parts}
        if self.max_shapes:
            said["max_shapes"] = self.max_shapes
        return said | {"strength": self.strength}


def generate(
    directory: str | Path,
    *,
    operators: Sequence[str] | None = None,
    tier: Tier = "standard",
    strength: int = 3,
    seed: int = 0,
    max_shapes: int | None = None,
    resume: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write vector files into a directory, one or several per operator, and return their paths.

    `operators` are names, globs or families (all by default); `tier` smoke, standard or exhaustive,
    each holding the smaller ones; `strength` t of the covering arrays: every feasible combination
    of t levels is in some vector of the standard tier. The exhaustive tier is the standard one and
    many more files with a part of the product each. `max_shapes` is for engines that compile for
    each shape: so many combinations of shape, element type and attributes per operator, each with
    many values.

    The same arguments give the same content. Each file is complete or absent. With `resume`, files
    are kept that are there, sound, and made by the same arguments. So many `jobs` processes
    make them, each one at a time, or the workers of a Dask `cluster`, whose scheduler is at that
    address, tcp://HOST:PORT.

    `progress` is called with what is being done, how far it is and the total (0 where that is not
    known). Raises UsageError for arguments that are not allowed.
    """
    names = operators_named(operators)
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    if strength not in STRENGTHS:
        raise UsageError(f"strength {strength}: must be {STRENGTHS[0]} to {STRENGTHS[-1]}")
    if seed < 0:
        raise UsageError(f"seed {seed}: must be 0 or more")
    if max_shapes is not None and (max_shapes < 1 or tier == "exhaustive"):
        raise UsageError(f"max_shapes {max_shapes}: 1 or more, and not with tier exhaustive")
    check_jobs(jobs)
    if cluster is not None and jobs != 1:
        raise UsageError("jobs are processes of this machine: leave them out with a cluster")
    with folder_for(directory) as folder:
        portions = [
            replace(portion, max_shapes=max_shapes or 0)
            for portion in _portions(names, tier, strength, seed)
        ]
        missing = [portion for portion in portions if not (resume and _finished(folder, portion))]
        done = len(portions) - len(missing)
        _tell(progress, done, len(portions))
        if jobs == 1 and cluster is None:
            for portion in missing:
                _write(folder / portion.name, portion, progress)
                done += 1
                _tell(progress, done, len(portions))
        else:
            for portion, content in _made_elsewhere(missing, jobs, cluster):
                with writing(folder / portion.name) as stream:
                    stream.write(content)
                done += 1
                _tell(progress, done, len(portions))
    return [folder / portion.name for portion in portions]


def _portions(names: Sequence[str], tier: Tier, strength: int, seed: int) -> Iterator[Portion]:
    for name in names:
        yield Portion(name, "smoke" if tier == "smoke" else "standard", strength, seed)
    for name in names if tier == "exhaustive" else ():
        count = parts(name)
        for part in range(1, count + 1):
            yield Portion(name, "exhaustive", strength, seed, part, count)


def _finished(folder: Path, portion: Portion) -> bool:
    """Say whether a portion's file is there and sound."""
    path = folder / portion.name
    if not path.exists():
        return False
    try:
        with VectorFile(path) as file:
            file.check()
            made: Mapping[str, Any] = file.header
            if file.operator != portion.operator or made.get("max_shapes", 0) != portion.max_shapes:
                return False
            return portion.arguments.items() <= made.items()
    except VectorFileError:
        return False


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None and total > 1:
        progress("files", done, total)


def _made_elsewhere(
    portions: Sequence[Portion], jobs: int, cluster: str | None
) -> Iterator[tuple[Portion, bytes]]:
    """Yield each portion with the content of its file, as it is made."""
    # The largest first, so that none is made alone at the end.
    order = sorted(portions, key=lambda each: -len(OPERATORS[each.operator].attributes))
    if cluster is None:
        yield from completed(jobs, _made, order)
        return
    with connected(cluster) as workers:
        yield from workers.completed(_made, order)


def _made(portion: Portion) -> bytes:
    """Return the content of a portion's file, wherever this runs."""
    content = BytesIO()
    _write(content, portion, None)
    return content.getvalue()


def _shown(array: Covered) -> dict[str, int]:
    return {
        "strength": array.strength,
        "feasible": array.coverage.feasible,
        "covered": array.coverage.covered,
        "infeasible": array.coverage.infeasible,
    }


def _write(target: Target, portion: Portion, progress: Progress | None) -> None:
    header = portion.arguments
    cases: Iterator[Case]
    if portion.part:
        cases = exhaustive(portion.operator, portion.seed, portion.part)
    else:
        collection = collect(
            portion.operator,
            tier=portion.tier,
            strength=portion.strength,
            seed=portion.seed,
            max_shapes=portion.max_shapes,
            progress=progress,
        )
        cases = collection.cases
        # The smoke tier holds a few rows of the arrays only.
        if portion.tier != "smoke" and collection.arrays:
            header["coverage"] = {array.name: _shown(array) for array in collection.arrays}
    with VectorWriter(target, portion.operator, header=header) as writer:
        writer.extend(_vectors(portion.operator, cases, progress))


def _vectors(operator: str, cases: Iterator[Case], progress: Progress | None) -> Iterator[Vector]:
    for done, case in enumerate(cases, start=1):
        vector = vector_of(case)
        if what := contradicts_document(vector):
            raise UsageError(f"operator {operator}: {what}")
        yield vector
        if progress is not None and done % 16 == 0:
            progress(f"{operator}: vectors", done, 0)
