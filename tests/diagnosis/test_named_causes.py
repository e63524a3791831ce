"""A confirmed cause is one word, which names the same cause again and explains nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from support.fakes import pool, vector

from conformance.cases.perturb import Feature
from conformance.diagnosis.claim import Claim, Planted, Substitute, planted, with_gradients
from conformance.diagnosis.conditions import Condition
from conformance.diagnosis.laboratory import samples_from
from conformance.diagnosis.named_causes import cause_named, explaining, word_of
from conformance.diagnosis.predictions import Predictions
from conformance.diagnosis.sample import Sample
from conformance.diagnosis.substitutes import constant, instead_of
from conformance.faults import Fault, fault_named
from conformance.faults.atoms import by_words
from conformance.faults.concerns import EVERY

DATA = np.arange(1, 25, dtype=np.float32).reshape(1, 4, 6)
RULE = Claim(
    Substitute(instead=constant("zero")),
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
)
RULE_OF_CHANNELS = ((Condition(Feature("channel"), "from", 2.0),),)


def explains(word, sample):
    """Say whether the cause that a word names predicts a failure."""
    return Predictions(lambda _: {}).is_exactly(cause_named(word), sample)


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
    assert cause_named(word).words == RULE.words
    assert cause_named(word).places == RULE.places
    assert not set(word) & set(" #+")


@pytest.mark.parametrize("name", ["same-lower-as-upper", "backward-kernel-clamped-to-3"])
def test_a_fault_goes_by_its_name(name):
    """That of gradients too, in the catalogue or not."""
    assert word_of(planted(fault_named(name))) == name
    (fault,) = cause_named(name).faults
    assert fault.name == name


@pytest.mark.parametrize("name", ["same-lower-as-upper", "every_dilation_taken_as_1"])
def test_a_fault_under_conditions_has_them_in_its_word(name):
    """In one of several conjunctions; where there are more such parts, each of them has to hold."""
    halves = Condition(Feature("dtype"), "is", frozenset({"float16", "bfloat16"}))
    wide = Condition(Feature("kernel", 0), "from", 3.0, over="some")
    claim = Claim(Planted(cause_named(name).faults), ((halves,), (wide,)))
    word = word_of(claim)
    assert word == f"{name}:dtype=bfloat16,float16|kernel.0.some>=3"
    assert cause_named(word) == claim
    both = cause_named(f"{word}:kernel.0.some>=3")
    assert both.places == ((halves, wide), (wide, wide))


def test_a_fault_under_a_condition_explains_nothing_elsewhere():
    """The same fault in every type is another one than that of one type."""

    def doubled(output):
        output *= 2

    sample = failure(doubled)
    assert explains("not-divided:dtype=float32", sample)
    assert not explains("not-divided:dtype=float16", sample)


def test_a_fault_without_a_name_goes_by_its_words():
    """Alone, and together with the same of gradients."""
    fault = by_words()["every dilation taken as 1"]
    for faults in ((fault,), with_gradients((fault,))):
        assert cause_named(word_of(planted(*faults))).faults == faults


def test_what_was_learned_from_numbers_has_no_word():
    """Nothing can be made of its words."""
    learned = Fault("the 7th bit is lost", EVERY, {"reduce": lambda right: right})
    assert word_of(planted(learned)) == ""


def test_a_rule_explains_what_it_predicts_and_nothing_else():
    """Other elements, other values in place of right ones and what is right are not excused."""

    def zero(output):
        output[:, 2:] = 0

    def seven(output):
        output[:, 2:] = 7

    def elsewhere(output):
        output[:, 1:] = 0

    def in_part(output):
        output[:, 2:, 1:] = 0

    word = "rule:values:channel>=2:zero"
    causes = {word: cause_named(word)}
    for change, names in (
        (zero, [word]),
        (seven, []),
        (elsewhere, []),
        (in_part, []),
        (lambda _: None, []),
    ):
        found = explaining(causes, [failure(change)], lambda _: {})
        assert [*found.values()] == [[name] for name in names]


@pytest.mark.parametrize("value", [0.1234567, 1e-7 / 3, 7.0, np.pi, -1e30])
def test_a_constant_is_exact_in_its_word(value):
    """A number cut short would be another one, which explains nothing."""

    def constantly(output):
        output[:, 2:] = value

    sample = failure(constantly)
    (wrong,) = {*sample.outputs[0][:, 2:].ravel().tolist()}
    of_samples = instead_of([sample])
    word = word_of(Claim(Substitute(instead=of_samples), RULE_OF_CHANNELS))
    assert explains(word, sample)
    near = np.nextafter(np.float32(wrong), np.float32(0))
    assert not explains(word, failure(lambda o: o[:, 2:].fill(near)))


@pytest.mark.parametrize("what", [Substitute(), Substitute(instead=constant("zero"), some=True)])
def test_a_rule_that_does_not_say_what_is_returned_has_no_word(what):
    """It would excuse any other values."""
    assert word_of(replace(RULE, what=what)) == ""


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
        ("same-lower-as-upper:dtype", "no condition 'dtype'"),
        ("rule:values", "a rule is rule:MANNER:PLACES, or rule:values:PLACES:INSTEAD"),
        ("rule:odd:channel>=2", "no manner 'odd': one of values, outputs"),
        ("rule:values:", "'rule:values:' does not say what is returned, and would excuse anything"),
        ("rule:values:channel>=1", "'rule:values:channel>=1' does not say what is returned"),
        ("rule:shape:", "'rule:shape:' does not say what is returned"),
        ("rule:exception::zero", "'rule:exception::zero' does not say what is returned"),
        ("rule:values:chanel>=2:zero", "no condition 'chanel>=2'"),
        ("rule:values:channel>=x:zero", "'channel>=x': 'x' is no number"),
        ("rule:values:gradient=2:zero", "'gradient=2': yes or no"),
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
    assert not explains("rule:values:channel>=0:zero", raised)
