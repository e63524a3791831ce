"""Vectors in a file of columns, beside a file with a group for each vector.

The other file is what comes first to mind: a group named by the id, texts as attributes, and a
dataset for each array. Both are read back to the same objects. Ours is also checked on the way:
its digest, and every number in it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from benchmarks.paired import Effort, Row, measured
from conformance.batch import vector_at
from conformance.dtypes import dtype_of
from conformance.vector import (
    Anything,
    Arithmetic,
    Case,
    Expected,
    Outcome,
    Raises,
    Values,
    Vector,
)
from conformance.vectorfile import VectorFile, VectorWriter, shipped_suite

OPERATOR = "MaxPool-1"
AGAINST = "HDF5, a group a vector"
_TEXTS = ("id", "operator", "tier", "pattern", "source", "provenance")
_COLUMNS = ("values", "addends", "divisor", "magnitude")


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of writing, reading and size."""
    with VectorFile(shipped_suite() / f"{OPERATOR}.h5") as file:
        vectors = list(file)[: 100 if effort.quick else 500]
    each = {"units": (len(vectors), len(vectors)), "each": "vector"}
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours.h5"), Path(folder, "theirs.h5")
        yield measured(
            f"write {len(vectors):,} vectors",
            AGAINST,
            partial(write, ours, vectors),
            partial(write_groups, theirs, vectors),
            effort.rounds(5),
            **each,
        )
        assert list(map(repr, read(ours))) == list(map(repr, read_groups(theirs)))
        yield measured(
            f"read {len(vectors):,} vectors",
            AGAINST,
            partial(read, ours),
            partial(read_groups, theirs),
            effort.rounds(9),
            **each,
        )
        sizes = [path.stat().st_size / len(vectors) for path in (ours, theirs)]
    yield Row(
        "bytes of a vector", AGAINST, *(f"{size:,.0f} B" for size in sizes),
        f"{sizes[0] / sizes[1]:.3g}",
    )  # fmt: skip


def write(path: Path, vectors: Sequence[Vector]) -> None:
    """Write our file."""
    with VectorWriter(path, OPERATOR, header={}) as writer:
        for vector in vectors:
            writer.add(vector)


def read(path: Path) -> list[Vector]:
    """Read our file."""
    with VectorFile(path) as file:
        return [vector_at(batch, row) for batch in file.batches() for row in range(len(batch))]


def write_groups(path: Path, vectors: Sequence[Vector]) -> None:
    """Write a group for each vector."""
    with h5py.File(path, "w") as file:
        for number, vector in enumerate(vectors):
            group = file.create_group(str(number))
            case = vector.case
            for name in _TEXTS:
                group.attrs[name] = getattr(case, name)
            group.attrs["attributes"] = json.dumps(case.attributes)
            group.attrs["tags"] = json.dumps(case.tags)
            group.attrs["clauses"] = json.dumps(vector.clauses)
            for index, array in enumerate(case.inputs):
                _write_array(group, f"input_{index}", array)
            for index, outcome in enumerate(vector.outcomes):
                held = group.create_group(f"outcome_{index}")
                held.attrs["kind"] = outcome.kind
                held.attrs["readings"] = json.dumps(outcome.readings)
                if isinstance(outcome, Values):
                    held.attrs["arithmetic"] = int(outcome.arithmetic)
                    for name in _COLUMNS:
                        _write_array(held, name, getattr(outcome.outputs[0], name))


def read_groups(path: Path) -> list[Vector]:
    """Read a group for each vector."""
    with h5py.File(path) as file:
        return [_read_group(file[str(number)]) for number in range(len(file))]


def _read_group(group: Any) -> Vector:
    inputs = sorted(name for name in group if name.startswith("input_"))
    outcomes = sum(name.startswith("outcome_") for name in group)
    tags, clauses = json.loads(group.attrs["tags"]), json.loads(group.attrs["clauses"])
    case = Case(
        **{name: group.attrs[name] for name in _TEXTS},
        attributes=json.loads(group.attrs["attributes"]),
        tags=tuple(tags),
        inputs=tuple(_read_array(group[name]) for name in inputs),
    )
    return Vector(
        case,
        tuple(_read_outcome(group[f"outcome_{index}"]) for index in range(outcomes)),
        {name: tuple(readings) for name, readings in clauses.items()},
    )


def _read_outcome(group: Any) -> Outcome:
    readings = tuple(json.loads(group.attrs["readings"]))
    if group.attrs["kind"] != "values":
        return Raises(readings) if group.attrs["kind"] == "raises" else Anything(readings)
    return Values(
        (Expected(*(_read_array(group[name]) for name in _COLUMNS)),),
        readings,
        Arithmetic(int(group.attrs["arithmetic"])),
    )


def _write_array(group: Any, name: str, array: np.ndarray) -> None:
    bfloat16 = array.dtype.name == "bfloat16"
    dataset = group.create_dataset(name, data=array.view(np.uint16) if bfloat16 else array)
    dataset.attrs["dtype"] = array.dtype.name


def _read_array(dataset: Any) -> np.ndarray:
    array = dataset[()]
    name = dataset.attrs["dtype"]
    return array.view(dtype_of(name)) if name == "bfloat16" else array
