"""What a vector costs before it is run: cheap ones come first, and a long run says so early."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from time import perf_counter

import numpy as np
import numpy.typing as npt

from conformance.batch import Batch, Ints
from conformance.operators import OPERATORS
from conformance.vectorfile.sources import Selected

_COSTLY = 1 << 16
"""Steps from which a vector is run last: a tenth of a second in a loop of Python."""
_MANY = 100_000
"""Vectors up to which they are read twice, in a few seconds."""
_AFTER = 5.0  # seconds: then enough was seen, and little time is lost
_LONG = 60.0  # seconds left that are worth a word
_SURE = 3.0  # standard deviations
_LOG = logging.getLogger("conformance")


def steps_of(batch: Batch) -> Ints:
    """Return, for each vector, the steps of a plain loop: elements read, cells of all windows."""
    operator = OPERATORS[batch.operator]
    kernel = next((each.key for each in operator.attributes if each.role == "kernel"), "")
    elements = np.array([sum(array.size for array in arrays) for arrays in batch.inputs], np.int64)
    if operator.is_gradient:
        windows = np.array([arrays[0].size for arrays in batch.inputs], np.int64)
    else:
        windows = np.zeros(len(batch), np.int64)
        np.maximum.at(windows, batch.expected_vector, batch.expected_size)
    cells = np.array([_cells(attributes.get(kernel)) for attributes in batch.attributes], np.int64)
    return elements + windows * cells


def _cells(kernel: object) -> int:
    """Return the cells of a window; 1 without a kernel, or of one that no document allows."""
    extents = kernel if isinstance(kernel, list | tuple) else ()
    cells = prod(each for each in extents if isinstance(each, int))
    return max(1, min(cells, 1 << 31))


def cheap_first(selected: Sequence[Selected]) -> tuple[list[Selected], list[Ints]]:
    """Return what is selected with costly vectors last, and the steps of what is in each part.

    Very many vectors stay as they are, without steps: they would have to be read twice.
    """
    cheap: list[tuple[Selected, Ints]] = []
    costly: list[tuple[Selected, Ints]] = []
    if sum(len(part.numbers) for part in selected) > _MANY:
        return list(selected), [np.zeros(len(part.numbers), np.int64) for part in selected]
    for part in selected:
        steps = [steps_of(batch) for batch in part.source.batches(part.numbers)]
        of_part = np.concatenate([np.zeros(0, np.int64), *steps])
        late = of_part >= _COSTLY
        for parts, chosen in ((cheap, ~late), (costly, late)):
            if chosen.any():
                parts.append((replace(part, numbers=part.numbers[chosen]), of_part[chosen]))
    return [part for part, _ in cheap + costly], [steps for _, steps in cheap + costly]


class Forecast:
    """Says once, when a run has gone on for some seconds, that it will be long.

    `steps` are those of the vectors in the order in which they are run. A vector takes a time of
    its own and one per step: what was seen so far tells both.
    """

    def __init__(
        self,
        steps: Sequence[Ints],
        quicker: str,
        *,
        say: Callable[[str], None] = _LOG.warning,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        each = np.concatenate([np.zeros(0, np.int64), *steps])
        ones = np.arange(len(each) + 1)
        # Of the first so many vectors: how many they are, and their steps.
        self._work = np.stack([ones, np.append(0, np.cumsum(each))], axis=1).astype(np.float64)
        self._quicker, self._say, self._clock = quicker, say, clock
        self._started = clock()
        self._seen: list[tuple[int, float]] = [(0, 0.0)]
        self._said = False

    def tick(self, done: int) -> None:
        """Hear that so many vectors are done."""
        if self._said or done <= self._seen[-1][0]:
            return
        seconds = self._clock() - self._started
        self._seen.append((done, seconds))
        if seconds < _AFTER:
            return
        left = self._left()
        if left > _LONG:
            self._said = True
            self._say(f"About {left / 60:.0f} min left. {self._quicker}")

    def _left(self) -> float:
        """Return the seconds that the rest will take."""
        done = [number for number, _ in self._seen]
        work = np.diff(self._work[done], axis=0)
        seconds = np.diff([second for _, second in self._seen])
        rest = self._work[-1] - self._work[done[-1]]
        return float(rest @ _rates(work, seconds))


def _rates(
    work: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return seconds per vector and per step that what was seen leaves no doubt of, from 0 on.

    The vectors to come may have a million times the steps: of a rate that is mostly noise, minutes
    would be foretold that no run takes.
    """
    both = np.asarray(np.linalg.lstsq(work, seconds)[0], np.float64)
    errors = np.square(seconds - work @ both).sum() / max(1, len(seconds) - both.size)
    deviations = np.sqrt(np.diag(np.linalg.pinv(work.T @ work)) * errors)
    rates: npt.NDArray[np.float64] = np.maximum(both - _SURE * deviations, 0)
    return rates
