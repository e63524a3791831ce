"""Vectors for those without HDF5: folders of .npy files, or ONNX models with their test data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.errors import UsageError
from conformance.files import new_folder
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

FORMATS = ("npy", "onnx")


Write = Callable[[Path, Iterator[Vector]], dict[str, str]]
"""Writes vectors into a folder; returns the ids of those left out, each with why."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written to `path`: how many vectors, and which were left out, each with why."""

    path: Path
    written: int
    left_out: dict[str, str] = field(default_factory=dict)


def export(
    form: str,
    directory: str | os.PathLike[str],
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    progress: Progress | None = None,
) -> Exported:
    """Write vectors to a new folder in a format, "npy" or "onnx" (docs/results.md).

    `vectors`, `operators`, `select` and `tier` choose as those of `check` do. The folder is
    complete or absent. Raises UsageError for an argument that is wrong or matches nothing, a
    folder that holds something, or one that cannot be written.
    """
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}; there are {', '.join(FORMATS)}")
    write = _writer(form)
    with opened(vectors, operators) as sources:
        selections = chosen(sources, operators, select, tier)
        with new_folder(Path(directory)) as folder:
            left_out = write(folder, _vectors(selections, form, progress))
            if left_out:
                lines = [f"{vector_id}\t{why}\n" for vector_id, why in left_out.items()]
                (folder / "left_out.tsv").write_text("".join(lines), "utf-8", newline="\n")
    total = sum(len(selection.numbers) for selection in selections)
    return Exported(Path(directory), total - len(left_out), left_out)


def _vectors(
    selections: Sequence[Selected], form: str, progress: Progress | None
) -> Iterator[Vector]:
    """Yield the vectors; `progress` hears of each when the next one is asked for."""
    total, done = sum(len(selection.numbers) for selection in selections), 0
    for selection in selections:
        for vector in vectors_in(selection.source, selection.numbers):
            yield vector
            done += 1
            if progress is not None:
                progress(f"export {form}", done, total)


def _writer(form: str) -> Write:
    if form == "npy":
        from conformance.export.npy_export import write_npy  # noqa: PLC0415 - one format or the other

        return write_npy
    try:
        from conformance.export.onnx_export import write_onnx  # noqa: PLC0415 - needs a package
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise UsageError("export onnx needs the package onnx: pip install onnx") from None
    return write_onnx
