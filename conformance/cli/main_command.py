"""`conformance`: every command by its name, in the order they are used in."""

from __future__ import annotations

import click

from conformance.cli.lazy_group import LazyGroup
from conformance.version import __version__

_COMMANDS = {
    "generate": "Write vector files, one per operator.",
    "check": "Run a backend over vectors and report.",
    "init": "Write a starting adapter, a CI workflow and expected failures.",
    "compare": "Run several backends over the same vectors and show them side by side.",
    "history": "Say in which release of an engine each failure came or went.",
    "report": "Show a report that --json wrote, or write it in other forms.",
    "diff": "Say what got better and what got worse.",
    "merge": "Join the reports of the shards of one run.",
    "site": "Make a static site of reports of engines and their releases.",
    "probe": "Check that a program keeps the protocol of exec:COMMAND.",
    "verify": "Recompute what vector files hold.",
    "list": "Say what vector files hold.",
    "show": "Draw one vector: windows, padding, partial last windows.",
    "fuzz": "Search for cases that a backend gets wrong.",
    "reveal": "Say how a backend computes: the order of its sums, and every rounding.",
    "clauses": "Explain where the documents need a ruling.",
    "faults": "Explain the wrong behaviours that vectors are measured against.",
    "strength": "Plant known wrong behaviours and count those that vectors catch.",
    "export": "Write vectors for other languages and runners.",
}
"""The first line of the help of each command."""
_SHARED = {
    **dict.fromkeys(("report", "diff", "merge"), "report_commands"),
    **dict.fromkeys(("verify", "list", "export"), "vector_commands"),
}
"""The modules of commands that have none of their own."""
_EXIT_CODES = """\b
Exit codes: 0 done or conforms, 1 does not conform, 2 wrong usage,
3 vectors or harness broken, 130 interrupted."""


@click.group(
    "main",
    cls=LazyGroup,
    listed=_COMMANDS,
    shared=_SHARED,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXIT_CODES,
)
@click.version_option(__version__, prog_name="conformance")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Test vectors from the documents of pooling operators, and a checker for backends."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)
