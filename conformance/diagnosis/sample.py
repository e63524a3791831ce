"""A vector and what the backend made of it, and in which manner that is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from conformance.vector import Outputs, Vector

Bools = npt.NDArray[np.bool_]
Manner = Literal[
    "values", "outputs", "exception", "accepted", "shape", "type", "crash", "hang", "any"
]
"""How a sample failed: in values of the first output, or of further outputs alone, and so on.

"any" is what a claim says of valid cases that fail in one of these manners or another.
"""
Lost = Literal["crash", "hang"]
"""How no answer came."""
OF_ELEMENTS: tuple[Manner, ...] = ("values", "outputs")
"""Manners in which some elements are wrong and others right."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A vector and what the backend made of it.

    `outputs` are None where it raised an exception or returned no arrays. `failed` says whether
    the judge rejects the answer. `wrong` marks the elements of the first output that are wrong and
    `defined` those that a document defines, both in the expected shape; both are None where
    elements cannot be compared: an exception, an invalid case, another shape or type. Where the
    first output is right, `further` marks what is wrong in another one of its shape. `raised` is
    the kind of exception: its type and text, but for numbers. `lost` says that no answer came.
    """

    vector: Vector
    outputs: Outputs | None
    failed: bool
    wrong: Bools | None = None
    defined: Bools | None = None
    further: Bools | None = None
    raised: str = ""
    lost: Lost | None = None

    @property
    def as_failed(self) -> Sample:
        """The same as it failed in a run, also where a reading that is not followed excuses it."""
        return self if self.failed else replace(self, failed=True)

    @property
    def of_further(self) -> Sample:
        """The sample with what is wrong in a further output as what is wrong."""
        if self.further is None and self.failed:
            return replace(self, wrong=None)
        return self if self.further is None else replace(self, wrong=self.further)

    @property
    def manner(self) -> Manner | None:
        """How it failed; None if it did not."""
        if not self.failed:
            return None
        if self.outputs is None:
            return self.lost or "exception"
        if not self.vector.values:
            return "accepted"
        if self.further is not None:
            return "outputs"
        if self.wrong is None:
            shapes = [[each.values.shape for each in o.outputs] for o in self.vector.values]
            return "type" if [each.shape for each in self.outputs] in shapes else "shape"
        return "values"

    def failed_in(self, manner: Manner | None) -> bool:
        """Say whether it failed in a manner, or "any" of valid cases."""
        if manner == "any":
            return self.failed and self.manner != "accepted"
        return self.failed and self.manner == manner


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A kind of failures: in one manner and, if that is given, by one kind of exception."""

    manner: Manner
    raised: str | None = None

    def __contains__(self, sample: Sample) -> bool:
        return sample.failed_in(self.manner) and self.raised in {None, sample.raised}

    def alone(self, samples: Iterable[Sample]) -> list[Sample]:
        """Leave out samples that fail in another way: they tell nothing of this one."""
        return [sample for sample in samples if not sample.failed or sample in self]
