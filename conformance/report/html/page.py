"""The page itself: what the template is given."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from conformance.check.report import Report
from conformance.report import sentences
from conformance.report import values as words
from conformance.report.html import sections
from conformance.report.html.concentration import concentrations
from conformance.report.html.embedded import embedded
from conformance.report.html.failures import ELEMENT_COLUMNS, elements, facts, grouped
from conformance.report.html.text import visible

if TYPE_CHECKING:
    from conformance.vectorfile import VectorSet

_SCRIPTS = ("values.js", "grids.js", "draw.js", "list.js", "page.js")
_MOST_IDS = 50
_TABLES = 6
_GROUPS = 200


def render(report: Report, vectors: VectorSet | None = None) -> str:
    """Return a report as one HTML page; equal reports give equal pages.

    `vectors` are those of the run, open: from them come the data, the drawings and the scripts
    that show a failure again, as far as there is room in about 8 MB. Without them the page says
    what it can.
    """
    groups, causes = grouped(report)
    word, _, said = sentences.verdict(report).partition(": ")
    style, script = _asset("page.css"), _script()
    tables = concentrations(report.results)
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            word=word.partition(",")[0].capitalize(),
            sentence=said,
            counts=sections.counts_rows(report),
            left_out=sections.left_out(report),
            causes=causes,
            groups=groups[:_GROUPS],
            more_groups=len(groups) - _GROUPS,
            failing=sum(len(group.results) for group in groups),
            element_columns=ELEMENT_COLUMNS[1:],
            concentrations=tables[:_TABLES],
            more_concentrations=tables[_TABLES:],
            cut_short=sentences.cut_short(report),
            element_types=sentences.element_types(report),
            readings=sections.reading_rows(report),
            undefined=sections.undefined_rows(report.undefined),
            accuracy=sections.profiles(report.accuracy),
            data=embedded(report, groups, causes, vectors),
            with_vectors=vectors is not None,
            most_ids=_MOST_IDS,
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
        finalize=visible,
        loader=DictLoader({"page.html": _asset("page.html")}),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "count": words.count,
        "facts": facts,
        "elements": elements,
        "say": sentences,
    }
    environment.filters |= {"json": Markup}
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
