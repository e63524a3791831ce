"""Atoms of calls: defaults, what is refused, and what is accepted."""

import numpy as np
import pytest
from support.fakes import pool, ramp

from conformance import InvalidCase, evaluate
from conformance.faults import faulty
from conformance.faults.atoms import by_words
from conformance.faults.wraps import Refused


def answer(words, operator, inputs, attributes):
    return faulty(by_words()[words])(operator, inputs, attributes)


def torch(kernel_size, shape=(1, 1, 4, 4)):
    return "PyTorch-max_pool2d", [ramp(*shape)], {"kernel_size": kernel_size}


@pytest.mark.parametrize(
    ("words", "refused", "taken"),
    [
        ("strides are above the kernel", pool(strides=[3]), pool(strides=[2])),
        ("the kernel is 1 on every axis", pool(kernel=[1]), pool(kernel=[2])),
        (
            "padding counts, and there is padding",
            pool(pads_begin=[1], exclude_pad=False),
            pool(pads_begin=[1]),
        ),
    ],
)
def test_a_call_is_refused_where_something_holds(words, refused, taken):
    """All others are right."""
    data = [ramp(1, 1, 6)]
    with pytest.raises(Refused):
        answer(f"a call refused where {words}", "AvgPool-1", data, refused)
    got = answer(f"a call refused where {words}", "AvgPool-1", data, taken)
    assert np.array_equal(got, evaluate("AvgPool-1", data, taken))


def test_a_call_is_refused_whose_dilated_kernel_is_larger_than_the_input():
    """Two cells that lie three apart take four, of three and a pad; two neighbours do not."""
    words, data = (
        "a call refused where the dilated kernel is larger than the input",
        [ramp(1, 1, 3)],
    )
    given = pool("MaxPool-8", kernel=[2], pads_begin=[1])
    with pytest.raises(Refused):
        answer(words, "MaxPool-8", data, given | {"dilations": [3]})
    values, _ = answer(words, "MaxPool-8", data, given | {"dilations": [1]})
    assert values.ravel().tolist() == [1, 3]


def test_a_call_is_refused_as_it_is_spelled():
    """One number, or a list of one, stands for all axes in PyTorch."""
    words = "a call refused where a kernel size is a list of one number"
    with pytest.raises(Refused):
        answer(words, *torch([2]))
    for size in ([2, 2], 2):
        values, indices = answer(words, *torch(size))
        assert values[0, 0].tolist() == [[6, 8], [14, 16]]
        assert indices[0, 0].tolist() == [[5, 7], [13, 15]]
    words = "a call refused where a kernel size is one number for all axes"
    with pytest.raises(Refused):
        answer(words, *torch(2))
    assert answer(words, *torch([2]))[0].shape == (1, 1, 2, 2)


@pytest.mark.parametrize(
    ("words", "wrong", "meant"),
    [
        ("a negative stride", pool(strides=[-2]), pool(strides=[2])),
        ("a stride of 0", pool(strides=[0]), pool(strides=[1])),
        ("a negative begin pad", pool(pads_begin=[-1]), pool(pads_begin=[0])),
        (
            "a list of more or fewer kernel sizes than spatial axes",
            pool(kernel=[2, 3]),
            pool(kernel=[2]),
        ),
        ("an unknown rounding", pool(rounding_type="up"), pool(rounding_type="floor")),
        ("an empty padding mode", pool(auto_pad=""), pool(auto_pad="explicit")),
        ("a word in other capitals", pool(rounding_type="CEIL"), pool(rounding_type="ceil")),
    ],
)
def test_what_is_invalid_is_accepted_as_something_else(words, wrong, meant):
    """As another call, which the document has; a right backend raises InvalidCase."""
    data = [ramp(1, 1, 6)]
    with pytest.raises(InvalidCase):
        evaluate("AvgPool-1", data, wrong)
    got = answer(f"{words} accepted", "AvgPool-1", data, wrong)
    assert np.array_equal(got, evaluate("AvgPool-1", data, meant))


def test_an_attribute_that_is_left_out_has_another_default():
    """Where it is given, it is as it should be."""
    data = [ramp(1, 1, 6)]
    words = "the rounding left out, taken as ceil"
    attributes = pool(kernel=[3], strides=[2])
    left_out = {key: value for key, value in attributes.items() if key != "rounding_type"}
    ceil = evaluate("AvgPool-1", data, attributes | {"rounding_type": "ceil"})
    assert np.array_equal(answer(words, "AvgPool-1", data, left_out), ceil)
    floor = attributes | {"rounding_type": "floor"}
    got = answer(words, "AvgPool-1", data, floor)
    assert np.array_equal(got, evaluate("AvgPool-1", data, floor))


def test_a_rule_of_a_document_is_not_enforced():
    """Of PyTorch, the one of padding."""
    words = "a call accepted that breaks the rule that padding is at most half of the kernel"
    operator, data, attributes = torch([2, 2])
    attributes |= {"padding": [1, 2]}
    with pytest.raises(InvalidCase):
        evaluate(operator, data, attributes)
    assert answer(words, operator, data, attributes)[0].ndim == 4
