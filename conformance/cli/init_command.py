"""`conformance init`: a starting adapter, a workflow and a file of expected failures."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from shutil import copyfile, which
from typing import TYPE_CHECKING

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import setting_options
from conformance.cli.starting_files import (
    EXPECTED,
    WORKFLOW,
    StartingAdapter,
    compiling,
    source_of,
    starting_adapter,
    with_floor,
    workflow,
)
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import ReportFileError, UsageError
from conformance.files import folder_for, place, scratch_folder, size_of, write_text
from conformance.progress import counts_of
from conformance.text import one_line

if TYPE_CHECKING:
    from conformance.backends.named_backend import NamedBackend
    from conformance.record.report import Report
    from conformance.vectorfile import VectorSet

_SECONDS = 60.0
"""How long one vector may take, as in `check`."""
_LONGEST_REASON = 400
FIRST_RUN = Path("pooling-first-run.jsonl")
"""The report of a run, until all that is made of it is written."""


@command("init")
@click.argument("backend")
@click.option(
    "--language",
    type=click.Choice(("python", "c", "javascript")),
    help="Of the starting adapter, which BACKEND has to fit; as a rule its name tells.",
)
@setting_options(tier="The largest tier to run, now and in the workflow.")
@click.option(
    "--renew",
    is_flag=True,
    help="Run again, and bring expected failures and floor up to date that an earlier call wrote.",
)
def init_command(backend: str, *, language: str | None, tier: str, renew: bool) -> int:
    """Write a starting adapter, a CI workflow and expected failures.

    BACKEND is one that `check` takes. If it is not there, a starting adapter is written first:
    NAME.py:backend in Python, exec:./NAME in C, "exec:node NAME.mjs" in JavaScript. It is run once;
    .github/workflows/pooling.yml and pooling-expected.txt then hold it to what it did. Nothing is
    written over without --renew. A run that leads to no files is kept in pooling-first-run.jsonl.
    """
    from conformance.backends import parse_backend
    from conformance.record import jsonl
    from conformance.report import check_report, phrases

    _check_text(backend)
    named = parse_backend(backend)
    adapter = starting_adapter(named)
    if adapter is not None and language not in {None, adapter.language}:
        raise UsageError(f"{backend}: names a program in {adapter.language}, not in {language}")
    program = [adapter.program] if adapter and adapter.program else []
    written = [] if renew else [EXPECTED, WORKFLOW]
    _refuse_to_overwrite([*(adapter.files if adapter else ()), *program, *written])
    if adapter is not None:
        _write_adapter(adapter)
    with opened(None, ()) as files:
        report = _kept(named, tier, files)
        if report is None or renew:
            report = _first_run(backend, tier, files)
            jsonl.write(report, FIRST_RUN)
        else:
            click.echo(f"the run that {FIRST_RUN} holds, not a new one: --renew runs again")
        click.echo(f"{backend}: {phrases.verdict(report)}")
        if report.diagnoses:
            show(check_report.causes(report))
        if not report.complete or report.vacuous or report.none_right:
            why = report.stopped or report.vacuous or report.none_right
            raise UsageError(f"{backend}: {why}: no workflow was written ({FIRST_RUN} has the run)")
        click.echo(_write_results(named, tier, report, files))
    FIRST_RUN.unlink(missing_ok=True)
    click.echo(f"wrote {WORKFLOW}: it fails where a run is worse than this one")
    if next_step := _next(backend, tier, adapter, report):
        click.echo(next_step)
    return 0


def _check_text(backend: str) -> None:
    """Raise UsageError for a text that means something else in the line of a workflow."""
    if not backend.isprintable():
        raise UsageError("a workflow cannot name a backend that holds line breaks")
    if "${{" in backend:
        raise UsageError("a workflow cannot name a backend with ${{, which begins an expression")
    if backend.startswith("-"):
        raise UsageError(f"{backend}: would be read as an option; ./{backend} would not")


def _write_results(named: NamedBackend, tier: str, report: Report, files: VectorSet) -> str:
    """Write the expected failures and the workflow, both or none; say what was written.

    Lines of expected failures that somebody wrote stay, and of a workflow all but its floor.
    """
    from conformance.api.expected_failures_update import write_expected

    supported, _ = report.supported()
    ids = (vector_id for file in files for vector_id in file.ids)
    with folder_for(WORKFLOW.parent), scratch_folder(EXPECTED) as scratch:
        parts = {path: scratch / path.name for path in (EXPECTED, WORKFLOW)}
        if EXPECTED.exists():
            copyfile(EXPECTED, parts[EXPECTED])
        said = write_expected(parts[EXPECTED], report, ids, files)
        text = workflow(named, tier, supported)
        if WORKFLOW.exists():
            text = with_floor(WORKFLOW.read_text("utf-8"), supported)
        write_text(text, parts[WORKFLOW])
        there = {path for path in parts if path.exists()}
        place({path: part for path, part in parts.items() if path not in there})
        for path in there:
            parts[path].replace(path)
    return said.replace(str(parts[EXPECTED]), str(EXPECTED))


def _kept(named: NamedBackend, tier: str, files: VectorSet) -> Report | None:
    """Return the run that a call of before has kept, None if it is not of all that is here now."""
    from conformance.judging.tally import package_versions
    from conformance.record import jsonl

    if not size_of(FIRST_RUN):
        return None
    try:
        report = jsonl.read(FIRST_RUN)
    except ReportFileError as error:
        raise UsageError(f"{error}: init writes over nothing; remove it") from None
    kept = FIRST_RUN.stat().st_mtime_ns
    paths = [Path(name) for name in named.paths]
    changed = any(path.stat().st_mtime_ns >= kept for path in paths if path.is_file())
    used = {(of.operator, of.digest) for of in report.vectors}
    here = {(file.operator, file.digest) for file in files}
    versions = package_versions().items() <= report.versions.items()
    same = (report.backend, report.tier) == (named.text, tier) and used == here and versions
    return report if same and report.complete and not changed else None


def _next(backend: str, tier: str, adapter: StartingAdapter | None, report: Report) -> str:
    """Say what to do with what was written; "" where nothing is left to do."""
    if adapter is None or not adapter.files:
        all_of_it = f"every failure: conformance check {shlex.quote(backend)} --tier {tier}"
        return "" if report.ok else all_of_it
    source = next(iter(adapter.files))
    compiled = ", compile it" if adapter.program else ""
    again = f"conformance init {shlex.quote(backend)} --tier {tier} --renew"
    return f"next: call your engine in {source}{compiled}, and then {again}"


def _first_run(backend: str, tier: str, files: VectorSet) -> Report:
    from conformance.api.check import check
    from conformance.record.report import Interrupted

    with progress_bar() as progress:
        try:
            return check(
                backend,
                files,
                tier=tier,
                isolate=True,
                timeout=_SECONDS,
                name=backend,
                progress=counts_of(progress, backend),
            )
        except Interrupted:
            raise click.Abort from None


def _write_adapter(adapter: StartingAdapter) -> None:
    """Write the files of an adapter and its program, if it has one: all of them or none."""
    program = adapter.program
    first = program or next(iter(adapter.files))
    with scratch_folder(first) as scratch:
        parts = {path: scratch / path.name for path in adapter.files}
        for path, part in parts.items():
            write_text(adapter.files[path], part)
        if program:
            source = source_of(program)
            parts[program] = scratch / program.name
            _compile(parts.get(source, source), parts[program], program)
        place(parts)
    for path in adapter.files:
        click.echo(f"wrote {path}")
    if program:
        click.echo(f"compiled {program}: {shlex.join(compiling(source_of(program), str(program)))}")


def _compile(source: Path, part: Path, program: Path) -> None:
    """Compile a source; UsageError, which names the program, where that fails."""
    build = compiling(source, str(part))
    if which(build[0]) is None:
        raise UsageError(f"no compiler {build[0]} to make a program of c")
    # The sources of a user may include others by paths from where they are.
    done = subprocess.run(build, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode or not size_of(part):
        why = one_line(done.stderr, _LONGEST_REASON) or "it does not say why"
        raise UsageError(f"{program}: {build[0]} failed: {why}")


def _refuse_to_overwrite(paths: list[Path]) -> None:
    there = [str(path) for path in paths if os.path.lexists(path)]
    if there:
        renew = "; --renew brings them up to date" if str(EXPECTED) in there else ""
        raise UsageError(f"{', '.join(there)}: there already, and init writes over nothing{renew}")
    for path in paths:
        if path is not WORKFLOW and not path.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no directory {path.parent}")
