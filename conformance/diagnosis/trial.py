"""A supposed cause, and whether the held-out cases that it was tried on confirm or refute it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, fields, replace

from conformance.diagnosis import limits
from conformance.diagnosis.claim import Claim
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.faults.fault import Fault
from conformance.operators.needs import is_gradient
from conformance.vector import Vector


@dataclass(slots=True, eq=False)
class Trial:
    """A claim and the held-out cases that it was held against.

    Of the cases on which it shows, `predicted` are those that it predicted, perhaps with one of its
    `rivals`, which may be there besides; `absent` are those on which the backend is right, and
    `other` those on which it fails in another way, or `beside`, if nothing is right there that was
    to be wrong; where it is right and elements were to be wrong, equal values may hide that: it is
    `unclear`; where more is wrong than predicted, a few may have another fault as well: `in_part`.
    Invalid cases that were to be accepted are `refused` where nothing tells them from those that
    are. Exceptions of a kind that is `known` tell nothing of faults that raise none: another one
    raises them. Of the cases on which it does not show, the backend is right in `quiet` and fails
    in `strays`. It `is_cut_off` where there was no work left to hold its conditions against cases
    far from those.
    """

    claim: Claim
    predictions: Predictions
    rivals: Sequence[Fault] = ()
    known: Container[str] = ()
    predicted: list[Sample] = field(default_factory=list)
    absent: list[Sample] = field(default_factory=list)
    other: list[Sample] = field(default_factory=list)
    beside: list[Sample] = field(default_factory=list)
    unclear: list[Sample] = field(default_factory=list)
    in_part: list[Sample] = field(default_factory=list)
    refused: list[Sample] = field(default_factory=list)
    quiet: int = 0
    strays: list[Sample] = field(default_factory=list)
    is_cut_off: bool = False

    @property
    def asked(self) -> int:
        """How many held-out cases there were on which it shows."""
        right = (self.absent, self.unclear, self.refused)
        return sum(map(len, (self.predicted, *right, self.other, self.beside, self.in_part)))

    @property
    def is_refuted(self) -> bool:
        """Whether it predicted something else than what the backend did."""
        known = len(self.predicted)
        compared = sum(map(self._is_compared, self.beside))
        too_many = (
            self._for_unclear * (len(self.unclear) - 1) > known
            or limits.PER_IN_PART * (len(self.in_part) - 1) > known
            or limits.PER_BESIDE * compared > known
            or limits.PER_HIDDEN * len(self.beside) > known
        )
        return bool(self.absent or self.other) or too_many

    @property
    def may_be_hidden(self) -> bool:
        """Whether all that refutes it are a few cases that fail in another way.

        Where the backend has another fault besides, that hides this one in them.
        """
        others = len(self.other) + len(self.beside) + len(self.in_part) + len(self.unclear)
        return (
            bool(others) and not self.absent and limits.PER_HIDDEN * others <= len(self.predicted)
        )

    @property
    def is_refused_at_times(self) -> bool:
        """Whether all that refutes it are some invalid cases that were refused."""
        return (
            len(self.absent) == self.asked - len(self.predicted) > 0
            and not any(sample.vector.values for sample in self.absent)
            and limits.PER_HIDDEN * len(self.absent) <= len(self.predicted)
        )

    @property
    def excused(self) -> Trial:
        """The same, if what was refused has something else that is wrong with it."""
        return replace(self, refused=self.absent, absent=[])

    @property
    def holds_mostly(self) -> bool:
        """Whether nearly all held-out cases went as predicted: it is true but for its condition.

        Exceptions are all alike, and no evidence of that.
        """
        others = self.asked - len(self.predicted)
        told = sum(sample.outputs is not None for sample in self.predicted)
        return 0 < limits.PER_OTHER * others <= told

    @property
    def may_hold_mostly(self) -> bool:
        """Whether more held-out cases may yet show that it does."""
        others = self.asked - len(self.predicted)
        few = limits.PER_OTHER * others <= limits.CONFIRMING or self.is_refused_at_times
        return few and self.asked < limits.CONFIRMING

    @property
    def stands(self) -> bool:
        """Whether it is confirmed, or may be yet, or is true of nearly all cases."""
        return not self.is_refuted or self.may_be_hidden or self.holds_mostly

    @property
    def is_confirmed(self) -> bool:
        """Whether enough held-out cases went as predicted, and none otherwise."""
        enough = max(self._confirming, self._for_unclear * len(self.unclear))
        told = len(self.predicted) + len(self.refused)
        return not self.is_refuted and not self.is_cut_off and told >= enough and self._tells

    @property
    def _for_unclear(self) -> int:
        return limits.PER_UNCLEAR if self.claim.is_whole else limits.PER_IN_PART

    @property
    def _confirming(self) -> int:
        """How many cases confirm it: more where it says of cases no more than that they fail."""
        of_cases = not (self.claim.faults or self.claim.is_of_elements)
        return limits.CONFIRMING * (1 + of_cases)

    @property
    def _tells(self) -> bool:
        """Whether it predicted enough besides the exceptions of gradients, which are all alike.

        Whatever windows are more or fewer than the gradients that are given, they come.
        """
        if not any(is_gradient in fault.needs for fault in self.claim.faults):
            return True
        return sum(sample.outputs is not None for sample in self.predicted) >= limits.OF_GRADIENTS

    def see(self, sample: Sample, *, is_open: bool = False) -> None:
        """Hold it against a held-out case.

        `is_open` says that it is not known which reading of some clause the backend follows there:
        what is wrong under one may be right under another.
        """
        claim, predictions = self.claim, self.predictions
        if not self.fails(sample.vector):
            self._see_elsewhere(sample)
        elif predictions.predicts(claim, sample):
            # Right where it shows, and as predicted: what comes instead is equal there.
            if sample.failed:
                self.predicted.append(sample)
            else:
                self.quiet += 1
        elif not sample.failed:
            hidden = is_open or predictions.may_hide(claim, sample.vector)
            (self.unclear if hidden else self.absent).append(sample)
        elif not claim.faults:
            self.other.append(sample)
        elif self.explains(sample):
            self.quiet += 1  # as predicted, though what is right is hardly further away
        elif sample.outputs is not None or sample.raised not in self.known:
            together = predictions.reproduces_with(claim.faults, self.rivals, sample)
            if together:
                self.predicted.append(sample)
            elif together is not None:
                self._see_otherwise(sample)

    def _see_otherwise(self, sample: Sample) -> None:
        """See a failure in which faults show, that they do not predict, nor with another one."""
        faults = self.claim.faults
        if self.predictions.reproduces_in_part(faults, sample):
            self.in_part.append(sample)
        else:
            right_in_part = self.predictions.is_right_in_part(faults, sample)
            (self.other if right_in_part else self.beside).append(sample)

    def _is_compared(self, sample: Sample) -> bool:
        """Say whether a failure has elements that its faults may have made: none of another shape.

        Where faults leave shape and type as they are, another one hides them there.
        """
        if sample.manner in {"shape", "type"}:
            return self.predictions.values(self.claim.faults, sample.vector) is None
        return sample.outputs is not None

    def _see_elsewhere(self, sample: Sample) -> None:
        if not sample.failed:
            self.quiet += 1
        elif self.claim.is_of_elements and self.explains(sample):
            self.predicted.append(sample)  # it differs from what is right hardly more than may be
        else:
            self.strays.append(sample)

    def replace_by(self, again: Trial) -> None:
        """Take what held-out cases said of it another time, in place of what they said before."""
        for each in fields(self):
            setattr(self, each.name, getattr(again, each.name))

    def add(self, further: Trial) -> None:
        """Take further places of the same faults, and the cases that bear them out."""
        self.claim = replace(self.claim, places=(*self.claim.places, *further.claim.places))
        self.predicted += further.predicted

    def explains(self, sample: Sample) -> bool:
        """Say whether a sample fails, and as it predicts or in a part of the place it names."""
        return sample.failed and self.predictions.explains(self.claim, sample)

    def fails(self, vector: Vector) -> bool:
        """Say whether it predicts that the backend fails a vector."""
        return self.predictions.fails(self.claim, vector)

    def predicts(self, sample: Sample) -> bool:
        """Say whether the backend did what it predicts, failure or not."""
        return self.predictions.predicts(self.claim, sample)
