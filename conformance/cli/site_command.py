"""`conformance site`: a site of the reports of engines."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import PATH


@command("site")
@click.argument("saved", metavar="REPORT...", nargs=-1, required=True, type=PATH)
@click.argument("directory", metavar="DIR", type=PATH)
def site_command(saved: tuple[Path, ...], directory: Path) -> None:
    """Make a static site of reports of engines and their releases.

    Each REPORT was written by check --json, and is of another engine or release. DIR is a new
    folder, an empty one, or a site to renew. No backend is run. Exits 0 whatever the reports say.
    """
    from conformance import site
    from conformance.report import values as words

    made = site.write(saved, directory)
    failing = f"{words.count(made.failing, 'vector')} that fail{'s' * (made.failing == 1)}"
    pages = f", {made.with_page:,} of them with a page" if made.with_page < made.failing else ""
    of = f"{words.count(made.engines, 'engine')}, {words.count(made.releases, 'release')}"
    click.echo(f"{directory / site.INDEX}: {of}; {failing}{pages}")
