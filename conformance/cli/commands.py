"""Every command as a user sees it: its name, arguments, options and help.

Nothing here imports more than click, so that every `--help` is quick. What a command does is in
a module of its own or of its kind, which is imported when the command runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from conformance import interrupts
from conformance.cli.group import OneLineErrors
from conformance.cli.options import (
    COUNT,
    FLOAT_TYPES,
    PATH,
    SECONDS,
    integers,
    max_shown_option,
    processes_option,
    readings_option,
    setting_options,
    vectors_argument,
    worker_options,
)
from conformance.cli.outputs import (
    comparison_options,
    history_options,
    report_options,
    reveal_options,
)
from conformance.version import __version__

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


def body_in(
    module: str, function: str = "run"
) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Decorate the declaration of a command: a function in a module of this package is its body.

    The declaration is never called; its docstring is the command's help. No command runs where
    an installed package adds a broken operator.
    """

    def decorate(declaration: Callable[[], None]) -> Callable[..., Any]:
        @wraps(declaration)
        def run(**arguments: Any) -> Any:
            len(import_module("conformance.operators").OPERATORS)  # loads those of packages
            body = getattr(import_module(f"conformance.cli.{module}"), function)
            with interrupts.raised():
                return body(**arguments)

        return run

    return decorate


@main.command("generate")
@click.argument("directory", metavar="DIR", type=PATH)
@setting_options("operators", tier="How many vectors; each tier holds the smaller ones.")
@click.option(
    "--strength",
    type=COUNT,
    default=3,
    show_default=True,
    help="Every combination of this many attribute levels is in some vector.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--like",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Instead: the pooling layers of a model (.xml, .onnx), or of well-known ones (networks), "
    "and their neighbours; repeatable.",
)
@click.option(
    "--max-shapes",
    type=COUNT,
    help="Instead: so many shapes per operator, each with many values; for engines that compile.",
)
@click.option("--resume", is_flag=True, help="Keep files that are there, sound and the same.")
@setting_options(cluster="Make files on the workers of this Dask cluster, tcp://HOST:PORT.")
@processes_option("make files, each one at a time")
@click.option("-v", "--verbose", is_flag=True, help="Say what each file holds, as list does.")
@body_in("generate_command")
def generate() -> None:
    """Write vector files, one per operator.

    They are made in DIR. The same arguments give the same content: compare the digests that
    --verbose or list prints.
    """


@main.command("check")
@click.argument("backend")
@vectors_argument
@setting_options(
    "operators",
    "tier",
    "select",
    "shard",
    "require",
    "profile",
    "allow_extensions",
    "diagnose",
    "diagnose_seconds",
    "variations",
)
@worker_options("vector", 60.0, memory=" Of a vector of tier large: all, by default what is free.")
@setting_options("cluster", "max_failures", "skip", "expected_failures")
@click.option(
    "--write-expected-failures",
    "expected_out",
    type=PATH,
    metavar="FILE",
    help="Write the failures of this run to such a file, or bring it up to date.",
)
@setting_options("min_supported", "baseline", "strict_unsupported")
@report_options
@max_shown_option
@body_in("check_command")
def check() -> None:
    """Run a backend over vectors and report.

    BACKEND is a built-in name such as numpy or torch, module:attribute, path/to/file.py:attribute,
    exec:COMMAND for a program in any language, or results:PATH for outputs computed elsewhere.
    VECTORS is a file or a directory, the shipped suite by default. Exits 0 if the backend
    conforms, 1 if not.
    """


@main.command("init")
@click.argument("backend")
@click.option(
    "--language",
    type=click.Choice(("python", "c", "javascript")),
    help="Of the starting adapter, which BACKEND has to fit; as a rule its name tells.",
)
@setting_options(tier="The largest tier to run, now and in the workflow.")
@click.option("--renew", is_flag=True, help="Run again, though a run is kept that led to no files.")
@body_in("init_command")
def init() -> None:
    """Write a starting adapter, a CI workflow and expected failures.

    BACKEND is one that `check` takes. If it is not there, a starting adapter is written first:
    NAME.py:backend in Python, exec:./NAME in C, "exec:node NAME.mjs" in JavaScript. It is run once;
    .github/workflows/pooling.yml and pooling-expected.txt then hold it to what it did. Nothing is
    written over. A run that leads to no files is kept in pooling-first-run.jsonl.
    """


