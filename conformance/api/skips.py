"""Vectors that are not called at all, since one may hang a device: the file that lists them.

One pattern of ids or one cause a line, its reason behind `#`; other lines are blank or begin
with `#`:

    MaxPool-8/float64/*          # 1234: hangs the device
    cause same-lower-as-upper    # 1240: reads past its buffer where this fault shows
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from conformance.api.expected_failures import CAUSE
from conformance.api.reasoned_lines import (
    ReasonedLine,
    digest_of,
    lines_in,
    matched,
    of_no_vector,
    reason_in,
    split,
    text_of,
)
from conformance.errors import UsageError
from conformance.operators import operator_named
from conformance.record.report import SkippedVector, Skips
from conformance.settings import LARGE
from conformance.vectorfile.sources import Selected, Source, vectors_in

if TYPE_CHECKING:
    from conformance.diagnosis.claim import Claim

_FORM = f"a line is PATTERN # REASON, or {CAUSE} NAME # REASON"


@dataclass(frozen=True, slots=True)
class SkipFile:
    """A file of vectors to skip: where it is, and its lines.

    The word of a line is "cause", or "" where the pattern is of ids.
    """

    path: str
    lines: tuple[ReasonedLine, ...]
    digest: str

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SkipFile:
        """Read a file; UsageError, one line with path and line number, if it is not sound."""
        return cls.parse(text_of(path, "file of vectors to skip"), path=path)

    @classmethod
    def parse(cls, text: str, *, path: str | os.PathLike[str] = "") -> SkipFile:
        """Return what the text of a file says; UsageError as in `read`."""
        return cls(os.fspath(path), lines_in(text, path, _line), digest_of(text))

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
        causes = [line for line in self.lines if line.word == CAUSE]
        selected_all = sum(len(part.numbers) for part in selected) == sum(map(len, sources))
        whole = selected_all and not of_some
        for line in causes:
            found = [*_caused(line, selected, pins)]
            for vector_id in found:
                reasons.setdefault(vector_id, line.reason)
            if whole and not found:
                unmatched.append(f"{CAUSE} {line.pattern}")
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
            if line.word == CAUSE:
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


def _line(number: int, text: str) -> ReasonedLine:
    """Return what a line says, or raise ValueError with what is wrong about it."""
    word, pattern, rest = split(text)
    if word == CAUSE and not pattern:
        raise ValueError(f"{CAUSE} of what? {_FORM}")
    if word != CAUSE and pattern:
        raise ValueError(f"{text.removeprefix(word).strip()!r} is no reason; {_FORM}")
    named = pattern or word
    reason = reason_in(rest, named, _FORM)
    if pattern:
        _faults_named(pattern)
    return ReasonedLine(number, CAUSE if pattern else "", named, reason)


def _faults_named(cause: str) -> Claim:
    """Return a cause that names faults; ValueError where it names none."""
    from conformance.diagnosis.named_causes import cause_named  # noqa: PLC0415 - only for these

    named = cause_named(cause)
    if not named.faults:
        raise ValueError(f"{cause!r} says nothing of vectors that were never called")
    return named


def _caused(
    line: ReasonedLine, selected: Sequence[Selected], pins: Mapping[str, str]
) -> Iterator[str]:
    """Yield the ids of the vectors, of those selected, whose answers a cause changes."""
    from conformance.diagnosis.predictions import Predictions  # noqa: PLC0415 - as below
    from conformance.faults.baseline import (  # noqa: PLC0415 - the whole catalogue
        Baseline,
        PlantedFaults,
        right_operator,
    )

    cause, predictions = _faults_named(line.pattern), Predictions(lambda _: pins)
    for part in selected:
        operator = part.source.operator
        concerned = tuple(
            fault for fault in cause.faults if fault.concerns(operator_named(operator))
        )
        if not concerned or not len(part.numbers):
            continue
        if LARGE in part.source.tiers:
            raise UsageError(f"tier large has patterns to skip, not causes: {line.pattern}")
        wrong, right = PlantedFaults(concerned, operator, pins), right_operator(operator, pins)
        for vector in vectors_in(part.source, part.numbers):
            changed = wrong.answer(Baseline(vector.case, right)) is not None
            if changed and predictions.applies(cause, vector):
                yield vector.case.id
