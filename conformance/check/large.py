"""The tier `large`: its recipes are made, given to a backend and judged, one after the other.

A case that needs more memory than there is, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from conformance.backends import Backend
from conformance.backends.named_backend import engine_version, load_backend, parse_backend
from conformance.backends.results.stored_results import StoredResults
from conformance.cases.large import Recipe
from conformance.check.large_judge import Judged, judged, result_of
from conformance.check.report import (
    FAILURES,
    OutputReport,
    Repeatability,
    Report,
    Verdict,
    added_up,
    verdicts_by_operator,
)
from conformance.check.run_settings import Selection, Workers
from conformance.check.tally import INTERRUPTED, package_versions, report_of, vectors_used
from conformance.errors import UsageError
from conformance.operators import operator_named
from conformance.progress import Counts
from conformance.separate_process import ProcessFailed, call_separately
from conformance.text import listed
from conformance.vector import LARGE, Vector
from conformance.vectorfile.sources import InMemory, Selected, chosen

_BYTES_PER_SECOND = 50 << 20
"""How fast a case is made, computed and judged at least, in bytes of its arrays."""
_NO_LIMIT = 1 << 50
"""Bytes of address space: engines reserve far more than they use."""
_FOREVER = 1e6
"""Seconds where there is no limit: as many as systems can wait for at once."""
_KILLED = "crashed (SIGKILL)"
"""What no process does to itself: the system ends the one that takes the most memory."""
_GIB = 1 << 30
_SHOWN = 50


def run_large(
    backend: Backend | str,
    tier: Sequence[Recipe],
    selection: Selection,
    workers: Workers,
    *,
    max_failures: int | None = None,
    reasons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    progress: Counts | None = None,
    about: Mapping[str, Any],
) -> Report:
    """Return the report of a backend over the recipes of a tier; `about` are more fields of it.

    `workers.memory` is what a case may need, by default what the machine has free. A backend that
    is called `apart` is called in a process of its own for each case, `workers.timeout` seconds
    long, and longer by the time that the case is made and judged in. At most `max_failures`
    failures are allowed but for those with one of the `reasons`, by vector id and verdict. Raises
    UsageError for what this tier cannot do: programs, stored results, several jobs, executors.
    """
    judge = _judging(backend, workers)
    started, clock = datetime.now(UTC), perf_counter()
    by_id = {recipe.id: recipe for recipe in tier}
    selected = selected_of(tier, selection)
    wanted = [by_id[name] for part in selected for name in _ids(part)]
    memory = workers.memory or memory_free()

    def enough(done: Sequence[Judged]) -> bool:
        return max_failures is not None and _failures(done, reasons) >= max_failures

    run = _run([recipe for recipe in wanted if recipe.memory <= memory], judge, enough, progress)
    run.left_out[:0] = [recipe for recipe in wanted if recipe.memory > memory]
    engine = engine_version(backend) if isinstance(backend, str) else ""
    results = [one.result for one in run.done]
    report = report_of(
        (),
        vectors=vectors_used([_without(part, run.left_out) for part in selected]),
        counts_by_operator=verdicts_by_operator(results),
        repeated=Repeatability(0),
        variations=(),
        stopped=run.stopped,
        results=results,
        tier=LARGE,
        shard=selection.shard or "",
        not_run=len(by_id) - len(results),
        started=started.isoformat(timespec="seconds"),
        seconds=perf_counter() - clock,
        backend_seconds=sum(one.seconds for one in run.done),
        versions=package_versions() | ({"engine": engine} if engine else {}),
        notes=_notes(wanted, run.left_out, memory),
        **about,
    )
    return replace(report, outputs=_outputs(run.done))


@dataclass(slots=True)
class _Run:
    """What was judged, what was left out for want of memory, and why not all was reached."""

    done: list[Judged] = field(default_factory=list)
    left_out: list[Recipe] = field(default_factory=list)
    stopped: str = ""


def _run(
    recipes: Sequence[Recipe],
    judge: Callable[[Recipe], Judged | None],
    enough: Callable[[Sequence[Judged]], bool],
    progress: Counts | None,
) -> _Run:
    """Judge a backend on recipes, one after the other, until that is enough."""
    run = _Run()
    try:
        for number, recipe in enumerate(recipes):
            if enough(run.done):
                run.stopped = "as many failures as were allowed"
                break
            if progress is not None:
                progress(number, len(recipes))
            if (one := judge(recipe)) is None:
                run.left_out.append(recipe)
            else:
                run.done.append(one)
    except KeyboardInterrupt:
        run.stopped = INTERRUPTED
    return run


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


def selected_of(tier: Sequence[Recipe], selection: Selection) -> list[Selected]:
    """Return which recipes are run, per operator; see `chosen`."""
    by_operator: dict[str, list[Recipe]] = {}
    for recipe in tier:
        by_operator.setdefault(recipe.case.operator, []).append(recipe)
    sources = [
        InMemory(operator, [_named(recipe) for recipe in group])
        for operator, group in by_operator.items()
    ]
    return chosen(sources, selection.operators, selection.select, LARGE, selection.shard)


def _named(recipe: Recipe) -> Vector:
    """Return what is needed to select a recipe: its name and tier; nothing is evaluated."""
    return Vector(replace(recipe.case, id=recipe.id, tier=LARGE), ())


def _ids(part: Selected) -> list[str]:
    return [part.source.ids[number] for number in part.numbers.tolist()]


def _without(part: Selected, left_out: Sequence[Recipe]) -> Selected:
    """Return what is selected of an operator, but for recipes that were left out."""
    ids = {recipe.id for recipe in left_out}
    kept = [name not in ids for name in _ids(part)]
    return Selected.of(part.source, part.numbers[np.array(kept, np.bool_)])


def _failures(done: Sequence[Judged], reasons: Mapping[str, Mapping[str, str]]) -> int:
    results = (one.result for one in done)
    return sum(
        result.verdict in FAILURES and result.verdict not in reasons.get(result.id, ())
        for result in results
    )


def _judging(backend: Backend | str, workers: Workers) -> Callable[[Recipe], Judged | None]:
    """Return what judges a backend on a recipe, here or in a process of its own.

    Raises UsageError for a backend or workers that this tier has no use for.
    """
    if workers.executor is not None or workers.jobs != 1:
        raise UsageError("tier large runs one vector at a time, here: no executor, and one job")
    if not isinstance(backend, str):
        if isinstance(backend, StoredResults) or workers.isolate or workers.timeout is not None:
            raise UsageError("tier large calls apart what is named by a text, and no other backend")
        return lambda recipe: judged(recipe, backend)
    if parse_backend(backend).kind in {"exec", "results"}:
        raise UsageError("tier large is for backends in Python: no pipe or file takes such tensors")
    if not workers.apart:
        loaded = load_backend(backend)
        return lambda recipe: judged(recipe, loaded)
    return lambda recipe: _judged_apart(recipe, backend, workers.timeout or _FOREVER)


def _judged_apart(recipe: Recipe, backend: str, timeout: float) -> Judged | None:
    """Return what a backend makes of a recipe in a process of its own; None for want of memory."""
    seconds = timeout + recipe.bytes / _BYTES_PER_SECOND
    try:
        return call_separately(judged_by_name, recipe, backend, seconds=seconds, memory=_NO_LIMIT)
    except ProcessFailed as failure:
        if str(failure) == _KILLED:
            return None
        verdict: Verdict = "crashed" if str(failure).startswith("crashed") else "timed-out"
        return Judged(result_of(recipe, verdict, str(failure)))


def judged_by_name(recipe: Recipe, backend: str) -> Judged | None:
    """Return what the backend that a text names makes of a recipe; see `judged`."""
    return judged(recipe, load_backend(backend))


def _notes(wanted: Sequence[Recipe], left_out: Sequence[Recipe], memory: int) -> tuple[str, ...]:
    """Say which vectors were left out for want of memory, and what they need."""
    if not left_out:
        return ()
    needs = [f"{recipe.id} needs {recipe.memory / _GIB:.1f} GiB" for recipe in left_out[:_SHOWN]]
    more = [f"{len(left_out) - _SHOWN} more"] if len(left_out) > _SHOWN else []
    allowed = f"{memory / _GIB:.1f} GiB that are free, or that --memory allows"
    which = f"{len(left_out)} of {len(wanted)} vectors need more than the {allowed}"
    return (f"{which}, and were not run: {listed(needs + more)}",)


def _outputs(done: Sequence[Judged]) -> tuple[OutputReport, ...]:
    """Report how often each of several outputs was returned."""
    return added_up(
        (
            OutputReport(one.result.operator, output.name, int(one.outputs > number), 1)
            for one in done
            if one.outputs and len(outputs := operator_named(one.result.operator).outputs) > 1
            for number, output in enumerate(outputs)
        ),
        "operator",
        "output",
    )
