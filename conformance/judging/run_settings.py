"""What `check` runs and in which workers: its keywords in groups."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict, TypeVar

from conformance.errors import UsageError
from conformance.executors import Machines, check_jobs, check_limits
from conformance.vectorfile.sources import Operators, Select


@dataclass(frozen=True, slots=True)
class Selection:
    """Which vectors are run: those of `operators`, with ids that `select` matches, up to `tier`.

    `operators` is a name or several, None for all. `select` is a part of an id, a glob over the
    whole id, several of them, or a function of the id. `shard`, "i/n", leaves the i-th of n equal
    parts of the vectors.
    """

    operators: Operators = None
    select: Select = None
    tier: str = "standard"
    shard: str | None = None


@dataclass(frozen=True, slots=True)
class Workers:
    """Where a backend is called: in this process, or in worker processes.

    `isolate` calls it in a worker, so that a crash or a hang is a verdict. `timeout`, seconds per
    vector, `memory`, bytes per worker, and `jobs`, the number of workers, need workers and ask
    for them by themselves. External programs always run apart. `executor` opens the machines that
    workers are started on, see `conformance.executors`; the backend is a text then, and the
    vectors are in files. Raises UsageError for a number that is no limit.
    """

    isolate: bool = False
    timeout: float | None = None
    memory: int | None = None
    jobs: int = 1
    executor: Machines | None = None

    def __post_init__(self) -> None:
        check_jobs(self.jobs)
        check_limits(self.timeout, self.memory)

    @property
    def apart(self) -> bool:
        """Whether the backend is called in another process."""
        return self.isolate or self.timeout is not None or self.memory is not None or self.jobs != 1


@dataclass(frozen=True, slots=True)
class Floors:
    """What a backend has to support at least, so that it cannot lose support unnoticed.

    `min_supported` is a number of vectors, or a percentage of those that are run ("90%"), each
    perhaps of some operators ("95%,AvgPool-1"), or several of these. `baseline` is a saved report:
    what conforms in it may not be unsupported. `strict_unsupported` allows nothing unsupported.
    """

    min_supported: str | int | Sequence[str | int] = ()
    baseline: str | os.PathLike[str] | None = None
    strict_unsupported: bool = False


class Keywords(TypedDict, total=False):
    """The fields of `Selection`, `Workers` and `Floors` as keywords."""

    operators: Operators
    select: Select
    tier: str
    shard: str | None
    isolate: bool
    timeout: float | None
    memory: int | None
    jobs: int
    executor: Machines | None
    min_supported: str | int | Sequence[str | int]
    baseline: str | os.PathLike[str] | None
    strict_unsupported: bool


def grouped(
    selection: Selection | None,
    workers: Workers | None,
    floors: Floors | None,
    keywords: Mapping[str, Any],
) -> tuple[Selection, Workers, Floors]:
    """Return the groups, each from its value or from its keywords.

    Raises UsageError where a group is given both ways, TypeError for a keyword of none.
    """
    left = dict(keywords)
    groups = (
        _group(Selection, selection, left),
        _group(Workers, workers, left),
        _group(Floors, floors, left),
    )
    if left:
        raise TypeError(f"check() got an unexpected keyword argument {next(iter(left))!r}")
    return groups


_Group = TypeVar("_Group", Selection, Workers, Floors)


def _group(kind: type[_Group], value: _Group | None, keywords: dict[str, Any]) -> _Group:
    """Return a group, and take what it has from the keywords."""
    names = [field.name for field in fields(kind) if field.name in keywords]
    given = {name: keywords.pop(name) for name in names}
    if value is not None and given:
        raise UsageError(
            f"{names[0]} is given beside {kind.__name__.lower()}, which has it: give it once"
        )
    return value or kind(**given)
