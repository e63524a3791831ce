"""What renderers make of documents, for tests of what is described."""

from rich.console import Console

from conformance.report import check_report, console, html, markdown


def printed(renderable, width=80):
    """Return what a terminal shows: lines without colours or spaces at their ends."""
    terminal = Console(width=width, highlight=False, markup=False, force_terminal=False)
    with terminal.capture() as captured:
        terminal.print(renderable, crop=False)
    return [line.rstrip() for line in captured.get().splitlines()]


def in_terminal(document, *, width=80, shown=None, brief=False):
    """Return a document as the lines of a terminal."""
    return printed(console.render(document, width=width, shown=shown, brief=brief), width)


def report_in_terminal(report, *, repro=None, shown=None, width=80, brief=False):
    """Return the report of a check as the lines of a terminal."""
    document = check_report.describe(report, repro=repro)
    return in_terminal(document, shown=shown, width=width, brief=brief)


def report_as_markdown(report, *, repro=None, shown=20):
    """Return the report of a check as Markdown."""
    return markdown.render(check_report.describe(report, repro=repro), shown=shown)


RENDERERS = {
    "terminal": lambda document: "\n".join(in_terminal(document)),
    "markdown": markdown.render,
    "html": html.render,
}
