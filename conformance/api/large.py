"""The tier `large`: a backend is called for its recipes, one after the other.

The tensors are made where the backend is called, by the code that calls it for all other vectors,
and outputs are judged here, in the memory in which they were left. A case that needs more memory
than there is, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from conformance.backends.answer import CRASHED, NOT_RUN, Answer, Backend, native_view
from conformance.backends.call import called
from conformance.backends.choose_runner import launch_of
from conformance.backends.named_backend import engine_version, parse_backend
from conformance.backends.program.external import External
from conformance.backends.program.program import Program
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import changes_undone
from conformance.backends.variations import AGAIN
from conformance.cases.large import Recipe
from conformance.errors import UsageError
from conformance.judging.large_judge import elements_looked_at, judged
from conformance.judging.run_settings import Selection, Workers
from conformance.judging.tally import INTERRUPTED, package_versions, report_of, vectors_used
from conformance.operators import operator_named
from conformance.process import Launch, SharedMemory, oom_kills
from conformance.progress import Counts
from conformance.record.report import (
    FAILURES,
    OutputReport,
    Repeatability,
    Report,
    Result,
    added_up,
    verdicts_by_operator,
)
from conformance.text import listed
from conformance.vector import LARGE, Vector
from conformance.vectorfile.sources import InMemory, Selected, chosen

_BYTES_PER_SECOND = 50 << 20
"""How fast a case is made and handed over at least, in bytes of its arrays."""
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
    long, and longer by the time in which the case is made and the outputs are handed over. At most
    `max_failures` failures are allowed but for those with one of the `reasons`, by vector id and
    verdict. Raises UsageError for what this tier cannot do: programs, stored results, several jobs,
    executors.
    """
    call = _calling(backend, workers)
    started, clock = datetime.now(UTC), perf_counter()
    by_id = {recipe.id: recipe for recipe in tier}
    selected = selected_of(tier, selection)
    wanted = [by_id[name] for part in selected for name in _ids(part)]
    memory = workers.memory or memory_free()
    too_large = [recipe for recipe in wanted if recipe.memory > memory]

    def enough(results: Sequence[Result]) -> bool:
        return max_failures is not None and _failures(results, reasons) >= max_failures

    run = _run([recipe for recipe in wanted if recipe.memory <= memory], call, enough, progress)
    left_out = [*too_large, *run.out_of_memory]
    engine = engine_version(backend) if isinstance(backend, str) else ""
    report = report_of(
        (),
        vectors=vectors_used([_without(part, left_out) for part in selected]),
        counts_by_operator=verdicts_by_operator(run.results),
        repeated=Repeatability(0),
        variations=(),
        stopped=run.stopped,
        results=run.results,
        tier=LARGE,
        shard=selection.shard or "",
        not_run=len(by_id) - len(run.results),
        started=started.isoformat(timespec="seconds"),
        seconds=perf_counter() - clock,
        backend_seconds=run.seconds,
        versions=package_versions() | ({"engine": engine} if engine else {}),
        notes=_notes(wanted, too_large, memory),
        **about,
    )
    return replace(report, outputs=added_up(run.outputs, "operator", "output"))


@dataclass(slots=True)
class _Run:
    """The results of recipes, those that memory has run out for, and why not all were reached."""

    results: list[Result] = field(default_factory=list)
    outputs: list[OutputReport] = field(default_factory=list)
    out_of_memory: list[Recipe] = field(default_factory=list)
    seconds: float = 0.0
    stopped: str = ""

    def add(self, other: _Run) -> None:
        """Add the run of another recipe."""
        self.results += other.results
        self.outputs += other.outputs
        self.out_of_memory += other.out_of_memory
        self.seconds += other.seconds


def _run(
    recipes: Sequence[Recipe],
    call: Callable[[Recipe], _Run],
    enough: Callable[[Sequence[Result]], bool],
    progress: Counts | None,
) -> _Run:
    """Call a backend for recipes, one after the other, until that is enough."""
    run = _Run()
    try:
        for number, recipe in enumerate(recipes):
            if enough(run.results):
                run.stopped = "as many failures as were allowed"
                break
            if progress is not None:
                progress(number, len(recipes))
            run.add(call(recipe))
    except KeyboardInterrupt:
        run.stopped = INTERRUPTED
    except UsageError as error:  # a worker that does not start
        if not run.results:
            raise
        run.stopped = str(error)
    if run.out_of_memory and not run.stopped:
        ids = listed([recipe.id for recipe in run.out_of_memory[:_SHOWN]])
        run.stopped = f"memory ran out, a lower --memory leaves out: {ids}"
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


