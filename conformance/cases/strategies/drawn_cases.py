"""Cases of each operator: valid ones, and ones with a rule of the document broken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.cases.gradients import with_gradient
from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.strategies.choices import ANY_BYTE, Choices, blocks, chosen, item_of
from conformance.cases.strategies.drawn_data import (
    FILL_BYTES,
    FILLS,
    WHOLE,
    filled,
    known_dtype,
    mixes_of,
    shown,
)
from conformance.cases.strategies.drawn_geometry import PLANES, Geometries, planes_within
from conformance.cases.sweep.invalid_cases import valid_case
from conformance.cases.sweep.rules import Broken, broken
from conformance.cases.sweep.sweep_model import case_of, has_one_answer, held, plain_type
from conformance.dtypes import FLOATS
from conformance.errors import UsageError
from conformance.operators import OPERATORS, operator_named
from conformance.operators.attributes import ZERO_POINTS, Role
from conformance.operators.operator import Operator
from conformance.operators.outcomes import undefined_as_a_whole
from conformance.operators.pipeline import resolve_pads, rounded_extent
from conformance.vector import Case

MAX_ELEMENTS = 2048
_MOST_AXES = 5  # where a document sets no limit
_PLAIN = ("float32", *(name for name in FLOATS if name != "float32"))
_GIVEN = ("", "floor", "ceil")  # how an output size is rounded, if one is given
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
    Data have at most `max_elements` cells, and with the padding hardly more, unless a single kernel
    of 5 axes needs more. No quantised mean is so near to a half that the order of a sum decides. A
    drawn case has an id of its own, derived from all it holds. Raises UsageError for arguments that
    the operator does not know.

        @given(cases("MaxPool-1", dtypes=["float32", "int8"], mixes=["integers"]))
        def test_my_maximum(case):
            expected = evaluate(case.operator, case.inputs, case.attributes)
            assert np.array_equal(my_maximum(case.data, **case.attributes), expected)
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
    definition = operator_named(operator)
    valid = _Cases(
        definition,
        _mixes_by_dtype(definition, dtypes, mixes),
        _axes(definition, axes),
        max_elements,
    )
    drawn = shown(valid.drawn, valid.of)
    return drawn.filter(has_one_answer) if definition.requantises else drawn


def attributes(operator: str, axes: Axes = None) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for valid attributes of an operator.

    `axes` is as in `cases`. Attributes that a document gives a default are left out where
    they have it, or written out. A kernel may be larger than the padded data you use them with.
    Raises UsageError for an unknown operator or number of axes.

        @given(attributes("AvgPool-1", axes=2))
        def test_my_parser(given): assert parse(serialise(given)) == given
    """
    definition = operator_named(operator)
    geometries = Geometries(definition, _axes(definition, axes), MAX_ELEMENTS)
    return shown(geometries.drawn, lambda drawn: geometries.of(drawn).attributes)


def invalid_cases(operator: str, *, axes: Axes = None) -> st.SearchStrategy[Case]:
    """Return a strategy for cases that break one rule of a document: an exception is right.

    Raises UsageError for an unknown operator or number of axes.

        @given(invalid_cases("AvgPool-1"))
        def test_what_is_invalid_is_refused(case):
            with pytest.raises(ValueError):
                my_pool(case.data, **case.attributes)
    """
    definition = operator_named(operator)
    integers = {plain_type(definition): mixes_of(plain_type(definition), ["integers"])}
    fixed: tuple[Role, ...] = ("auto_pad",)  # pads that it replaces anyway may go unseen
    valid = _Cases(definition, integers, _axes(definition, axes), 64, fixed)
    rules = sorted(
        _ways(definition, valid_case(definition)),
        key=lambda rule: (*_PLAINEST, rule[1]).index(rule[1]),
    )
    choices: Choices = {"rule": rules, "way": ANY_BYTE}

    def broken_case(drawn: tuple[_Drawn, bytes]) -> Case:
        case, choice = valid.of(drawn[0]), next(chosen(drawn[1], choices))
        ways, (_, rule) = _ways(definition, case), choice["rule"]
        # A rule of an axis may be broken by another list than in the case that `rules` are of.
        by_others = (every for (_, named), every in ways.items() if named == rule)
        way = item_of(ways.get(choice["rule"]) or next(by_others), choice["way"])
        tags = ("invalid", f"{way.what}: {way.how}")
        return case_of(operator, way.attributes, way.inputs, pattern="invalid", tags=tags)

    return shown(st.tuples(valid.drawn, blocks(choices)), broken_case)


_Drawn = tuple[tuple[bytes, tuple[bytes, ...]], bytes, bytes]


