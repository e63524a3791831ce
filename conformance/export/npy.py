"""A folder per vector: inputs, accepted outputs and limits as .npy files, the rest in case.json.

docs/results.md describes what is written; its version changes when that page does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from conformance.dtypes import name_of
from conformance.export.limits import ANY, limits
from conformance.operators import operator_named
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
        average = operator_named(case.operator).reduction.sums
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
                _accepted(arrays, number, outcome, axes, average=average)
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
    arrays: _Arrays, number: int, outcome: Outcome, axes: int, *, average: bool
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": outcome.kind,
        "readings": [dict(each) for each in outcome.readings],
    }
    if outcome.expected is None:
        return found
    within = limits(outcome, axes, average=average)
    found |= {
        "dtype": name_of(outcome.expected.dtype),
        "expected": arrays.file(f"expected_{number}", outcome.expected),
        "lower": arrays.file(f"lower_{number}", within.lower),
        "upper": arrays.file(f"upper_{number}", within.upper),
        "mask": arrays.file(f"mask_{number}", within.mask) if within.mask.any() else None,
        "exception": bool((within.mask == ANY).any()),
    }
    return found


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
