"""Who departs from a document: what was emitted, or what computed it."""

import numpy as np
import pytest
from support.fakes import pool, right

from conformance.errors import Unsupported
from conformance.routes.program import Program, converting
from conformance.vector import outputs_of

CASE = ("MaxPool-1", [np.array([[[1.0, 4.0, 2.0]]], np.float32)], pool([2]))


def rightly(_inputs):
    return outputs_of(right(*CASE))


def wrongly(_inputs):
    return (rightly(_inputs)[0] + 1,)


def refusing(_inputs):
    raise RuntimeError("no such thing")


def printed_by(program, capsys):
    """Return what a program prints when it answers the case."""
    program.answer(*CASE)
    return capsys.readouterr().out


def test_nothing_is_said_of_an_answer_that_conforms(capsys):
    assert printed_by(Program("MaxPool()", rightly, wrongly), capsys) == ""


@pytest.mark.parametrize(
    ("computed", "words"), [(rightly, "the engine departs"), (wrongly, "the converter departs")]
)
def test_the_converter_departs_if_its_program_does_though_computed_rightly(computed, words, capsys):
    said = printed_by(Program("MaxPool()", wrongly, computed), capsys)
    assert said.startswith("emitted: MaxPool()\n")
    assert words in said


def test_who_departs_is_not_said_where_nothing_computes_the_program(capsys):
    assert printed_by(Program("MaxPool()", wrongly), capsys) == "emitted: MaxPool()\n"


def test_an_exception_of_the_engine_is_raised_and_who_departs_said(capsys):
    with pytest.raises(RuntimeError, match="no such thing"):
        Program("MaxPool()", refusing, rightly).answer(*CASE)
    assert "the engine departs" in capsys.readouterr().out


def test_what_a_converter_refuses_as_such_is_unsupported_though_it_is_only_a_cause():
    error = ValueError("failed to export")
    error.__cause__ = RuntimeError("OpConversionFailure: no rule for pooling")
    with pytest.raises(Unsupported, match="no rule for pooling"), converting():
        raise error


def test_any_other_exception_is_that_of_the_converter(capsys):
    with pytest.raises(ValueError, match="went wrong"), converting():
        raise ValueError("went wrong")
    assert capsys.readouterr().out == "the converter raised this\n"
