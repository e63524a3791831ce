"""Calls of a backend with windows that do not overlap, through the runners that `check` uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conformance.backends.answer import arrays_of
from conformance.backends.runner import Answers, Runner
from conformance.batch import batch_of
from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS
from conformance.reveal.values import Window
from conformance.vector import Anything, Array, Case, Outputs, Vector, outputs_of


class NoAnswer(Exception):  # noqa: N818 - the backend's statement, kept as text
    """Raised where a backend returns no array of the expected shape; its text says what it did."""


@dataclass(frozen=True, slots=True)
class WindowCalls:
    """Calls of an operator whose planes are windows, see `Window`."""

    runner: Runner
    operator: str
    dtype: str
    window: Window

    @property
    def cells(self) -> int:
        """The number of cells of the window."""
        return int(np.prod(self.window.kernel))

    @property
    def places(self) -> int:
        """The number of windows for each item of the batch."""
        return self.window.channels * self.window.per_plane

    def outputs(self, windows: Array) -> Outputs:
        """Return each output for windows (count, n) of cells in row-major order, (count,).

        They fill planes, then channels, then the batch; `count` is a multiple of `places`. Raises
        NoAnswer.
        """
        first, *others = self.window.kernel
        sizes = (first * self.window.per_plane, *others)
        data = windows.astype(dtype_of(self.dtype)).reshape(-1, self.window.channels, *sizes)
        extent = (self.window.per_plane, *(1,) * len(others))
        outputs = self._called(data, extent)
        wanted = (*data.shape[:2], *extent)
        if outputs[0].shape != wanted or outputs[0].dtype != data.dtype:
            raise NoAnswer(f"{outputs[0].dtype} {outputs[0].shape} in place of {wanted}")
        return tuple(output.reshape(-1) for output in outputs)

    def _called(self, data: Array, extent: tuple[int, ...]) -> Outputs:
        operator = OPERATORS[self.operator]
        attributes = operator.tiled(self.window.kernel) if operator.has_windows else {}
        size = (np.array(extent),) if operator.is_adaptive else ()
        case = Case("", operator.name, attributes, (data, *size))
        return answers_to(self.runner, [case])[0]


def answers_to(runner: Runner, cases: Sequence[Case]) -> list[Outputs]:
    """Return the outputs of each case, all of one operator; raises NoAnswer for the first other."""
    batch = batch_of([Vector(case, (Anything(),)) for case in cases])
    answers = Answers.none_yet(len(batch))
    runner.run(batch, answers, lambda _done: None)
    every = []
    for place, outputs in enumerate(answers.outputs):
        returned = arrays_of(outputs)
        if returned is None:
            raise NoAnswer(answers.text.get(place, "no array, or a larger one than was asked for"))
        every.append(outputs_of(returned))
    return every
