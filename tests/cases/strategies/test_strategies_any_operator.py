"""Strategies draw cases of operators that nobody has thought of: from roles and traits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.effort import examples, one_in
from support.made_up import MADE_UP, registered
from test_strategies import smallest

from conformance.dtypes import dtype_of
from conformance.errors import InvalidCase
from conformance.operators import OPERATORS, as_called, evaluate, operator_named, vector_of
from conformance.strategies import attributes, cases, invalid_cases


@pytest.fixture(autouse=True, scope="module")
def _known():
    with registered():
        yield


FORWARD = [name for name, operator in OPERATORS.items() if not operator.is_gradient]
GRADIENTS = ("MaxPool-14-backward", "ONNX-LpPool-22-backward")
EVERY = (*FORWARD, *GRADIENTS, *MADE_UP)


# Health checks are on here: a strategy that throws much away or is slow would fail them.
@pytest.mark.parametrize("operator", EVERY)
@given(data=st.data())
def test_cases_are_valid_and_defined(operator, data):
    """Every case has expected values, and data within the limit on elements."""
    case = data.draw(cases(operator))
    dtype = case.inputs[0].dtype.name
    assert vector_of(case).outcomes[0].kind == "values"
    assert case.data.size <= 2048
    assert dtype in operator_named(operator).dtypes
    assert case.id.startswith(f"{operator}/{dtype}/")


@pytest.mark.parametrize("operator", EVERY)
@given(data=st.data())
def test_invalid_cases_break_a_rule(operator, data):
    """Every case is refused, and its tags say why."""
    case = data.draw(invalid_cases(operator))
    with pytest.raises(InvalidCase):
        evaluate(operator, *as_called(case))
    assert case.tags[0] == "invalid"


@pytest.mark.parametrize("operator", [*FORWARD, *MADE_UP])
@given(data=st.data())
@examples(0.3)
def test_attributes_are_valid(operator, data):
    """They fit data of as many axes as asked for, and of a type that may have them."""
    found = operator_named(operator)
    axes = found.axes[1] or 2
    given_ = data.draw(attributes(operator, axes=axes))
    said = [
        each for each in found.attributes if given_.get(each.key, each.elsewhere) != each.elsewhere
    ]
    dtype = next(name for name in found.dtypes if all(each.concerns_type(name) for each in said))
    array = np.zeros((1, 1, *[99] * axes), dtype_of(dtype))
    others = [np.ones(axes, np.int64)] if found.takes_output_size else []
    others += [array.astype(np.int64)] if found.scatters else []
    is_sized = "output_size" in given_ and found.scatters
    if not (found.leaves_no_rest or is_sized):  # which sizes those need, the attributes say
        found.validate([array, *others], given_)


@pytest.mark.parametrize("operator", MADE_UP)
def test_the_plainest_case_is_as_small_as_can_be(operator):
    """One cell, which is zero; what may be left out is, where it has its default."""
    found = MADE_UP[operator]
    case = smallest(cases(operator))
    assert case.inputs[0].shape == (1, 1, *[1] * found.axes[0])
    assert not case.inputs[0].any()
    plain = {"kernel": 1, "strides": 1}
    for attribute in found.attributes:
        if attribute.is_list and attribute.required:
            wanted = [plain.get(attribute.role, 0)] * attribute.length(found.axes[0])
            assert case.attributes[attribute.key] == wanted
        elif not attribute.is_list:
            first = attribute.choices[0] if attribute.required else None
            assert case.attributes.get(attribute.key) == first


@pytest.mark.parametrize(
    ("operator", "condition", "shape", "given_"),
    [
        ("MinimumPool-1", lambda c: max(c.attributes.get("pads", [0])) > 3, (1, 1, 1),
         {"window": [1], "pads": [0, 4]}),
        ("MinimumPool-1", lambda c: c.attributes.get("round_up") == 1, (1, 1, 1),
         {"window": [1], "round_up": 1}),
        ("KernelAlone", lambda c: max(c.attributes["k"]) > 8, (1, 1, 9), {"k": [9]}),
        ("AdaptiveMaximum", lambda c: c.inputs[1].max() > 6, (1, 1, 1), {}),
        pytest.param(
            "WholeAverage", lambda c: max(c.inputs[0].shape[2:]) > 40, (1, 1, 41), {},
            marks=pytest.mark.slow("the other numbers"),
        ),
    ],
    ids=["pads", "rounding", "kernel", "output size", "size"],
)  # fmt: skip
def test_one_thing_asked_for_leaves_the_rest_small(operator, condition, shape, given_):
    """What does not matter shrinks to nothing."""
    case = smallest(cases(operator), condition)
    assert (case.inputs[0].shape, case.attributes) == (shape, given_)


@pytest.mark.parametrize(
    ("operator", "word"),
    one_in(2, [("MinimumPool-1", "mode"), ("AllRequired", "up")]),
)
def test_words_are_broken_in_any_case(operator, word):
    """But never by a word of the document, such as `UP`."""
    case = smallest(
        invalid_cases(operator), lambda c: c.tags[1] == f"{word}: not a value of the document"
    )
    assert case.attributes[word] == "nearest"
