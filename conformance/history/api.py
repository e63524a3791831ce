"""The suite over released versions of an engine."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.backends import available, parse_backend
from conformance.errors import UsageError
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
from conformance.history.releases import Release, in_order
from conformance.progress import Progress
from conformance.report import jsonl

_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """What each release is checked with.

    `vectors` is the path of vectors, of which those of `tier` are run for the operators in
    `digests`, which has the digest of each. `diagnose` is that of `conformance.check`.
    """

    vectors: Path
    digests: Mapping[str, str]
    tier: str = "standard"
    diagnose: str = "proven"

    def words(self, backend: str, report: Path) -> list[str]:
        """Return the arguments of `conformance check` that write a report."""
        named = [word for operator in self.digests for word in ("--operator", operator)]
        settings = ["--tier", self.tier, "--diagnose", self.diagnose]
        return [backend, str(self.vectors), *named, *settings, "--json", str(report)]


def package_of(backend: str, package: str = "") -> str:
    """Return the name of the package whose releases a backend has, as pip takes it.

    Raises UsageError for a text that is no backend, or one of which that is not known.
    """
    named = parse_backend(backend)
    if named.kind in {"exec", "results"}:
        raise UsageError(f"{backend}: a history is that of a Python package, not of {named.kind}:")
    if package:
        return package
    if named.kind != "builtin":
        raise UsageError(f"{backend}: name the package that has releases, --package NAME")
    return available()[named.name].distributions[0]


def history(
    backend: str,
    versions: Sequence[str],
    checked: Checked,
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
    name, ordered = package_of(backend, package), in_order(versions)
    named = parse_backend(backend)
    helpers = available()[named.name].distributions[1:] if named.kind == "builtin" else ()
    others = [*own_requirements(), *helpers, *extra]
    done = 0

    def observe(version: str) -> Release:
        nonlocal done
        if progress is not None:
            progress(f"{backend} {version}", done, 0 if bisect else len(ordered))
        done += 1
        path = reports / f"{_NOT_IN_NAMES.sub('-', backend)}-{version}.jsonl"
        requirements = [f"{name}=={version}", *others]
        return _observe(version, path, backend, requirements, checked, installer)

    with folder_for(reports):
        releases = (bisected if bisect else observed)(ordered, observe)
    machine = f"{platform.system()} {platform.machine()}"
    return History(backend, name, checked.tier, tuple(releases), machine)


def _observe(
    version: str,
    path: Path,
    backend: str,
    requirements: Sequence[str],
    checked: Checked,
    installer: Installer,
) -> Release:
    """Return what a release showed, after a run unless its report is at a path."""
    if (kept := _kept(path, version, backend, checked)) is not None:
        return kept
    with scratch_folder(path) as folder:
        report = folder / path.name
        try:
            python = installer(folder / "environment", requirements)
            copy_source(folder / "source")
            check(python, folder / "source", checked.words(backend, report))
        except NotRun as problem:
            return Release(version, str(problem))
        made = jsonl.read(report)
        if not made.complete:
            return Release(version, f"the run is incomplete: {made.stopped}")
        report.replace(path)
    return Release.of(version, made)


def _kept(path: Path, version: str, backend: str, checked: Checked) -> Release | None:
    """Return what a saved report says, None if there is none that is complete.

    Raises UsageError if it is of something else, which a new one must not replace.
    """
    if not path.exists():
        return None
    report = jsonl.read(path)
    digests = {used.operator: used.digest for used in report.vectors}
    found = (report.backend, report.tier, digests)
    if found != (backend, checked.tier, dict(checked.digests)):
        raise UsageError(f"{path}: of another backend, tier or vectors; name another directory")
    return Release.of(version, report) if report.complete else None
