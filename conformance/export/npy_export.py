"""A folder per vector: inputs, accepted outputs and limits as .npy files, the rest in case.json.

docs/results.md describes what is written; its version changes when that page does.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from conformance.backends.results import path_of
from conformance.dtypes import name_of
from conformance.errors import UsageError
from conformance.export.limits import ANY, Limits, limits
from conformance.operators import Output, as_called, operator_named
from conformance.operators.form import Form
from conformance.text import cut
from conformance.vector import Array, Outcome, Values, Vector

FORMAT: Final = "pooling-conformance case"
VERSION: Final = 1


def write_npy(folder: Path, vectors: Iterator[Vector]) -> dict[str, str]:
    """Write a folder for each vector, and the index last; none is left out."""
    index = []
    for vector in vectors:
        case, path = vector.case, path_of(vector.case.id)
        try:
            _write(folder / path, vector)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise UsageError(f"{error.strerror}: the folder of {cut(case.id, 200)}") from None
        index.append(f"{path}\t{case.operator}\t{name_of(case.data.dtype)}\t{case.id}\n")
    (folder / "index.tsv").write_text("".join(index), "utf-8", newline="\n")
    return {}


def _write(folder: Path, vector: Vector) -> None:
    """Write the folder of a vector."""
    case = vector.case
    folder.mkdir(parents=True)
    operator = operator_named(case.operator)
    arrays, outputs = _Arrays(folder, operator.form), operator.outputs
    inputs, attributes = as_called(case)
    axes = case.data.ndim - 2
    content = {
        "format": FORMAT,
        "version": VERSION,
        "id": case.id,
        "operator": case.operator,
        "attributes": attributes,
        "inputs": [
            {"file": arrays.file(f"input_{number}", array), "dtype": name_of(array.dtype)}
            for number, array in enumerate(inputs)
        ],
        "accepted": [
            _accepted(arrays, number, outcome, axes, outputs)
            for number, outcome in enumerate(vector.outcomes)
        ],
        "clauses": {name: list(readings) for name, readings in vector.clauses.items()},
        "tier": case.tier,
        "pattern": case.pattern,
        "provenance": case.provenance,
        "source": case.source,
        "tags": list(case.tags),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    (folder / "case.json").write_text(f"{text}\n", "utf-8", newline="\n")


def _accepted(
    arrays: _Arrays, number: int, outcome: Outcome, axes: int, outputs: Sequence[Output]
) -> dict[str, Any]:
    accepted: dict[str, Any] = {
        "kind": outcome.kind,
        "readings": [dict(combination) for combination in outcome.readings],
    }
    if not isinstance(outcome, Values):
        return accepted
    within = [
        limits(outcome, axes, average=output.comparison == "bound", output=place)
        for place, output in enumerate(outputs)
    ]
    values = [expected.values for expected in outcome.outputs]
    accepted |= _files(arrays, str(number), values[0], within[0])
    accepted["exception"] = any(bool((bounds.mask == ANY).any()) for bounds in within)
    if len(outputs) > 1:
        accepted["further"] = [
            {
                "output": outputs[place].name,
                **_files(arrays, f"{number}_{place}", values[place], within[place]),
            }
            for place in range(1, len(outputs))
        ]
    return accepted


def _files(arrays: _Arrays, number: str, expected: Array, within: Limits) -> dict[str, Any]:
    """Write what one output must be; return its element type and the names of the files."""
    return {
        "dtype": name_of(expected.dtype),
        "expected": arrays.output(f"expected_{number}", expected),
        "lower": arrays.output(f"lower_{number}", within.lower),
        "upper": arrays.output(f"upper_{number}", within.upper),
        "mask": arrays.output(f"mask_{number}", within.mask) if within.mask.any() else None,
    }


class _Arrays:
    """The arrays of one vector, equal ones in one file; outputs in the form of its document."""

    def __init__(self, folder: Path, form: Form) -> None:
        self._form = form
        self._folder = folder
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def output(self, name: str, array: Array) -> str:
        """Return the name of the file with what is about an output, in the document's form."""
        return self.file(name, self._form.array_given(array))

    def file(self, name: str, array: Array) -> str:
        """Return the name of the file with an array, a new one called `name` if there is none."""
        stored = array.view(np.uint16) if name_of(array.dtype) == "bfloat16" else array
        key = stored.dtype.str, stored.shape, stored.tobytes()
        if key not in self._known:
            self._known[key] = f"{name}.npy"
            little = np.ascontiguousarray(stored, stored.dtype.newbyteorder("<"))
            content = BytesIO()  # numpy would not say why a file cannot be written
            np.lib.format.write_array(content, little.reshape(stored.shape), version=(1, 0))
            (self._folder / f"{name}.npy").write_bytes(content.getvalue())
        return self._known[key]
