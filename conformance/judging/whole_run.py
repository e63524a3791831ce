"""What only a whole run can say: the readings followed, and the exceptions that they refute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import structs

from conformance.errors import UsageError
from conformance.judging.explanations import explain_excused
from conformance.judging.reading_sets import reading_space
from conformance.judging.readings import settled
from conformance.judging.votes import Separators, Vote, separators
from conformance.record.report import ClauseReport, Result
from conformance.record.why import Raised


def judged_together(
    results: Iterable[Result], pins: Mapping[str, str]
) -> tuple[tuple[Result, ...], tuple[ClauseReport, ...]]:
    """Return results with the verdicts that the whole run gives them, and its readings.

    An exception that only a reading not followed would excuse is an error. `pins` maps disputed
    clauses to the only reading that was accepted. Raises UsageError for results of a file that make
    no sense.
    """
    voting = [(result, vote_of(result, pins)) for result in results]
    refuted, readings = settled(Counter(vote for _, vote in voting if vote is not None))
    return tuple(
        rejudged(result, vote, refuted=vote in refuted)
        if vote is not None and vote.raised and vote.conforms
        else result
        for result, vote in voting
    ), readings


def vote_of(result: Result, pins: Mapping[str, str]) -> Vote | None:
    """Return what a result says of readings, None if nothing; UsageError if it makes no sense."""
    if result.verdict == "error" and not result.excused:
        return Vote.error(_separators(result))
    if not (result.excused or (result.verdict == "conforms" and any(result.clauses.values()))):
        return None
    applying = reading_space(result.operator).disputed_in(result.clauses)
    if not (result.excused or applying):
        return None
    combinations = result.excused or result.readings
    if not all(combination.keys() == {*applying} for combination in combinations):
        raise UsageError(f"{result.id} has readings of other clauses than apply to it")
    try:
        space = reading_space(result.operator)
        accepted = space.bits_of(combinations) & space.allowed_by(pins)
    except KeyError as error:
        raise UsageError(f"the reports have a clause or reading {error}, not known here") from None
    if not accepted:
        raise UsageError(f"{result.id} conforms under no reading that the report allows")
    raised = bool(result.excused) or not result.returned
    return Vote(accepted, applying, bool(result.excused), _separators(result), raised)


def _separators(result: Result) -> Separators:
    axes = len(result.shapes[0]) - 2 if result.shapes else 0
    return separators(result.operator, result.dtype, axes, result.attributes)


def rejudged(result: Result, vote: Vote, *, refuted: bool) -> Result:
    """Return an exception with the verdict of the whole run, which may be another than its own.

    It is an error where the backend follows another reading, and else conforms.
    """
    conforms = result.verdict == "conforms"
    if conforms is not refuted:
        return result
    if refuted:
        why = explain_excused(result.why, result.operator, vote.accepted, vote.clauses)
        excused = result.excused or result.readings
        return structs.replace(result, verdict="error", readings=(), excused=excused, why=why)
    raised = structs.replace(result.why, only_under=()) if isinstance(result.why, Raised) else None
    return structs.replace(
        result, verdict="conforms", readings=result.excused, why=raised or result.why, expected=""
    )
