"""Answers to single vectors."""

import numpy as np
import pytest
from support.fakes import ramp, right, vector

from conformance.backends.answer import RAISED, UNSUPPORTED, Answer, answer_returned
from conformance.errors import VectorFileError
from conformance.judging.judge import accepts, answer_to, judge
from conformance.judging.reading_sets import reading_space
from conformance.vector import Anything, Vector


def answer(vector):
    """Return the outputs of a right backend."""
    case = vector.case
    return (right(case.operator, case.inputs, case.attributes),)


class TestAccepts:
    """Whether an answer conforms under some reading."""

    def test_a_right_answer_conforms_and_that_of_another_operator_does_not(self):
        average = vector(ramp(1, 1, 6))
        maximum = vector(ramp(1, 1, 6), operator="MaxPool-1")
        assert accepts(average, answer(average))
        assert not accepts(average, answer(maximum))
        assert not accepts(average, None)

    @pytest.mark.parametrize("returned", [None, (np.zeros(7),), ()])
    def test_a_case_undefined_as_a_whole_accepts_anything(self, returned):
        """Any array, none and any exception conform where the whole case is undefined."""
        assert accepts(Vector(vector().case, (Anything(),)), returned)


class TestJudge:
    """What is said of an answer."""

    def test_one_that_conforms_is_accepted_under_readings(self):
        """Those under which it is right."""
        made = vector(ramp(1, 1, 6))
        judged = judge(made, answer_to(made, answer(made)), {})
        assert judged.verdict == "conforms"
        assert judged.accepted == reading_space("AvgPool-1").bits_of([{}])
        assert judged.followed == 0

    def test_one_that_does_not_is_accepted_under_none(self):
        """The elements that are wrong are those of the comparison."""
        made = vector(ramp(1, 1, 6))
        (output,) = answer(made)
        output = output + (np.arange(output.size) == 1).astype(output.dtype)
        judged = judge(made, answer_returned(output, 10), {})
        assert (judged.verdict, judged.accepted) == ("mismatch", 0)
        wrong = judged.comparison.where_wrong(made.values[0], 0)
        assert np.flatnonzero(wrong).tolist() == [1]

    @pytest.mark.parametrize(("kind", "verdict"), [(RAISED, "error"), (UNSUPPORTED, "unsupported")])
    def test_one_that_is_no_array_is_not_held_against_outcomes(self, kind, verdict):
        judged = judge(vector(ramp(1, 1, 6)), Answer(kind), {})
        assert (judged.verdict, judged.accepted, judged.followed) == (verdict, 0, None)

    def test_a_reading_that_is_not_known_is_an_error(self):
        """A file of a later version may have others."""
        made = Vector(vector().case, (Anything(({"subnormals": "ignored"},)),))
        with pytest.raises(VectorFileError, match="not known to this version") as caught:
            judge(made, Answer(RAISED), {})
        assert "\n" not in str(caught.value)
