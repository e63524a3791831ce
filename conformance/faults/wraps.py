"""Ways to replace a step, whatever step that is: each returns what wraps the right one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.operators.clause import StepWrap


def before(change: Callable[..., tuple[Any, ...]]) -> StepWrap:
    """Run a step with other arguments: those that `change(*arguments)` returns."""
    return lambda right: lambda *given: right(*change(*given))


def after(change: Callable[..., Any]) -> StepWrap:
    """Run a step, but return `change(its result, *arguments)`."""
    return lambda right: lambda *given: change(right(*given), *given)


def instead(compute: Callable[..., Any]) -> StepWrap:
    """Run `compute(step, *arguments)` in place of a step."""
    return lambda right: lambda *given: compute(right, *given)
