"""What vector files hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from conformance.dtypes import FLOATS, INTEGERS, name_of
from conformance.report import document as doc
from conformance.report import values as words
from conformance.vector import TIERS
from conformance.vectorfile import VectorFile

_PROVENANCES = ("printed", "derived", "computed")


def describe(file: VectorFile, numbers: Sequence[int] | None = None) -> doc.Document:
    """Return what a file holds, or what its vectors of some numbers are."""
    tiers: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    provenances: Counter[str] = Counter()
    clauses: Counter[str] = Counter()
    for batch in file.batches(numbers):
        tiers.update(batch.tier)
        provenances.update(batch.provenance)
        dtypes.update(name_of(inputs[0].dtype) for inputs in batch.inputs)
        clauses.update(name for applying in batch.clauses for name in applying)
    rows: list[tuple[str, doc.Text]] = [
        ("tier", _counted(tiers, TIERS)),
        ("dtype", _counted(dtypes, (*FLOATS, *INTEGERS))),
        ("provenance", _counted(provenances, _PROVENANCES)),
    ]
    if clauses:
        rows.append(("clauses", _counted(clauses, sorted(clauses))))
    rows += [("coverage", line) for line in coverage_lines(file.header.get("coverage"))]
    number = len(file) if numbers is None else len(numbers)
    of_all = "" if numbers is None else f" of {len(file):,}"
    size = words.size(file.path.stat().st_size)
    holds = f"{number:,}{of_all} vectors, {size}, {file.path}"
    blocks = (
        doc.Paragraph(holds, copied=True),
        doc.Facts(tuple(rows)),
        doc.Paragraph(doc.Span(f"digest {file.digest}", "quiet"), copied=True),
    )
    return doc.Document("Vectors", (doc.Section(file.operator, blocks, name=file.operator),))


def _counted(counter: Counter[str], order: Iterable[str]) -> str:
    return ", ".join(f"{name} {counter[name]:,}" for name in order if counter[name])


def coverage_lines(stored: object) -> Iterator[str]:
    """Say how many combinations of levels a file covers, as its generator counted them."""
    for name, numbers in stored.items() if isinstance(stored, dict) else ():
        stated = numbers if isinstance(numbers, dict) else {}
        counts = [stated.get(key) for key in ("covered", "feasible", "strength")]
        if all(isinstance(count, int) for count in counts):
            covered, feasible, strength = counts
            yield f"{name}: {covered:,} of {feasible:,} feasible combinations of {strength} levels"