@main.command("compare")
@click.argument("names", metavar="BACKEND... [VECTORS]", nargs=-1, required=True)
@setting_options("operators", tier="The largest tier to run.")
@setting_options("select", "skip", "allow_extensions", "diagnose")
@click.option(
    "--no-arithmetic",
    "arithmetic",
    flag_value=False,
    default=True,
    help="Do not reveal how each backend computes an average, which takes seconds.",
)
@worker_options("vector", 60.0)
@comparison_options
@body_in("compare_command")
def compare() -> None:
    """Run several backends over the same vectors and show them side by side.

    Each BACKEND is one that `check` takes. VECTORS is a file or a directory, the shipped suite by
    default. Exits 0 if every backend was run, whatever it answered: `check` judges. Exits 2 if
    one could not be run; the others are compared all the same.
    """


@main.command("history")
@click.argument("backend")
@click.argument("versions", metavar="[VERSION]...", nargs=-1)
@click.option(
    "--releases", "count", type=COUNT, metavar="N", help="Also the N newest ones that pip knows."
)
@click.option("--bisect", is_flag=True, help="Run only releases that place a change.")
@click.option(
    "--package", default="", metavar="NAME", help="What has versions, for a backend of your own."
)
@click.option(
    "--with",
    "extra",
    multiple=True,
    metavar="REQUIREMENT",
    help="Also install this in every environment; repeatable.",
)
@click.option(
    "--reports",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".conformance", "history"),
    show_default=True,
    metavar="DIR",
    help="The report of each release, as JSON lines; one that is there is not made again.",
)
@click.option("--vectors", type=PATH, help="A file or a directory.  [default: the shipped suite]")
@setting_options("operators", tier="The largest tier to run.")
@setting_options("diagnose")
@history_options
@body_in("history_command")
def history() -> None:
    """Say in which release of an engine each failure came or went.

    BACKEND is a built-in name such as onnxruntime, or a callable as for `check`, with --package.
    Each VERSION is installed in an environment of its own, checked there and removed again; what
    does not install is said. Exits 0 if some release was run, whatever it answered: `check` judges.
    """


@main.command("report")
@click.argument("saved", metavar="REPORT", type=PATH)
@click.option(
    "--vectors",
    type=PATH,
    help="The vectors of the run, for drawings and scripts; the shipped suite if it was that.",
)
@report_options
@max_shown_option
@body_in("report_commands", "show_report")
def report() -> None:
    """Show a report that --json wrote, or write it in other forms.

    REPORT is the file. No backend is run. Exits 0 whatever the report says.
    """


@main.command("diff")
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
@body_in("report_commands", "compare_reports")
def diff() -> None:
    """Say what got better and what got worse.

    BEFORE and AFTER are reports that check --json wrote. Exits 0 if nothing got worse, 1 if
    something did: a verdict, a clause that became inconsistent, a run that is incomplete.
    """


@main.command("merge")
@click.argument("shards", metavar="REPORT...", nargs=-1, required=True, type=PATH)
@report_options
@max_shown_option
@body_in("report_commands", "merge_reports")
def merge() -> None:
    """Join the reports of the shards of one run.

    Each REPORT was written by check --shard i/n --json. Readings and counts are those of the whole
    run. Exits 0 if the backend conforms, 1 if not or if a shard is missing.
    """


@main.command("site")
@click.argument("saved", metavar="REPORT...", nargs=-1, required=True, type=PATH)
@click.argument("directory", metavar="DIR", type=PATH)
@body_in("site_command", "write_site")
def site() -> None:
    """Make a static site of reports of engines and their releases.

    Each REPORT was written by check --json, and is of another engine or release. DIR is a new
    folder, an empty one, or a site to renew. No backend is run. Exits 0 whatever the reports say.
    """


@main.command("probe")
@click.argument("command")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=SECONDS,
    default=10.0,
    show_default=True,
    help="How long the program may take over an answer.",
)
@body_in("probe_command")
def probe() -> None:
    """Check that a program keeps the protocol of exec:COMMAND.

    COMMAND is what follows exec:, the program with its arguments in quotes. One line per rule of
    docs/protocol.md says what was seen. Exits 0 if the rules that could be tested hold, 1 if not.
    """


@main.command("verify")
@vectors_argument
@processes_option("verify")
@body_in("vector_commands", "verify_vectors")
def verify() -> None:
    """Recompute what vector files hold.

    Checks digest, structure and every expected value of VECTORS, a file or a directory, the
    shipped suite by default. Exits 3 if anything differs.
    """


@main.command("list")
@vectors_argument
@setting_options("operators", "select")
@click.option("--ids", is_flag=True, help="Print the ids alone, one per line.")
@body_in("vector_commands", "list_vectors")
def list_() -> None:
    """Say what vector files hold.

    VECTORS is a file or a directory, the shipped suite by default.
    """


