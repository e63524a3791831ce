"""Messages say the same on both sides, and a stranger's are checked before they are believed."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracle import FORMATS
from support.random_cases import noise

from conformance.backends.answer import (
    ARRAY,
    NO_ARRAY,
    RAISED,
    SMALL,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.backends.program import protocol
from conformance.backends.program.protocol import TOO_MANY, ProtocolError, Welcome
from conformance.backends.variations import AGAIN
from conformance.dtypes import dtype_of
from conformance.errors import UsageError
from conformance.record.why import NotArrays, Raised

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
scalars = st.integers() | st.booleans() | st.text() | st.floats(allow_nan=False, width=64)
attributes = st.dictionaries(st.text(), scalars | st.lists(scalars, max_size=3), max_size=5)
arrays = st.builds(
    noise,
    st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple),
    st.sampled_from(tuple(FORMATS)),
    st.integers(0, 2**32),
)


def split(message):
    """Return the line of a message and its bytes."""
    line, _, data = message.partition(b"\n")
    return line, data


def answer_line(**changes):
    """Return the line of a right answer to call 3, changed."""
    message = {"call": 3, "output": {"dtype": "float32", "shape": [1, 3, 2]}} | changes
    return json.dumps({key: value for key, value in message.items() if value is not None}).encode()


def returned(array):
    """Return an array as one output of an answer."""
    return Returned(array.dtype.name, array.shape, array.tobytes())


class TestHandshake:
    """Both sides say who they are."""

    @pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'"pooling-conformance"', b"GET / HTTP"])
    def test_no_harness(self, line):
        """Anything else is no harness."""
        with pytest.raises(ProtocolError, match=r"^not a harness that speaks pooling-conformance"):
            protocol.read_hello(line)

    @given(st.text(min_size=1).map(str.strip), st.booleans())
    def test_welcome(self, name, limited):
        """The harness reads what a program wrote."""
        supports = {"AvgPool-1": ["float32", "float16"], "MaxPool-1": ["*"]}
        line, _ = split(protocol.write_welcome(name, supports, limited=limited))
        found = protocol.read_welcome(line)
        sets = {operator: frozenset(names) for operator, names in supports.items()}
        assert (found.supports, found.limited) == (sets, limited)
        if name.isprintable() and name.isascii() and "  " not in name:
            assert found.name == name[:300]

    @pytest.mark.parametrize(
        ("supports", "operator", "dtype", "expected"),
        [
            (None, "AvgPool-1", "float32", True),
            ({}, "AvgPool-1", "float32", False),
            ({"AvgPool-1": []}, "AvgPool-1", "float32", False),
            ({"AvgPool-1": ["float32"]}, "AvgPool-1", "float32", True),
            ({"AvgPool-1": ["float32"]}, "AvgPool-1", "float16", False),
            ({"AvgPool-1": ["float32"]}, "MaxPool-1", "float32", False),
            ({"AvgPool-1": ["*"]}, "AvgPool-1", "bfloat16", True),
        ],
    )
    def test_offers(self, supports, operator, dtype, expected):
        """A program is asked for what it lists; without a list, for everything."""
        line, _ = split(protocol.write_welcome("x", supports))
        assert protocol.read_welcome(line).offers(operator, dtype) is expected

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"", "the first line must be .*, not ''"),
            (
                b"Welcome to \x1b[31mengine",
                r"the first line must be .*, not 'Welcome to .*x1b\[31m",
            ),
            (b"[1]", "the first line must be"),
            (b'{"name": "x"}', "the first line must be"),
            (b'{"version": true, "name": "x"}', "the first line must be"),
            (b'{"version": "1", "name": "x"}', "the first line must be"),
            (b'{"version": 1, "version": 1, "name": "x"}', "the first line must be"),
            (b'{"version": 1, "name": "x", "y": NaN}', "the first line must be"),
            (b"[" * 100_000, "the first line must be"),
            (b'{"version": 2, "name": "x"}', "version 2 of the protocol; this is 1"),
            (b'{"version": 1}', 'the first line has no "name", a string'),
            (b'{"version": 1, "name": 3}', 'the first line has no "name", a string'),
            (b'{"version": 1, "name": "x", "supports": []}', '"supports" must be an object'),
            (
                b'{"version": 1, "name": "x", "supports": {"a": "b"}}',
                '"supports" must be an object',
            ),
            (
                b'{"version": 1, "name": "x", "supports": {"a": [3]}}',
                '"supports" must be an object',
            ),
        ],
    )
    def test_no_welcome(self, line, message):
        """What is no welcome is said in one line."""
        with pytest.raises(ProtocolError, match=rf"^{message}") as caught:
            protocol.read_welcome(line)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300


class TestCall:
    """What the harness asks reaches the program unchanged."""

    @given(
        st.integers(0),
        st.text(),
        attributes,
        st.lists(arrays, max_size=3),
        st.none() | st.integers(0),
    )
    def test_round_trip(self, number, operator, given_attributes, inputs, limit):
        """Number, operator, attributes and inputs are read as they were written."""
        message = protocol.write_call(number, operator, inputs, given_attributes, limit)
        line, data = split(message)
        call = protocol.read_call(line)
        assert call[:3] == (number, operator, given_attributes)
        assert (call.limit, call.size) == (SMALL if limit is None else limit, len(data))
        found = call.arrays(data)
        for one, other in zip(found, inputs, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.tobytes() == other.tobytes()

    @pytest.mark.parametrize("dtype", [*FORMATS, *INTEGERS])
    def test_inputs_are_like_any_array(self, dtype):
        """A plain call has aligned, writable arrays in C order that own their memory."""
        inputs = [np.arange(3).astype(np.int8), np.arange(6).reshape(2, 3).astype(dtype_of(dtype))]
        line, data = split(protocol.write_call(0, "x", inputs, {}))
        seen = []
        AGAIN.perform(seen.extend, protocol.read_call(line).arrays(data))
        for array in seen:
            flags = array.flags
            assert (flags.aligned, flags.writeable, flags.c_contiguous, flags.owndata) == (
                True,
            ) * 4

    @pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j])
    def test_attributes_that_cannot_be_written(self, value):
        """What JSON does not have is refused."""
        with pytest.raises(UsageError, match=r"^attributes cannot be sent to another process: "):
            protocol.write_call(0, "x", [], {"kernel": value})

    @pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"call": 0}', b"\xff"])
    def test_no_call(self, line):
        """What is no call is said."""
        with pytest.raises(ProtocolError, match=r"^not a call: "):
            protocol.read_call(line)


class TestAnswer:
    """What a program answers is believed as far as it makes sense."""

    @given(st.integers(0), arrays)
    def test_output(self, number, array):
        """An output is read as it was written."""
        given_answer = Answer(ARRAY, (returned(array),))
        line, data = split(protocol.write_answer(number, given_answer))
        answer, size = protocol.read_answer(line, number, array.size)
        assert size == len(data) == array.nbytes
        assert protocol.filled(answer, data) == given_answer

    def test_the_limit_is_that_of_all_outputs(self):
        """Two outputs that are small enough alone may be too many together."""
        line = answer_line(output=None, outputs=[{"dtype": "int8", "shape": [50]}] * 2)
        without = Answer(ARRAY, (Returned("int8", (50,)),) * 2)
        assert protocol.read_answer(line, 3, 99) == (without, TOO_MANY)
        assert protocol.read_answer(line, 3, 100)[1] == 100

    def test_a_list_of_one_output_is_that_output(self):
        """It may be announced either way."""
        one = {"dtype": "int8", "shape": [2]}
        lines = answer_line(output=None, outputs=[one]), answer_line(output=one)
        assert len({protocol.read_answer(line, 3, 80) for line in lines}) == 1

    @pytest.mark.parametrize(
        ("kind", "why"),
        [
            (RAISED, Raised("ValueError", "kernel must be positive")),
            (UNSUPPORTED, Raised(text="no kernel for it")),
            (NO_ARRAY, NotArrays("list")),
        ],
    )
    def test_no_output(self, kind, why):
        """A fact is read as it was written."""
        answer = Answer(kind, why=why)
        line, data = split(protocol.write_answer(5, answer))
        assert (protocol.read_answer(line, 5, 0), data) == ((answer, 0), b"")

    @pytest.mark.parametrize(("dtype", "shape"), [("float32", (9, 9)), ("complex64", (2,))])
    def test_no_data(self, dtype, shape):
        """An output too large, or of another element type, comes without its elements."""
        answer = Answer(ARRAY, (Returned(dtype, shape),))
        line, data = split(protocol.write_answer(5, answer))
        assert (protocol.read_answer(line, 5, 80), data) == ((answer, 0), b"")

    def test_a_text_is_made_printable_and_short(self):
        """A program's text is one printable line."""
        line = answer_line(output=None, error="one\ntwo\x1b[31m" + "x" * 10_000)
        answer, _ = protocol.read_answer(line, 3, 80)
        assert answer.why.text.isprintable()
        assert answer.why.text.startswith(r"one two\x1b[31mxxx")
        assert len(answer.why.text) == 500

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"", "not an answer but ''"),
            (b"hello", r"not an answer but 'hello' \(print to stderr\)"),
            (b"\xff\xfe", "not an answer but "),
            (b'"call"', "not an answer but "),
            (b'{"call": 3, "error": "a", "x": Infinity}', "not an answer but "),
            (b'{"call": 3, "error": "a", "error": "b"}', "not an answer but "),
            (b'{"call": 3, "call": 3, "error": "a"}', "not an answer but "),
            (b'{"call": 3, ' + b'"x": [' * 50_000, "not an answer but "),
            (b'{"call": ' + b"9" * 5000 + b"}", "not an answer but "),
            (answer_line(call=4), "\"call\" is '4' instead of 3"),
            (answer_line(call="3"), "\"call\" is '3' instead of 3"),
            (answer_line(call=3.0), "\"call\" is '3.0' instead of 3"),
            (answer_line(call=None), "\"call\" is 'None' instead of 3"),
            (answer_line(output=None), 'one of "output", "error", "unsupported" must be'),
            (answer_line(error="both"), 'one of "output", "error", "unsupported" must be'),
            (answer_line(output=None, error=3), '"error" must be a string'),
            (answer_line(output=[]), '"output" must have "dtype", a string, and "shape"'),
            (answer_line(output={"shape": [2]}), '"output" must have "dtype"'),
            (answer_line(output={"dtype": 3, "shape": [2]}), '"output" must have "dtype"'),
            *(
                (answer_line(output={"dtype": "int8", "shape": shape}), "an output of shape ")
                for shape in (None, "2", 2, [-1], [1.0], [True], ["1"], [2**63], [[1]], [1] * 65)
            ),
            (answer_line(output={"dtype": "f32", "shape": [2]}), "bytes of an element type 'f32'"),
            (answer_line(data=False), '"data" is false for an output of 6 float32'),
            *(
                (answer_line(output=None, outputs=outputs), '"outputs" must be a list of 1 to 16')
                for outputs in (3, {}, [], [{"dtype": "int8", "shape": [2]}] * 17)
            ),
            (answer_line(output=None, outputs=[[]]), '"output" must have "dtype"'),
            (answer_line(outputs=[{"dtype": "int8", "shape": [2]}]), 'one of "output"'),
            (
                answer_line(
                    output=None,
                    outputs=[
                        {"dtype": "int8", "shape": [2]},
                        {"dtype": "int8", "shape": [3], "data": False},
                    ],
                ),
                '"data" is false for an output of 3 int8',
            ),
        ],
    )
    def test_no_answer(self, line, message):
        """What is no answer to this call is said in one line."""
        with pytest.raises(ProtocolError, match=rf"^{message}") as caught:
            protocol.read_answer(line, 3, 80)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 300

    @given(st.binary(max_size=3), st.integers(0, 70))
    def test_any_spelling(self, noise_bytes, place):
        """The quick way to read an answer believes what JSON does, and nothing else."""
        line = bytearray(answer_line())
        line[place : place + len(noise_bytes)] = noise_bytes
        try:
            found = json.loads(bytes(line))
            output = found["output"]
            expected = (found["call"], output["dtype"], tuple(output["shape"]))
        except (ValueError, LookupError, TypeError):
            expected = None
        try:
            answer, size = protocol.read_answer(bytes(line), 3, 1000)
        except ProtocolError:
            return
        (output,) = answer.outputs
        assert (3, output.dtype, output.shape) == expected
        assert size == TOO_MANY or size > 0 or 0 in output.shape


def test_welcome_is_what_it_seems():
    """A welcome without a list asks for everything, and for no limit; its name is its engine."""
    welcome = protocol.read_welcome(b'{"version": 1, "name": "x"}')
    assert welcome == Welcome("x", None, False, engine="x")
