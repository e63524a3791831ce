"""The suite over released versions of an engine."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from conformance.api.releases import Release
from conformance.backends import available, parse_backend
from conformance.errors import ReportFileError, UsageError
from conformance.files import folder_for, scratch_folder
from conformance.history.bisection import bisected, observed
from conformance.history.environment import (
    Installer,
    NotRun,
    check,
    copy_source,
    install,
    own_requirements,
)
from conformance.history.findings import History
from conformance.history.versions import in_order, is_package
from conformance.progress import Progress
from conformance.record import jsonl
from conformance.record.report import Report
from conformance.text import quoted

_RELEASE = "release"
"""Among the versions of a report that a history has made: the package and the version installed."""
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """What is checked in each release: a backend, as its text names it, with the same vectors.

    `vectors` is their path; those of `tier` are run, for the operators in `digests`, which has the
    digest of each. `diagnose` is that of `conformance.check`.
    """

    backend: str
    vectors: Path
    digests: Mapping[str, str]
    tier: str = "standard"
    diagnose: str = "proven"

    def words(self, report: Path) -> list[str]:
        """Return the arguments of `conformance check` that write a report."""
        named = [word for operator in self.digests for word in ("--operator", operator)]
        settings = ["--tier", self.tier, "--diagnose", self.diagnose]
        return [self.backend, str(self.vectors), *named, *settings, "--json", str(report)]

    def name_of_report(self, version: str) -> str:
        """Return the name of the file for the report of a release."""
        return f"{_NOT_IN_NAMES.sub('-', self.backend)}-{version}.jsonl"

    def kept(self, path: Path, release: str) -> Report | None:
        """Return the report of a release at a path, None if there is none that is complete.

        Raises UsageError if it is of something else, which a new one must not replace, and
        ReportFileError if it is broken.
        """
        if not path.exists():
            return None
        report = jsonl.read(path)
        digests = {used.operator: used.digest for used in report.vectors}
        found = (report.versions.get(_RELEASE), report.backend, report.tier, digests)
        if found != (release, self.backend, self.tier, dict(self.digests)):
            raise UsageError(
                f"{path}: of another backend, tier, vectors or release, or not of a history; "
                "name another directory"
            )
        return report if report.complete else None


def package_of(backend: str, package: str = "") -> str:
    """Return the name of the package whose releases a backend has, as pip takes it.

    That is `package` if it is given, else the engine of a built-in backend. Raises UsageError for
    a text that is no backend, or one of which it is not known.
    """
    named = parse_backend(backend)
    if named.kind in {"exec", "results"}:
        raise UsageError(f"{backend}: a history is that of a Python package, not of {named.kind}:")
    if package:
        if not is_package(package):
            raise UsageError(f"--package {quoted(package)}: the name of a package, as pip takes it")
        return package
    if named.kind != "builtin":
        raise UsageError(f"{backend}: name the package that has releases, --package NAME")
    return available()[named.name].distributions[0]


def history(
    checked: Checked,
    versions: Sequence[str],
    *,
    reports: Path,
    package: str = "",
    extra: Sequence[str] = (),
    bisect: bool = False,
    installer: Installer = install,
    progress: Progress | None = None,
) -> History:
    """Check versions of a backend's package, each in an environment of its own.

    `reports` is the folder for a report of each; one that is there is not made again. `package` is
    the one that has versions, for a backend that is not built in, and `extra` are requirements
    that every environment has besides. With `bisect`, releases between two in which the same
    vectors fail are left out. Raises UsageError for wrong arguments and a report of something
    else, ReportFileError for one that is broken.
    """
    name, ordered = package_of(checked.backend, package), in_order(versions)
    for requirement in extra:
        if requirement.startswith("-"):
            raise UsageError(f"{quoted(requirement)} is no requirement, but an option of pip")
    others = [*own_requirements(), *_helpers(checked.backend), *extra]
    numbers = count()

    def observe(version: str) -> Release:
        if progress is not None:
            total = 0 if bisect else len(ordered)
            progress(f"{checked.backend} {version}", next(numbers), total)
        path = reports / checked.name_of_report(version)
        release = f"{name}=={version}"
        if (kept := checked.kept(path, release)) is not None:
            return Release.of(kept, version)
        try:
            report = _run(checked, path, release, others, installer)
        except NotRun as problem:
            return Release(checked.backend, version, str(problem))
        return Release.of(report, version)

    with folder_for(reports):
        releases = (bisected if bisect else observed)(ordered, observe)
    asked_for = {release.version for release in releases}
    return History(
        checked.backend,
        name,
        checked.tier,
        tuple(releases),
        left_out=tuple(version for version in ordered if version not in asked_for),
        platform=f"{platform.system()} {platform.machine()}",
    )


def _helpers(backend: str) -> tuple[str, ...]:
    """Return what the adapter of a backend needs besides its engine."""
    named = parse_backend(backend)
    return available()[named.name].distributions[1:] if named.kind == "builtin" else ()


def _run(
    checked: Checked, path: Path, release: str, others: Sequence[str], installer: Installer
) -> Report:
    """Return the report of a check in a new environment, which is then at a path, too.

    It names the release. Raises NotRun, and leaves nothing, if there is none that is complete.
    """
    with scratch_folder(path) as folder:
        try:
            python = installer(folder / "environment", [release, *others])
            copy_source(folder / "source")
            made = folder / path.name
            check(python, folder / "source", checked.words(made), made)
            report = jsonl.read(made)
        except (
            NotRun,
            ReportFileError,
        ) as problem:  # what it says must not depend on where it was tried
            raise NotRun(str(problem).replace(f"{folder}{os.sep}", "")) from None
        if not report.complete:
            raise NotRun(f"the run is incomplete: {report.stopped}")
        report = replace(report, versions={**report.versions, _RELEASE: release})
        jsonl.write(report, path)
    return report
