"""`conformance probe`: does a program keep the protocol, whatever it computes."""

from __future__ import annotations

import textwrap

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import SECONDS
from conformance.cli.terminal import terminal_width
from conformance.text import masked

_MARKS = {"ok": "ok", "broken": "BROKEN", "not tested": "not tested"}
_INDENT = " " * 31


@command("probe")
@click.argument("command")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=SECONDS,
    default=10.0,
    show_default=True,
    help="How long the program may take over an answer.",
)
def probe_command(command: str, timeout: float) -> int:
    """Check that a program keeps the protocol of exec:COMMAND.

    COMMAND is what follows exec:, the program with its arguments in quotes. One line per rule of
    docs/protocol.md says what was seen. Exits 0 if the rules that could be tested hold, 1 if not.
    """
    from conformance.backends.program.launch import program_launch
    from conformance.backends.program.probe import RULES, probe

    width = terminal_width()
    broken, untested = [], 0
    launch = program_launch(command.removeprefix("exec:"))
    for finding in probe(launch.command, timeout=timeout):
        head = f"{_MARKS[finding.state]:<11}{finding.rule:<20}"
        _write(head, finding.seen, width)
        untested += finding.state == "not tested"
        if finding.state == "broken":
            broken.append(finding.rule)
            _write("", f"rule: {RULES[finding.rule]}", width)
    click.echo()
    rest = f", {untested} not tested" if untested else ""
    if broken in ([], ["result"]):
        wrong = "; the result is not right: see conformance check" if broken else ""
        click.echo(f"KEEPS THE PROTOCOL: {len(RULES) - untested} rules tested{rest}{wrong}")
    else:
        what = f"{len(broken)} of {len(RULES)} rules broken{rest}"
        click.echo(f"DOES NOT KEEP THE PROTOCOL: {what}; see docs/protocol.md")
    return 1 if broken else 0


def _write(head: str, text: str, width: int) -> None:
    """Print a text beside its head, in lines that fit."""
    lines = textwrap.wrap(masked(text), max(40, width - len(_INDENT)), break_on_hyphens=False)
    for number, line in enumerate(lines):
        click.echo(f"{_INDENT if number or not head else head}{line}")
