"""A site on the disk: it is made beside its folder, and takes its place when it is whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.api.diff import Difference, diff
from conformance.api.releases import Release
from conformance.errors import UsageError, VectorFileError
from conformance.files import renewed_folder
from conformance.operators import CLAUSES
from conformance.record import jsonl
from conformance.record.report import Report, Result
from conformance.report import document as doc
from conformance.report import html
from conformance.site import badge
from conformance.site.addresses import INDEX, VECTORS, Addresses
from conformance.site.detail_pages import (
    FailingVector,
    clause_page,
    clauses_met,
    vector_page,
    vectors_page,
)
from conformance.site.overview_pages import Files, engine_page, index
from conformance.site.releases import Engine, engines_of, failing_ids, saved_releases
from conformance.vector import Vector
from conformance.vectorfile import VectorSet, open_vectors

MOST_VECTORS = 500
"""Vectors that have a page."""
_LIST, _ABOUT = "site.json", {"schema": "pooling-conformance-site", "version": 1}
"""A file that says that a folder is a site, and lists its files."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a site is about: engines, releases, and the vectors that some release fails.

    So many of these, `with_page`, have a page.
    """

    engines: int
    releases: int
    failing: int
    with_page: int


def write(reports: Sequence[Path], folder: Path, *, most_vectors: int = MOST_VECTORS) -> Written:
    """Write a site of saved reports to a folder that is new, empty or a site.

    Of a site that is there, the files that were made for it are replaced when the new ones are
    complete; others stay, wherever they are. At most `most_vectors` vectors have a page. Raises
    UsageError for two reports of one release, a folder that holds something else or a file of
    others with the name of a page, and ReportFileError, naming the file, for a broken report.
    """
    with renewed_folder(folder, _LIST, _ABOUT, "a site") as new:
        saved = saved_releases(reports)
        engines = engines_of(saved)
        ids, failing = failing_ids(engines, most_vectors)
        site = _Site(new, engines, saved, ids)
        site.write(failing)
    return Written(len(engines), len(site.releases), failing, len(ids))


class _Site:
    """A site in the making: a folder, the addresses of all its pages, results of failing vectors.

    `saved` has the path of each report, `results` a list for each vector that gets a page, of the
    releases that ran it.
    """

    def __init__(
        self,
        folder: Path,
        engines: Sequence[Engine],
        saved: Mapping[Release, Path],
        ids: Sequence[str],
    ) -> None:
        self.folder, self.engines, self.saved = folder, engines, saved
        self.releases = [release for engine in engines for release in engine.releases]
        self.addresses = Addresses()
        add = self.addresses.add
        self.clauses = {each.name: add("clauses", each.name) for each in clauses_met(engines)}
        self.results: dict[str, list[tuple[Release, Result]]] = {each: [] for each in ids}
        self.vectors = {each: add("vectors", each) for each in ids}
        self.pages = {
            engine.name: add("engines", engine.name, of=[each.name for each in engine.releases])
            for engine in engines
        }
        self.files = Files(
            reports={each.name: add("reports", each.name, ".jsonl") for each in self.releases},
            badges={
                each.name: (add("badges", each.name, ".svg"), add("badges", each.name, ".json"))
                for each in engines
            },
        )

    def write(self, failing: int) -> None:
        """Write all files; `failing` vectors fail somewhere, with a page or not."""
        for release in self.releases:
            shutil.copyfile(self.saved[release], self._place(self.files.reports[release.name]))
        for engine in self.engines:
            self._engine(engine)
        for name, path in self.clauses.items():
            self._page(path, clause_page(CLAUSES[name], self.engines))
        self._vectors(failing)
        self._page(INDEX, index(self.engines, self.files, failing))

    def _vectors(self, failing: int) -> None:
        """Write the list of failing vectors and their pages."""
        order = {release.name: number for number, release in enumerate(self.releases)}
        vectors = [
            FailingVector(name, sorted(results, key=lambda said: order[said[0].name]))
            for name, results in self.results.items()
        ]
        with _shipped() as shipped:
            for vector in vectors:
                known = _find(shipped, vector)
                self._page(self.vectors[vector.id], vector_page(vector, known))
        self._page(VECTORS, vectors_page(vectors, failing))

    def _engine(self, engine: Engine) -> None:
        """Write the page and the badge of an engine, and note its results of failing vectors."""
        changes: dict[str, Difference] = {}
        before: Report | None = None  # two reports are in memory at a time
        for release in reversed(engine.releases):
            report = jsonl.read(self.saved[release])
            for result in report.results:
                if result.id in self.results:
                    self.results[result.id].append((release, result))
            if before is not None:
                with suppress(UsageError):  # no vector is in both
                    changes[release.name] = diff(before, report)
            before = report
        if before is not None:
            page = engine_page(engine, before, changes, self.files)
            self._page(self.pages[engine.name], page)
        svg, endpoint = self.files.badges[engine.name]
        self._text(svg, badge.svg(engine.newest))
        self._text(endpoint, badge.endpoint(engine.newest))

    def _page(self, path: str, document: doc.Document) -> None:
        self._text(path, html.render(document, pages=self.addresses.seen_from(path)))

    def _text(self, path: str, text: str) -> None:
        self._place(path).write_bytes(text.encode("utf-8", "replace"))

    def _place(self, path: str) -> Path:
        """Return where a file is written, in a folder that is there."""
        place = self.folder / path
        place.parent.mkdir(exist_ok=True)
        return place


@contextmanager
def _shipped() -> Iterator[VectorSet | None]:
    """Open the shipped suite, None where there is none."""
    try:
        files = open_vectors(unchecked=True)
    except VectorFileError:
        yield None
        return
    with files:
        yield files


def _find(vectors: VectorSet | None, failing: FailingVector) -> Vector | None:
    """Return a vector of the suite with all that is known of it; None if it is not there."""
    if vectors is None or not failing.results:
        return None
    try:
        return vectors.vector(failing.results[0][1].operator, failing.id)[1]
    except KeyError:
        return None
