"""The difference of two reports for the terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from conformance.report import values as words
from conformance.report.diff import Change, Difference, VerdictChange, Way
from conformance.report.encoding import plain

_TITLES: dict[Way, tuple[str, str]] = {
    "worse": ("Worse", "bold red"),
    "better": ("Better", "bold green"),
    "other": ("Wrong in another way", "bold yellow"),
}
_IDS = 3
_GROUPS = 20


def render(difference: Difference) -> RenderableType:
    """Return a difference for a terminal; the last line says whether something got worse."""
    parts: list[RenderableType] = []
    names = dict.fromkeys([difference.before, difference.after])
    parts += [Text.assemble("backend ", (" and then ".join(names), "bold")), Text()]
    if difference.caveats:
        parts += [Text(f"NOTE: {caveat}", "bold yellow") for caveat in difference.caveats]
        parts.append(Text())
    for way, (title, style) in _TITLES.items():
        parts += _verdicts(difference, way, title, style)
    parts += _changes("Readings", difference.readings, difference.inconsistent)
    parts += _changes("Accuracy", difference.accuracy, ())
    for title, counts in (("new", difference.new), ("gone", difference.gone)):
        if any(counts.values()):
            parts += [Text(f"{_total(counts)} {title}: {_counts(counts)}"), Text()]
    return Group(*parts, _verdict(difference))


def to_json(difference: Difference) -> str:
    """Return a difference as one JSON object."""
    ways: tuple[Way, ...] = ("worse", "better", "other")
    found = plain(difference)
    found["got_worse"] = list(difference.worse)
    found["vectors"] = {way: difference.count(way) for way in ways}
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode("utf-8", "replace").decode()


def _verdicts(difference: Difference, way: Way, title: str, style: str) -> Iterator[RenderableType]:
    changes = [change for change in difference.verdicts if change.way == way]
    if not changes:
        return
    yield Text(f"{title}: {words.count(difference.count(way), 'vector')}", style)
    for change in changes[:_GROUPS]:
        yield from _verdict_change(change)
    rest = changes[_GROUPS:]
    if rest:
        vectors = words.count(sum(len(change.ids) for change in rest), "more vector")
        yield Text(f"  … and {vectors} in {words.count(len(rest), 'group')}", "dim")
    yield Text()


def _verdict_change(change: VerdictChange) -> Iterator[RenderableType]:
    why = f" ({change.why})" if change.why else ""
    said = f"{change.operator}: {change.before} → {change.after} in "
    said += f"{words.count(len(change.ids), 'vector')}{why}"
    yield Padding(Text(said), (0, 0, 0, 2))
    for name in change.ids[:_IDS]:
        yield Text(f"    {name}", "dim", no_wrap=True, overflow="ignore")
    rest = len(change.ids) - _IDS
    if rest > 0:
        yield Text(f"    … and {rest:,} more", "dim")


def _changes(
    title: str, changes: Sequence[Change], loud: Sequence[str]
) -> Iterator[RenderableType]:
    if not changes:
        return
    yield Text(title, "bold")
    for change in changes:
        said = f"{change.what}: {change.before or 'nothing'} → {change.after or 'nothing'}"
        yield Padding(Text(said, "bold red" if change.what in loud else ""), (0, 0, 0, 2))
    yield Text()


def _total(counts: Mapping[str, int]) -> str:
    return words.count(sum(counts.values()), "vector")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items() if count)


def _verdict(difference: Difference) -> Text:
    compared = f"{words.count(difference.compared, 'vector')} in both reports"
    if difference.worse:
        return Text(f"WORSE: {'; '.join(difference.worse)}; {compared}", "bold red")
    better = difference.count("better")
    if better:
        return Text(f"BETTER: {words.count(better, 'vector')} got better; {compared}", "bold green")
    word = "NOTHING GOT WORSE" if difference.verdicts or difference.readings else "SAME"
    return Text(f"{word}: {compared}", "bold green")
