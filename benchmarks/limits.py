"""Which numbers of the search for causes matter: each is halved and doubled.

`python -m benchmarks.limits` diagnoses a few backends with bugs, again with each number of
`conformance.diagnosis.limits` halved and doubled, and names the first one of which other causes are
found then. A number that never changes anything is hardly needed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.diagnosis_proof import vectors_of
from benchmarks.two_bugs import backend as with_bugs
from conformance import evaluate
from conformance.api.check import check
from conformance.backends import Backend
from conformance.diagnosis import limits
from conformance.faults import fault_named, faulty
from conformance.vector import Array, Vector

Number = int | float


def named(*names: str) -> Backend:
    """Return a backend with faults of the catalogue."""
    return faulty([*map(fault_named, names)])


def wrong_channels(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Any:
    """Add one to every channel from 16 on, where the last axis is odd: a rule alone says so."""
    outputs = evaluate(operator, list(inputs), dict(attributes))
    parts = list(outputs) if isinstance(outputs, tuple) else [outputs]
    if inputs[0].shape[-1] % 2 and parts[0].ndim > 2:
        parts[0] = parts[0].copy()
        parts[0][:, 16:] += np.asarray(1, parts[0].dtype)
    return tuple(parts) if isinstance(outputs, tuple) else parts[0]


def cut_to_float16(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Any:
    """Compute in float16 where strides differ between axes."""
    first, *others = inputs
    strides = attributes.get("strides") or [1]
    if first.dtype == np.float32 and len(set(strides)) > 1:
        with np.errstate(over="ignore"):
            first = first.astype(np.float16).astype(np.float32)
    return evaluate(operator, [first, *others], dict(attributes))


BACKENDS: Sequence[tuple[str, Backend, tuple[str, ...], str]] = (
    ("two bugs", with_bugs("strides_swapped", "infinity_cut"), ("MaxPool-8",), "proven"),
    ("a condition", cut_to_float16, ("AvgPool-16",), "proven"),
    ("a rule", wrong_channels, ("AvgPool-1",), "proven"),
    ("a gradient", named("gradient-ties-doubled"), ("MaxPool-1-backward",), "proven"),
    (
        "four faults",
        named(
            "dilations-reversed",
            "overhang-moved-back",
            "maximum-from-lowest-float16",
            "index-kernel-apart",
        ),
        ("MaxPool-8",),
        "seen",
    ),
)


def numbers() -> Iterator[tuple[str, Number]]:
    """Yield the numbers of the search by name."""
    for name, value in vars(limits).items():
        if name.isupper() and isinstance(value, Number):
            yield name, value


@contextmanager
def changed(name: str, value: Number) -> Iterator[None]:
    """Give a number another value for a while."""
    before = getattr(limits, name)
    setattr(limits, name, value)
    try:
        yield
    finally:
        setattr(limits, name, before)


def outcome(backend: Backend, vectors: Sequence[Vector], diagnose: Any) -> list[str]:
    """Return the causes that are found, in words."""
    options: dict[str, Any] = {"variations": "none", "diagnose_seconds": None}
    report = check(backend, vectors, diagnose=diagnose, **options)
    return [
        f"{each.explained} {each.behaviour} {each.condition} {each.is_confirmed}"
        for each in report.diagnoses
    ]


def main() -> None:
    """Print what halving and doubling each number changes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--only", default="", help="numbers with this in their name")
    options = parser.parse_args()
    smoke = vectors_of("smoke")
    parts: list[tuple[str, Callable[[], list[str]]]] = []
    for said, backend, operators, diagnose in BACKENDS:
        vectors = [v for v in smoke if v.case.operator in operators]
        parts.append((said, lambda b=backend, v=vectors, d=diagnose: outcome(b, v, d)))
    before = {}
    for said, run in parts:
        began = time.perf_counter()
        before[said] = run()
        print(f"{said}: {time.perf_counter() - began:.1f} s, {before[said]}", flush=True)
    for name, value in numbers():
        if options.only not in name:
            continue
        for by in (0.5, 2):
            other = type(value)(value * by)
            if other == value:
                continue
            with changed(name, other):
                differs = next((said for said, run in parts if run() != before[said]), "nothing")
            print(f"{name} {value:g} -> {other:g}: {differs}", flush=True)


if __name__ == "__main__":
    main()
