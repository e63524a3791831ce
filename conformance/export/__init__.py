"""Vectors for other languages and runners: files of safetensors, or ONNX models with test data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from conformance.batch import Batch
from conformance.errors import UsageError
from conformance.export.safetensors_export import write_safetensors
from conformance.files import new_folder, writing
from conformance.progress import Progress
from conformance.settings import Operators, Select
from conformance.vector import Vector
from conformance.vectorfile.sources import (
    Selected,
    Vectors,
    chosen,
    opened,
    vectors_in,
)

__all__ = ["FORMATS", "Exported", "export"]

_ENDINGS: Final = (".safetensors", ".safetensors.gz")
"""Of a path that is one file with all operators; the second one is compressed."""
Advance = Callable[[], None]
"""Called for each vector that is written."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written to `path`: how many vectors, and which were left out, each with why."""

    path: Path
    written: int
    left_out: dict[str, str] = field(default_factory=dict)


def export(
    form: str,
    path: str | os.PathLike[str],
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    progress: Progress | None = None,
) -> Exported:
    """Write vectors in a format, "safetensors" or "onnx" (docs/results.md).

    `path` is a new folder, or of format "safetensors" one file if it ends in ".safetensors" or
    ".safetensors.gz". It is complete or absent. `vectors`, `operators`, `select` and `tier` choose
    as those of `check` do. Raises UsageError for an argument that is wrong or matches nothing, a
    folder that holds something, or a path that cannot be written.
    """
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}; there are {', '.join(FORMATS)}")
    path = Path(path)
    with opened(vectors, operators) as sources:
        selections = chosen(sources, operators, select, tier)
        total = sum(len(selection.numbers) for selection in selections)
        numbers = count(1)

        def advance() -> None:
            done = next(numbers)
            if progress is not None:
                progress(f"export {form}", done, total)

        left_out = _WRITERS[form](path, selections, advance)
    return Exported(path, total - len(left_out), left_out)


def _safetensors(path: Path, selections: Sequence[Selected], advance: Advance) -> dict[str, str]:
    """Write one file, or a compressed one for each operator; none is left out."""
    if path.name.endswith(_ENDINGS):
        with writing(path) as stream:
            compressed = path.suffix == ".gz"
            write_safetensors(stream, _batches(selections), advance, compressed=compressed)
        return {}
    by_operator: dict[str, list[Selected]] = {}
    for selection in selections:
        if selection.numbers.size:
            by_operator.setdefault(selection.source.operator, []).append(selection)
    with new_folder(path) as folder:
        for operator, of_operator in by_operator.items():
            with (folder / f"{operator}{_ENDINGS[1]}").open("wb") as stream:
                write_safetensors(stream, _batches(of_operator), advance, compressed=True)
    return {}


def _onnx(path: Path, selections: Sequence[Selected], advance: Advance) -> dict[str, str]:
    """Write a folder of tests; return the vectors that have no such form, each with why."""
    try:
        from conformance.export.onnx_export import write_onnx  # noqa: PLC0415 - needs a package
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise UsageError("export onnx needs the package onnx: pip install onnx") from None
    with new_folder(path) as folder:
        left_out = write_onnx(folder, _vectors(selections, advance))
        if left_out:
            lines = [f"{vector_id}\t{why}\n" for vector_id, why in left_out.items()]
            (folder / "left_out.tsv").write_text("".join(lines), "utf-8", newline="\n")
    return left_out


def _batches(selections: Sequence[Selected]) -> Iterator[Batch]:
    for selection in selections:
        yield from selection.source.batches(selection.numbers)


def _vectors(selections: Sequence[Selected], advance: Advance) -> Iterator[Vector]:
    """Yield the vectors; each counts when the next one is asked for."""
    for selection in selections:
        for vector in vectors_in(selection.source, selection.numbers):
            yield vector
            advance()


_WRITERS: Final = {"safetensors": _safetensors, "onnx": _onnx}
FORMATS: Final = tuple(_WRITERS)
