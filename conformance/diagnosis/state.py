"""State told from arithmetic: failures that depend on earlier calls, and the fewest that show it.

Some failing vectors are called alone, each in a fresh process. What is right there and wrong after
the calls of the run depends on state that outlives a call: no arithmetic explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import eq
from random import Random

from conformance.backends.answer import NOT_RUN, Answer, arrays_of
from conformance.backends.fresh_starts import FreshStarts, Start
from conformance.backends.runner import Stopped
from conformance.batch import Batch, batch_of
from conformance.budget import Budget, Share, Spent
from conformance.diagnosis import limits
from conformance.diagnosis.calls import (
    by_number,
    depends_on,
    described,
    described_calls,
    differences,
    instead,
    mixed,
    with_other_data,
)
from conformance.diagnosis.features import spread, thinned
from conformance.diagnosis.run_history import Part, RunHistory, history_of
from conformance.diagnosis.shrinking import shrinking
from conformance.dtypes import name_of
from conformance.errors import UsageError
from conformance.judging.judge import judge
from conformance.progress import Progress
from conformance.record.report import Report
from conformance.vector import Case, Outputs, Vector, outputs_of
from conformance.vectorfile.sources import Source

_SEED = 23
_SAME = " of the same vector"


@dataclass(frozen=True, slots=True, eq=False)
class StateFinding:
    """A way in which outputs depend on earlier calls, or vary without any cause that was found.

    `words` complete "the failures are caused by: ...". `example` describes the shortest calls that
    show it: `sequence`, called in a fresh process, of which the last, of `operator`, is wrong. It
    was wrong in `shown` of `repeats` such processes. Where there is no such sequence, or it is not
    always wrong, the answers vary. `vectors` are the ids of failures that are right when they are
    called alone or in another order. `instead` says what comes in place of what is right, "" where
    that is not known; `words` say it too. Another failure is known to be of it by `wrong`, which
    says which calls of one vector alone are wrong; or by the aspects in which the earlier call has
    to differ, those `kept` of it.
    """

    words: str
    example: str
    operator: str
    sequence: tuple[Vector, ...] = ()
    vectors: tuple[str, ...] = ()
    shown: int = 0
    repeats: int = 0
    instead: str = ""
    wrong: Sequence[bool] = ()
    kept: Sequence[str] = ()

    @property
    def varies(self) -> bool:
        """Whether the same calls are wrong at one time and right at another."""
        return not 0 < self.shown == self.repeats


@dataclass(frozen=True, slots=True)
class StateReport:
    """What was found out about state: the `findings`, and why not all was, "" if it was.

    `starts` is how many fresh copies of the backend were called.
    """

    findings: tuple[StateFinding, ...] = ()
    note: str = ""
    starts: int = 0

    @property
    def vectors(self) -> frozenset[str]:
        """The ids of failures that are right at another time, which no arithmetic explains."""
        return frozenset(name for finding in self.findings for name in finding.vectors)

    def with_others(self, vectors: Sequence[Vector]) -> StateReport:
        """Return it with failures that were right when they were called once more.

        Where there is no finding that they can go to, they are one of their own.
        """
        if not vectors:
            return self
        findings = self.findings or (_unfound(vectors[0].case),)
        return replace(self, findings=_with_failures(findings, vectors))


def of_state(
    report: Report,
    sources: Sequence[Source],
    start: Start,
    *,
    workers: int = 1,
    share: Share | None = None,
    progress: Progress | None = None,
) -> StateReport:
    """Find out which failures of a run depend on earlier calls, and on which.

    `sources` are the vectors of the run, which so many `workers` shared. `start` starts fresh
    copies of the backend, see `fresh_starts_of`; its `share` of a budget allows so many of them.
    """
    history = history_of(report, sources, workers=workers)
    if not history.failed:
        return StateReport()
    note, share = "", share or Budget().share(limits.STEPS_OF_STATE)
    with FreshStarts(start, share, progress) as starts:
        search = _Search(history, starts, report)
        try:
            search.run()
        except Spent:
            note = f"state was told from arithmetic as far as {starts.called} fresh starts tell"
        except (UsageError, Stopped) as error:
            note = f"state was not told from arithmetic: no fresh start of the backend: {error}"
    return StateReport(search.findings(), note, starts.called)


@dataclass(slots=True, eq=False)
class _Target:
    """A failing vector, what is right for it alone, and verdicts on answers by their hashes."""

    position: int
    vector: Vector
    batch: Batch
    alone: Outputs | None = None
    verdicts: dict[int, bool] = field(default_factory=dict)


class _Search:
    """The search for state in one run."""

    def __init__(self, history: RunHistory, starts: FreshStarts, report: Report) -> None:
        self._history, self._starts, self._pins = history, starts, report.required
        self._failing = report.failing
        self._part = starts.share.left / 5
        self._found: dict[str, StateFinding] = {}
        self._right_elsewhere: set[int] = set()
        self._random = Random(_SEED)  # noqa: S311 - no secret: the same orders each time

    def run(self) -> None:
        """Find what there is; raises Spent, and UsageError or Stopped if no copy starts."""
        self._call_reordered()
        for target in self._varied(sorted(self._right_elsewhere), limits.FINDINGS):
            self._examine(target)
        # The first call of a process may be wrong, whatever the order of calls.
        wrong = [p for p in self._history.failed if p not in self._right_elsewhere]
        for target in self._varied(wrong[:1], 1) + self._varied(wrong[1:], limits.FINDINGS - 1):
            if not all(self._calls(target, limits.FIRST_CALLS)):
                self._right_elsewhere.add(target.position)
                self._examine(target)
        known = 0
        with suppress(Spent):  # what is left is to know more failures of the same kinds
            while known < len(self._right_elsewhere):
                known = len(self._right_elsewhere)
                self._call_reordered()
                self._call_alone()

    def _examine(self, target: _Target) -> None:
        """Find out on what a failing vector depends that is right alone or in another order."""
        try:
            # What shows after few calls is soon found; many calls of one vector take long.
            found = (
                self._by_number(target, limits.FEWEST_CALLS)
                or self._known(target)
                or self._after_others(target, limits.FIRST_CALLS)
                or self._by_number(
                    target,
                    min(limits.MOST_CALLS, max(limits.FEWEST_CALLS, 3 * (target.position + 1))),
                )
                or self._after_others(target)
                or self._not_shown(target)
            )
        except Spent:
            if not self._found:
                self._add(_unfound(target.vector.case))
            raise
        self._add(found)

    def _add(self, finding: StateFinding) -> None:
        if len(self._found) < limits.FINDINGS:
            self._found.setdefault(finding.words, finding)

    def findings(self) -> tuple[StateFinding, ...]:
        """Return the findings, each with the failures of its operator that it may explain."""
        right = map(self._history.vector, sorted(self._right_elsewhere))
        return _with_failures([*self._found.values()], right)

    # Which failures depend on other calls ----------------------------------------------------

    def _call_alone(self) -> None:
        """Call some failures alone that were wrong in each order so far, and then all after one.

        What the first call of a process leaves may make those right that are like it.
        """
        never = {*self._right_elsewhere, *self._history.ended}
        wrong = [position for position in self._history.failed if position not in never]
        for target in self._varied(wrong, limits.FINDINGS):
            if not all(self._calls(target, 1)):
                self._right_elsewhere.add(target.position)
                self._call_reordered(target.position)

    def _call_reordered(self, *first: int) -> None:
        """Call the failing vectors alone in another order than before; some may be right now."""
        self._right_elsewhere.update(self._history.again)
        calls = sorted({*self._history.failed}.difference(self._history.ended))
        if len(calls) <= limits.FINDINGS:
            return
        # The first ones of a process may all be wrong, and later right.
        order = [*first, *self._random.sample(calls, len(calls)), *calls]
        positions = iter(order)
        with self._starts.copy() as copy:
            part = self._starts.share.part(self._part)
            for batch, rows in self._history.parts(order, most=limits.CALLS_A_BATCH):
                answers = copy.call(batch, rows)
                self._right_elsewhere.update(
                    position
                    for row, position in zip(rows, positions, strict=False)
                    if not self._fails(self._history.vector(position), answers.at(row))
                )
                if part.is_spent:
                    break

    def _varied(self, positions: Sequence[int], most: int) -> list[_Target]:
        some = [*map(self._target, thinned(positions, limits.CALLS_A_BATCH))]
        return spread(some, most, lambda target: target.vector)

    def _calls(self, target: _Target, most: int) -> list[bool]:
        """Return which of several calls of a vector in a fresh process are wrong."""
        wrong: list[bool] = []

        def hear(answer: Answer) -> None:
            wrong.append(self._is_wrong(answer, target))
            if not wrong[-1] and target.alone is None:
                target.alone = _outputs(answer)

        with self._starts.copy() as copy:
            part = self._starts.share.part(self._part / 2)
            while len(wrong) < most and (sum(wrong) < limits.REPEATS or all(wrong)):
                # Few at first: a call may take long.
                copy.answers(
                    target.batch, min(len(wrong) + 1, limits.CALLS_A_BATCH, most - len(wrong)), hear
                )
                if part.is_spent:
                    break
        return wrong

    # On which calls they depend --------------------------------------------------------------

    def _by_number(self, target: _Target, most: int) -> StateFinding | None:
        """Return a finding if some calls of the vector alone are wrong; None if all are right."""
        with self._starts.reserving(self._part):
            wrong = self._calls(target, most)
            if not any(wrong):
                return None
            for known in self._found.values():
                if known.wrong and all(map(eq, wrong, known.wrong)):
                    return known
            again = self._calls(target, len(wrong))
            if not all(map(eq, wrong, again)):
                return _varying(target, "in one process and right in another")
            if all(wrong):
                words = "the output is right only after other calls"
                return self._finding([], target, words, wrong=wrong)
            of = self._counted(wrong, target)
        other = with_other_data(target.vector.case) if wrong[0] and of == _SAME else None
        if other is not None:
            # What other calls leave behind may be wrong, and what the same one leaves right.
            found = self._finding([other], target)
            if found.instead:
                return replace(found, wrong=wrong)
        earlier = [target.vector] * wrong.index(True)
        return self._finding(earlier, target, by_number(wrong, of), wrong=wrong)

    def _counted(self, wrong: Sequence[bool], target: _Target) -> str:
        """Return in words which calls are counted if only some calls of a vector are wrong."""
        case, other = target.vector.case, partial(self._history.other, target.position)
        change = wrong.index(not wrong[0])
        of_other_type = [other(operator=same, dtype=False) for same in (False, True)]
        of_type = f" of {name_of(case.data.dtype)}" if any(of_other_type) else ""
        for another, of in (
            (of_other_type[0], ""),
            (other(operator=False, dtype=True), of_type),
            (of_other_type[1], f" of {case.operator}"),
            (other(operator=True, dtype=True), f" of {case.operator}{of_type}"),
            (with_other_data(case), " of the same shape and attributes"),
        ):
            if another is not None and wrong[change] == self._is_wrong_after(
                _parts([another] * change), target
            ):
                return of
        return _SAME

    def _after_others(self, target: _Target, most: int | None = None) -> StateFinding | None:
        """Return the fewest of the likeliest earlier calls after which a vector is wrong."""

        def shows(positions: Sequence[int]) -> bool:
            return self._is_wrong_after(self._history.parts(positions), target)

        with self._starts.reserving(self._part):
            likely = self._history.likely(target.position)[:most]
            shown = next(filter(shows, _growing(likely)), None)
            if shown is None:
                return None
            kept, is_shortest = list[str](), False
            with suppress(Spent):
                for smaller in shrinking(shown, shows):
                    shown = smaller
                is_shortest = True
            earlier = [self._history.vector(position) for position in shown]
            if len(earlier) == 1:
                with suppress(Spent):
                    earlier[0], kept = self._most_alike(earlier[0], target)
        words = (
            "" if is_shortest else f"the output depends on some of {len(earlier):,} earlier calls"
        )
        return self._finding(earlier, target, words, kept=kept)

    def _not_shown(self, target: _Target) -> StateFinding:
        """Return what is said of a vector that is right after all the calls of the run."""
        if not self._history.whole or target.position in self._history.again:
            return _unfound(target.vector.case)
        same = "alone and after the same calls"
        return _varying(target, f"in the run, and right in a fresh process, {same}")

    def _known(self, target: _Target) -> StateFinding | None:
        """Return a finding if a vector is wrong after a call that differs as is known to matter."""
        case = target.vector.case
        for known in self._found.values():
            earlier = known.sequence[0].case if known.kept else None
            if earlier is not None and earlier.operator == case.operator:
                changed = mixed(earlier, case, [*known.kept, "data"])
                if self._shows(changed, target):
                    return known
        return None

    def _most_alike(self, earlier: Vector, target: _Target) -> tuple[Vector, list[str]]:
        """Return an earlier call that differs in as little as can be, and in what it has to."""
        case = target.vector.case
        if earlier.case.operator != case.operator:
            return earlier, ["operator"]

        def shows(keys: Sequence[str]) -> bool:
            return self._shows(mixed(earlier.case, case, keys), target)

        kept = differences(earlier.case, case)
        for fewer in shrinking(kept, shows):
            kept = fewer
        alike = mixed(earlier.case, case, kept) or earlier
        # Other data tell an output that was kept from a plan that was.
        other = None if "data" in kept else with_other_data(alike.case)
        return (other if other is not None and self._shows(other, target) else alike), kept

    def _shows(self, earlier: Vector | None, target: _Target) -> bool:
        return earlier is not None and self._is_wrong_after(_parts([earlier]), target)

    # What the calls found give ---------------------------------------------------------------

    def _finding(
        self,
        earlier: Sequence[Vector],
        target: _Target,
        words: str = "",
        *,
        kept: Sequence[str] = (),
        wrong: Sequence[bool] = (),
    ) -> StateFinding:
        """Return what the calls found show, in several fresh processes."""
        runs = [self._after(_parts(earlier), target)]
        with suppress(Spent):
            runs += [self._after(_parts(earlier), target) for _ in range(1, limits.REPEATS)]
        shown = [run for run in runs if self._is_wrong(run[1], target)]
        if len(shown) < len(runs):
            finding = _varying(target, f"in {len(shown)} of {len(runs)} processes")
        else:
            what = self._instead(earlier[0], target, kept, shown[0]) if len(earlier) == 1 else ""
            finding = StateFinding(
                (words or depends_on(len(earlier), kept)) + (f": {what}" if what else ""),
                described_calls([vector.case for vector in (*earlier, target.vector)]),
                target.vector.case.operator,
                instead=what,
                wrong=wrong,
                kept=kept,
            )
        sequence = (*earlier, target.vector)
        return replace(finding, sequence=sequence, shown=len(shown), repeats=len(runs))

    def _instead(
        self, earlier: Vector, target: _Target, kept: Sequence[str], run: tuple[Answer, Answer]
    ) -> str:
        """Say what comes back after an earlier call, if the same is true with its data changed."""
        words = instead(target.vector, earlier, kept, (*map(_outputs, run), target.alone))
        other = with_other_data(earlier.case) if words else None
        with suppress(Spent):
            if other is not None:
                run = self._after(_parts([other]), target)
                if self._is_wrong(run[1], target):
                    outputs = (*map(_outputs, run), target.alone)
                    return words if instead(target.vector, other, kept, outputs) == words else ""
        return words

    def _is_wrong_after(self, earlier: Iterable[Part], target: _Target) -> bool:
        """Say whether a vector fails in a fresh process after other calls."""
        return self._is_wrong(self._after(earlier, target)[1], target)

    def _after(self, earlier: Iterable[Part], target: _Target) -> tuple[Answer, Answer]:
        """Return the answers to the last of some calls, and to a vector after them."""
        before = Answer(NOT_RUN)
        with self._starts.copy() as copy:
            for batch, rows in earlier:
                before = copy.answer(batch, rows)
            return before, copy.answer(target.batch)

    def _is_wrong(self, answer: Answer, target: _Target) -> bool:
        """Say whether the judge calls an answer to a vector a failure."""
        known = hash(answer)
        if known not in target.verdicts:
            target.verdicts[known] = self._fails(target.vector, answer)
        return target.verdicts[known]

    def _fails(self, vector: Vector, answer: Answer) -> bool:
        return judge(vector, answer, self._pins).verdict in self._failing

    def _target(self, position: int) -> _Target:
        vector = self._history.vector(position)
        return _Target(position, vector, batch_of([vector]))


def _growing(likely: Sequence[int]) -> Iterator[list[int]]:
    """Yield more and more of some calls, in the order of the run; the last time all of them."""
    count = 1
    while likely:
        yield sorted(likely[:count])
        if count >= len(likely):
            return
        count *= limits.GROWTH


def _with_failures(
    findings: Sequence[StateFinding], failures: Iterable[Vector]
) -> tuple[StateFinding, ...]:
    """Return findings with more failures: each of a finding of its operator, else of the first."""
    operators = [finding.operator for finding in findings]
    ids = [[*finding.vectors] for finding in findings]
    for case in (vector.case for vector in failures) if findings else ():
        number = operators.index(case.operator) if case.operator in operators else 0
        ids[number].append(case.id)
    return tuple(replace(found, vectors=tuple(ids[n])) for n, found in enumerate(findings))


def _parts(vectors: Sequence[Vector]) -> list[Part]:
    """Return calls of vectors, those of the same one that follow each other together."""
    alike = ([*group] for _, group in groupby(vectors, id))
    return [(batch_of(group[:1]), [0] * len(group)) for group in alike]


def _varying(target: _Target, when: str) -> StateFinding:
    case = target.vector.case
    example = f"{described(case)}, wrong {when}"
    return StateFinding("answers that vary", example, case.operator)


def _unfound(case: Case) -> StateFinding:
    words = "answers that vary, or depend on earlier calls that were not found"
    example = f"{described(case)}, wrong in the run, and right when it is called again"
    return StateFinding(words, example, case.operator)


def _outputs(answer: Answer) -> Outputs | None:
    arrays = arrays_of(answer.outputs)
    return None if arrays is None else outputs_of(arrays)
