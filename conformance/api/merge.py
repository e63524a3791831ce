"""The reports of the shards of one run as the report of that run.

Verdicts are joined and counts added up. What only the whole run can say is worked out again: which
readings explain every vector that conforms, and which exceptions they leave without excuse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from conformance.api import skips
from conformance.api.diff import differing, files_of, settings_of
from conformance.api.expected_failures import with_expectations
from conformance.api.floors import asked_for, joined
from conformance.errors import UsageError
from conformance.judging.tally import report_of
from conformance.judging.whole_run import judged_together
from conformance.record.report import (
    Diagnosis,
    Repeatability,
    Report,
    Result,
    added_up,
    slowest,
)

_NAMED = 10
"""Missing shards that a message names."""


def merge(shards: Mapping[str, Report]) -> Report:
    """Return the report of a run from those of its shards, by the names to use in messages.

    The order of results is that of the run; times are added up. Where shards are missing or
    incomplete the report is incomplete, and says so. Likely causes are those of the shards.

    Raises UsageError, naming the reports, unless they are shards of one run: of the same backend,
    versions, vectors, tier and required readings, and each vector in one of them.
    """
    if not shards:
        raise UsageError("no reports to merge")
    _check_one_run(shards)
    name_of, count = _shards_by_number(shards)
    parts = [shards[name_of[number]] for number in sorted(name_of)]
    _check_ids_differ(shards)
    first = parts[0]
    results, readings = judged_together(_in_order(parts), first.required)
    merged = report_of(
        parts,
        backend=first.backend,
        vectors=added_up(chain.from_iterable(part.vectors for part in parts), "operator"),
        results=results,
        readings=readings,
        diagnoses=_diagnoses(parts),
        required=first.required,
        allow_extensions=first.allow_extensions,
        operators=first.operators,
        tier=first.tier,
        shard="",
        not_run=len(first.results) + first.not_run - len(results),
        stopped="; ".join(_reasons_incomplete(parts, name_of, count)),
        repeated=sum((part.repeated for part in parts if part.repeated), Repeatability(0)),
        variations=tuple(chain.from_iterable(part.variations for part in parts)),
        started=min((part.started for part in parts if part.started), default=""),
        seconds=sum(part.seconds for part in parts),
        backend_seconds=sum(part.backend_seconds for part in parts),
        slowest=slowest(chain.from_iterable(part.slowest for part in parts)),
        versions=first.versions,
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        expectations=None,
        support=joined(parts),
        skips=skips.joined([part.skips for part in parts]),
    )
    return _with_expectations(merged, parts)


def _check_one_run(shards: Mapping[str, Report]) -> None:
    """Raise UsageError, naming two reports and what they differ in, unless all are of one run."""
    (name, first), *others = shards.items()
    for other, report in others:
        for what, value, other_value in differing(
            _settings(first), _settings(report), missing="none"
        ):
            raise UsageError(
                f"{name} and {other} are not of one run: {what}: {value} and {other_value}"
            )


def _settings(report: Report) -> dict[str, str]:
    """Return what the shards of a run have in common."""
    return (
        settings_of(report)
        | files_of(report)
        | {
            "vectors there are": str(len(report.results) + report.not_run),
            "operators": ", ".join(report.operators) or "all",
            "floors": asked_for(report.support),
        }
    )


def _shards_by_number(shards: Mapping[str, Report]) -> tuple[dict[int, str], int]:
    """Return the name of each shard, by its number, and how many shards the run has."""
    name_of: dict[int, str] = {}
    counts: set[int] = set()
    for name, report in shards.items():
        number, _, count = report.shard.partition("/")
        digits = number.isdecimal() and count.isdecimal() and len(number + count) < 18
        if not digits or not 1 <= int(number) <= int(count):
            what = f"shard {report.shard!r}" if report.shard else "a whole run"
            raise UsageError(f"{name} is of {what}; check --shard i/n makes what merge joins")
        counts.add(int(count))
        other = name_of.setdefault(int(number), name)
        if other != name and len(counts) == 1:
            raise UsageError(f"{other} and {name} are both shard {report.shard}")
    if len(counts) > 1:
        texts = (report.shard for report in shards.values())
        raise UsageError(f"shards of different runs: {', '.join(texts)}")
    return name_of, counts.pop()


def _check_ids_differ(shards: Mapping[str, Report]) -> None:
    name_of: dict[str, str] = {}
    for name, report in shards.items():
        for result in report.results:
            if result.id in name_of:
                raise UsageError(f"{name_of[result.id]} and {name} both have {result.id}")
            name_of[result.id] = name


def _operators(parts: Sequence[Report]) -> list[str]:
    names = (used.operator for part in parts for used in part.vectors)
    return list(dict.fromkeys(chain(names, *(part.counts_by_operator for part in parts))))


def _in_order(parts: Sequence[Report]) -> list[Result]:
    """Return the results in the order of the run: a shard has every n-th vector of an operator."""
    by_operator: list[dict[str, list[Result]]] = []
    for part in parts:
        by_operator.append(defaultdict(list))
        for result in part.results:
            by_operator[-1][result.operator].append(result)
    return [
        result
        for operator in _operators(parts)
        for row in zip_longest(*(results[operator] for results in by_operator))
        for result in row
        if result is not None
    ]


def _reasons_incomplete(
    parts: Sequence[Report], numbers: Collection[int], count: int
) -> Iterator[str]:
    """Yield why the run is incomplete, given the numbers of the shards there are."""
    if missing := count - len(numbers):
        first = (f"{n}/{count}" for n in range(1, count + 1) if n not in numbers)
        names = ", ".join(islice(first, _NAMED))
        more = f" and {missing - _NAMED:,} more" if missing > _NAMED else ""
        yield f"shard {names} is missing" if missing == 1 else f"shards {names}{more} are missing"
    for part in parts:
        if not part.complete:
            yield f"shard {part.shard}: {part.stopped}"


def _diagnoses(parts: Sequence[Report]) -> tuple[Diagnosis, ...]:
    if not any(part.diagnoses for part in parts):
        return ()
    from conformance.diagnosis.statements import united  # noqa: PLC0415 - the whole catalogue

    return tuple(united([part.diagnoses for part in parts]))


def _with_expectations(merged: Report, parts: Sequence[Report]) -> Report:
    """Return a report with what became of announced failures in it."""
    files = [part.expectations for part in parts if part.expectations]
    if not files:
        return merged
    # An error that was expected may be an exception that the other shards excuse.
    failed = (result.id for part in parts for result in part.results if result.expected)
    announced = dict.fromkeys(chain(*(file.announced for file in files)))
    # What matches nothing does so in every shard.
    unmatched = [p for p in files[0].unmatched if all(p in file.unmatched for file in files)]
    causes = {cause: sum(file.causes.get(cause, 0) for file in files) for cause in files[0].causes}
    file = replace(
        files[0],
        unmatched=tuple(unmatched),
        announced=tuple(announced),
        causes=causes,
        changed=tuple(chain.from_iterable(file.changed for file in files)),
    )
    return with_expectations(merged, file, {*chain(*(file.passed for file in files)), *failed})
