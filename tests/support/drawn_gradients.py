"""Cases of gradients: those of forward operators, with a gradient of their output."""

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from support.drawn_params import fill, hard_cases
from support.gradient_oracle import READINGS, output_shape
from support.oracle import READINGS as OF_FORWARD
from support.oracle import WholeCaseUndefined
from support.random_cases import EVERY

from conformance.dtypes import name_of
from conformance.operators import OPERATORS, clauses_of


@st.composite
def gradient_cases(draw: st.DrawFn, **options: Any) -> Any:
    """Draw (forward operator, gradient of its output, inputs, attributes, readings)."""
    options.setdefault("operators", [name for name in EVERY if f"{name}-backward" in OPERATORS])
    operator, inputs, attributes = draw(hard_cases(**options))
    known = {**OF_FORWARD, **READINGS}
    concerning = [name for name in clauses_of(OPERATORS[operator + "-backward"]) if name in known]
    readings = draw(
        st.fixed_dictionaries(
            {}, optional={name: st.sampled_from(known[name]) for name in concerning}
        )
    )
    forward = {name: reading for name, reading in readings.items() if name in OF_FORWARD}
    try:
        shape = output_shape(operator, inputs, attributes, forward)
    except WholeCaseUndefined:
        assume(False)
    gradient = fill(shape, name_of(inputs[0].dtype), draw(st.integers(0, 999)))
    return operator, gradient, inputs, attributes, readings
