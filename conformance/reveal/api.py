"""Revealing a backend: every operator and element type that it computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conformance.backends.answer import Backend
from conformance.backends.choose_runner import runner_of
from conformance.backends.named_backend import name_of, parsed
from conformance.backends.results.stored_results import StoredResults
from conformance.backends.runner import Runner, Stopped
from conformance.dtypes import INTEGERS, WIDE_FLOATS
from conformance.errors import UsageError
from conformance.operators import OPERATORS, Operator, operators_named
from conformance.progress import Progress
from conformance.reveal.averages import WINDOWS, average_of
from conformance.reveal.calls import NoAnswer, WindowCalls
from conformance.reveal.maxima import maximum_of
from conformance.reveal.prediction import predict
from conformance.reveal.values import Refused, Revealed, RevealedAverage, RevealedMaximum, Window
from conformance.settings import Settings
from conformance.vector import Tier
from conformance.vectorfile.sources import Selected, Vectors, chosen, opened


def reveal(
    backend: Backend | str,
    vectors: Vectors = None,
    *,
    operators: Sequence[str] | None = None,
    dtypes: Sequence[str] = WIDE_FLOATS,
    windows: Sequence[Window] = WINDOWS,
    tier: Tier = "standard",
    timeout: float | None = None,
    memory: int | None = None,
    isolate: bool = False,
    progress: Progress | None = None,
) -> Revealed:
    """Reveal how a backend, as `check` takes it, computes averages and maxima.

    `operators` are names, globs or families; `windows` are those whose orders are
    revealed. Each model is held against the `vectors` of its operator up to a
    tier; an empty list is none. The other arguments are those of `conformance.check`. Raises
    UsageError for what is no backend or cannot go on, and for operators of which none is an average
    or a maximum.
    """
    workers = Settings(isolate=isolate, timeout=timeout, memory=memory)
    if unknown := [name for name in dtypes if name not in (*WIDE_FLOATS, *INTEGERS)]:
        known = ", ".join((*WIDE_FLOATS, *INTEGERS))
        raise UsageError(f"no dtype {unknown[0]!r}; there are {known}")
    chosen_operators = _revealable(operators)
    cases = [(op, dtype) for op in chosen_operators for dtype in dtypes if dtype in op.dtypes]
    findings = _Findings([], [], [])
    names = [operator.name for operator in chosen_operators]
    with (
        opened(vectors, names) as sources,
        runner_of(parsed(backend), timeout, memory, 1, apart=workers.apart) as runner,
    ):
        if isinstance(runner, StoredResults):
            raise UsageError("stored results answer no new calls: reveal needs the backend itself")
        runner.ready()
        selected = chosen(sources, None, None, tier) if sources else []
        for done, (operator, dtype) in enumerate(cases):
            if progress is not None:
                progress(f"{operator.name} {dtype}", done, len(cases))
            parts = [part for part in selected if part.source.operator == operator.name]
            try:
                findings.add(runner, operator, dtype, windows, parts)
            except NoAnswer as error:
                findings.refused.append(Refused(operator.name, dtype, str(error)))
            except Stopped as stop:
                raise UsageError(str(stop)) from None
        engine = runner.engine
    averages, maxima = tuple(findings.averages), tuple(findings.maxima)
    name = backend if isinstance(backend, str) else name_of(backend)
    return Revealed(name, engine, averages, maxima, tuple(findings.refused))


def is_revealable(operator: Operator) -> bool:
    """Say whether the arithmetic of an operator can be revealed: not of what only copies."""
    hidden = operator.reduction.powers or operator.requantises or operator.scatters
    return not (operator.is_gradient or hidden)


def _revealable(names: Sequence[str] | None) -> list[Operator]:
    """Return the operators that are named, of all if none is, whose arithmetic can be revealed."""
    every = [OPERATORS[name] for name in operators_named(names)]
    found = [operator for operator in every if is_revealable(operator)]
    if not found:
        others = "norms, gradients, quantised integers and unpoolings"
        raise UsageError(f"reveal is for averages and maxima, not for {others}")
    return found


@dataclass(frozen=True, slots=True)
class _Findings:
    averages: list[RevealedAverage]
    maxima: list[RevealedMaximum]
    refused: list[Refused]

    def add(
        self,
        runner: Runner,
        operator: Operator,
        dtype: str,
        windows: Sequence[Window],
        vectors: Sequence[Selected],
    ) -> None:
        """Reveal an operator in an element type; raises NoAnswer and Stopped."""
        if not operator.reduction.divides:
            kernel = (5,) if operator.takes_axes(1) else (3, 3)
            self.maxima.append(
                maximum_of(WindowCalls(runner, operator.name, dtype, Window(kernel)))
            )
            return
        revealed, model = average_of(runner, operator.name, dtype, windows)
        if model is not None and vectors:
            revealed = replace(revealed, prediction=predict(runner, dtype, model, vectors))
        self.averages.append(revealed)
