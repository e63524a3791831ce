"""The run itself: batch by batch, call the backend, judge, keep what the report needs."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

from conformance import __version__
from conformance.check.going import Expects, Run
from conformance.check.profiles import pins_of
from conformance.check.report import Report
from conformance.check.results import Results
from conformance.check.runner import Backend, InProcess, Runner
from conformance.check.sources import Operators, Select, Vectors, chosen, opened, used
from conformance.check.spread import Spread
from conformance.errors import UsageError

Progress = Callable[[int, int], None]
_PACKAGES = ("numpy", "ml_dtypes", "h5py")


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; `report` holds what was done and says what was not."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


def check(backend: Backend, vectors: Vectors = None, **options: Any) -> Report:
    """Run a backend in this process; options are those of `run`, and all else that of `run`."""
    if not callable(backend):
        raise UsageError(f"the backend is {type(backend).__name__}, not callable")
    return run(InProcess(backend), vectors, **{"name": name_of(backend), **options})


def run(
    runner: Runner | Spread,
    vectors: Vectors = None,
    *,
    name: str,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    shard: str | None = None,
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    max_failures: int | None = None,
    expects: Expects = lambda *_: False,
    progress: Progress | None = None,
) -> Report:
    """Run vectors and report which of the answers conform.

    The options are those of `conformance.check`, which see. `name` is what the report calls the
    backend that `runner` calls, and `expects(id, verdict)` says whether a failure does not count
    for `max_failures`.
    """
    if max_failures is not None and max_failures < 1:
        raise UsageError(f"max_failures is {max_failures}; it must be at least 1")
    pins = pins_of(profile, require)
    started, clock = datetime.now(UTC), perf_counter()
    with opened(vectors) as sources:
        selections = chosen(sources, operators, select, tier, shard)
        total = sum(len(selection.numbers) for selection in selections)
        tick = (lambda done: progress(done, total)) if progress else (lambda _: None)
        if isinstance(runner, Spread):
            found, interrupted = runner.all(selections, pins, tick)
        else:
            going = Run(runner, pins, tick=tick, failures=max_failures, expects=expects)
            interrupted = going.all(selections)
            found = going.found
    readings = found.readings()
    counts = found.counts()
    report = Report(
        backend=name,
        vectors=used(selections),
        results=Results(found.parts),
        counts=sum(counts.values(), Counter()),
        counts_by_operator=counts,
        readings=readings,
        undefined=found.undefined(),
        outputs=found.outputs(),
        accuracy=found.accuracy.reports(),
        repeated=found.repeated if found.repeated.sampled else None,
        required=pins,
        tier=tier,
        shard=shard or "",
        not_run=sum(map(len, sources)) - len(found),
        complete=not found.stopped,
        stopped=found.stopped,
        started=started.isoformat(timespec="seconds"),
        seconds=perf_counter() - clock,
        backend_seconds=found.seconds,
        versions=_versions(),
    )
    if interrupted:
        raise Interrupted(report)
    return report


def name_of(backend: Any) -> str:
    """Return what a report calls a backend that has no other name."""
    found = backend if hasattr(backend, "__qualname__") else type(backend)
    return f"{found.__module__}:{found.__qualname__}"


@cache
def _versions() -> dict[str, str]:
    found = {"conformance": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a source tree on the path, say
            continue
    return found
