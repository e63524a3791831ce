"""A document as one page that needs nothing else, and the page of a check with its drawings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from conformance.record.report import Report
from conformance.report import check_report
from conformance.report import values as words
from conformance.report.document import Conclusion, Document, plain, spans
from conformance.report.html.embedded import Embedded, embedded
from conformance.report.html.json_data import shown

if TYPE_CHECKING:
    from conformance.vectorfile import VectorSet

_SCRIPTS = ("values.js", "draw.js", "list.js", "page.js")
_TEMPLATES = ("page.html", "blocks.html", "figures.html")
_PARTS = 200
"""Parts of a series that are there; a script, if any, fills in the blocks of those after some."""
_WITH_BLOCKS = 60


def render_report(report: Report, vectors: VectorSet | None = None) -> str:
    """Return the report of a check as one page; equal reports give equal pages.

    `vectors` are those of the run, open: from them come the data, the drawings and the scripts
    that show a failure again, as far as there is room in about 8 MB. Without them the page says
    what it can.
    """
    data = embedded(report, vectors)
    figures = _environment().get_template("figures.html").module
    drawn = {
        name: getattr(figures, name)(data, vectors is not None) for name in ("failures", "vectors")
    }
    return render(check_report.describe(report, with_tables=True), figures=drawn, data=data)


def render(
    document: Document,
    *,
    figures: Mapping[str, Markup] | None = None,
    data: Embedded | None = None,
    pages: Mapping[str, str] | None = None,
) -> str:
    """Return a document as one page.

    `figures` are those that it names, as HTML of our own; `data` is what the page's script shows.
    Without data there is no script. `pages` are addresses of other pages by name: a text that is
    such a name, or whose link is one, leads there.
    """
    conclusion = document.conclusion or Conclusion()
    style, script = _asset("page.css"), _script() if data else ""
    return (
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            word=conclusion.word.capitalize(),
            sentence=conclusion.sentence,
            figures=figures or {},
            pages=pages or {},
            data=data,
            most_parts=_PARTS,
            with_blocks=_WITH_BLOCKS if data else _PARTS,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own files
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=shown,
        loader=DictLoader({name: _asset(name) for name in _TEMPLATES}),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"count": words.count, "spans": spans}
    environment.filters |= {
        "json": Markup,
        "kind": lambda block: type(block).__name__,
        "plain": plain,
    }
    return environment


@cache
def _script() -> str:
    parts = "\n".join(_asset(name) for name in _SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


@cache
def _asset(name: str) -> str:
    return files("conformance.report.html").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
