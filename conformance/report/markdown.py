"""A report as Markdown, for the summary of a CI job: the verdict first, then why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from conformance.check.report import VERDICTS, Report, Result, Verdict
from conformance.report import sentences
from conformance.report import values as words
from conformance.report.groups import FailureGroup, failure_groups
from conformance.report.markup import block, cell, code, prose, row, table

Repro = Callable[[Result], str]

LARGEST = 1 << 20
"""Bytes that a job summary may have; what does not fit is left out, and counted."""

_ROOM_FOR_THE_REST = 1 << 12
_ROWS = 100
"""Rows of a table, or items of a list, that are shown."""
_ALWAYS = ("conforms", "mismatch", "unsupported")
_THREADS = "https://github.com/"


def render(report: Report, *, repro: Repro | None = None, max_shown: int = 20) -> str:
    """Return a report as Markdown of at most `LARGEST` bytes.

    `repro` makes a script that shows a failure again; `max_shown` groups of failures are shown
    with an example.
    """
    text = _Text()
    text.add(_top(report))
    for section in (_counts, _causes):
        text.add(section(report))
    groups = failure_groups(report)
    shown = 0
    for group in groups[:max_shown]:
        if not text.add(_failure(group, repro), keep_free=LARGEST // 4):
            break
        shown += 1
    text.add(_not_shown(groups[shown:]))
    for rest in (_readings, _undefined, _accuracy, _repeats, _expectations):
        text.add(rest(report))
    return text.finished()


class _Text:
    """Sections as long as there is room."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = LARGEST - _ROOM_FOR_THE_REST
        self._left_out = 0

    def add(self, lines: Iterator[str], keep_free: int = 0) -> bool:
        """Add a section, all of it or nothing; say whether it was added."""
        part = "\n".join(lines)
        size = len(part.encode()) + 2
        if size > self._room - keep_free:
            self._left_out += 1
            return False
        if part:
            self._parts.append(part)
            self._room -= size
        return True

    def finished(self) -> str:
        """Return everything that was added."""
        if self._left_out:
            self._parts.append(
                f"*Left out for lack of room: {words.count(self._left_out, 'section')}.*"
            )
        return "\n\n".join(self._parts) + "\n"


def _top(report: Report) -> Iterator[str]:
    unreached = sentences.cut_short(report)
    if unreached:
        yield f"# ⚠️ {prose(unreached)}"
        yield ""
    yield f"## {'✅' if report.ok else '❌'} {prose(sentences.verdict(report))}"
    yield ""
    yield f"Backend {code(report.backend)}, {prose(sentences.scope(report))}"
    if report.required:
        yield ""
        yield f"Required: {code(sentences.required(report))}"


def _counts(report: Report) -> Iterator[str]:
    shown = [v for v in VERDICTS if v in _ALWAYS or report.counts[v]]
    yield from table("operator", "run", *shown, "not run")
    totals = {used.operator: used.total for used in report.vectors}
    operators = list(dict.fromkeys([*totals, *report.counts_by_operator]))
    for operator in operators[:_ROWS]:
        counts = report.counts_by_operator.get(operator, Counter[Verdict]())
        run = sum(counts.values())
        numbers = [run, *(counts.get(v, 0) for v in shown), totals.get(operator, run) - run]
        yield row(cell(operator), *(f"{number:,}" for number in numbers))
    if len(operators) > 1:
        numbers = [len(report.results), *(report.counts[v] for v in shown), report.not_run]
        yield row("all", *(f"{number:,}" for number in numbers))
    deselected = sentences.left_out(report)
    if deselected:
        yield ""
        yield f"{prose(deselected)}."
    for note in sentences.notes(report)[:_ROWS]:
        yield ""
        yield prose(note)


