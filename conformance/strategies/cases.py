"""Cases of each operator: valid ones, and ones with a rule of the document broken."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from conformance.dtypes import FLOATS
from conformance.errors import UsageError
from conformance.operators import OPERATORS, operator_named
from conformance.operators.operator import Operator
from conformance.strategies import breaking
from conformance.strategies.data import WHOLE, Filler, fillers, known_dtype, mix_of, shown
from conformance.strategies.geometry import (
    Axis,
    Stretch,
    axes_of,
    axes_within,
    listed,
    pairs_of,
    pairs_within,
    planes,
    planes_within,
    sizes_of,
    stretches,
)
from conformance.sweep.model import case_of
from conformance.vector import Array, Case

MAX_ELEMENTS = 2048
_MOST_AXES = 5  # where a document sets no limit
_AUTO_PADS = ("explicit", "same_upper", "same_lower", "valid")
_PLAIN = ("float32", "float64", "float16", "bfloat16")
_NGRAPH = {
    "kernel": "window_shape",
    "strides": "window_movement_strides",
    "pads_begin": "padding_below",
    "pads_end": "padding_above",
}

Dtypes = Sequence[str] | None
Axes = int | Sequence[int] | None


def cases(
    operator: str | None = None,
    *,
    dtypes: Dtypes = None,
    axes: Axes = None,
    mixes: Sequence[str] | None = None,
    max_elements: int = MAX_ELEMENTS,
) -> st.SearchStrategy[Case]:
    """Return a strategy for valid cases of one operator, or of any.

    `dtypes` are element types of the data, by default those with defined results; `axes` is a
    number of spatial axes or the fewest and the most; `mixes` names what data hold (`MIXES`).
    Input planes and padding together have at most `max_elements` cells, unless a single kernel of
    5 axes needs more. A drawn case has an id of its own, derived from all it holds. Raises
    UsageError for arguments that the operator does not know.

        @given(cases("MaxPool-1", dtypes=["float32", "int8"], mixes=["integers"]))
        def test_my_maximum(case):
            expected = evaluate(case.operator, case.inputs, case.attributes)
            assert np.array_equal(my_maximum(case.inputs[0], **case.attributes), expected)
    """
    if max_elements < 1:
        raise UsageError(f"max_elements={max_elements}: must be 1 or more")
    if operator is None:
        return st.one_of(
            [
                cases(name, dtypes=dtypes, axes=axes, mixes=mixes, max_elements=max_elements)
                for name in OPERATORS
            ]
        )
    found = operator_named(operator)
    names = _dtypes(found, dtypes)
    limits = _axes(found, axes)
    # Types that hold fewer mixes come with their own.
    floats, others = ([n for n in names if (n in FLOATS) is kind] for kind in (True, False))
    groups = [floats, floats, others]
    wanted = [(group, _held(mixes, group)) for group in groups if group]
    # Of types that nobody asked for, those that hold no such mix are left out.
    held = [each for each in wanted if each[1] != []] if dtypes is None else []
    return st.one_of(
        [
            _cases(found, group, limits, mix_of(group, known or mixes), max_elements)
            for group, known in held or wanted
        ]
    )


def attributes(operator: str, axes: Axes = None) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for valid attributes of an operator.

    `axes` is as in `cases`. Attributes that a document gives a default are left out where
    they have it, or written out. A kernel may be larger than the padded data you use them with.
    Raises UsageError for an unknown operator or number of axes.

        @given(attributes("AvgPool-1", axes=2))
        def test_my_parser(given): assert parse(serialise(given)) == given
    """
    found = operator_named(operator)
    limits = _axes(found, axes)
    if len(found.input_names) > 1:
        return st.just({})
    asked = _windows(found, limits, MAX_ELEMENTS, _AUTO_PADS)
    return shown(asked.map(lambda asked: asked.attributes))


def invalid_cases(operator: str, *, axes: Axes = None) -> st.SearchStrategy[Case]:
    """Return a strategy for cases that break one rule of a document: an exception is right.

    Raises UsageError for an unknown operator or number of axes.

        @given(invalid_cases("AvgPool-1"))
        def test_what_is_invalid_is_refused(case):
            with pytest.raises(ValueError):
                my_pool(case.inputs[0], **case.attributes)
    """
    found = operator_named(operator)
    return shown(_invalid(found, _axes(found, axes)))


# Every draw is independent of the others, so that strategies are made once and not per example.


