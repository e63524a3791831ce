"""`conformance site`: a site of the reports of engines."""

from __future__ import annotations

from pathlib import Path

import click

from conformance import site
from conformance.report import values as words


def write_site(saved: tuple[Path, ...], directory: Path) -> None:
    """Make a site of reports."""
    made = site.write(saved, directory)
    failing = f"{words.count(made.failing, 'vector')} that fail{'s' * (made.failing == 1)}"
    pages = f", {made.with_page:,} of them with a page" if made.with_page < made.failing else ""
    of = f"{words.count(made.engines, 'engine')}, {words.count(made.releases, 'release')}"
    click.echo(f"{directory / site.INDEX}: {of}; {failing}{pages}")
