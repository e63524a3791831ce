"""Each rule of the documents, broken alone, is named in the error."""

import numpy as np
import pytest
from support.oracle import oracle
from support.random_cases import pooling

from conformance.errors import InvalidCase, UsageError
from conformance.operators import OPERATORS, Attribute, evaluate
from conformance.operators.attributes import complete

DATA = np.arange(30, dtype=np.float32).reshape(1, 1, 5, 6)
AVERAGE = pooling([2, 3], exclude_pad=True)
VALID = {
    "AvgPool-1": AVERAGE,
    "MaxPool-1": pooling([2, 3]),
    "nGraph-AvgPool": {"window_shape": [2, 3]},
    "AdaptiveAvgPool-8": {},
}
OPTIONAL = {
    "AvgPool-1": {"rounding_type": "floor", "auto_pad": "explicit"},
    "MaxPool-1": {"rounding_type": "floor", "auto_pad": "explicit"},
    "nGraph-AvgPool": {
        "window_movement_strides": [1, 1],
        "padding_below": [0, 0],
        "padding_above": [0, 0],
        "include_padding_in_avg_computation": False,
    },
    "AdaptiveAvgPool-8": {},
}
LISTS = [
    *(
        (operator, key, least)
        for operator in ("AvgPool-1", "MaxPool-1")
        for key, least in [("kernel", 1), ("strides", 1), ("pads_begin", 0), ("pads_end", 0)]
    ),
    ("nGraph-AvgPool", "window_shape", 1),
    ("nGraph-AvgPool", "window_movement_strides", 1),
    ("nGraph-AvgPool", "padding_below", 0),
    ("nGraph-AvgPool", "padding_above", 0),
]
WORDS = [
    *(
        (operator, key, words)
        for operator in ("AvgPool-1", "MaxPool-1")
        for key, words in [
            ("rounding_type", ["ceil", "floor"]),
            ("auto_pad", ["explicit", "same_upper", "same_lower", "valid"]),
        ]
    ),
    ("AvgPool-1", "exclude_pad", ["true", "false"]),
    ("nGraph-AvgPool", "include_padding_in_avg_computation", ["true", "false"]),
]


def inputs_of(operator, data=DATA):
    """Return valid inputs."""
    return [data, np.array([2, 3])] if operator == "AdaptiveAvgPool-8" else [data]


