"""Ways in which faults alone replace a step: each returns what wraps the right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from conformance.operators.params import Params
from conformance.operators.wraps import StepWrap, after, before
from conformance.vector import Array


class Unchecked(tuple[int, ...]):
    """An output extent that a fault gives, whether the kernel fits or not; it may be 0."""

    __slots__ = ()


class Refused(ValueError):  # noqa: N818 - says what happened
    """Raised by a fault that refuses a valid case."""


@dataclass(frozen=True, eq=False)
class OnOutputs:
    """Change the first output that a step returns, whatever that was computed from."""

    change: Callable[[Array], Array]

    def __call__(self, right: Callable[..., Array]) -> Callable[..., Array]:
        """Wrap a step."""
        return lambda *given: np.array(self.change(right(*given)), order="C")


def on_further(change: Callable[[Array], Array]) -> StepWrap:
    """Change each output that the step `further` returns."""
    return after(lambda right, *_: tuple(np.array(change(each), order="C") for each in right))


@dataclass(frozen=True, eq=False)
class OnData:
    """Let the step `gather` read changed data of the same shape."""

    change: Callable[[Array], Array]

    def __call__(self, right: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the step."""
        return lambda data, *others: right(np.ascontiguousarray(self.change(data)), *others)


@dataclass(frozen=True, eq=False)
class Refusing:
    """Refuse a call for which something `holds` of the arguments of a step."""

    holds: Callable[..., bool]

    def __call__(self, right: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a step."""

        def checked(*given: Any) -> Any:
            if self.holds(*given):
                raise Refused("not implemented for this call")
            return right(*given)

        return checked


def remembering(compute: Callable[..., Any]) -> StepWrap:
    """Run `compute(memory, step, *arguments)` in place of a step: a memory of all its calls."""
    return lambda right: partial(compute, {}, right)


def resolving(change: Callable[[Params], Params]) -> StepWrap:
    """Change the parameters that `resolve` returns, for all steps after it."""
    return after(lambda params, _given: change(params))


def given(change: Callable[[Params], Params]) -> StepWrap:
    """Give a step of the geometry other parameters."""
    return before(lambda params, *others: (change(params), *others))


def gathering(change: Callable[[Params], Params]) -> StepWrap:
    """Give a step of values other parameters."""
    return before(
        lambda gathered, *others: (replace(gathered, params=change(gathered.params)), *others)
    )
