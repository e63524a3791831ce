"""Cases of each operator: valid ones, and ones with a rule of the document broken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from conformance.dtypes import FLOATS
from conformance.errors import UsageError
from conformance.operators import OPERATORS, operator_named
from conformance.operators.attributes import WORDS, Role
from conformance.operators.operator import Operator
from conformance.strategies.data import WHOLE, Filler, fillers, known_dtype, mix_of, shown
from conformance.strategies.geometry import (
    Axis,
    Stretch,
    axes_of,
    axes_within,
    extents_of,
    extents_within,
    listed,
    pairs_of,
    pairs_within,
    planes,
    planes_within,
    sizes_of,
    stretches,
)
from conformance.sweep.invalid import valid_case
from conformance.sweep.model import case_of
from conformance.sweep.rules import Broken, broken
from conformance.sweep.suited import plain_type
from conformance.vector import Array, Case

MAX_ELEMENTS = 2048
_MOST_AXES = 5  # where a document sets no limit
_PLAIN = ("float32", "float64", "float16", "bfloat16")
_PLAINEST = ("too small", "too many", "too few")
"""Rules whose breach is the plainest: it changes one list alone."""

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
    return shown(_asked(found, limits, MAX_ELEMENTS).map(lambda asked: asked.attributes))


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
    fixed: Collection[Role] = (),
) -> st.SearchStrategy[Case]:
    asked = _asked(operator, limits, room, fixed)
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


class _Numbers(NamedTuple):
    """Lists of numbers by role, input sizes, how many cells they are, and further inputs."""

    lists: dict[str, list[int]]
    sizes: list[int]
    cells: int
    rest: tuple[Array, ...] = ()


def _asked(
    operator: Operator, limits: tuple[int, int], room: int, fixed: Collection[Role] = ()
) -> st.SearchStrategy[_Asked]:
    """Return a strategy for what is asked for; `fixed` words have their first meaning."""
    known = {role: a for role in WORDS if (a := operator.attribute(role)) is not None}
    words = {role: a.meanings[:1] if role in fixed else a.meanings for role, a in known.items()}
    chosen = st.fixed_dictionaries({role: st.sampled_from(each) for role, each in words.items()})
    optional = [a for a in operator.attributes if not a.required and a.role != "ignored"]
    # Drawn even where an attribute has not its default: a value that shrinks to the default must
    # not make the draws more.
    spelled = st.fixed_dictionaries({attribute.key: st.booleans() for attribute in optional})
    numbers, chosen_numbers, long = _numbers(operator, limits)

    def asked(drawn: tuple[dict[str, Any], Any, dict[str, bool], Stretch]) -> _Asked:
        words, drawn_numbers, spelled, stretch = drawn
        room_of_plane = room // max(1, stretch.of("batch", "channels"))
        lists, sizes, cells, rest = numbers(drawn_numbers, words, stretch, room_of_plane)
        given = operator.attributes_of({**lists, **words})
        for attribute in optional:
            default = attribute.default_for(len(sizes))
            default = list(default) if isinstance(default, tuple) else default
            if given[attribute.key] == default and not spelled[attribute.key]:
                del given[attribute.key]
        return _Asked(given, sizes, cells, stretch, rest)

    return st.tuples(chosen, chosen_numbers, spelled, stretches(long, room)).map(asked)


_Within = Callable[[Any, Mapping[str, Any], Stretch, int], _Numbers]


def _numbers(
    operator: Operator, limits: tuple[int, int]
) -> tuple[_Within, st.SearchStrategy[Any], tuple[str, ...]]:
    """Return what makes numbers of a draw, the draws, and what may be long."""
    if operator.is_adaptive:
        pairs = st.tuples(pairs_of(*limits), st.sampled_from(("int64", "int32")))
        return _adaptive, pairs, ("size", "output", "both")
    if operator.has_windows:
        return _windows, axes_of(*limits, operator.roles), ("size", "kernel")
    return _planes, extents_of(*limits), ("size",)


def _adaptive(
    drawn: tuple[list[tuple[int, int]], str], _: Mapping[str, Any], stretch: Stretch, room: int
) -> _Numbers:
    pairs = pairs_within(drawn[0], stretch, room)
    sizes, outputs = [d for d, _ in pairs], [o for _, o in pairs]
    return _Numbers({}, sizes, max(prod(sizes), prod(outputs)), (np.array(outputs, drawn[1]),))


def _windows(drawn: list[Axis], words: Mapping[str, Any], stretch: Stretch, room: int) -> _Numbers:
    axes = axes_within(drawn, stretch, room)
    sizes = sizes_of(axes, words.get("auto_pad", "explicit"), room)
    padded = prod(d + a.begin + a.end for d, a in zip(sizes, axes, strict=True))
    return _Numbers(listed(axes), sizes, padded)


def _planes(drawn: list[int], _: Mapping[str, Any], stretch: Stretch, room: int) -> _Numbers:
    sizes = extents_within(drawn, stretch, room)
    return _Numbers({}, sizes, prod(sizes))


def _invalid(operator: Operator, limits: tuple[int, int]) -> st.SearchStrategy[Case]:
    # Pads that an auto_pad replaces anyway may go unseen.
    fixed: tuple[Role, ...] = ("auto_pad",)
    dtypes = (plain_type(operator),)
    valid = _cases(operator, dtypes, limits, st.just("integers"), 64, fixed)
    every = _ways(operator, valid_case(operator))
    rules = sorted(every, key=lambda rule: (*_PLAINEST, rule[1]).index(rule[1]))

    def one(drawn: tuple[Case, tuple[str, str]]) -> st.SearchStrategy[Case]:
        case, rule = drawn
        return st.sampled_from(_ways(operator, case)[rule]).map(of)

    def of(way: Broken) -> Case:
        tags = ("invalid", f"{way.what}: {way.how}")
        return case_of(operator.name, way.attributes, way.inputs, pattern="invalid", tags=tags)

    return st.tuples(valid, st.sampled_from(rules)).flatmap(one)


def _ways(operator: Operator, case: Case) -> dict[tuple[str, str], list[Broken]]:
    """Return the ways to break each rule of a document in a valid case."""
    rules: dict[tuple[str, str], list[Broken]] = {}
    for way in broken(operator, case.attributes, case.inputs):
        rules.setdefault((way.what, way.rule), []).append(way)
    return rules


def _held(mixes: Sequence[str] | None, group: Sequence[str]) -> Sequence[str] | None:
    """Return the mixes asked for that a group of types may know; None if all are."""
    if mixes is None or all(name in FLOATS for name in group):
        return mixes
    return [mix for mix in mixes if mix in WHOLE]


def _dtypes(operator: Operator, asked: Dtypes) -> list[str]:
    floats = [name for name in _PLAIN if name in operator.dtypes]
    defined = [*floats, *(name for name in operator.dtypes if name not in FLOATS)]
    if asked is None:
        return floats if operator.reduction.sums and floats else defined
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
