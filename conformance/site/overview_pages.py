"""The first page of a site, and the page of each engine.

Where a text of a page is the name or the path of another page, it becomes a link to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.api.compare import Comparison
from conformance.api.diff import VERSION, Difference, Setting, settings
from conformance.api.releases import Release
from conformance.record.report import Report
from conformance.report import check_report, comparison_report, diff_report, shared_blocks
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.comparison_report import by_operator
from conformance.site.addresses import INDEX, VECTORS
from conformance.site.releases import Engine
from conformance.text import listed

TO_INDEX, TO_VECTORS = (
    doc.Span("All engines", link=INDEX),
    doc.Span("Failing vectors", link=VECTORS),
)
MENU = (TO_INDEX, TO_VECTORS)
_COMPARED = ("readings", "undefined", "accuracy")
_OF_RELEASES = {"backend", VERSION}
"""Settings in which releases differ by their nature."""


@dataclass(frozen=True, slots=True)
class Files:
    """Paths in the site of what is not a page.

    `reports` are those of raw reports by the name of the release, `badges` by that of the engine
    those of its badge, as SVG and as JSON.
    """

    reports: Mapping[str, str]
    badges: Mapping[str, tuple[str, str]]


def index(engines: Sequence[Engine], files: Files, vectors: int) -> doc.Document:
    """Return the first page: all releases, and the newest of each engine compared.

    `vectors` are those that some release fails.
    """
    releases = [release for engine in engines for release in engine.releases]
    newest = tuple(engine.newest for engine in engines)
    comparison = Comparison(newest, vectors=(), tier="", count=0, started="", platform="")
    described = comparison_report.describe(comparison).filled()
    compared = {section.name: section for section in described}
    counts = words.count(len(engines), "engine"), words.count(len(releases), "release")
    failing = doc.Span(f"{words.count(vectors, 'vector')} that some release fails", link=VECTORS)
    return doc.Document(
        title="Pooling operators: engines and releases",
        menu=TO_VECTORS,
        alerts=tuple(_doubts(releases)),
        sections=(
            doc.Section("", (doc.Paragraph((f"{listed(counts)}, ", failing)),), name="heading"),
            doc.Section("", (_verdicts(releases, files),), name="releases"),
            compared.get("failures"),
            by_operator({release.name: release for release in releases}),
            *map(compared.get, _COMPARED),
        ),
        footer=doc.FOOTER,
    )


def _doubts(releases: Sequence[Release]) -> Iterator[str]:
    """Say what makes the numbers of some releases doubtful."""
    values: dict[Setting, set[str]] = {}
    for release in releases:
        for setting, value in settings(release.summary).items():
            values.setdefault(setting, set()).add(value)
    differing = {
        setting.what: 0
        for setting, given in values.items()
        if len(given) > 1 and setting.what not in _OF_RELEASES
    }
    if differing:
        what = listed([*differing])
        yield f"Reports differ in {what}: numbers compare only where these are the same."
    incomplete = [release.name for release in releases if not release.summary.complete]
    if incomplete:
        yield f"Runs that were cut short: {listed(incomplete)}."


def _verdicts(
    releases: Sequence[Release], files: Files, changes: Mapping[str, Difference] | None = None
) -> doc.Table:
    """Return a row for each release: the verdict, numbers, what changed, where its report is."""
    shown = shared_blocks.verdicts({v for release in releases for v in release.total})
    columns: doc.Columns = (
        "engine",
        "release",
        "verdict",
        *map(shared_blocks.verdict_column, shown),
        *(["since the one before"] if changes else []),
        "tier",
        "report",
    )
    rows: Iterable[doc.Row] = (
        (
            doc.Span(release.backend, "strong"),
            doc.Span(release.version, link=release.name),
            conclusion(release),
            *(f"{release.total[verdict]:,}" for verdict in shown),
            *([_changed(changes.get(release.name))] if changes else []),
            release.summary.tier,
            doc.Span(release.summary.started[:10] or "report", link=files.reports[release.name]),
        )
        for release in releases
    )
    return doc.table(columns, rows, name="releases", heads=2)


def conclusion(release: Release) -> doc.Span:
    """Return the verdict on a release: where it fails, what share of what it supports."""
    if release.ok:
        return doc.Span("conforms", "good")
    if not release.summary.complete:
        return doc.Span("incomplete", "bad")
    counts = release.total
    failed = sum(counts[verdict] for verdict in release.failing)
    if not failed:  # readings that are inconsistent, say
        return doc.Span("does not conform", "bad")
    supported = failed + counts["conforms"]
    said = f"fails {100 * failed / supported:.2g} % of supported"
    return doc.Span(said, shared_blocks.failing_tone(failed, supported))


def _changed(difference: Difference | None) -> str:
    """Say in a few words what is new in a release; empty where no other is before it."""
    if difference is None:
        return ""
    counts = {way: difference.count(way) for way in ("worse", "better")}
    number = len(difference.readings)
    readings = f"{words.count(number, 'reading')} changed" if number else ""
    return ", ".join(filter(None, [words.tally(counts), readings])) or "the same"


def engine_page(
    engine: Engine, report: Report, changes: Mapping[str, Difference], files: Files
) -> doc.Document:
    """Return the page of an engine: its releases, and the `report` of the newest.

    `changes` are by the name of a release those since the one before it.
    """
    document = check_report.describe(report, with_tables=True)
    # All vectors are listed by a script, which a site does without.
    sections = [each for each in document.filled() if each.name != "vectors"]
    counts = [each.name for each in sections].index("counts")
    newest = engine.newest.version
    lead = f"All else on this page, but for what compares them, is about the newest, {newest}."
    table = _verdicts(engine.releases, files, changes)
    versions = {release.version: release for release in engine.releases}
    return replace(
        document,
        menu=MENU,
        sections=(
            doc.Section("Releases", (table,), "releases", "Releases", lead),
            _since_the_one_before(engine, changes),
            *sections[:counts],  # causes
            by_operator(versions) if len(versions) > 1 else None,
            replace(sections[counts], title=f"Release {newest}", short="Newest"),
            *sections[counts + 1 :],
            _badge(files.badges[engine.name]),
        ),
    )


def _since_the_one_before(engine: Engine, changes: Mapping[str, Difference]) -> doc.Section | None:
    """Return what is new in the newest release."""
    if engine.newest.name not in changes:
        return None
    difference = diff_report.describe(changes[engine.newest.name])
    blocks: list[doc.Block] = [doc.Paragraph(doc.Span(str(difference.conclusion), difference.tone))]
    for section in difference.filled():
        title = section.title or ("What makes this doubtful" if section.name == "caveats" else "")
        blocks += [doc.Detail(section.blocks, title)] if title else section.blocks
    before = engine.releases[1].version
    return doc.Section(f"Since {before}", tuple(blocks), name="changes", short="Changes")


def _badge(paths: tuple[str, str]) -> doc.Section:
    """Return where the badge of the newest release is."""
    svg, endpoint = (doc.Span(path, link=path) for path in paths)
    said = ("The verdict on the newest release as a picture, ", svg)
    more = ("and as JSON for a service that draws badges, ", endpoint)
    return doc.Section("Badge", (doc.Paragraph((*said, ", ", *more)),), name="badge")
