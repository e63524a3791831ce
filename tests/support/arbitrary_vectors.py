"""Hypothesis strategies of vectors that need no meaning, and their comparison bit by bit."""

from dataclasses import fields, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.vector import Anything, Arithmetic, Case, Expected, Outcome, Raises, Values, Vector

OPERATOR = "AvgPool-1"

_texts = st.text(max_size=12)
_words = st.text("abcxyz-0189", min_size=1, max_size=8)
_scalars = st.one_of(
    st.integers(-(2**70), 2**70),
    st.booleans(),
    _texts,
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
)
_ids = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@st.composite
def arrays(draw, dtypes=FLOATS + INTEGERS):
    """Draw an array of any bits, any known type and a small shape, maybe empty."""
    dtype = dtype_of(draw(st.sampled_from(dtypes)))
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=8, min_side=0, max_side=3))
    size = int(np.prod(shape)) * dtype.itemsize
    bits = draw(st.binary(min_size=size, max_size=size)) if size < 64 else bytes(range(64)) * size
    return np.frombuffer(bits[:size], np.uint8).view(dtype).reshape(shape)


@st.composite
def _values(draw):
    values = draw(arrays())
    size = values.size
    integers = st.integers(-1, 2**31 - 1)
    divisors = st.integers(0, 2**31 - 1)
    magnitudes = st.floats(0.0, allow_infinity=False)
    return Expected(
        values,
        np.resize(np.array(draw(st.lists(integers, min_size=1)), np.int32), size),
        np.resize(np.array([draw(divisors), 9], np.int32), size),
        np.resize(np.array([draw(magnitudes), 0.5]), size),
    )


@st.composite
def _outcomes(draw):
    """Draw outcomes of which some share their expected array."""
    pool = draw(st.lists(_values(), min_size=1, max_size=2))
    kinds = st.sampled_from([Values, Values, Raises, Anything])
    combinations = st.dictionaries(_words, _texts, max_size=2)
    readings = st.lists(combinations, min_size=1, max_size=2).map(tuple)
    return tuple(
        Values(
            (draw(st.sampled_from(pool)),),
            draw(readings),
            Arithmetic(draw(st.integers(0, 7))),
        )
        if kind is Values
        else kind(draw(readings))
        for kind in draw(st.lists(kinds, min_size=1, max_size=4))
    )


@st.composite
def vectors(draw):
    return Vector(
        case=Case(
            id=draw(_ids),
            operator=OPERATOR,
            attributes=draw(
                st.dictionaries(_words, _scalars | st.lists(_scalars, max_size=3), max_size=3)
            ),
            inputs=tuple(draw(st.lists(arrays(), min_size=1, max_size=2))),
            tier=draw(st.sampled_from(["smoke", "standard", "exhaustive"])),
            pattern=draw(_texts),
            source=draw(_texts),
            provenance=draw(st.sampled_from(["printed", "derived", "computed"])),
            tags=tuple(draw(st.lists(_texts, max_size=2))),
        ),
        outcomes=draw(_outcomes()),
        clauses=draw(st.dictionaries(_words, st.lists(_texts, max_size=2).map(tuple), max_size=2)),
    )


def vector_lists(max_size=4):
    """Draw vectors with different ids."""
    return st.lists(vectors(), max_size=max_size, unique_by=lambda vector: vector.case.id)


def small_vectors(count=3):
    """Return a few plain vectors that use every table of a file."""
    found = []
    for number in range(count):
        values = np.arange(number, number + 6, dtype=np.float32).reshape(1, 1, 2, 3)
        expected = values[..., :2] + np.float32(0.5)
        own = Expected(
            expected,
            np.array([2, 2, 2, -1], np.int32),
            np.full(4, 2, np.int32),
            np.abs(expected).ravel().astype(np.float64),
        )
        readings = {"ceil-window": ("kept", "dropped")}
        found.append(
            Vector(
                case=Case(
                    id=f"AvgPool-1/case/{number:03d}",
                    operator=OPERATOR,
                    attributes={"kernel": [1, 2], "strides": [1, number + 1], "exclude_pad": True},
                    inputs=(values, np.array([2, 2], np.int64)),
                    pattern="ramp",
                    source="AvgPool-1, section Examples",
                    tags=("ceil",),
                ),
                outcomes=(
                    Values((own,), ({"ceil-window": "kept"},)),
                    Raises(({"ceil-window": "dropped"},)),
                ),
                clauses=readings,
            )
        )
    return found


def plain(value):
    """Return vectors, cases, outcomes and arrays as nested tuples that compare bit by bit."""
    if isinstance(value, np.ndarray):
        return (value.dtype.name, value.shape, value.tobytes())
    if isinstance(value, Vector | Case | Outcome | Expected):
        names = (field.name for field in fields(value))
        members = tuple((name, plain(getattr(value, name))) for name in names)
        return type(value).__name__, members
    if isinstance(value, list | tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {name: (type(item), plain(item)) for name, item in value.items()}
    return value


def with_first(outcome, **changes):
    """Return an outcome that expects something else of the first output."""
    return replace(outcome, outputs=(replace(outcome.outputs[0], **changes), *outcome.outputs[1:]))


def renamed(vector, vector_id):
    """Return a vector with another id."""
    return replace(vector, case=replace(vector.case, id=vector_id))
