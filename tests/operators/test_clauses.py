"""Clauses are complete, consistent, and replace the steps they say."""

import dataclasses
import re
from collections import Counter

import numpy as np
import pytest
from support.gradient_oracle import READINGS as OF_GRADIENTS
from support.oracle import READINGS
from support.random_cases import pooling

from conformance.operators import CLAUSES, OPERATORS, concerned, evaluate, under
from conformance.operators.clause import Clause, Reading
from conformance.operators.outcomes import answer
from conformance.operators.pipeline import Pipeline
from conformance.vector import Anything, Case, Raises

DISPUTED = [clause for clause in CLAUSES.values() if clause.kind == "disputed"]
STEPS = {field.name for field in dataclasses.fields(Pipeline)}
ARITHMETIC = {
    "accumulator": ("wider", "element-type"),
    "sum-overflow": ("finite", "overflows"),
    "lp-range": ("scaled", "direct"),
    "subnormals": ("kept", "flushed"),
    "pads-not-below-kernel": ("accepted", "rejected"),
    "pads-not-below-undilated-kernel": ("accepted", "rejected"),
    "kernel-above-input": ("accepted", "refused"),
}
OWN_ORACLE = {
    "activation-limits": ("exact", "float32"),
    "activation-of-nan": ("propagates", "lower", "upper"),
    "integer-halves": ("away", "even", "up"),
    "integer-halves-of-zero-point": ("integers", "distances"),
    "qlinear-halves": ("even", "even-sum", "away", "away-sum", "up"),
    "unpool-index-space": ("output", "inferred"),
    "webnn-output-sizes-clear-padding": ("cleared", "kept"),
}
"""Of documents whose oracle is in their own tests."""


def test_readings_come_in_their_order():
    """The first is the default; the oracle, written apart, has the same."""
    found = {clause.name: tuple(r.name for r in clause.readings) for clause in DISPUTED}
    assert found == READINGS | ARITHMETIC | OF_GRADIENTS | OWN_ORACLE
    assert {clause.default for clause in DISPUTED} == {names[0] for names in found.values()}


@pytest.mark.parametrize("name", CLAUSES)
class TestEach:
    def test_it_is_filed_under_its_name(self, name):
        """Names are words joined by hyphens, and a type may have a number."""
        assert CLAUSES[name].name == name
        assert re.fullmatch(r"[a-z]+(-[a-z]+|-float8|-float16)*", name)

    def test_it_says_why(self, name):
        """A clause without what the document says, the answer and evidence is an opinion."""
        clause = CLAUSES[name]
        texts = (clause.document, clause.section, clause.says, clause.answer, clause.evidence)
        assert all(texts)
        assert all("\n" not in text for text in texts)

    def test_it_concerns_operators_that_exist(self, name):
        """At least one, each once."""
        operators = concerned(CLAUSES[name])
        assert set(operators) <= set(OPERATORS)
        assert len(set(operators)) == len(operators) > 0

    def test_only_disputes_have_readings(self, name):
        """Two or more, with a summary each and names of their own."""
        clause = CLAUSES[name]
        if clause.kind != "disputed":
            assert clause.readings == ()
            return
        assert len(clause.readings) >= 2
        assert all(reading.summary for reading in clause.readings)
        assert max(Counter(reading.name for reading in clause.readings).values()) == 1

    def test_readings_replace_steps_and_defaults_none(self, name):
        """The default reading is the pipeline of the operator as it is."""
        for number, reading in enumerate(CLAUSES[name].readings):
            assert set(reading.replaces) <= STEPS
            refuses = reading.name in {"refused", "zeros-alone", "checked"}
            changes = number > 0 and name in {*READINGS, *OF_GRADIENTS, *OWN_ORACLE}
            assert bool(reading.replaces or reading.any_tie) == (changes and not refuses)


def test_a_reading_is_found_by_name():
    """An unknown one is a KeyError: a mistake of the caller."""
    clause = CLAUSES["nan-in-maximum"]
    assert clause.reading("ignored").name == "ignored"
    with pytest.raises(KeyError):
        clause.reading("propagate")


def test_geometric_clauses_replace_geometry():
    """They are those whose readings replace a step before values are known."""
    geometric = {clause.name for clause in DISPUTED if clause.is_geometric}
    of_values = {"nan-in-maximum", "index-of-ties", "index-of-nan", "column-major", "lp-overhang"}
    assert geometric == set(READINGS) - of_values
    assert all(CLAUSES[name].is_of_values for name in of_values)


class TestUnder:
    """Pipelines under readings."""

    def test_defaults_are_the_pipeline_itself(self):
        """Naming defaults replaces nothing."""
        for operator in OPERATORS.values():
            defaults = {clause.name: clause.default for clause in DISPUTED}
            assert under(operator, defaults) == operator.pipeline

    @pytest.mark.parametrize("name", READINGS)
    def test_a_reading_replaces_the_steps_it_names_and_no_other(self, name):
        """Steps it does not name stay the same functions."""
        reading = CLAUSES[name].readings[-1]
        operator = OPERATORS[concerned(CLAUSES[name])[-1]]
        replaced = under(operator, {name: reading.name})
        changed = {s for s in STEPS if getattr(replaced, s) is not getattr(operator.pipeline, s)}
        assert changed == set(reading.replaces)

    def test_two_readings_of_one_step_apply_together(self):
        """OpenVINO's extra window under same_* is not dropped as one past the input."""
        data = [np.array([[[5, 6]]], np.float32)]
        attributes = pooling([1], [3], auto_pad="same_upper", rounding_type="ceil")
        applied = {"same-with-ceil": "rounding-applied"}
        both = applied | {"ceil-window-past-input": "dropped"}
        assert evaluate("MaxPool-1", data, attributes, applied).shape == (1, 1, 2)
        assert evaluate("MaxPool-1", data, attributes, both).shape == (1, 1, 2)


class TestOfAPackage:
    """A clause of an operator that is made elsewhere says itself when it applies."""

    def with_clause(self, **conditions):
        """Return the vector of a kernel of 3, of an average with one more clause."""
        own = Clause(
            *("of-threes", "disputed" if "refusing" in conditions else "undefined"),
            *("A document", "Kernel", "nothing", "kernels of 3", "none"),
            readings=(Reading("taken", "as any other"), Reading("refused", "an exception")),
            **conditions,
        )
        right = OPERATORS["AvgPool-1"]
        case = Case(
            "case",
            "AvgPool-1",
            pooling([3], [1], exclude_pad=True),
            (np.ones((1, 1, 5), np.float32),),
        )
        return answer(dataclasses.replace(right, clauses=(*right.clauses, own)), case)

    def test_it_may_leave_a_case_open(self):
        """Then anything conforms."""
        vector = self.with_clause(leaves_open=lambda _operator, params, _: params.kernel == (3,))
        assert vector.clauses == {"of-threes": ()}
        assert [*map(type, vector.outcomes)] == [Anything]

    def test_a_case_may_be_refused_under_a_reading(self):
        """Then both an exception and the values conform, each under its reading."""
        vector = self.with_clause(
            refusing=lambda _pipeline, params: ("refused",) if params.kernel == (3,) else ()
        )
        assert vector.clauses["of-threes"] == ("taken", "refused")
        assert Raises in map(type, vector.outcomes)
        assert any(vector.values)
