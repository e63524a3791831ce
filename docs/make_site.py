"""Makes a site of the engines that are installed: `python docs/make_site.py [DIR]`, build/site.

It runs each of them over the smoke tier, in some minutes, and adds the releases of which
`make_history.py` left reports. Reports stay in build/site-reports: one that is of the same vectors
and the same engine is not made again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from make_engines import report_of
from make_history import REPORTS as OLDER

from conformance import open_vectors, read_report, site
from conformance.backends import available
from conformance.record.report import Report

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "build" / "site-reports"


def made(folder: Path) -> site.Written:
    """Run what is installed and was not run yet, and write the site to a folder."""
    with open_vectors() as files:
        digests = files.digests
    releases: dict[tuple[str, str], Path] = {}
    for name, engine in available().items():
        if engine.installed:
            path = REPORTS / f"{name}.jsonl"
            releases[_release(report_of(name, path, digests, tier="smoke"))] = path
    for path in sorted(OLDER.rglob("*.jsonl")):
        releases.setdefault(_release(read_report(path)), path)
    return site.write([*releases.values()], folder)


def _release(report: Report) -> tuple[str, str]:
    return report.backend, report.versions.get("engine", report.started)


if __name__ == "__main__":
    made(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "site")
