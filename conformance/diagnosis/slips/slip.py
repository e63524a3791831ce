"""What a slip is made of: words, and a step of the pipeline that something else replaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from conformance.faults.behaviour import EVERY
from conformance.faults.fault import Fault
from conformance.operators.clause import StepWrap
from conformance.operators.needs import Needs
from conformance.vector import Array


@dataclass(frozen=True, slots=True, eq=False)
class SlipFault(Fault):
    """A slip as a fault; `instead` says what it answers: "as if ..."."""

    instead: str = ""


class Slip(NamedTuple):
    """A slip of the operators that meet `needs`; its words complete "answers as if ..."."""

    words: str
    step: str
    wrap: StepWrap
    needs: Needs = EVERY

    def fault(self, name: str) -> SlipFault:
        """Return it as a fault, which can be planted."""
        return self._planted(name, f"as if {self.words}", self.needs)

    def fault_of_gradients(self, name: str) -> SlipFault | None:
        """Return it as a fault of gradients; None for one of what windows are reduced to."""
        of_windows = self.step == "reduce" and not isinstance(self.wrap, _OnOutputs)
        if of_windows or self.step == "further" or self.needs.gradient:
            return None
        answer = f"for gradients as if {self.words}"
        return self._planted(f"{name}-of-gradients", answer, self.needs.in_gradients())

    def _planted(self, name: str, answer: str, needs: Needs) -> SlipFault:
        return SlipFault(
            name,
            f"answers {answer}",
            needs=needs,
            replaces={self.step: self.wrap},
            instead=answer,
        )


@dataclass(frozen=True, eq=False)
class _OnOutputs:
    change: Callable[[Array], Array]

    def __call__(self, right: Callable[..., Array]) -> Callable[..., Array]:
        return lambda *given: np.array(self.change(right(*given)), order="C")


def on_outputs(change: Callable[[Array], Array]) -> StepWrap:
    """Change the array that a step returns."""
    return _OnOutputs(change)
