"""A confirmed cause is one word, which names the same cause again and explains nothing else."""

import numpy as np
import pytest
from support.fakes import pool, vector

from conformance.cases.near import Feature
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.hypothesis import Sample
from conformance.diagnosis.instead import constant
from conformance.diagnosis.laboratory import samples_from
from conformance.diagnosis.named_causes import cause_named, explaining, word_of
from conformance.diagnosis.planting import FaultHypothesis, Planting, with_gradients
from conformance.diagnosis.rules import Rule
from conformance.diagnosis.slips import slips
from conformance.faults import fault_named

DATA = np.arange(1, 25, dtype=np.float32).reshape(1, 4, 6)
RULE = Rule(
    (
        (
            Condition(Feature("channel"), "from", 2.0),
            Condition(Feature("dtype"), "is", frozenset({"float32", "bfloat16"})),
            Condition(Feature("kernel", 0), "to", 3.0, over="every"),
            Condition(Feature("size", -1), "modulo", 0.0, 2),
        ),
        (Condition(Feature("invalid_how"), "is not", frozenset({"too small"})),),
        (Condition(Feature("gradient"), "is", value=False),),
    ),
    instead=constant("zero"),
    some=True,
)


def planting():
    return Planting(lambda _: {})


def failure(change):
    """Return what a right backend makes of an average, but for a change."""
    case = vector(DATA, pool(kernel=[2], strides=[2]))
    output = case.values[0].outputs[0].values.copy()
    change(output)
    (sample,) = samples_from([(case, (output,))])
    return sample


def test_a_rule_is_the_same_rule_again():
    """With every relation, kind of value and quantifier."""
    word = word_of(RULE)
    assert cause_named(word).rule.words == RULE.words
    assert cause_named(word).rule.places == RULE.places
    assert not set(word) & set(" #+")


@pytest.mark.parametrize("name", ["same-lower-as-upper", "backward-kernel-clamped-to-3"])
def test_a_fault_goes_by_its_name(name):
    """That of gradients too, in the catalogue or not."""
    assert word_of(FaultHypothesis((fault_named(name),), planting())) == name
    (fault,) = cause_named(name).faults
    assert fault.name == name


def test_a_slip_goes_by_its_words():
    """Alone, and together with the same of gradients."""
    slip = next(each for each in slips() if each.summary == "answers as if every dilation were 1")
    for faults in ((slip,), with_gradients((slip,))):
        assert cause_named(word_of(FaultHypothesis(faults, planting()))).faults == faults


def test_what_was_learned_from_numbers_has_no_word():
    """Nothing can be made of its words."""

    class Learned:
        words = "the 7th bit is lost"

    assert word_of(Learned()) == ""


def test_a_rule_explains_what_it_predicts_and_nothing_else():
    """Other elements, other values in place of right ones and what is right are not excused."""

    def zero(output):
        output[:, 2:] = 0

    def seven(output):
        output[:, 2:] = 7

    def elsewhere(output):
        output[:, 1:] = 0

    word = "rule:values:channel>=2:zero"
    causes = {word: cause_named(word)}
    for change, names in ((zero, [word]), (seven, []), (elsewhere, []), (lambda _: None, [])):
        found = explaining(causes, [failure(change)], lambda _: {})
        assert [*found.values()] == [[name] for name in names]


def test_a_fault_explains_what_it_reproduces():
    """To the bit, as it is diagnosed."""
    word = "not-divided"

    def doubled(output):
        output *= 2

    samples = [failure(doubled)]
    assert explaining({word: cause_named(word)}, samples, lambda _: {}) == {
        samples[0].vector.case.id: [word]
    }


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("same-lower-as-uper", "no cause 'same-lower-as-uper' (did you mean same-lower-as-upper?)"),
        ("rule:values", "a rule is rule:MANNER:PLACES, or rule:MANNER:PLACES:INSTEAD"),
        ("rule:odd:channel>=2", "no manner 'odd': one of values, outputs"),
        ("rule:values:chanel>=2", "no condition 'chanel>=2'"),
        ("rule:values:channel>=x", "'channel>=x': 'x' is no number"),
        ("rule:values:gradient=2", "'gradient=2': yes or no"),
        ("rule:values:channel>=2:odd", "'odd' is not known to come instead of right values"),
        ("call-counted", "no cause"),
    ],
)
def test_a_word_that_names_nothing_is_refused(word, said):
    """In one line that says what would do."""
    with pytest.raises(ValueError, match="^" + said.replace("(", r"\(").replace("?)", r"\?\)")):
        cause_named(word)


def test_a_sample_of_another_manner_is_not_explained():
    """An exception is none of wrong values."""
    case = vector(DATA, pool(kernel=[2], strides=[2]))
    raised = Sample(case, None, failed=True)
    assert not cause_named("rule:values:channel>=0").explains(raised, planting())
