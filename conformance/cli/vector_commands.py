"""`conformance list`, `verify` and `export`: what vector files hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import PATH, processes_option, setting_options, vectors_argument
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import VectorFileError
from conformance.executors import usable_cpus
from conformance.settings import TIERS
from conformance.text import masked

_MAX_SHOWN = 20


@command("list")
@vectors_argument
@setting_options("operators", "select")
@click.option("--ids", is_flag=True, help="Print the ids alone, one per line.")
def list_command(
    vectors: Path | None, operators: tuple[str, ...], select: str | None, *, ids: bool
) -> None:
    """Say what vector files hold.

    VECTORS is a file or a directory, the shipped suite by default.
    """
    from conformance.report import vectors_report
    from conformance.vectorfile import VectorFile
    from conformance.vectorfile.sources import chosen

    with opened(vectors, operators) as files:
        for selection in chosen(files.files, operators or None, select, TIERS[-1]):
            file, numbers = selection.source, selection.numbers.tolist()
            if ids:
                click.echo("".join(f"{file.ids[number]}\n" for number in numbers), nl=False)
            elif numbers and isinstance(file, VectorFile):
                show(vectors_report.describe(file, None if select is None else numbers))
                click.echo()


@command("verify")
@vectors_argument
@processes_option("verify")
def verify_command(vectors: Path | None, jobs: int | None) -> None:
    """Recompute what vector files hold.

    Checks digest, structure and every expected value of VECTORS, a file or a directory, the
    shipped suite by default. Exits 3 if anything differs.
    """
    from conformance.cases.large import differences as differences_of
    from conformance.cases.large import recipes
    from conformance.report.values import count
    from conformance.vectorfile.verify import verify_files

    checked = differences = 0
    with opened(vectors) as files, progress_bar() as progress:
        verified = verify_files(files, jobs=jobs or usable_cpus(), progress=progress)
        for file, found in verified:
            shown = found[: max(0, _MAX_SHOWN - differences)]
            for difference in shown:
                click.echo(masked(f"{file.path}: {difference.id}: {difference.what}"))
            differences += len(found)
            checked += len(file)
            whole = f"{count(len(file), 'vector')} recomputed, digest {file.digest}"
            click.echo(f"{file.path}: {whole}")
    if vectors is None:
        large = list(recipes())
        for recipe in large:
            for what in differences_of(recipe):
                differences += 1
                click.echo(masked(f"{recipe.id}: {what}"))
        checked += len(large)
        click.echo(f"tier large: {count(len(large), 'recipe')} recomputed with fewer repeats")
    if differences:
        what = f"{count(differences, 'difference')} in {count(checked, 'vector')}"
        raise VectorFileError(f"{vectors or 'the shipped suite'}: {what}")
    click.echo(f"VERIFIED: {checked:,} of {checked:,} vectors are what the documents say")


@command("export")
@click.argument("form", metavar="FORMAT", type=click.Choice(("safetensors", "verdicts", "onnx")))
@click.argument("path", metavar="DIR", type=PATH)
@vectors_argument
@setting_options("operators", tier="The largest tier to write.")
@setting_options("select")
def export_command(
    form: str,
    path: Path,
    vectors: Path | None,
    operators: tuple[str, ...],
    tier: Any,
    select: str | None,
) -> None:
    """Write vectors for other languages and runners.

    FORMAT safetensors writes a compressed file of safetensors for each operator to the new folder
    DIR, or one file with all of them where DIR ends in .safetensors or .safetensors.gz. verdicts
    writes in the same way a few vectors with answers, right and wrong, to test another checker.
    onnx writes a model and its test data for each vector that ONNX can express, as its backend test
    runners read them. VECTORS is a file or a directory, the shipped suite by default.
    """
    from conformance.export import export

    with opened(vectors, operators) as files, progress_bar() as progress:
        exported = export(
            form,
            path,
            files,
            operators=operators or None,
            select=select,
            tier=tier,
            progress=progress,
        )
    click.echo(masked(f"{path}: {exported.written:,} vectors written"))
    if exported.left_out:
        click.echo(f"{len(exported.left_out):,} left out, see left_out.tsv:")
        for why, count in Counter(exported.left_out.values()).most_common():
            click.echo(masked(f"  {count:,} {why}"))
