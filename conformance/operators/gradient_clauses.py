"""Clauses of gradients: nGraph's document has a heading for them, and nothing under it."""

from __future__ import annotations

import numpy as np

from conformance.operators.clause import Clause, Reading, ruling
from conformance.operators.needs import (
    GRADIENTS_OF_MAXIMA,
    GRADIENTS_OF_NORMS,
    NO_POWERS,
    is_gradient,
)
from conformance.operators.shared_clauses import holds_nan
from conformance.operators.wraps import choosing
from conformance.reference.rounding import widen
from conformance.vector import Case


def _holds_infinite_gradient(case: Case) -> bool:
    return case.gradient is not None and not bool(np.isfinite(widen(case.gradient)).all())


DISPUTED: tuple[Clause, ...] = (
    Clause(
        name="gradient-of-ties",
        kind="disputed",
        needs=GRADIENTS_OF_MAXIMA,
        chosen_by="index-of-ties",
        document="nGraph AvgPool",
        section="Backprop",
        says="nothing; no document defines a gradient",
        answer="which of equal maxima gets the gradient of a window",
        evidence="all of them are in the generalised gradient of a maximum; engines choose one, or "
        "compare each cell with the maximum",
        readings=(
            Reading("first", "the first in row-major order", ("PyTorch", "JAX", "Paddle")),
            Reading("last", "the last in row-major order", (), {"reduce": choosing(ties="last")}),
            Reading("all", "each of them, the whole", (), {"reduce": choosing(ties="all")}),
            Reading(
                "shared", "each of them, an equal part", (), {"reduce": choosing(ties="shared")}
            ),
        ),
    ),
    Clause(
        name="gradient-of-nan",
        kind="disputed",
        needs=GRADIENTS_OF_MAXIMA,
        document="nGraph AvgPool",
        section="Backprop",
        says="nothing; no document defines a gradient",
        answer="which cell of a window that holds a NaN gets its gradient",
        evidence="where a NaN is the maximum, it is the cell that was chosen; where NaNs are "
        "ignored, or none equals itself, another cell is, or none",
        concerns=holds_nan,
        readings=(
            Reading("first", "the first NaN in row-major order"),
            Reading(
                "last",
                "the last NaN in row-major order",
                ("PyTorch",),
                {"reduce": choosing(nan="last")},
            ),
            Reading(
                "undefined",
                "any value in the cells of such a window",
                ("JAX", "Paddle", "TensorFlow"),
                {"reduce": choosing(nan="undefined")},
            ),
        ),
    ),
    Clause(
        name="gradient-of-infinity",
        kind="disputed",
        needs=GRADIENTS_OF_MAXIMA,
        document="nGraph AvgPool",
        section="Backprop",
        says="nothing; no document defines a gradient",
        answer="whether a gradient that is infinite or NaN reaches cells that are not chosen",
        evidence="it is handed to the chosen cell, or multiplied by one for that cell and by zero "
        "for the others, which gives NaN",
        concerns=_holds_infinite_gradient,
        readings=(
            Reading("alone", "the chosen cell alone gets it", ("PyTorch",)),
            Reading(
                "spreads",
                "any value in the other cells of the window",
                (),
                {"reduce": choosing(infinity="spreads")},
            ),
        ),
    ),
)

GRADIENT_OF_UNDEFINED = "gradient-of-undefined"
OTHERS: tuple[Clause, ...] = (
    Clause(
        name=GRADIENT_OF_UNDEFINED,
        kind="undefined",
        needs=(is_gradient, *NO_POWERS),
        document="nGraph AvgPool",
        section="Backprop; Note on ill-definedness",
        says="nothing of a gradient, and that windows of padding alone are ill-defined",
        answer="whether the gradient of an output with such an element is refused; what is "
        "returned is judged as usual",
        evidence="engines that refuse the output refuse its gradient",
    ),
    Clause(
        name="gradient-of-padding",
        kind="undefined",
        needs=GRADIENTS_OF_MAXIMA,
        document="nGraph AvgPool",
        section="Backprop",
        says="nothing; no document defines a gradient",
        answer="the cells of a window that reaches into padding and whose maximum is what padding "
        "holds, -inf",
        evidence="the padding may have been chosen in their place",
    ),
    Clause(
        name="gradient-of-no-norm",
        kind="undefined",
        needs=GRADIENTS_OF_NORMS,
        document="ONNX LpPool-22",
        section="Summary",
        says="nothing of a gradient; PyTorch alone says what it is where a sum of powers is zero",
        answer="the cells at which a norm has no derivative (where it is zero, but for PyTorch, "
        "and zeros for p = 1), of windows that hold, or get, a NaN or an infinity, and whose "
        "powers, or products with them, may leave the range of the element type",
        evidence="0 / 0, and infinity by infinity, in the derivative as it is mostly computed",
    ),
    ruling(
        "gradient-of-nothing",
        "nothing; no document defines a gradient",
        "a window without cells gives nothing to any cell, whatever it is divided by, and a "
        "cell that no window holds gets zero, whatever it is",
        "a derivative of what no cell changes, or a cell does not change, is zero",
        needs=(is_gradient,),
        document="nGraph AvgPool",
        section="Backprop",
    ),
)
