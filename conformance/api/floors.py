"""Floors under what a backend supports: what was asked for, and what a run makes of it.

A backend may answer `unsupported` to everything that it no longer does, and each answer is fair. A
floor is how its users say what they rely on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from conformance.errors import UsageError
from conformance.operators import operator_named
from conformance.record.report import Floor, Report, Support
from conformance.settings import Settings
from conformance.text import listed, quoted

_FLOOR = re.compile(r"(\d{1,12}|\d{1,3}(?:\.\d{1,6})?(?=%))(%?)((?:,[^,]+)*)", re.ASCII)
_FORM = (
    "a minimum is a number of vectors or a percentage, with operators if it is not for all: "
    "4000, 90% or 95%,AvgPool-1"
)


@dataclass(frozen=True, slots=True)
class SupportFloors:
    """Floors that were parsed, with the ids of the vectors that conform in the baseline."""

    floors: tuple[Floor, ...] = ()
    strict: bool = False
    baseline: str = ""
    conforming: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def parse(cls, settings: Settings) -> SupportFloors | None:
        """Return what was asked for, None if nothing was; UsageError where that is wrong."""
        given = settings.min_supported
        texts = [given] if isinstance(given, str | int) else list(given)
        floors = tuple(dict.fromkeys(floor_named(text) for text in texts))
        strict = settings.strict_unsupported
        if settings.baseline is not None:
            path = os.fspath(settings.baseline)
            return cls(floors, strict, path, _conforming_in(path, settings.shard))
        return cls(floors, strict) if floors or strict else None

    def check(self, ids: Mapping[str, Collection[str]]) -> None:
        """Raise UsageError where a floor cannot be judged by the vectors that are selected.

        `ids` are those of the vectors of each operator, of all shards of the run.
        """
        for floor in self.floors:
            for name in floor.operators:
                operator_named(name)
                if not ids.get(name):
                    raise UsageError(
                        f"the minimum supported {floor}: no vector of {name} is selected"
                    )
            total = sum(len(ids[name]) for name in floor.operators or ids)
            if floor.needed(total) > total:
                raise UsageError(
                    f"the minimum supported {floor} is out of reach: {total:,} vectors are selected"
                )
        if self.baseline and self.conforming.isdisjoint(chain.from_iterable(ids.values())):
            raise UsageError(f"{self.baseline}: no vector that is selected conforms in it")

    def applied(self, report: Report) -> Report:
        """Return a report with its `support`."""
        kept = 0
        lost = [skipped.id for skipped in report.skipped if skipped.id in self.conforming]
        for result in report.results if self.baseline else ():
            if result.id in self.conforming:
                if result.verdict == "unsupported":
                    lost.append(result.id)
                else:
                    kept += 1
        support = Support(
            floors=self.floors,
            strict=self.strict,
            baseline=self.baseline,
            conforming=len(self.conforming),
            kept=kept,
            lost=tuple(lost),
        )
        return replace(report, support=support)


def floor_named(given: str | int) -> Floor:
    """Return the floor that a text such as "95%,AvgPool-1" or a number of vectors says."""
    text = str(given)
    match = _FLOOR.fullmatch(text)
    if match is None or isinstance(given, bool):
        raise UsageError(f"no minimum {quoted(text)}: {_FORM}")
    number, percent, operators = match.groups()
    least = float(number)
    if not least or (percent and least > 100):
        allowed = "more than 0% and at most 100%" if percent else "at least 1"
        raise UsageError(f"no minimum {quoted(text)}: it has to be {allowed}")
    names = tuple(dict.fromkeys(name.strip() for name in operators.split(",")[1:]))
    return Floor(least, bool(percent), names)


def joined(parts: Collection[Report]) -> Support | None:
    """Return what the whole run makes of the floors of its shards, which are the same."""
    supports = [part.support for part in parts if part.support is not None]
    if not supports:
        return None
    return replace(
        supports[0],
        kept=sum(support.kept for support in supports),
        lost=tuple(chain.from_iterable(support.lost for support in supports)),
    )


def asked_for(support: Support | None) -> str:
    """Return what was asked for, to compare with that of another report or to show."""
    if support is None:
        return "none"
    asked = [str(floor) for floor in support.floors]
    asked += ["nothing unsupported"] if support.strict else []
    if support.baseline:
        asked.append(f"{support.baseline}, where {support.conforming:,} conform")
    return listed(asked)


def _conforming_in(path: str, shard: str | None) -> frozenset[str]:
    """Return the ids that conform in a saved report; UsageError where it is no baseline."""
    from conformance.record.jsonl import read  # noqa: PLC0415 - it stands above this module

    report = read(path)
    if not report.complete:
        raise UsageError(f"{path}: incomplete, {report.stopped}: a baseline is a whole run")
    if report.shard and report.shard != shard:
        raise UsageError(
            f"{path}: of shard {report.shard} alone: merge the shards to have a baseline"
        )
    conforming = frozenset(result.id for result in report.results if result.verdict == "conforms")
    if not conforming:
        raise UsageError(f"{path}: no vector conforms in it: no baseline")
    return conforming
