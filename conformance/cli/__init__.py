"""The command line: `conformance COMMAND`, also `python -m conformance`.

Modules here import click and nothing heavier before a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import click

from conformance import __version__
from conformance.cli.check import check_backend
from conformance.cli.clauses import explain_clauses
from conformance.cli.compare import compare_backends
from conformance.cli.diff import diff_reports
from conformance.cli.export import export_vectors
from conformance.cli.fuzz import fuzz_backend
from conformance.cli.generate import generate_files
from conformance.cli.group import OneLineErrors
from conformance.cli.listing import list_vectors
from conformance.cli.merge import merge_reports
from conformance.cli.probe import probe_program
from conformance.cli.report import render_report
from conformance.cli.show import show_vector
from conformance.cli.strength import measure_strength
from conformance.cli.verify import verify_vectors

__all__ = ["main"]

_EXIT_CODES = """\b
Exit codes: 0 done or conforms, 1 does not conform, 2 wrong usage,
3 vectors or harness broken, 130 interrupted."""


@click.group(
    cls=OneLineErrors,
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


for _command in (
    generate_files,
    check_backend,
    compare_backends,
    render_report,
    diff_reports,
    merge_reports,
    probe_program,
    verify_vectors,
    list_vectors,
    show_vector,
    fuzz_backend,
    explain_clauses,
    measure_strength,
    export_vectors,
):
    main.add_command(_command)