def refusal(operator, attributes, inputs=None):
    """Return the message of the InvalidCase; the oracle has to refuse as well."""
    inputs = inputs or inputs_of(operator)
    with pytest.raises(InvalidCase) as caught:
        evaluate(operator, inputs, attributes)
    with pytest.raises(ValueError, match=r"\w"):
        oracle(operator, inputs, attributes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("operator", VALID)
class TestValid:
    """What is not broken is accepted."""

    def test_the_cases_below_are_valid_but_for_one_thing(self, operator):
        """Nothing else is wrong with them."""
        assert evaluate(operator, inputs_of(operator), VALID[operator]).size

    def test_an_absent_attribute_has_its_default(self, operator):
        """Leaving out an optional attribute is giving its default."""
        given = VALID[operator] | OPTIONAL[operator]
        for key in OPTIONAL[operator]:
            fewer = {name: value for name, value in given.items() if name != key}
            np.testing.assert_array_equal(
                evaluate(operator, inputs_of(operator), fewer),
                evaluate(operator, inputs_of(operator), given),
            )

    def test_a_required_attribute_may_not_be_absent(self, operator):
        """The error says which one is missing and what it may hold."""
        for key in VALID[operator]:
            fewer = {name: value for name, value in VALID[operator].items() if name != key}
            message = refusal(operator, fewer)
            assert message.startswith(f"{key}: required")
            assert OPERATORS[operator].attributes[0].allowed
            assert ">=" in message or "true or false" in message

    def test_an_unknown_attribute_is_refused(self, operator):
        """The error names it and those there are."""
        message = refusal(operator, VALID[operator] | {"dilations": [1, 1]})
        assert "'dilations'" in message
        assert all(key in message for key in VALID[operator])


@pytest.mark.parametrize(("operator", "key", "least"), LISTS)
class TestLists:
    """Lists of one integer per spatial axis."""

    @pytest.mark.parametrize(
        "value", [[2], [2, 2, 2], [], 2, "22", None, [1.0, 1.0], [True, True], [2, None], [[2, 2]]]
    )
    def test_what_is_no_list_of_two_integers_is_refused(self, operator, key, least, value):
        """The error gives attribute, value and what it must be."""
        message = refusal(operator, VALID[operator] | {key: value})
        assert message.startswith(f"{key}={value!r}: must be a list of 2 integers >= {least}")

    def test_numbers_below_the_range_are_refused(self, operator, key, least):
        """One axis too small is enough."""
        for value in ([least - 1, 2], [2, least - 1], [-(2**70), 2]):
            message = refusal(operator, VALID[operator] | {key: value})
            assert f"{key}={value!r}: must be" in message
            assert f">= {least}" in message

    def test_a_tuple_is_a_list(self, operator, key, least):
        """Any sequence of plain integers will do."""
        assert evaluate(operator, [DATA], VALID[operator] | {key: (least, 1)}).size


@pytest.mark.parametrize(("operator", "key", "words"), WORDS)
@pytest.mark.parametrize("value", ["same", "FLOOR", "", "true", 1, None, ["floor"]])
def test_words_are_taken_literally(operator, key, words, value):
    """The error gives attribute, value and every word there is."""
    message = refusal(operator, VALID[operator] | {key: value})
    assert message.startswith(f"{key}={value!r}: must be ")
    assert all(word in message for word in words)


@pytest.mark.parametrize("operator", VALID)
class TestInputs:
    def test_the_number_of_inputs(self, operator):
        """One too many is refused."""
        inputs = [*inputs_of(operator), DATA]
        assert f"{len(inputs)} inputs" in refusal(operator, VALID[operator], inputs)

    def test_types_that_are_no_numbers(self, operator):
        """Complex numbers and strings are refused by name."""
        for dtype in ("complex64", "bool", "U1"):
            data = DATA.astype(dtype)
            with pytest.raises(InvalidCase, match=str(data.dtype).strip("<>")):
                evaluate(operator, inputs_of(operator, data), VALID[operator])


class TestOutputSize:
    """The second input of AdaptiveAvgPool-8."""

    @pytest.mark.parametrize("size", [[2], [2, 2, 2], [[2, 2]], [-1, 2]])
    def test_it_has_one_number_per_axis(self, size):
        """The error gives the size and what it must be."""
        message = refusal("AdaptiveAvgPool-8", {}, [DATA, np.array(size)])
        assert message.startswith(f"output_size={size}: must be a list of 2 integers >= 0")

    @pytest.mark.parametrize("dtype", ["int16", "uint64", "float32"])
    def test_its_type(self, dtype):
        """It is int32 or int64."""
        message = refusal("AdaptiveAvgPool-8", {}, [DATA, np.array([2, 2], dtype)])
        assert message == f"output_size of type {dtype}: must be int32 or int64"


class TestMeanings:
    """What the values of an attribute mean, whatever a document calls them."""

    UP = Attribute("up", "rounding", "A", default="yes", values={"no": "floor", "yes": "ceil"})
    COUNTED = Attribute("count", "include_pad", "A", values={0: False, 1: True})

    def test_the_default_comes_first(self):
        """Of an attribute that is required, the document's first value."""
        assert self.UP.meanings == ("ceil", "floor")
        assert self.COUNTED.meanings == (False, True)
        assert Attribute("k", "kernel", "A").meanings == ()

    @pytest.mark.parametrize(
        ("value", "meaning"), [(1, True), (0, False), (2, 2), ("1", "1"), ([1], [1])]
    )
    def test_a_value_that_is_none_of_them_means_itself(self, value, meaning):
        """As in a case that breaks the rule."""
        assert self.COUNTED.meaning_of(value) == meaning
        assert type(self.COUNTED.meaning_of(value)) is type(meaning)


def test_long_values_are_shortened():
    """A message stays one readable line."""
    message = refusal("MaxPool-1", VALID["MaxPool-1"] | {"kernel": [1] * 500})
    assert len(message) < 200
    assert "..." in message


def test_unknown_names_are_usage_errors():
    """Operators, clauses and readings that do not exist are named with those that do."""
    with pytest.raises(UsageError, match=r"'AvgPool-2'.*AvgPool-1"):
        evaluate("AvgPool-2", [DATA], AVERAGE)
    with pytest.raises(UsageError, match="no disputed clause 'rounding'"):
        evaluate("AvgPool-1", [DATA], AVERAGE, {"rounding": "up"})
    with pytest.raises(UsageError, match=r"'up'.*divided.*same-as-input"):
        evaluate("AvgPool-1", [DATA], AVERAGE, {"same-output-size": "up"})


KERNEL = Attribute("k", "kernel", "Args", default="sizes", least=1)
STRIDE = Attribute("s", "strides", "Args", default="kernel", least=1, one_for_all="in a list")


@pytest.mark.parametrize(
    ("order", "said", "begins", "ends"),
    [
        ("ends", [1, 2, 3, 4], [1, 2], [3, 4]),
        ("axes", [1, 3, 2, 4], [1, 2], [3, 4]),
        ("both", [1, 2], [1, 2], [1, 2]),
    ],
)
def test_one_list_says_pads_in_an_order(order, said, begins, ends):
    pads = Attribute("p", "pads", "Args", default=0, order=order)
    assert pads.by_role(said) == {"pads_begin": begins, "pads_end": ends}
    assert pads.pads(begins, ends) == said
    assert pads.length(2) == len(said)


def test_one_number_for_both_ends_cannot_say_two():
    with pytest.raises(KeyError, match="differ"):
        Attribute("p", "pads", "Args", default=0, order="both").pads([1], [2])


def test_a_default_may_be_that_of_another_field():
    given = complete((KERNEL, STRIDE), {}, (4, 5))
    assert given == {"k": (4, 5), "s": (4, 5)}
    assert complete((KERNEL, STRIDE), {"k": [2, 3], "s": []}, (4, 5))["s"] == (2, 3)


@pytest.mark.parametrize("value", [2, [2], [2, 2]])
def test_one_number_stands_for_all_axes(value):
    assert complete((KERNEL, STRIDE), {"s": value}, (4, 5))["s"] == (2, 2)


@pytest.mark.parametrize("value", [True, 1.5, [1.5], [2, 2, 2], "2", 0])
def test_nothing_else_stands_for_all_axes(value):
    with pytest.raises(InvalidCase, match="s="):
        complete((KERNEL, STRIDE), {"s": value}, (4, 5))
