"""Making vectors and putting them in files, beside ONNX's generator of its pooling tests.

What ONNX's command does is done here with its own functions, for its pooling cases alone: run
their exports, then write a model and a file for each tensor. A case of ONNX has one expected
output; a vector has one for each reading, with what its error bounds need.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.paired import Effort, Row, Run, measured
from benchmarks.scale import Content, write
from conformance.cases.generate import generate
from conformance.vectorfile import VectorFile

PART = 36
OPERATORS = ("AvgPool-1", "MaxPool-1", "nGraph-AvgPool")


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows of time and of size."""
    with tempfile.TemporaryDirectory() as folder:
        theirs, cases, elements = onnx_generator(Path(folder, "onnx"))
        against = f"ONNX generator, {cases} cases"
        stored = sum(
            each.stat().st_size for each in Path(folder, "onnx").rglob("*") if each.is_file()
        )
        for name in OPERATORS[-1:] if effort.quick else OPERATORS:
            path = Path(folder, f"{name}.h5")
            part = Content.whole(name, PART)
            ours, count = partial(write, path, part), part.count
            yield measured(
                f"{name}, a part of the exhaustive tier, {count:,} vectors",
                against,
                ours,
                theirs,
                effort.rounds(3),
                units=(count, cases),
                each="vector",
            )
            with VectorFile(path) as file:
                inputs = sum(array.size for each in file for array in each.case.inputs)
            size = path.stat().st_size
            yield bytes_of("a vector", name, against, size / count, stored / cases)
            yield bytes_of("an input element", name, against, size / inputs, stored / elements)
        if not effort.quick:
            yield standard(Path(folder), against, theirs, cases)


def standard(folder: Path, against: str, theirs: Run, cases: int) -> Row:
    """Measure the standard tier of an operator, with the search for its covering arrays."""
    ours = partial(generate, folder / "standard", operators=["MaxPool-1"])
    (path,) = ours()
    with VectorFile(path) as file:
        count = len(file)
    return measured(
        f"MaxPool-1, the standard tier, {count:,} vectors",
        against,
        ours,
        theirs,
        1,
        units=(count, cases),
        each="vector",
    )


def bytes_of(unit: str, name: str, against: str, ours: float, theirs: float) -> Row:
    """Compare bytes on the disk."""
    texts = f"{ours:,.3g} B", f"{theirs:,.0f} B" if theirs >= 100 else f"{theirs:.3g} B"
    return Row(f"{name}, bytes of {unit}", against, *texts, f"{ours / theirs:.2g}")


def onnx_generator(folder: Path) -> tuple[Run, int, int]:
    """Return what makes and writes ONNX's pooling cases, their number, and their input elements."""
    from onnx import numpy_helper  # noqa: PLC0415 - an engine that may be missing
    from onnx.backend.test.case import node as nodes  # noqa: PLC0415
    from onnx.backend.test.case.node import averagepool, maxpool  # noqa: PLC0415

    exports = [
        getattr(module, name)
        for module, name in ((averagepool, "AveragePool"), (maxpool, "MaxPool"))
    ]
    # Where its exports leave what they made.
    made, names = nodes._NodeTestCases, nodes._existing_names  # noqa: SLF001

    def run() -> None:
        made.clear()
        names.clear()
        for each in exports:
            for name in dir(each):
                if name.startswith("export"):
                    np.random.seed(0)  # noqa: NPY002 - as ONNX does
                    getattr(each, name)()
        for case in made:
            place = folder / case.name / "test_data_set_0"
            place.mkdir(parents=True, exist_ok=True)
            (place.parent / "model.onnx").write_bytes(case.model.SerializeToString())
            for kind, arrays in zip(("input", "output"), case.data_sets[0], strict=True):
                for index, array in enumerate(arrays):
                    tensor = numpy_helper.from_array(array, f"{kind}_{index}")
                    (place / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())

    run()
    return run, len(made), sum(array.size for case in made for array in case.data_sets[0][0])
