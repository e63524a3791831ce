"""The causes found so far, and whether one of them explains another failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from conformance.backends.runner import Runner
from conformance.diagnosis.claim import Claim, planted
from conformance.diagnosis.features import thinned
from conformance.diagnosis.laboratory import Laboratory, samples_from
from conformance.diagnosis.likely_causes import diagnose
from conformance.diagnosis.limits import STEPS_OF_A_CASE
from conformance.diagnosis.named_causes import cause_named
from conformance.diagnosis.predictions import Predictions
from conformance.faults import fault_named
from conformance.fuzz.examiner import Failure
from conformance.fuzz.signature import Signature
from conformance.record.report import RETURNED, Diagnosis
from conformance.vector import Case, Outputs, Vector, outputs_of

_OTHERS = 24


@dataclass(slots=True, eq=False)
class Cause:
    """A cause by its smallest failure, and what is claimed of the backend, if anything is.

    `by_signature` says that the claim does not tell all its failures, or that there is none: then
    every failure of the kind that has what the smallest one needs is of this cause.
    """

    failure: Failure
    diagnosis: Diagnosis | None
    claim: Claim | None = None
    by_signature: bool = True
    signature: Signature = field(init=False)

    def __post_init__(self) -> None:
        self.signature = Signature.of(self.failure.vector.case)


class Causes:
    """The causes of a search: adds them, and tells what they explain.

    The `runner` asks the backend about held-out cases, drawn with a `seed`, which confirm causes.
    """

    def __init__(self, runner: Runner, seed: int = 0) -> None:
        self.found: list[Cause] = []
        self._runner = runner
        self._seed = seed

    def explain(self, failure: Failure, readings: Mapping[str, str]) -> bool:
        """Say whether a known cause explains a failure, or two of them together."""
        predicts = _prediction(failure, readings)
        if any(_is_of(cause, failure, predicts) for cause in self.found):
            return True
        faults = [cause.claim.faults for cause in self.found if cause.claim is not None]
        for one, other in combinations(filter(None, faults), 2):
            both = tuple(dict.fromkeys(one + other))
            if len({fault.step for fault in both}) == len(both) and predicts(planted(*both)):
                return True
        return False

    def is_deadly(self, case: Case) -> bool:
        """Say whether a case would crash or hang again, as far as the causes known tell."""
        return any(
            cause.failure.result.verdict in {"crashed", "timed-out"}
            and cause.failure.result.operator == case.operator
            and cause.signature.within(Signature.of(case))
            for cause in self.found
        )

    def add(
        self,
        failure: Failure,
        others: Sequence[Failure],
        conforming: Sequence[Vector],
        readings: Mapping[str, str],
        *,
        calling: bool = True,
    ) -> Cause | None:
        """Find the cause of a shrunk failure; None if it is one of those known after all.

        `others` are failures met while it was shrunk: what reproduces them too is likelier. Only
        `calling` the backend, a cause is confirmed.
        """
        # Those that a known cause explains would only join it to this one.
        fresh = [other for other in others if not self.explain(other, readings)]
        diagnosis = self._diagnosed(failure, fresh, conforming, readings, calling=calling)
        for name in diagnosis.faults if diagnosis and len(diagnosis.faults) > 1 else ():
            # A known cause shows in the others too: on the smallest failure, one fault is enough.
            alone = planted(fault_named(name))
            if _prediction(failure, readings)(alone):
                fresh = [other for other in fresh if _prediction(other, readings)(alone)]
                diagnosis = self._diagnosed(failure, fresh, conforming, readings, calling=calling)
                break
        claim = _claimed(diagnosis)
        signature = Signature.of(failure.vector.case)
        for cause in self.found:
            same = cause.failure.kind == failure.kind and cause.signature.within(signature)
            if (claim is not None and claim == cause.claim) or (same and claim is None):
                # What reproduces the smallest failure does not reproduce all of its kind.
                cause.by_signature = True
                if same:
                    return None
        if claim is None:
            # Of two failures, the one that needs less tells more.
            self.found = [
                earlier
                for earlier in self.found
                if earlier.claim is not None
                or earlier.failure.kind != failure.kind
                or not signature.within(earlier.signature)
            ]
        cause = Cause(failure, diagnosis, claim, by_signature=claim is None)
        self.found.append(cause)
        return cause

    def _laboratory(self, readings: Mapping[str, str]) -> Laboratory:
        return Laboratory(
            self._runner,
            lambda _: readings,
            steps=STEPS_OF_A_CASE,
            seed=self._seed,
            known=[cause.claim for cause in self.found if cause.claim is not None],
        )

    def _diagnosed(
        self,
        failure: Failure,
        others: Sequence[Failure],
        conforming: Sequence[Vector],
        readings: Mapping[str, str],
        *,
        calling: bool,
    ) -> Diagnosis | None:
        if not _is_diagnosable(failure):
            return None
        pairs = {
            other.vector.case.id: (other.vector, _outputs(other))
            for other in (failure, *thinned(others, _OTHERS))
            if _is_diagnosable(other)
        }
        name = failure.vector.case.id
        diagnoses = diagnose(
            samples_from([*pairs.values()]),
            conforming,
            readings,
            laboratory=self._laboratory(readings) if calling else None,
        )
        return next((d for d in diagnoses if d.is_known and name in d.vectors), None)


def _claimed(diagnosis: Diagnosis | None) -> Claim | None:
    """Return what a diagnosis claims, if a word says it.

    A fault that reproduces a failure is its cause under any condition: that is of the failures that
    were known.
    """
    if diagnosis is None or not diagnosis.named:
        return None
    claim = cause_named(diagnosis.named)
    return planted(*claim.faults) if claim.faults else claim


def _is_of(cause: Cause, failure: Failure, predicts: Callable[[Claim], bool]) -> bool:
    if cause.failure.vector.case.id == failure.vector.case.id:
        return True
    if (
        cause.by_signature
        and cause.failure.kind == failure.kind
        and cause.signature.within(Signature.of(failure.vector.case))
    ):
        return True
    return cause.claim is not None and predicts(cause.claim)


def _prediction(failure: Failure, readings: Mapping[str, str]) -> Callable[[Claim], bool]:
    """Return what says whether a claim predicts a failure, to the bit.

    None does where the outputs have more elements than are looked at.
    """
    pairs = [(failure.vector, _outputs(failure))] if _is_diagnosable(failure) else []
    samples, predictions = samples_from(pairs), Predictions(lambda _: readings)
    return lambda claim: any(predictions.is_exactly(claim, sample) for sample in samples)


def _is_diagnosable(failure: Failure) -> bool:
    verdict = failure.result.verdict
    return verdict == "error" or (verdict in RETURNED and failure.output is not None)


def _outputs(failure: Failure) -> Outputs | None:
    return None if failure.output is None else outputs_of(failure.output)
