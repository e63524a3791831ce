"""Makes a site of the engines that are installed: `make_site.py [DIR]`, build/site.

It runs each of them over the smoke tier, in some minutes, and adds the releases of which
`make_history.py` left reports. Reports stay in build/site-reports: one that is of the same vectors
and the same engine is not made again.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from make_engines import report_of
from make_history import REPORTS as OLDER

from conformance import open_vectors, site
from conformance.backends import available
from conformance.record import jsonl
from conformance.site.releases import release_of

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "build" / "site-reports"


def made(folder: Path) -> site.Written:
    """Run what is installed and was not run yet, and write the site to a folder."""
    with open_vectors() as files:
        digests = files.digests
    paths = []
    for name, engine in available().items():
        if engine.installed:
            paths.append(REPORTS / f"{name}.jsonl")
            report_of(name, paths[-1], digests, tier="smoke")
    releases: dict[str, Path] = {}
    for path in (*paths, *sorted(OLDER.rglob("*.jsonl"))):
        releases.setdefault(release_of(jsonl.read(path)).name, path)
    return site.write([*releases.values()], folder)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    made(parser.parse_args().folder)
