"""What a slip is made of: words, and a step of the pipeline that something else replaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conformance.faults.catalogue.building_blocks import EVERY
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs


class Slip(NamedTuple):
    """A slip of the operators that meet `needs`; its words complete "answers as if ..."."""

    words: str
    step: str
    wrap: StepWrap
    needs: Needs = EVERY

    def fault(self, name: str) -> Fault:
        """Return it as a fault, which can be planted."""
        return Fault(
            name,
            f"answers as if {self.words}",
            needs=self.needs,
            replaces={self.step: self.wrap},
        )


def before(change: Callable[..., tuple[Any, ...]]) -> StepWrap:
    """Run a step with other arguments: those that `change(*arguments)` returns."""
    return lambda right: lambda *given: right(*change(*given))


def after(change: Callable[..., Any]) -> StepWrap:
    """Run a step, but return `change(its result, *arguments)`."""
    return lambda right: lambda *given: change(right(*given), *given)


def instead(compute: Callable[..., Any]) -> StepWrap:
    """Run `compute(step, *arguments)` in place of a step."""
    return lambda right: lambda *given: compute(right, *given)


def on_outputs(change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> StepWrap:
    """Change the array that a step returns."""
    return after(lambda output, *_: np.array(change(output), order="C"))
