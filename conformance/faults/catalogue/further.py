"""Faults of `further`: the outputs after the first."""

from __future__ import annotations

import numpy as np

from conformance.faults.catalogue.building_blocks import FURTHER, further_results
from conformance.faults.fault import Fault
from conformance.operators.needs import Needs
from conformance.vector import Array


def _of_first_window(right: Array) -> Array:
    first = right.reshape(*right.shape[:2], -1)[:, :, 0]
    return np.broadcast_to(first.reshape(*first.shape, *[1] * (right.ndim - 2)), right.shape).copy()


FAULTS: tuple[Fault, ...] = (
    Fault(
        "further-outputs-zero",
        "outputs after the first left at 0",
        needs=FURTHER,
        replaces={"further": further_results(np.zeros_like)},
    ),
    Fault(
        "further-outputs-of-first-window",
        "outputs after the first computed for the first window alone",
        needs=FURTHER,
        replaces={"further": further_results(_of_first_window)},
    ),
    Fault(
        "further-outputs-one-more",
        "outputs after the first one too large",
        needs=FURTHER,
        replaces={"further": further_results(lambda right: right + right.dtype.type(1))},
    ),
    Fault(
        "further-outputs-reversed",
        "outputs after the first in reverse order",
        needs=Needs(outputs=3),
        replaces={
            "further": lambda further: (
                lambda gathered, divisor, first: further(gathered, divisor, first)[::-1]
            )
        },
    ),
)