def _cases(
    operator: Operator,
    dtypes: Sequence[str],
    limits: tuple[int, int],
    mixes: st.SearchStrategy[str],
    room: int,
    auto_pads: Sequence[str] = _AUTO_PADS,
) -> st.SearchStrategy[Case]:
    adaptive = len(operator.input_names) > 1
    asked = _sizes(limits, room) if adaptive else _windows(operator, limits, room, auto_pads)
    drawn = st.tuples(st.sampled_from(dtypes), asked, planes(), mixes, fillers())

    def case(drawn: tuple[str, _Asked, tuple[int, int], str, Filler]) -> Case:
        dtype, asked, counts, mix, fill = drawn
        counts = planes_within(counts, asked.stretch, room // max(1, asked.cells))
        data = fill(mix, dtype, (*counts, *asked.sizes))
        return case_of(operator.name, asked.attributes, (data, *asked.rest), pattern=mix)

    return shown(drawn.map(case))


class _Asked(NamedTuple):
    """All of a case but its planes and data; `cells` are those of input, padding or output."""

    attributes: dict[str, Any]
    sizes: list[int]
    cells: int
    stretch: Stretch
    rest: tuple[Array, ...] = ()


def _room_of_plane(room: int, stretch: Stretch) -> int:
    return room // max(1, stretch.of("batch", "channels"))


def _sizes(limits: tuple[int, int], room: int) -> st.SearchStrategy[_Asked]:
    def asked(drawn: tuple[list[tuple[int, int]], str, Stretch]) -> _Asked:
        pairs, size_type, stretch = drawn
        pairs = pairs_within(pairs, stretch, _room_of_plane(room, stretch))
        sizes, outputs = [d for d, _ in pairs], [o for _, o in pairs]
        cells = max(prod(sizes), prod(outputs))
        return _Asked({}, sizes, cells, stretch, (np.array(outputs, size_type),))

    types, long = st.sampled_from(("int64", "int32")), stretches(("size", "output", "both"), room)
    return st.tuples(pairs_of(*limits), types, long).map(asked)


def _windows(
    operator: Operator, limits: tuple[int, int], room: int, auto_pads: Sequence[str]
) -> st.SearchStrategy[_Asked]:
    declared = {attribute.key: attribute for attribute in operator.attributes}
    options = {
        "auto_pad": tuple(auto_pads),
        "rounding_type": ("floor", "ceil"),
        "exclude_pad": (True, False),
        "include_padding_in_avg_computation": (False, True),
    }
    chosen = st.fixed_dictionaries(
        {key: st.sampled_from(values) for key, values in options.items() if key in declared}
    )
    optional = [attribute.key for attribute in operator.attributes if not attribute.required]
    # Drawn even where an attribute has not its default: a value that shrinks to the default must
    # not make the draws more.
    spelled = st.fixed_dictionaries({key: st.booleans() for key in optional})

    def asked(drawn: tuple[dict[str, Any], list[Axis], dict[str, bool], Stretch]) -> _Asked:
        chosen, axes, spelled, stretch = drawn
        room_of_plane = _room_of_plane(room, stretch)
        axes = axes_within(axes, stretch, room_of_plane)
        lists = listed(axes)
        if "window_shape" in declared:
            lists = {_NGRAPH[key]: value for key, value in lists.items()}
        given = {**lists, **chosen}
        for key in optional:
            default = declared[key].default_for(len(axes))
            default = list(default) if isinstance(default, tuple) else default
            if given[key] == default and not spelled[key]:
                del given[key]
        sizes = sizes_of(axes, chosen.get("auto_pad", "explicit"), room_of_plane)
        padded = prod(d + a.begin + a.end for d, a in zip(sizes, axes, strict=True))
        return _Asked(given, sizes, padded, stretch)

    long = stretches(("size", "kernel"), room)
    return st.tuples(chosen, axes_of(*limits), spelled, long).map(asked)


def _invalid(operator: Operator, limits: tuple[int, int]) -> st.SearchStrategy[Case]:
    # Pads that an auto_pad replaces anyway may go unseen.
    valid = _cases(operator, ("float32",), limits, st.just("integers"), 64, _AUTO_PADS[:1])

    def broken(drawn: tuple[Case, breaking.Way]) -> st.SearchStrategy[Case]:
        case, way = drawn
        return way(case).map(
            lambda made: case_of(
                operator.name, made[0], made[1], pattern="invalid", tags=("invalid", made[2])
            )
        )

    return st.tuples(valid, st.sampled_from(breaking.ways(operator))).flatmap(broken)


def _held(mixes: Sequence[str] | None, group: Sequence[str]) -> Sequence[str] | None:
    """Return the mixes asked for that a group of types may know; None if all are."""
    if mixes is None or all(name in FLOATS for name in group):
        return mixes
    return [mix for mix in mixes if mix in WHOLE]


def _dtypes(operator: Operator, asked: Dtypes) -> list[str]:
    defined = [*_PLAIN, *(name for name in operator.dtypes if name not in FLOATS)]
    if asked is None:
        return defined if not operator.reduction.sums else list(_PLAIN)
    names = [known_dtype(dtype) for dtype in asked]
    if wrong := [name for name in names if name not in operator.dtypes]:
        raise UsageError(
            f"{operator.name} does not take {', '.join(wrong)}; it takes {', '.join(defined)}"
        )
    if not names:
        raise UsageError("dtypes is empty: it chooses nothing; None chooses everything")
    return sorted(names, key=defined.index)


def _axes(operator: Operator, asked: Axes) -> tuple[int, int]:
    fewest, most = operator.axes
    most = most or _MOST_AXES
    if asked is None:
        return fewest, most
    chosen = [asked] if isinstance(asked, int) else list(asked)
    if not chosen or min(chosen) < fewest or max(chosen) > most:
        raise UsageError(f"axes={asked}: {operator.name} takes {fewest} to {most} of them")
    return min(chosen), max(chosen)
