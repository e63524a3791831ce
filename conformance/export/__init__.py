"""Vectors for other languages and runners: files of safetensors, or ONNX models with test data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO, Final

from conformance.batch import Batch
from conformance.errors import UsageError
from conformance.export.safetensors_export import Tensors, all_cases, write_safetensors
from conformance.export.verdicts import cases_with_answers
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
from conformance.vectorfile.suite import joint_digest

__all__ = ["FORMATS", "Exported", "export"]

_ENDINGS: Final = (".safetensors", ".safetensors.gz")
"""Of a path that is one file with all operators; the second one is compressed."""
Advance = Callable[[], None]
"""Called for each vector that was looked at."""
Written = tuple[int, dict[str, str]]
"""How many vectors were written, and the ids of those that have no such form, each with why."""
Cases = Callable[[Iterable[Batch], Tensors, Advance], Sequence[object]]
"""Return the JSON of the vectors of a file, and add their arrays to its tensors."""
Write = Callable[[Path, Sequence[Selected], Advance], Written]


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
    """Write vectors in a format, one of FORMATS (docs/results.md).

    `path` is a new folder or, but for "onnx", one file if it ends in ".safetensors" or
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

        written, left_out = _WRITERS[form](path, selections, advance)
    return Exported(path, written, left_out)


def _tensors(
    cases_in: Cases, path: Path, selections: Sequence[Selected], advance: Advance
) -> Written:
    """Write one file, or a compressed one for each operator that has vectors."""
    by_operator: dict[str, list[Selected]] = {}
    for selection in selections:
        if selection.numbers.size:
            by_operator.setdefault(selection.source.operator, []).append(selection)

    def write(stream: BinaryIO, of_file: Sequence[Selected], *, compressed: bool) -> int:
        tensors = Tensors()
        batches = (batch for each in of_file for batch in each.source.batches(each.numbers))
        cases = cases_in(batches, tensors, advance)
        write_safetensors(stream, cases, tensors, compressed=compressed)
        return len(cases)

    if path.name.endswith(_ENDINGS):
        with writing(path) as stream:
            return write(stream, selections, compressed=path.suffix == ".gz"), {}
    written = 0
    with new_folder(path) as folder:
        for operator, of_operator in by_operator.items():
            with (folder / f"{operator}{_ENDINGS[1]}").open("wb") as stream:
                written += write(stream, of_operator, compressed=True)
    return written, {}


def _onnx(path: Path, selections: Sequence[Selected], advance: Advance) -> Written:
    """Write a folder of tests, with how many there are: who runs them can see that none is lost."""
    try:
        from conformance.export.onnx_export import write_onnx  # noqa: PLC0415 - needs a package
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "onnx":
            raise
        raise UsageError("export onnx needs the package onnx: pip install onnx") from None
    digests = [each.source.digest for each in selections if each.numbers.size]
    with new_folder(path) as folder:
        written, left_out = write_onnx(folder, _vectors(selections, advance))
        about = {
            "format": "pooling-conformance onnx",
            "version": 1,
            "vectors": joint_digest(digests) if all(digests) else "",
            "tests": written.total(),
            "operators": written,
        }
        text = json.dumps(about, indent=1) + "\n"
        (folder / "tests.json").write_text(text, "utf-8", newline="\n")
        if left_out:
            lines = [f"{vector_id}\t{why}\n" for vector_id, why in left_out.items()]
            (folder / "left_out.tsv").write_text("".join(lines), "utf-8", newline="\n")
    return written.total(), left_out


def _vectors(selections: Sequence[Selected], advance: Advance) -> Iterator[Vector]:
    """Yield the vectors; each counts when the next one is asked for."""
    for selection in selections:
        for vector in vectors_in(selection.source, selection.numbers):
            yield vector
            advance()


_WRITERS: Final[Mapping[str, Write]] = {
    "safetensors": partial(_tensors, all_cases),
    "verdicts": partial(_tensors, cases_with_answers),
    "onnx": _onnx,
}
FORMATS: Final = tuple(_WRITERS)
