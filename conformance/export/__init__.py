"""Vectors for those without HDF5: folders of .npy files, or ONNX models with their test data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from conformance.batch import vector_at
from conformance.check.sources import Operators, Select, Vectors, chosen, opened
from conformance.errors import UsageError
from conformance.export.folder import finished
from conformance.vector import Vector

__all__ = ["FORMATS", "Exported", "export"]

Progress = Callable[[int, int], None]
FORMATS = ("npy", "onnx")


class Inexpressible(Exception):  # noqa: N818 - a statement about a vector, not a failure
    """A vector has no form in a format; the text says why, alike for all vectors of a kind."""


class Writer(Protocol):
    """Writes vectors into a folder."""

    def add(self, vector: Vector) -> None:
        """Write one vector; Inexpressible if the format cannot hold it."""

    def finish(self) -> None:
        """Write what comes last."""


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
    left_out: dict[str, str] = {}
    done = 0
    with opened(vectors) as sources:
        selections = chosen(sources, operators, select, tier)
        total = sum(len(selection.numbers) for selection in selections)
        with finished(Path(directory)) as folder:
            writer = _writer(form, folder)
            for selection in selections:
                for batch in selection.source.batches(selection.numbers):
                    for index in range(len(batch)):
                        vector = vector_at(batch, index)
                        try:
                            writer.add(vector)
                        except Inexpressible as why:
                            left_out[vector.case.id] = str(why)
                        done += 1
                        if progress is not None:
                            progress(done, total)
            if left_out:
                lines = [f"{vector_id}\t{why}\n" for vector_id, why in left_out.items()]
                (folder / "left_out.tsv").write_text("".join(lines), "utf-8", newline="\n")
            writer.finish()
    return Exported(Path(directory), done - len(left_out), left_out)


def _writer(form: str, folder: Path) -> Writer:
    if form == "npy":
        from conformance.export.npy import NpyWriter  # noqa: PLC0415 - one format or the other

        return NpyWriter(folder)
    try:
        from conformance.export.onnx import OnnxWriter  # noqa: PLC0415 - needs a package
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise UsageError(
            "export onnx needs the package onnx: pip install 'pooling-conformance[onnxruntime]'"
        ) from None
    return OnnxWriter(folder)
