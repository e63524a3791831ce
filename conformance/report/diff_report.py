"""What got better and what got worse between two reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.api.diff import Difference, Said, VerdictChange, Way
from conformance.report import document as doc
from conformance.report import values as words

_TITLES: dict[Way, tuple[str, doc.Tone]] = {
    "worse": ("Worse", "bad"),
    "better": ("Better", "good"),
    "other": ("Wrong in another way", "warn"),
}
_IDS = 3
_GROUPS = 20


def describe(difference: Difference) -> doc.Document:
    """Return a difference; its conclusion says whether something got worse."""
    names = dict.fromkeys([difference.before, difference.after])
    notes = (doc.Span(f"NOTE: {caveat}", "warn") for caveat in difference.caveats)
    counts = [("new", difference.new), ("gone", difference.gone)]
    only_one = tuple(_counted(which, number) for which, number in counts if any(number.values()))
    return doc.Document(
        footer=doc.FOOTER,
        title="Two reports compared",
        subject=("backend", " and then ".join(names)),
        conclusion=_conclusion(difference),
        tone="bad" if difference.worse else "good",
        sections=(
            doc.Section("", tuple(map(doc.Paragraph, notes)), name="caveats"),
            *(_verdicts(difference, way) for way in _TITLES),
            _changes("Readings", difference.readings, difference.inconsistent),
            _changes("Accuracy", difference.accuracy, ()),
            doc.Section("", only_one, name="vectors"),
        ),
    )


def _verdicts(difference: Difference, way: Way) -> doc.Section:
    """Return the vectors whose verdict changed in a way, by operator and cause."""
    changes = [change for change in difference.verdicts if change.way == way]
    items: list[doc.Item | doc.Text] = [_verdict_change(change) for change in changes[:_GROUPS]]
    rest = changes[_GROUPS:]
    if rest:
        vectors = words.count(sum(len(change.ids) for change in rest), "more vector")
        items.append(doc.Span(f"… and {vectors} in {words.count(len(rest), 'group')}", "quiet"))
    title, tone = _TITLES[way]
    return doc.Section(
        f"{title}: {words.count(difference.count(way), 'vector')}",
        (doc.listing(items),),
        name=way,
        tone=tone,
    )


def _verdict_change(change: VerdictChange) -> doc.Item:
    why = f" ({change.why})" if change.why else ""
    vectors = words.count(len(change.ids), "vector")
    ids = [doc.Span(vector_id, "quiet", code=True) for vector_id in change.ids[:_IDS]]
    rest = len(change.ids) - _IDS
    if rest > 0:
        ids.append(doc.Span(f"… and {rest:,} more", "quiet"))
    said = f"{change.operator}: {change.before} → {change.after} in {vectors}{why}"
    return doc.Item(said, doc.listing(ids).items)


def _changes(title: str, changes: Sequence[Said], inconsistent: Sequence[str]) -> doc.Section:
    items = []
    for change in changes:
        said = f"{change.what}: {change.before or 'nothing'} → {change.after or 'nothing'}"
        items.append(doc.Span(said, "bad" if change.what in inconsistent else ""))
    return doc.Section(title, (doc.listing(items),), name=title.lower())


def _counted(which: str, counts: Mapping[str, int]) -> doc.Paragraph:
    total = words.count(sum(counts.values()), "vector")
    return doc.Paragraph(f"{total} {which}: {words.tally(counts)}")


def _conclusion(difference: Difference) -> doc.Conclusion:
    compared = f"{words.count(difference.compared, 'vector')} in both reports"
    if difference.worse:
        return doc.Conclusion("WORSE", f"{'; '.join(difference.worse)}; {compared}")
    better = difference.count("better")
    if better:
        return doc.Conclusion("BETTER", f"{words.count(better, 'vector')} got better; {compared}")
    word = "NOTHING GOT WORSE" if difference.verdicts or difference.readings else "SAME"
    return doc.Conclusion(word, compared)
