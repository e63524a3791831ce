"""What a backend returns or does where a clause leaves the answer undefined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from conformance.backends.answer import (
    ARRAY,
    CRASHED,
    NO_ARRAY,
    RAISED,
    TIMED_OUT,
    UNSUPPORTED,
    Answer,
)
from conformance.dtypes import FLOATS, float_format, name_of
from conformance.judging.comparison import Comparison
from conformance.operators import operator_named
from conformance.reference.rounding import widen
from conformance.vector import Anything, Array, Values, Vector

BEHAVIOURS = ("nan", "inf", "-inf", "zero", "-zero", "lowest", "other")
OF_KIND = {
    NO_ARRAY: "nothing",
    RAISED: "raised",
    UNSUPPORTED: "unsupported",
    CRASHED: "crashed",
    TIMED_OUT: "timed-out",
}
"""The behaviour that an answer without arrays is."""


def classify(values: Array) -> npt.NDArray[np.int8]:
    """Return the number in `BEHAVIOURS` of each of some values of a known element type, flat."""
    name = name_of(values.dtype)
    codes = np.full(values.shape, BEHAVIOURS.index("other"), np.int8)
    if name in FLOATS:
        wide = widen(values)
        zero, negative = wide == 0, np.signbit(wide)
        kinds = {
            "nan": np.isnan(wide),
            "inf": wide == np.inf,
            "-inf": wide == -np.inf,
            "zero": zero & ~negative,
            "-zero": zero & negative,
            "lowest": wide == -float_format(name).largest,
        }
    else:
        kinds = {"zero": values == 0}
        if np.issubdtype(values.dtype, np.signedinteger):
            kinds["lowest"] = values == np.iinfo(values.dtype).min
    for behaviour, mask in kinds.items():
        codes[mask] = BEHAVIOURS.index(behaviour)
    return codes


def behaviours_in(
    vector: Vector, answer: Answer, comparison: Comparison, followed: Values | None
) -> dict[str, str]:
    """Return for each undefined clause that applies to a vector what the backend did there.

    `followed` is the outcome that the answer is judged by, None where there is none: an output with
    another shape says nothing of the elements left undefined. What is told is what was done in the
    first output or, of a clause about another output, in that one.
    """
    undefined = [name for name, readings in vector.clauses.items() if not readings]
    found = {name: _behaviour(name, vector, answer, comparison, followed) for name in undefined}
    return {name: behaviour for name, behaviour in found.items() if behaviour}


def _behaviour(
    clause: str, vector: Vector, answer: Answer, comparison: Comparison, followed: Values | None
) -> str | None:
    """Return what the backend did where a clause leaves the answer undefined; None if unknown."""
    if answer.kind != ARRAY:
        return OF_KIND.get(answer.kind)
    if followed is not None:
        outputs = operator_named(vector.case.operator).outputs
        number = next((n for n, output in enumerate(outputs) if output.undefined == clause), 0)
        # A vector of first outputs alone says nothing of the others.
        if number >= len(followed.outputs) or comparison.differing(followed, number) is None:
            return None
        values = comparison.array(number)[followed.outputs[number].undefined]
        return _of_values(values) if values.size else None
    if not isinstance(vector.outcomes[0], Anything):
        return None
    first = answer.outputs[0]
    if first.data is None:
        return "other"
    return _of_values(comparison.array(0)) if first.data else "empty"


def _of_values(values: Array) -> str:
    codes = classify(values)
    return BEHAVIOURS[codes[0]] if (codes == codes[0]).all() else "mixed"