def _failures(results: Sequence[Result], reasons: Mapping[str, Mapping[str, str]]) -> int:
    return sum(
        result.verdict in FAILURES and result.verdict not in reasons.get(result.id, ())
        for result in results
    )


def _calling(backend: Backend | str, workers: Workers) -> Callable[[Recipe], _Run]:
    """Return what calls a backend for a recipe, here or in a process of its own, and judges it.

    Raises UsageError for a backend or workers that this tier has no use for.
    """
    if workers.executor is not None or workers.jobs != 1:
        raise UsageError("tier large runs one vector at a time, here: no executor, and one job")
    named = parse_backend(backend) if isinstance(backend, str) else None
    in_python = named is None or named.kind in {"builtin", "callable"}
    if not in_python or isinstance(backend, StoredResults | External):
        raise UsageError("tier large is for backends in Python: no pipe or file takes such tensors")
    if workers.isolate or workers.timeout is not None:  # --memory is no limit of a worker here
        launch = launch_of(backend)
        return lambda recipe: _call_apart(recipe, launch, workers.timeout)
    loaded = backend if named is None else named.load()
    return lambda recipe: _call_here(recipe, cast("Backend", loaded))


def _call_here(recipe: Recipe, backend: Backend) -> _Run:
    """Call a backend for a recipe in this process."""
    case, started = recipe.case, perf_counter()
    with changes_undone():
        answer = called(
            backend,
            case.operator,
            recipe.described_inputs,
            case.attributes,
            AGAIN,
            elements_looked_at(recipe),
            native_view,
            passed_on=(KeyboardInterrupt,),
        )
    return _run_of(recipe, answer, perf_counter() - started)


def _call_apart(recipe: Recipe, launch: Launch, timeout: float | None) -> _Run:
    """Call a backend for a recipe in a process of its own, of which nothing is left."""
    case, killed = recipe.case, oom_kills()
    with SharedMemory() as outputs:
        program = Program(launch, outputs=outputs)
        try:
            program.greet(timeout)
            started = perf_counter()
            answer = program.call(
                case.operator,
                recipe.described_inputs,
                case.attributes,
                limit=elements_looked_at(recipe),
                timeout=timeout and timeout + recipe.bytes / _BYTES_PER_SECOND,
            )
            seconds = perf_counter() - started
        finally:
            program.kill()
        if answer.kind == CRASHED and oom_kills() > killed:
            answer = Answer(NOT_RUN)
        return _run_of(recipe, answer, seconds, program.printed)


def _run_of(recipe: Recipe, answer: Answer, seconds: float, printed: str = "") -> _Run:
    """Return the run of one recipe; one that memory has run out for has no result."""
    if answer.kind == NOT_RUN:
        return _Run(out_of_memory=[recipe], seconds=seconds)
    result = judged(recipe, answer, printed)
    return _Run([result], _outputs(result.operator, answer), seconds=seconds)


def _notes(wanted: Sequence[Recipe], left_out: Sequence[Recipe], memory: int) -> tuple[str, ...]:
    """Say which vectors were left out for want of memory, and what they need."""
    if not left_out:
        return ()
    needs = [f"{recipe.id} needs {recipe.memory / _GIB:.1f} GiB" for recipe in left_out[:_SHOWN]]
    more = [f"{len(left_out) - _SHOWN} more"] if len(left_out) > _SHOWN else []
    allowed = f"{memory / _GIB:.1f} GiB that are free, or that --memory allows"
    which = f"{len(left_out)} of {len(wanted)} vectors need more than the {allowed}"
    return (f"{which}, and were not run: {listed(needs + more)}",)


def _outputs(operator: str, answer: Answer) -> list[OutputReport]:
    """Report which of several outputs were returned."""
    outputs = operator_named(operator).outputs
    if not answer.outputs or len(outputs) == 1:
        return []
    return [
        OutputReport(operator, output.name, int(len(answer.outputs) > number), 1)
        for number, output in enumerate(outputs)
    ]
