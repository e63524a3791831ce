"""Vectors that are not called at all, since one may hang a device, as a file announces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from conformance.api.expected_failures import OF_CAUSE, SKIP, ExpectedFailures
from conformance.api.reasoned_lines import ReasonedLine, digest_of, matched, of_no_vector
from conformance.errors import UsageError
from conformance.operators import operator_named
from conformance.record.report import SkippedVector, Skips
from conformance.settings import LARGE
from conformance.text import listed
from conformance.vectorfile.sources import Selected, Source, vectors_in


@dataclass(frozen=True, slots=True)
class Skipping:
    """The lines of files that say which vectors to skip, where these are, and their digest."""

    path: str
    lines: tuple[ReasonedLine, ...]
    digest: str

    @classmethod
    def of(cls, *files: ExpectedFailures | None) -> Skipping | None:
        """Return what some files skip; None if they say nothing of that."""
        given = [file for file in files if file is not None and file.of(SKIP)]
        if not given:
            return None
        lines = (entry for file in given for entry in file.entries if entry.word == SKIP)
        text = "".join(file.text for file in given)
        return cls(listed([file.path for file in given]), (*lines,), digest_of(text))

    def applied(
        self,
        sources: Sequence[Source],
        selected: Sequence[Selected],
        pins: Mapping[str, str],
        *,
        of_some: bool = False,
    ) -> tuple[list[Selected], Skips]:
        """Return what is left of a selection, and what of it is skipped.

        A cause is of the vectors whose answers it changes, under the readings in `pins`. A pattern
        that matches no vector of `sources` is unmatched, unless these are `of_some` operators and
        it may be of others; whether a cause is, only a selection of all of them can tell.
        UsageError for a cause in tier large.
        """
        reasons, unmatched = self._by_pattern(sources)
        if of_some:
            unmatched = [*of_no_vector(unmatched, [source.operator for source in sources])]
        causes = [line for line in self.lines if line.pattern.startswith(OF_CAUSE)]
        selected_all = sum(len(part.numbers) for part in selected) == sum(map(len, sources))
        whole = selected_all and not of_some
        for line in causes:
            found = [*_caused(line, selected, pins)]
            for vector_id in found:
                reasons.setdefault(vector_id, line.reason)
            if whole and not found:
                unmatched.append(line.pattern)
        left: list[Selected] = []
        skipped: list[SkippedVector] = []
        for part in selected:
            ids, operator = part.source.ids, part.source.operator
            skips = np.array([ids[n] in reasons for n in part.numbers.tolist()], np.bool_)
            left.append(Selected.of(part.source, part.numbers[~skips], part.shards))
            names = [ids[number] for number in part.numbers[skips].tolist()]
            skipped += [SkippedVector(name, operator, reasons[name]) for name in names]
        return left, Skips(self.path, tuple(skipped), tuple(unmatched), self.digest)

    def _by_pattern(self, sources: Sequence[Source]) -> tuple[dict[str, str], list[str]]:
        """Return the ids that patterns match, each with its reason, and what matches nothing."""
        ordered = sorted({*chain.from_iterable(source.ids for source in sources)})
        reasons: dict[str, str] = {}
        unmatched: list[str] = []
        for line in self.lines:
            if line.pattern.startswith(OF_CAUSE):
                continue
            found = matched(line.pattern, ordered)
            for vector_id in found:
                reasons.setdefault(vector_id, line.reason)
            if not found:
                unmatched.append(line.pattern)
        return reasons, unmatched


def joined(parts: Sequence[Skips | None]) -> Skips | None:
    """Return what a run skips, from what its shards do, which have the same file."""
    skips = [part for part in parts if part is not None]
    if not skips:
        return None
    vectors = tuple(chain.from_iterable(part.vectors for part in skips))
    return replace(skips[0], vectors=vectors)


def _caused(
    line: ReasonedLine, selected: Sequence[Selected], pins: Mapping[str, str]
) -> Iterator[str]:
    """Yield the ids of the vectors, of those selected, whose answers a cause changes."""
    from conformance.diagnosis.named_causes import cause_named  # noqa: PLC0415 - as below
    from conformance.diagnosis.predictions import Predictions  # noqa: PLC0415 - as below
    from conformance.faults.baseline import (  # noqa: PLC0415 - the whole catalogue
        Baseline,
        PlantedFaults,
        right_operator,
    )

    named = line.pattern.removeprefix(OF_CAUSE)
    cause, predictions = cause_named(named), Predictions(lambda _: pins)
    for part in selected:
        operator = part.source.operator
        concerned = tuple(
            fault for fault in cause.faults if fault.concerns(operator_named(operator))
        )
        if not concerned or not len(part.numbers):
            continue
        if LARGE in part.source.tiers:
            raise UsageError(f"tier large has patterns to skip, not causes: {named}")
        wrong, right = PlantedFaults(concerned, operator, pins), right_operator(operator, pins)
        for vector in vectors_in(part.source, part.numbers):
            changed = wrong.answer(Baseline(vector.case, right)) is not None
            if changed and predictions.applies(cause, vector):
                yield vector.case.id
