"""What vector files hold."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path

from conformance.dtypes import FLOATS, INTEGERS, name_of
from conformance.report import document as doc
from conformance.report import values as words
from conformance.vector import TIERS
from conformance.vectorfile import VectorFile

_PROVENANCES = ("printed", "derived", "computed")
"""What is said of a vector: "printed" where the document prints expected values of it."""


def describe(file: VectorFile, numbers: Sequence[int] | None = None) -> doc.Document:
    """Return what a file holds, or what its vectors of some numbers are."""
    tiers: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    provenances: Counter[str] = Counter()
    clauses: Counter[str] = Counter()
    for batch in file.batches(numbers):
        tiers.update(batch.tier)
        provenances.update(
            map(words.provenance, repeat(file.operator), batch.provenance, batch.source)
        )
        dtypes.update(name_of(inputs[0].dtype) for inputs in batch.inputs)
        clauses.update(name for applying in batch.clauses for name in applying)
    rows: list[tuple[str, doc.Text]] = [
        ("tier", _counted(tiers, TIERS)),
        ("dtype", _counted(dtypes, (*FLOATS, *INTEGERS))),
        ("provenance", _counted(provenances, _PROVENANCES)),
    ]
    if clauses:
        rows.append(("clauses", _counted(clauses, sorted(clauses))))
    rows += [("coverage", line) for line in coverage_lines(file.header.get("coverage", {}))]
    number = len(file) if numbers is None else len(numbers)
    of_all = "" if numbers is None else f" of {len(file):,}"
    size = f", {words.size(file.nbytes)}" if file.nbytes else ""
    holds = f"{number:,}{of_all} vectors{size}, {file.path}"
    blocks = (
        doc.Paragraph(holds, copied=True),
        doc.Facts(tuple(rows)),
        doc.Paragraph(doc.Span(f"digest {file.digest}", "quiet"), copied=True),
    )
    return doc.Document("Vectors", (doc.Section(file.operator, blocks, name=file.operator),))


def describe_files(directory: Path, paths: Sequence[Path]) -> doc.Document:
    """Return a line for the files of each operator that were written to a directory."""
    by_operator: dict[str, list[tuple[Path, int]]] = {}
    for path in paths:
        with VectorFile(path) as file:
            by_operator.setdefault(file.operator, []).append((path, len(file)))
    rows = []
    for operator, files in by_operator.items():
        number = sum(vectors for _, vectors in files)
        size = words.size(sum(path.stat().st_size for path, _ in files))
        several = f"{operator}: {words.count(len(files), 'file')}"
        rows.append((several if len(files) > 1 else files[0][0].name, f"{number:,}", size))
    total = sum(vectors for files in by_operator.values() for _, vectors in files)
    written = f"{words.count(total, 'vector')} in {words.count(len(paths), 'file')}"
    command = shlex.join(["conformance", "list", str(directory)])
    columns = ("file", doc.Column("vectors"), doc.Column("size"))
    blocks = (
        doc.table(columns, rows, name="files"),
        doc.Paragraph(f"{written}. What they hold:"),
        doc.Code(command, "sh"),
    )
    return doc.Document("Vectors", (doc.Section("", blocks, name="files"),))


def _counted(counter: Counter[str], order: Iterable[str]) -> str:
    return ", ".join(f"{name} {counter[name]:,}" for name in order if counter[name])


def coverage_lines(stored: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Say how many combinations of levels a file covers, as its generator counted them."""
    for name, counts in stored.items():
        covered, feasible = counts["covered"], counts["feasible"]
        levels = counts["strength"]
        yield f"{name}: {covered:,} of {feasible:,} feasible combinations of {levels} levels"
