"""Ways to replace a step, whatever step that is: each returns what wraps the right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

StepWrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def before(change: Callable[..., tuple[Any, ...]], *first: Any) -> StepWrap:
    """Run a step with other arguments: those that `change(*first, *arguments)` returns."""
    return lambda right: lambda *given: right(*change(*first, *given))


def after(change: Callable[..., Any], *first: Any) -> StepWrap:
    """Run a step, but return `change(*first, its result, *arguments)`."""
    return lambda right: lambda *given: change(*first, right(*given), *given)


def instead(compute: Callable[..., Any], *first: Any) -> StepWrap:
    """Run `compute(*first, step, *arguments)` in place of a step."""
    return lambda right: lambda *given: compute(*first, right, *given)


def choosing(**changes: Any) -> StepWrap:
    """Let a step that says what it chooses, such as which of equal maxima, choose another."""

    def choose(step: Callable[..., Any]) -> Callable[..., Any]:
        chooses: Any = step  # a ChosenIndex, a NormOfCells or a Gradient, for example
        changed: Callable[..., Any] = replace(chooses, **changes)
        return changed

    return choose