def _causes(report: Report) -> Iterator[str]:
    if report.diagnoses:
        yield "### Likely causes"
        yield ""
    for each in report.diagnoses[:_ROWS]:
        yield f"- {prose(each.summary)}."
        for aside in sentences.cause_asides(each):
            yield f"  - {prose(aside)}"
        for thread in each.threads[:2]:
            yield f"  - public report of the kind: {_link(thread)}"
    yield from _more(report.diagnoses)


def _link(address: str) -> str:
    safe = address.startswith(_THREADS) and address[len(_THREADS) :].replace("/", "")
    return f"<{address}>" if safe and _is_plain(safe) else code(address)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.replace("-", "").replace(".", "").replace("#", "").isalnum()


def _failure(group: FailureGroup, repro: Repro | None) -> Iterator[str]:
    said, shared, telling = sentences.title(group)
    example = group.example
    yield f"### {prose(said)}"
    yield ""
    if shared:
        yield f"{prose(shared[:1].upper() + shared[1:])}: {prose(telling)}."
        yield ""
    yield f"- {code(example.id)}"
    for name, value in sentences.facts(example):
        if name == "printed":
            yield f"- {name}:"
            yield ""
            yield from (f"  {line}" for line in block(value))
        else:
            yield f"- {name}: {code(value)}"
    script = repro(example) if repro is not None else ""
    if script:
        yield ""
        yield "<details><summary>To see it again</summary>"
        yield ""
        yield from block(script, "python")
        yield ""
        yield "</details>"


def _not_shown(groups: Sequence[FailureGroup]) -> Iterator[str]:
    if groups:
        vectors = words.count(sum(len(group.results) for group in groups), "more failing vector")
        yield f"*… and {vectors} in {words.count(len(groups), 'group')}, not shown here.*"


def _readings(report: Report) -> Iterator[str]:
    if not report.readings:
        return
    yield "### Readings followed"
    yield ""
    yield row("clause", "reading", "evidence")
    yield row(":---", ":---", ":---")
    for clause in report.readings[:_ROWS]:
        said, aside = sentences.followed(clause)
        pinned = " (required)" if clause.clause in report.required else ""
        loud = "❌ " if clause.status == "inconsistent" else ""
        yield row(cell(clause.clause) + pinned, f"{loud}{cell(said)}", prose(aside))
    yield from _more(report.readings)
    for said in filter(None, sentences.element_types(report)):
        yield ""
        yield prose(said)


def _undefined(report: Report) -> Iterator[str]:
    if not report.undefined:
        return
    yield "### Where the documents define nothing"
    yield ""
    for each in report.undefined[:_ROWS]:
        yield f"- {code(each.clause)}: {prose(sentences.behaviours(each))}"
    yield from _more(report.undefined)


def _accuracy(report: Report) -> Iterator[str]:
    if not report.accuracy:
        return
    yield "### Accuracy of averages that conform"
    yield ""
    yield from table("dtype", "elements", "correctly rounded", "worst ulp", "worst / bound")
    for each in report.accuracy[:_ROWS]:
        yield row(
            cell(each.dtype),
            f"{each.elements:,}",
            f"{100 * each.correctly_rounded:.2f} %",
            f"{each.worst_ulp:.3g}",
            f"{each.worst_of_bound:.3g}",
        )
    yield from _more(report.accuracy)


def _repeats(report: Report) -> Iterator[str]:
    if report.repeated is None:
        return
    differing, alike = sentences.repeats(report.repeated)
    if differing:
        yield f"❌ {prose(differing)}."
    if alike:
        yield f"{prose(alike)}."


def _expectations(report: Report) -> Iterator[str]:
    if report.expectations is None:
        return
    yield "### Expected failures"
    yield ""
    yield f"- {prose(sentences.met(report.expectations))}"
    for said in sentences.unmet(report.expectations):
        yield f"- ❌ {prose(said)}"


def _more(items: Sequence[object]) -> Iterator[str]:
    rest = sum(1 for _ in islice(items, _ROWS, None))
    if rest:
        yield ""
        yield f"*… and {rest:,} more.*"
