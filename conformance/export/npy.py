"""A folder per vector: inputs, accepted outputs and limits as .npy files, the rest in case.json.

docs/results.md describes what is written; its version changes when that page does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from conformance.dtypes import name_of
from conformance.export.limits import ANY, Limits, limits
from conformance.operators import Output, operator_named
from conformance.resultfile import path_of
from conformance.vector import Array, Outcome, Vector

FORMAT: Final = "pooling-conformance case"
VERSION: Final = 1


class NpyWriter:
    """Writes vectors into a folder; every vector has this form."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index: list[str] = []

    def add(self, vector: Vector) -> None:
        """Write the folder of a vector."""
        case = vector.case
        path = path_of(case.id)
        folder = self._folder / path
        folder.mkdir(parents=True)
        arrays = _Arrays(folder)
        outputs = operator_named(case.operator).outputs
        axes = case.inputs[0].ndim - 2
        content = {
            "format": FORMAT,
            "version": VERSION,
            "id": case.id,
            "operator": case.operator,
            "attributes": dict(case.attributes),
            "inputs": [
                {"file": arrays.file(f"input_{number}", array), "dtype": name_of(array.dtype)}
                for number, array in enumerate(case.inputs)
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
        self._index.append(f"{path}\t{case.operator}\t{name_of(case.inputs[0].dtype)}\t{case.id}\n")

    def finish(self) -> None:
        """Write the index: it is there once everything else is."""
        (self._folder / "index.tsv").write_text("".join(self._index), "utf-8", newline="\n")


def _accepted(
    arrays: _Arrays, number: int, outcome: Outcome, axes: int, outputs: Sequence[Output]
) -> dict[str, Any]:
    accepted: dict[str, Any] = {
        "kind": outcome.kind,
        "readings": [dict(each) for each in outcome.readings],
    }
    if outcome.kind != "values":
        return accepted
    within = [
        limits(outcome, axes, average=output.comparison == "bound", output=place)
        for place, output in enumerate(outputs)
    ]
    values = [expected.values for expected in outcome.outputs]
    accepted |= _files(arrays, str(number), values[0], within[0])
    accepted["exception"] = any(bool((each.mask == ANY).any()) for each in within)
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
        "expected": arrays.file(f"expected_{number}", expected),
        "lower": arrays.file(f"lower_{number}", within.lower),
        "upper": arrays.file(f"upper_{number}", within.upper),
        "mask": arrays.file(f"mask_{number}", within.mask) if within.mask.any() else None,
    }


class _Arrays:
    """The arrays of one vector, equal ones in one file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def file(self, name: str, array: Array) -> str:
        """Return the name of the file with an array, a new one called `name` if there is none."""
        stored = array.view(np.uint16) if name_of(array.dtype) == "bfloat16" else array
        key = stored.dtype.str, stored.shape, stored.tobytes()
        if key not in self._known:
            self._known[key] = f"{name}.npy"
            little = np.ascontiguousarray(stored, stored.dtype.newbyteorder("<"))
            with (self._folder / f"{name}.npy").open("wb") as file:
                np.lib.format.write_array(file, little.reshape(stored.shape), version=(1, 0))
        return self._known[key]
