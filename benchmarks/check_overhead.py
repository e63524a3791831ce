"""What the checker adds to calling a backend.

A whole `check` stands beside a bare loop of calls: both see the same vectors, already open and in
memory, and call the same backend in this process. And it stands beside the test runner of ONNX,
both with ONNX Runtime below, each with its own cases; and beside a check that calls each vector
once, in no variation.
"""

from __future__ import annotations

import importlib
import io
import unittest
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from benchmarks.paired import Effort, Row, Run, measured
from conformance import check, load_backend, open_vectors
from conformance.vector import Tier
from conformance.vectorfile import VectorSet

ROUNDS = {"numpy": 5, "torch": 15}


def rows(effort: Effort) -> Iterator[Row]:
    """Yield rows beside a bare loop, then one beside ONNX's runner."""
    importlib.import_module("torch").set_num_threads(1)
    with open_vectors() as files:
        count = sum(map(len, files))
        for name in ["torch"] if effort.quick else ROUNDS:
            backend = load_backend(name)
            yield measured(
                f"check {name}, {count:,} vectors",
                "bare loop of calls",
                partial(check, backend, files, diagnose=False),  # causes are for failures
                bare_loop(backend, files),
                effort.rounds(ROUNDS[name]),
                units=(count, count),
                each="vector",
            )
        yield beside_onnx(files, effort)
        yield in_variations("sample", "smoke" if effort.quick else "standard", files, effort)
        yield in_variations("all", "smoke", files, effort)


def in_variations(wanted: str, tier: Tier, files: VectorSet, effort: Effort) -> Row:
    """Measure a check in variations of the call beside one that calls each vector once."""
    backend = load_backend("numpy")
    checked = partial(check, backend, files, tier=tier, diagnose=False)
    count = len(checked(variations="none").results)
    return measured(
        f"check numpy, variations {wanted}, {count:,} vectors",
        "variations none",
        partial(checked, variations=wanted),
        partial(checked, variations="none"),
        effort.rounds(5),
        units=(count, count),
        each="vector",
    )


def beside_onnx(files: VectorSet, effort: Effort) -> Row:
    """Measure a check beside ONNX's runner, both with ONNX Runtime."""
    tier = "smoke" if effort.quick else "standard"
    ours = partial(check, load_backend("onnxruntime"), files, tier=tier, diagnose=False)
    count, (theirs, cases) = len(ours().results), onnx_tests()
    return measured(
        f"check onnxruntime, {count:,} vectors",
        f"ONNX test runner, {cases} cases",
        ours,
        theirs,
        effort.rounds(5),
        units=(count, cases),
        each="vector",
    )


def bare_loop(backend: Any, files: VectorSet) -> Run:
    """Return a loop that calls a backend on every vector and looks at nothing."""
    batches = [(file.operator, batch) for file in files for batch in file.batches()]

    def run() -> None:
        for operator, batch in batches:
            for inputs, attributes in zip(batch.inputs, batch.attributes, strict=True):
                with suppress(Exception):  # unsupported and invalid cases
                    backend(operator, list(inputs), dict(attributes))

    return run


def onnx_tests() -> tuple[Run, int]:
    """Return ONNX's pooling tests that ONNX Runtime passes, as what runs them, and their number."""
    from onnx.backend.test.runner import Runner  # noqa: PLC0415 - an engine that may be missing
    from onnxruntime.backend import backend  # noqa: PLC0415

    cases = Runner(backend, __name__).test_cases["OnnxBackendNodeModelTest"]
    names = [
        name
        for name in unittest.defaultTestLoader.getTestCaseNames(cases)
        if name.startswith(("test_averagepool_", "test_maxpool_")) and name.endswith("_cpu")
    ]
    passed = [name for name in names if _result([cases(name)]).wasSuccessful()]

    def run() -> None:
        assert _result(list(map(cases, passed))).wasSuccessful()

    return run, len(passed)


def _result(tests: list[unittest.TestCase]) -> unittest.TestResult:
    return unittest.TextTestRunner(io.StringIO()).run(unittest.TestSuite(tests))