@main.command("show")
@click.argument("words", metavar="[VECTORS] CASE", nargs=-1, required=True)
@click.option(
    "--output",
    metavar="I,J",
    callback=integers,
    help="Outline the window of the output element at this spatial position.",
)
@click.option(
    "--plane",
    metavar="N,C",
    callback=integers,
    help="Batch, channel and, for data with more than two axes, positions on the first ones.",
)
@readings_option("--reading", "readings", "Draw the answer under this reading; repeatable.")
@body_in("show_command")
def show() -> None:
    """Draw one vector: windows, padding, overhang.

    VECTORS is a file or a directory, the shipped suite by default. CASE is an id, a part of one,
    or a pattern such as '*same_lower*' that one id matches.
    """


@main.command("fuzz")
@click.argument("backend")
@setting_options("operators")
@click.option(
    "--seconds",
    type=SECONDS,
    help="How long to search.  [default: 60, or no limit with --max-examples]",
)
@click.option("--max-examples", type=COUNT, help="How many cases to draw.")
@click.option("--max-causes", type=COUNT, default=10, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), help="Draw the same cases again.")
@click.option(
    "--save",
    "target",
    type=PATH,
    metavar="FILE.h5",
    help="Write what is found to a vector file, or add it to one.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".conformance", "fuzz"),
    show_default=True,
    metavar="DIR",
    help="Failures to try first, and to keep for the next time.",
)
@setting_options("allow_extensions")
@click.option(
    "--jobs", type=COUNT, default=1, show_default=True, help="Processes that draw the cases."
)
@worker_options("case", 10.0, several=False)
@body_in("fuzz_command")
def fuzz() -> None:
    """Search for cases that a backend gets wrong.

    BACKEND is as for check, but for results:PATH. Cases are drawn at random, far beyond those of
    the vector files; of each cause of failures, the smallest case is shown. Exits 0 if nothing
    was found, 1 if something was.
    """


@main.command("reveal")
@click.argument("backend")
@vectors_argument
@setting_options("operators")
@click.option(
    "--type",
    "dtypes",
    multiple=True,
    type=click.Choice(FLOAT_TYPES),
    help="Only this element type; repeatable.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="KxK[:CHANNELS]",
    help="Reveal the order in these windows, not in those of 7 to 37 cells; repeatable.",
)
@setting_options(tier="The largest tier to predict.")
@click.option("--no-predict", "predict", flag_value=False, default=True, help="Use no vectors.")
@worker_options("call", 60.0, several=False)
@reveal_options
@body_in("reveal_command")
def reveal() -> None:
    """Say how a backend computes: the order of its sums, and every rounding.

    BACKEND is as for check, but for results:PATH. The order in which a window is summed follows
    from outputs alone, as a tree; so do the formats, the division, subnormals, and which of equal
    maxima wins. The model that this makes is held against VECTORS, a file or a directory, the
    shipped suite by default. Exits 0 whatever is revealed.
    """


@main.command("clauses")
@click.argument("name", required=False)
@body_in("clauses_command")
def clauses() -> None:
    """Explain where the documents need a ruling.

    Lists the clauses, or says everything about the one called NAME.
    """


@main.command("faults")
@click.argument("name", required=False)
@body_in("faults_command")
def faults() -> None:
    """Explain the wrong behaviours that vectors are measured against.

    Lists the faults of the catalogue, or says everything about the one called NAME, which a report
    or a file of expected failures may name.
    """


@main.command("strength")
@vectors_argument
@setting_options("operators", tier="The largest tier to count.")
@click.option("--all", "every", is_flag=True, help="List every fault, not only those missed.")
@click.option("--idle", is_flag=True, help="Also find the vectors that add nothing (slow).")
@processes_option("plant faults, each in one operator at a time")
@body_in("strength_command")
def strength() -> None:
    """Plant known wrong behaviours and count those that vectors catch.

    VECTORS is a file or a directory, the shipped suite by default. Each fault of the catalogue
    (see conformance faults) is planted alone in each operator that may have it.
    """


@main.command("export")
@click.argument("form", metavar="FORMAT", type=click.Choice(("safetensors", "verdicts", "onnx")))
@click.argument("path", metavar="DIR", type=PATH)
@vectors_argument
@setting_options("operators", tier="The largest tier to write.")
@setting_options("select")
@body_in("vector_commands", "export_vectors")
def export() -> None:
    """Write vectors for other languages and runners.

    FORMAT safetensors writes a compressed file of safetensors for each operator to the new folder
    DIR, or one file with all of them where DIR ends in .safetensors or .safetensors.gz. verdicts
    writes in the same way a few vectors with answers, right and wrong, to test another checker.
    onnx writes a model and its test data for each vector that ONNX can express, as its backend test
    runners read them. VECTORS is a file or a directory, the shipped suite by default.
    """
