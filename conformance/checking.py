"""The public `check`: a run, and for its failures the likely causes."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.check import checker
from conformance.check.report import Report
from conformance.check.runner import Backend
from conformance.check.sources import Operators, Select, Vectors

Progress = checker.Progress


def check(
    backend: Backend,
    vectors: Vectors = None,
    *,
    operators: Operators = None,
    select: Select = None,
    tier: str = "standard",
    require: Mapping[str, str] | None = None,
    profile: str | None = None,
    diagnose: bool = True,
    isolate: bool = False,
    timeout: float | None = None,
    progress: Progress | None = None,
    name: str | None = None,
) -> Report:
    """Run a backend over vectors and report which of its answers conform, and why others do not.

    `vectors` is a vector file, a directory of them, an open VectorFile or VectorSet, a sequence
    of Vector, or None for the suite this package ships. Of these, vectors of `operators`, with
    ids that `select` matches (part of an id, a glob over the whole id, several of them, or a
    function of the id), up to `tier` are run. `require` pins disputed clauses to a reading,
    `profile` many at once ("openvino", "onnx", "torch"); `require` wins. `diagnose` searches the
    catalogue of faults for what reproduces the failures, which takes seconds where there are any.
    `progress(done, total)` is called now and then. `name` is what the report calls the backend.

    Raises UsageError for an argument that is wrong or matches nothing, VectorFileError for
    vectors that are not sound, and Interrupted on Ctrl-C.
    """
    report = checker.check(
        backend,
        vectors,
        operators=operators,
        select=select,
        tier=tier,
        require=require,
        profile=profile,
        progress=progress,
        **({'name': name} if name else {}),
    )
    if report.ok or not diagnose:
        return report
    from conformance.faults.explained import explained  # noqa: PLC0415 - only for failures

    return explained(report, vectors, progress=progress)