class _Cases:
    """The valid cases that can be drawn of an operator, within some limits.

    `mixes` are the mixes to choose from by element type, `fixed` is as in `Geometries`.
    """

    def __init__(
        self,
        operator: Operator,
        mixes: Mapping[str, Sequence[str]],
        axes: tuple[int, int],
        max_cells: int,
        fixed: Collection[Role] = (),
    ) -> None:
        self._operator = operator
        self._mixes = mixes
        self._max_cells = max_cells
        self._geometries = Geometries(operator, axes, max_cells, fixed)
        # The mixes that may be chosen depend on the type that is.
        self._choices: Choices = {"dtype": _often(mixes), "mix": ANY_BYTE, **PLANES, **FILLS}
        self._output = operator.attribute("fixed_output") if operator.has_windows else None
        if self._output is not None:
            self._choices["given"] = _GIVEN
        # What comes first shrinks first: a plain geometry is worth more than plain data.
        self.drawn = st.tuples(self._geometries.drawn, blocks(self._choices), FILL_BYTES)

    def of(self, drawn: _Drawn) -> Case:
        """Return the case that a draw stands for."""
        drawn_geometry, block, fill_bytes = drawn
        geometry = self._geometries.of(drawn_geometry)
        choice = next(chosen(block, self._choices))
        dtype = choice["dtype"]
        mix = item_of(self._mixes[dtype], choice["mix"])
        planes = planes_within(
            choice["batch"],
            choice["channels"],
            geometry.outlier,
            self._max_cells // max(1, geometry.cells),
        )
        data = filled(
            fill_bytes,
            dtype,
            (*planes, *geometry.sizes),
            mix=mix,
            rising=choice["rising"],
            sign=choice["sign"],
        )
        attributes = self._of_type(geometry.attributes, dtype)
        if self._output is not None and (rounding := choice["given"]):
            params = self._operator.stated(attributes, geometry.sizes)
            given = rounded_extent(params, resolve_pads(params), rounding)
            sized = replace(params, fixed_output=given)
            if undefined_as_a_whole(self._operator, sized, (data,)) is None:
                attributes[self._output.key] = [*given]
        own = (data, *geometry.rest)
        if self._operator.scatters:
            own = data, pooled_indices(self._operator, data.shape, attributes)
        # The gradient of an output holds the same kind of numbers, in another order.
        inputs = with_gradient(self._operator, data[..., ::-1], own, attributes)
        return case_of(self._operator.name, attributes, inputs, pattern=mix)

    def _of_type(self, attributes: Mapping[str, Any], dtype: str) -> dict[str, Any]:
        """Return attributes as data of a type may have them."""
        typed = [
            each
            for each in self._operator.attributes
            if (each.of_types or each.role in ZERO_POINTS) and each.key in attributes
        ]
        said: dict[str, Any] = {each.role: each.meaning_of(attributes[each.key]) for each in typed}
        fitted = self._operator.attributes_of(held(self._operator, said, dtype))
        keys = {each.key for each in typed}
        return {**{key: value for key, value in attributes.items() if key not in keys}, **fitted}


def _ways(operator: Operator, case: Case) -> dict[tuple[str, str], list[Broken]]:
    """Return the ways to break each rule of a document in a valid case."""
    rules: dict[tuple[str, str], list[Broken]] = {}
    for way in broken(operator, case.attributes, case.inputs):
        if not way.is_left_open:
            rules.setdefault((way.what, way.rule), []).append(way)
    return rules


def _often(dtypes: Collection[str]) -> list[str]:
    """Return element types, each as often as it is to come up: integers as often as floats."""
    floats = [name for name in dtypes if name in FLOATS]
    integers = [name for name in dtypes if name not in FLOATS]
    if floats and integers:
        return [name for name in floats for _ in integers] + [
            name for name in integers for _ in floats
        ]
    return list(dtypes)


def _mixes_by_dtype(
    operator: Operator, dtypes: Dtypes, mixes: Sequence[str] | None
) -> dict[str, list[str]]:
    """Return the mixes to choose from, by the element types to choose from.

    Integers know some of the mixes that are asked for, or none: then they are left out, unless
    they are asked for too.
    """
    names = _dtypes(operator, dtypes)
    if mixes is None:
        return {name: mixes_of(name) for name in names}
    of_integers = [mix for mix in mixes if mix in WHOLE]
    if dtypes is None and not of_integers:
        names = [name for name in names if name in FLOATS] or names
    return {
        name: mixes_of(name, mixes if name in FLOATS else of_integers or mixes) for name in names
    }


def _dtypes(operator: Operator, dtypes: Dtypes) -> list[str]:
    floats = [name for name in _PLAIN if name in operator.dtypes]
    defined = [*floats, *(name for name in operator.dtypes if name not in FLOATS)]
    if dtypes is None:
        return defined if operator.settles_integers else floats
    names = [known_dtype(dtype) for dtype in dtypes]
    if wrong := [name for name in names if name not in operator.dtypes]:
        raise UsageError(
            f"{operator.name} does not take {', '.join(wrong)}; it takes {', '.join(defined)}"
        )
    if not names:
        raise UsageError("dtypes is empty: it chooses nothing; None chooses everything")
    return sorted(names, key=defined.index)


def _axes(operator: Operator, axes: Axes) -> tuple[int, int]:
    fewest, most = operator.axes
    most = most or _MOST_AXES
    if axes is None:
        return fewest, most
    chosen = [axes] if isinstance(axes, int) else list(axes)
    if not chosen or min(chosen) < fewest or max(chosen) > most:
        raise UsageError(f"axes={axes}: {operator.name} takes {fewest} to {most} of them")
    return min(chosen), max(chosen)
