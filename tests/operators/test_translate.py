"""Attributes in common terms: what adapters hand to engines, and the plainest way to ask."""

import numpy as np
import pytest
from hypothesis import given
from support.drawn_params import hard_cases
from support.random_cases import EVERY

from conformance.errors import Unsupported
from conformance.operators import AVERAGE, OPERATORS, Attribute, Operator, sliding

NGRAPH = OPERATORS["nGraph-AvgPool"]
AVG_POOL = OPERATORS["AvgPool-1"]
REQUIRED_WORDS = Operator(
    "RequiredWords-1",
    "a document without pads, in which words have no default",
    AVERAGE,
    (
        Attribute("up", "rounding", "s", values={1: "ceil", 0: "floor"}),
        Attribute("window", "kernel", "s", least=1),
    ),
    sliding(AVERAGE),
)


@given(hard_cases())
def test_valid_attributes_are_translated_as_they_are_validated(case):
    """Both ways from a document to common terms are one."""
    operator, inputs, attributes = case
    asked = OPERATORS[operator]
    if not asked.is_adaptive:
        translated = asked.translate(inputs[0].shape[2:], attributes)
        assert translated == asked.validate(inputs, attributes)


def test_numbers_that_no_document_allows_are_handed_on():
    """Refusing them is the engine's task."""
    given = {"window_shape": [0, 2, 2.5], "padding_below": [-1]}
    params = NGRAPH.translate((4, 4), given)
    assert (params.kernel, params.pads_begin, params.strides) == ((0, 2, 2.5), (-1,), (1, 1))


@pytest.mark.parametrize(
    ("key", "value", "role"), [("auto_pad", "same", "auto_pad"), ("exclude_pad", 1, "include_pad")]
)
def test_a_value_without_a_meaning_stays_as_it_is(key, value, role):
    """An engine may have such a word itself; true is not 1."""
    params = AVG_POOL.translate((4, 4), AVG_POOL.tiled((2, 2)) | {key: value})
    assert getattr(params, role) == value
    assert not isinstance(getattr(params, role), bool)


def test_a_number_in_place_of_a_list_is_refused():
    """There is no telling which axis it is for."""
    with pytest.raises(TypeError):
        AVG_POOL.translate((4, 4), AVG_POOL.tiled((2, 2)) | {"kernel": 2})


@pytest.mark.parametrize("key", ["kernel", "exclude_pad"])
def test_a_required_attribute_that_is_missing_is_unsupported(key):
    """Whether it is a list or a word: there is nothing that an engine could be told."""
    given = AVG_POOL.tiled((2, 2))
    del given[key]
    with pytest.raises(Unsupported, match=f"{key}: required"):
        AVG_POOL.translate((4, 4), given)


def test_pads_in_one_list_are_begins_and_then_ends(minimum_pool):
    """And a rounding in numbers is a word."""
    given = {"window": [2, 3], "pads": [1, 2, 3, 4], "round_up": 1}
    params = minimum_pool.translate((8, 8), given)
    assert (params.pads_begin, params.pads_end, params.rounding) == ((1, 2), (3, 4), "ceil")


class TestTiled:
    """The fewest attributes that ask for windows side by side."""

    def test_what_has_a_default_is_left_out(self):
        """As paddings of nGraph have, and those of OpenVINO have not."""
        assert NGRAPH.tiled((2, 3)) == {
            "window_shape": [2, 3],
            "window_movement_strides": [2, 3],
        }
        assert AVG_POOL.tiled((1,)) == {
            "kernel": [1],
            "strides": [1],
            "pads_begin": [0],
            "pads_end": [0],
            "exclude_pad": True,
        }
        assert OPERATORS["AdaptiveAvgPool-8"].tiled((2, 2)) == {}

    def test_a_word_without_a_default_is_its_first_choice(self):
        """With nothing padded and nothing left over all choices come to the same."""
        assert REQUIRED_WORDS.tiled((2,)) == {"window": [2], "up": 1}

    @pytest.mark.parametrize(
        ("name", "axes"),
        [(name, axes) for name in EVERY for axes in (1, 2, 3) if OPERATORS[name].takes_axes(axes)],
    )
    def test_it_is_valid(self, name, axes):
        """Of every operator, over every number of axes; one that pools planes has one window."""
        asked = OPERATORS[name]
        sizes = [np.full(axes, 2)] if asked.takes_output_size else []
        params = asked.validate(
            [np.ones((1, 1, *[4] * axes), np.float32), *sizes],
            asked.tiled((2,) * axes, (2,) * axes),
        )
        windows = 2 if asked.has_windows or asked.is_adaptive else 1
        assert asked.pipeline.plan(params).extent == (windows,) * axes
