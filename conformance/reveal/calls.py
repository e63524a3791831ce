"""Calls of a backend with windows that do not overlap, through the runners that `check` uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.backends.answer import arrays_of
from conformance.backends.runner import Answers, Runner
from conformance.batch import batch_of
from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS
from conformance.record.words import in_words
from conformance.reveal.values import Window
from conformance.vector import BACKWARD, Anything, Array, Case, Outputs, Vector, outputs_of


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
        data = self._data(windows)
        outputs = self._called(self.operator, data)
        _expect(outputs[0], (*data.shape[:2], *self._extent), data.dtype)
        return tuple(output.reshape(-1) for output in outputs)

    def gradients(self, windows: Array) -> Array:
        """Return the gradient of such windows, (count, n), where that of each output is one.

        Raises NoAnswer.
        """
        data = self._data(windows)
        ones = np.ones((*data.shape[:2], *self._extent), data.dtype)
        (gradient, *_) = self._called(self.operator + BACKWARD, ones, data)
        _expect(gradient, data.shape, data.dtype)
        return gradient.reshape(windows.shape)

    @property
    def _extent(self) -> tuple[int, ...]:
        return (self.window.per_plane, *(1,) * (len(self.window.kernel) - 1))

    def _data(self, windows: Array) -> Array:
        first, *others = self.window.kernel
        sizes = (first * self.window.per_plane, *others)
        return windows.astype(dtype_of(self.dtype)).reshape(-1, self.window.channels, *sizes)

    def _called(self, name: str, *inputs: Array) -> Outputs:
        operator = OPERATORS[name]
        attributes = operator.tiled(self.window.kernel, self._extent)
        size = (np.array(self._extent),) if operator.takes_output_size else ()
        return answers_to(self.runner, [Case("", name, attributes, (*inputs, *size))])[0]


def _expect(output: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise NoAnswer for an output of another shape or type."""
    if output.shape != shape or output.dtype != dtype:
        raise NoAnswer(f"{output.dtype} {output.shape} in place of {dtype} {shape}")


def answers_to(runner: Runner, cases: Sequence[Case]) -> list[Outputs]:
    """Return the outputs of each case, all of one operator; raises NoAnswer for the first other."""
    batch = batch_of([Vector(case, (Anything(),)) for case in cases])
    answers = Answers.none_yet(len(batch))
    runner.run(batch, answers, lambda _done: None)
    every = []
    for place, outputs in enumerate(answers.outputs):
        returned = arrays_of(outputs)
        if returned is None:
            said = in_words(answers.why.get(place))
            raise NoAnswer(said or "no array, or a larger one than was asked for")
        every.append(outputs_of(returned))
    return every
