"""No sound gradient is a mismatch, whatever its arithmetic and its readings."""

import pytest
from hypothesis import given
from support.drawn_gradients import gradient_cases
from support.sound_gradients import SOUND_GRADIENTS

from conformance.judging.judge import accepts
from conformance.operators import OPERATORS, vector_of
from conformance.operators.outcomes import is_judgeable
from conformance.vector import BACKWARD, Case


@pytest.mark.parametrize("sound", SOUND_GRADIENTS, ids=lambda each: each.name)
def test_a_sound_gradient_conforms(sound):
    """Hard values of every type; a refusal where the output has another shape conforms, too."""

    @given(case=gradient_cases())
    def conforms(case):
        operator, gradient, inputs, attributes, _ = case
        name, given_inputs = operator + BACKWARD, (gradient, *inputs)
        vector = vector_of(Case("case", name, attributes, given_inputs))
        if not is_judgeable(OPERATORS[name], vector):
            return
        try:
            answer = (sound(name, given_inputs, attributes),)
        except ValueError:
            answer = None
        assert accepts(vector, answer)

    conforms()
