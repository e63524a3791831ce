"""The comparison itself: one run after the other over vectors that are opened once."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from conformance import __version__
from conformance.backends import available
from conformance.check.runner import Backend
from conformance.check.sources import Operators, Select, Vectors, chosen, opened, used
from conformance.checking import check
from conformance.compare.comparison import Compared, Comparison, InterruptedComparison
from conformance.errors import UsageError
from conformance.vectorfile import VectorSet

Progress = Callable[[str, int, int], None]


def compare(
    backends: Sequence[str] | Mapping[str, Backend | str],
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    progress: Progress | None = None,
    **how: Any,
) -> Comparison:
    """Run several backends over the same vectors and put what they answered side by side.

    `backends` are names as `load_backend` takes them, or callables and names by the name they
    are shown under. `vectors`, `operators`, `select` and `tier` are those of `check`, and so is
    `how`: `isolate`, `timeout`, `memory` and `jobs`. A backend that cannot be loaded is a part of
    the comparison that says why. `progress(backend, done, total)` is called now and then.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, and InterruptedComparison on Ctrl-C.
    """
    named = backends if isinstance(backends, Mapping) else _by_name(backends)
    if not named:
        raise UsageError("no backends to compare")
    with opened(vectors) as sources:
        selections = chosen(sources, operators, select, tier)
        given = sources if isinstance(sources, VectorSet) else vectors
        started = datetime.now(UTC).isoformat(timespec="seconds")
        what = {"operators": operators, "select": select, "tier": tier} | how
        done: list[Compared] = []
        stopped = False
        try:
            for name, each in named.items():
                done.append(_run(name, each, given, progress, what))
        except KeyboardInterrupt:
            stopped = True
            done += [Compared(name, problem="interrupted") for name in [*named][len(done) :]]
        found = Comparison(
            backends=tuple(done),
            vectors=used(selections),
            tier=tier,
            count=sum(len(selection.numbers) for selection in selections),
            started=started,
            versions={"conformance": __version__, "python": platform.python_version()},
            platform=f"{platform.system()} {platform.machine()}",
        )
    if stopped:
        raise InterruptedComparison(found)
    return found


def _by_name(specs: Sequence[str]) -> dict[str, Backend | str]:
    if isinstance(specs, str):
        raise UsageError(f"backends is the text {specs!r}: give a list of names")
    for spec in specs:
        if specs.count(spec) > 1:
            raise UsageError(f"backend {spec!r} is named twice")
    return dict(zip(specs, specs, strict=True))


def _run(
    name: str,
    backend: Backend | str,
    vectors: Vectors,
    progress: Progress | None,
    what: Mapping[str, Any],
) -> Compared:
    spec = backend if isinstance(backend, str) else ""
    builtin = available().get(spec.partition(":")[0])
    version = builtin.version if builtin else ""

    def step(done: int, total: int) -> None:
        if progress is not None:
            progress(name, done, total)

    try:
        report = check(backend, vectors, name=name, progress=step, **what)
    except UsageError as error:
        # The selection is sound: what is left to be wrong is the backend.
        return Compared(name, version, problem=str(error))
    return Compared.of(report, version)
