"""The reports of the shards of one run as the report of that run.

Verdicts are joined; what only the whole run can say is found anew: which readings explain every
vector that conforms, and which exceptions they leave without excuse.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from conformance.check.expected import INCONSISTENT, consistent
from conformance.check.explain import explain_excused
from conformance.check.reading_sets import reading_space
from conformance.check.readings import settled
from conformance.check.report import (
    Accuracy,
    ClauseReport,
    Expectations,
    OutputReport,
    Repeatability,
    Report,
    Result,
    UndefinedReport,
    VectorsUsed,
    Verdict,
)
from conformance.check.votes import Vote, separators
from conformance.errors import UsageError
from conformance.operators import CLAUSES
from conformance.report.values import list_of


def merge(shards: Mapping[str, Report]) -> Report:
    """Return the report of a run from those of its shards, by the names to use in messages.

    The order of results is that of the run; times are added up. Where shards are missing or
    incomplete the report is incomplete, and says so. Likely causes are those of the shards.

    Raises UsageError, naming the reports, unless they are shards of one run: of the same backend,
    versions, vectors, tier and required readings, each vector in one of them.
    """
    if not shards:
        raise UsageError("no reports to merge")
    _check_one_run(shards)
    numbers, count = _numbers(shards)
    parts = [shards[name] for _, name in sorted(zip(numbers, shards, strict=True))]
    _check_once(shards)
    first = parts[0]
    results, readings = _settled(_in_order(parts), first.required)
    counts: dict[str, Counter[Verdict]] = {name: Counter() for name in _operators(parts)}
    for result in results:
        counts[result.operator][result.verdict] += 1
    stopped = "; ".join(
        _stopped(parts, sorted(set(range(1, count + 1)).difference(numbers)), count)
    )
    merged = Report(
        backend=first.backend,
        vectors=tuple(_vectors(parts)),
        results=results,
        counts=sum(counts.values(), Counter()),
        counts_by_operator=counts,
        readings=readings,
        undefined=tuple(_undefined(parts)),
        accuracy=tuple(_accuracy(parts)),
        diagnoses=tuple(_diagnoses(parts)),
        required=first.required,
        tier=first.tier,
        not_run=len(first.results) + first.not_run - len(results),
        complete=not stopped,
        stopped=stopped,
        repeated=_repeated(parts),
        started=min((part.started for part in parts if part.started), default=""),
        seconds=sum(part.seconds for part in parts),
        backend_seconds=sum(part.backend_seconds for part in parts),
        versions=first.versions,
        outputs=tuple(_outputs(parts)),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
    )
    return replace(merged, expectations=_expectations(parts, merged))


def _check_one_run(shards: Mapping[str, Report]) -> None:
    """Raise UsageError, naming two reports and what they differ in, unless all are of one run."""
    (name, first), *others = shards.items()
    for other, report in others:
        for what, mine, its in _facts(first, report):
            if mine != its:
                raise UsageError(f"{name} and {other} are not of one run: {what}: {mine} and {its}")


def _facts(one: Report, other: Report) -> Iterator[tuple[str, object, object]]:
    yield "backend", one.backend, other.backend
    yield "tier", one.tier, other.tier
    yield "required readings", dict(one.required), dict(other.required)
    yield "vectors there are", len(one.results) + one.not_run, len(other.results) + other.not_run
    for what, mine, its in (
        ("version of {}", one.versions, other.versions),
        ("digest of {}", _digests(one), _digests(other)),
    ):
        for name in dict.fromkeys([*mine, *its]):
            yield what.format(name), mine.get(name, "none"), its.get(name, "none")
    files = [r.expectations.path if r.expectations else "none" for r in (one, other)]
    yield "expected failures", files[0], files[1]


def _digests(report: Report) -> dict[str, str]:
    return {used.operator: f"{used.digest} of {used.total:,} vectors" for used in report.vectors}


def _numbers(shards: Mapping[str, Report]) -> tuple[list[int], int]:
    """Return which shard each report is, and how many there are of the run."""
    found: dict[str, str] = {}
    numbers, counts = [], []
    for name, report in shards.items():
        number, _, count = report.shard.partition("/")
        digits = number.isdecimal() and count.isdecimal() and len(number + count) < 18
        if not digits or not 1 <= int(number) <= int(count):
            what = f"shard {report.shard!r}" if report.shard else "a whole run"
            raise UsageError(f"{name} is of {what}; check --shard i/n makes what merge joins")
        if report.shard in found:
            raise UsageError(f"{found[report.shard]} and {name} are both shard {report.shard}")
        found[report.shard] = name
        numbers.append(int(number))
        counts.append(int(count))
    if len(set(counts)) > 1:
        raise UsageError(f"shards of different runs: {list_of(list(found))}")
    return numbers, counts[0]


def _check_once(shards: Mapping[str, Report]) -> None:
    where: dict[str, str] = {}
    for name, report in shards.items():
        for result in report.results:
            if result.id in where:
                raise UsageError(f"{where[result.id]} and {name} both have {result.id}")
            where[result.id] = name


def _operators(parts: Sequence[Report]) -> list[str]:
    used = (each.operator for part in parts for each in part.vectors)
    return list(dict.fromkeys(chain(used, *(part.counts_by_operator for part in parts))))


def _in_order(parts: Sequence[Report]) -> list[Result]:
    """Return the results in the order of the run: a shard has every n-th vector of an operator."""
    of: list[dict[str, list[Result]]] = []
    for part in parts:
        of.append(defaultdict(list))
        for result in part.results:
            of[-1][result.operator].append(result)
    return [
        result
        for operator in _operators(parts)
        for row in zip_longest(*(each[operator] for each in of))
        for result in row
        if result is not None
    ]


def _settled(
    results: list[Result], pins: Mapping[str, str]
) -> tuple[tuple[Result, ...], tuple[ClauseReport, ...]]:
    """Return the results with the verdicts that the whole run gives them, and its readings."""
    vote_of = _VoteOf(pins)
    votes = [vote_of(result) for result in results]
    wrong, readings = settled(Counter(vote for vote in votes if vote is not None))
    return tuple(
        (_refuted if vote in wrong else _excused)(result, vote)
        if vote is not None and vote.excused
        else result
        for result, vote in zip(results, votes, strict=True)
    ), readings


class _VoteOf:
    """Returns what a result says of readings, given those that are required of the run."""

    def __init__(self, pins: Mapping[str, str]) -> None:
        self._pins = pins
        self._accepted: dict[tuple[str, frozenset[frozenset[tuple[str, str]]]], bytes] = {}

    def __call__(self, result: Result) -> Vote | None:
        """Return the vote of a result, None if it has none; UsageError if it makes no sense."""
        conforms = result.verdict == "conforms" and any(result.clauses.values())
        if not result.excused and not conforms:
            return None
        space = reading_space(result.operator)
        touched = space.touched(result.clauses)
        if not result.excused and not touched:
            return None
        combinations = result.excused or result.readings
        if not all(combination.keys() == {*touched} for combination in combinations):
            raise UsageError(f"{result.id} has readings of other clauses than touch it")
        key = result.operator, frozenset(frozenset(each.items()) for each in combinations)
        if key not in self._accepted:
            try:
                accepted = space.set_of(combinations) & space.allowed_by(self._pins)
            except KeyError as error:
                raise UsageError(
                    f"the reports have a clause or reading {error}, not known here"
                ) from None
            if not accepted.any():
                raise UsageError(f"{result.id} conforms under no reading that the report allows")
            self._accepted[key] = space.pack(accepted).tobytes()
        axes = len(result.shapes[0]) - 2 if result.shapes else 0
        return Vote(
            self._accepted[key],
            touched,
            bool(result.excused),
            separators(result.operator, result.dtype, axes, result.attributes),
        )


def _refuted(result: Result, vote: Vote) -> Result:
    """Return an exception as an error: the backend follows another reading."""
    if result.verdict != "conforms":
        return result
    detail = explain_excused(result.detail, result.operator, vote.accepted, vote.touched)
    return replace(result, verdict="error", readings=(), detail=detail)


def _excused(result: Result, vote: Vote) -> Result:
    """Return an exception as conforming: what a shard held against it the whole run does not."""
    if result.verdict == "conforms":
        return result
    why = explain_excused("", result.operator, vote.accepted, vote.touched)
    return replace(
        result,
        verdict="conforms",
        readings=result.excused,
        detail=result.detail.removesuffix(why),
        expected="",
    )


def _stopped(parts: Sequence[Report], missing: Sequence[int], count: int) -> Iterator[str]:
    if missing:
        several = len(missing) > 1
        names = list_of([f"{number}/{count}" for number in missing[:10]])
        more = f" and {len(missing) - 10:,} more" if len(missing) > 10 else ""
        yield f"shard{'s' if several else ''} {names}{more} {'are' if several else 'is'} missing"
    for part in parts:
        if not part.complete:
            yield f"shard {part.shard}: {part.stopped or 'incomplete'}"


def _vectors(parts: Sequence[Report]) -> Iterator[VectorsUsed]:
    selected: Counter[str] = Counter()
    for part in parts:
        for used in part.vectors:
            selected[used.operator] += used.selected
    for used in parts[0].vectors:
        yield replace(used, selected=selected[used.operator])


def _undefined(parts: Sequence[Report]) -> Iterator[UndefinedReport]:
    found: dict[str, Counter[str]] = {name: Counter() for name in CLAUSES}
    for part in parts:
        for each in part.undefined:
            found.setdefault(each.clause, Counter()).update(each.counts)
    for clause, counts in found.items():
        if counts:
            yield UndefinedReport(clause, dict(counts.most_common()))


def _outputs(parts: Sequence[Report]) -> Iterator[OutputReport]:
    found: dict[tuple[str, str], OutputReport] = {}
    for each in chain(*(part.outputs for part in parts)):
        before = found.get((each.operator, each.output), replace(each, computed=0, vectors=0))
        found[each.operator, each.output] = replace(
            each,
            computed=before.computed + each.computed,
            vectors=before.vectors + each.vectors,
        )
    yield from found.values()


def _accuracy(parts: Sequence[Report]) -> Iterator[Accuracy]:
    by_dtype: dict[str, list[Accuracy]] = defaultdict(list)
    for part in parts:
        for each in part.accuracy:
            by_dtype[each.dtype].append(each)
    for dtype, several in by_dtype.items():
        elements = sum(each.elements for each in several)
        # The counts are whole: so are the shares, as the whole run has them.
        rounded = sum(round(each.correctly_rounded * each.elements) for each in several)
        yield Accuracy(
            dtype=dtype,
            elements=elements,
            correctly_rounded=rounded / elements if elements else 0.0,
            worst_ulp=max(each.worst_ulp for each in several),
            worst_of_bound=max(each.worst_of_bound for each in several),
        )


def _diagnoses(parts: Sequence[Report]) -> Iterator[object]:
    if any(part.diagnoses for part in parts):
        from conformance.faults.diagnosis import united  # noqa: PLC0415 - the whole catalogue

        yield from united([part.diagnoses for part in parts])


def _repeated(parts: Sequence[Report]) -> Repeatability | None:
    found = [part.repeated for part in parts if part.repeated]
    if not found:
        return None
    return Repeatability(
        sampled=sum(each.sampled for each in found),
        differing=tuple(chain(*(each.differing for each in found))),
        failing=tuple(chain(*(each.failing for each in found))),
    )


def _expectations(reports: Sequence[Report], merged: Report) -> Expectations | None:
    """Return what became of announced failures; what matches nothing does so in every shard."""
    parts = [report.expectations for report in reports if report.expectations]
    if not parts:
        return None
    # An error that was expected may be an exception that the other shards excuse.
    failed = (each.id for report in reports for each in report.results if each.expected)
    may_pass = [*chain(*(each.passed for each in parts)), *failed]
    verdicts = {result.id: result.verdict for result in merged.results}
    inconsistent = {each.clause for each in merged.readings if each.status == INCONSISTENT}
    announced = tuple(dict.fromkeys(chain(*(each.announced for each in parts))))
    fine = consistent(merged)
    passed = [name for name in may_pass if verdicts.get(name) == "conforms"]
    return Expectations(
        path=parts[0].path,
        met=Counter(result.verdict for result in merged.results if result.expected),
        inconsistent=tuple(clause for clause in announced if clause in inconsistent),
        passed=(*passed, *(f"{INCONSISTENT} {clause}" for clause in announced if clause in fine)),
        unmatched=tuple(
            pattern
            for pattern in parts[0].unmatched
            if all(pattern in each.unmatched for each in parts)
        ),
        announced=announced,
    )
