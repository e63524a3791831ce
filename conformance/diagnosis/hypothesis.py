"""What is known of a backend, and what a supposed cause says of cases that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from conformance.vector import Outputs, Vector

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A vector and what the backend made of it.

    `outputs` are None where it raised an exception or returned no arrays. `failed` says whether
    the judge rejects the answer. `wrong` marks the elements of the first output that are wrong and
    `defined` those that a document defines, both in the expected shape; both are None where
    elements cannot be compared: an exception, an invalid case, another shape or type. Where the
    first output is right, `further` marks what is wrong in another one of its shape.
    """

    vector: Vector
    outputs: Outputs | None
    failed: bool
    wrong: Bools | None = None
    defined: Bools | None = None
    further: Bools | None = None

    @property
    def of_further(self) -> Sample:
        """The sample with what is wrong in a further output as what is wrong."""
        if self.further is None and self.failed:
            return replace(self, wrong=None)
        return self if self.further is None else replace(self, wrong=self.further)


class Hypothesis(Protocol):
    """A supposed cause, which fresh cases confirm or refute."""

    @property
    def words(self) -> str:
        """What is wrong, in words that complete "the failures are caused by: ..."."""

    def fails(self, vector: Vector) -> bool:
        """Say whether it predicts that the backend fails a vector."""

    def predicts(self, sample: Sample) -> bool:
        """Say whether the backend did what it predicts, failure or not."""

    def explains(self, sample: Sample) -> bool:
        """Say whether a failure is what it predicts, or what may come of it."""
