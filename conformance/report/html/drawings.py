"""What a page's script draws of a failing vector: the drawing, and what came instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.errors import ConformanceError
from conformance.judging.comparison import Comparison, defined
from conformance.judging.judge import answer_to
from conformance.literals import exact
from conformance.operators import operator_named
from conformance.record.report import Result
from conformance.record.words import attribute_in_words
from conformance.report import values as words
from conformance.report.drawing import OVERHANG, PADDING, UNDEFINED, Axis, Grid
from conformance.report.html.json_data import TrustedText
from conformance.report.text_drawing import as_text
from conformance.report.vector_drawing import Scene, draw, made_from, scene_of
from conformance.report.vector_report import no_windows
from conformance.vector import ARITHMETIC, Array, Combination, Values, Vector, outputs_of
from conformance.vectorfile.verify import misshapen

LARGEST = 1 << 14
"""Elements of an array whose values a page holds; of larger ones it shows the geometry."""
_MOST = 16
"""Rows and columns of an output of another shape or type."""
_WIDTH = 100
_KEYS = {PADDING: "pad", OVERHANG: "over", UNDEFINED: "free"}


def drawing(vector: Vector, result: Result, required: Mapping[str, str]) -> dict[str, Any]:
    """Return plain data for the page's script; {"note": why} where there is nothing to draw.

    What is drawn is the first output.
    The outcome drawn is the one that the checker holds the answer against: of those the
    `required` readings admit, the nearest to what was returned, else the first.
    """
    operator = operator_named(vector.case.operator)
    outcome, comparison = _nearest(vector, result, required)
    if outcome is None:
        return {"note": f"No windows to draw. {' '.join(no_windows(vector, operator))}"}
    if misshapen(vector):
        return {"note": "No drawing: the answers have not the shapes of the attributes."}
    expected = outcome.outputs[0].values
    worst = result.worst.index if result.worst else (0,) * expected.ndim
    try:
        scene = scene_of(vector, operator, outcome, _chosen(outcome, required))
        drawn = draw(scene, worst[:2], worst[2:])
    except ConformanceError as error:
        return {"note": f"No drawing: {error}"}
    is_pooling = not (operator.is_gradient or operator.scatters)
    if not is_pooling or max(vector.case.data.size, expected.size) > LARGEST:
        return {"text": TrustedText(as_text(drawn, _WIDTH))}
    named = [attribute_in_words(*r) for r in scene.readings.items() if r[0] not in ARITHMETIC]
    return {
        "shape": expected.shape,
        "worst": worst,
        "sources": [_source(grid) for grid in drawn.sources],
        "expected": _joined(_expected(drawn.results[0])),
        **(
            _returned(result, drawn.results[0])
            if comparison is None
            else _compared(comparison, outcome)
        ),
        **_made_from(scene),
        "legend": [_KEYS[mark] for mark in drawn.legend if mark in _KEYS],
        "readings": ", ".join(named),
    }


def _source(grid: Grid) -> dict[str, Any]:
    return {
        "name": grid.name,
        "dtype": name_of(grid.values.dtype),
        "shape": grid.values.shape,
        "values": _joined(_texts(grid.values, words.short)),
        "axes": [_axis(axis) for axis in grid.axes],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    """Return windows as their starts and lengths, and what differs from an axis without more."""
    lengths = [stop - start for start, stop in axis.windows]
    ends, pads = (axis.low, axis.high), axis.pads
    more = {
        "pads": pads if pads != (0, 0) else None,
        "ends": ends if ends != (-pads[0], axis.size + pads[1]) else None,
        "dilation": axis.dilation if axis.dilation > 1 else None,
    }
    return {
        "start": [start for start, _ in axis.windows],
        "length": lengths if len(set(lengths)) > 1 else lengths[0],
        **{name: value for name, value in more.items() if value},
    }


def _made_from(scene: Scene) -> dict[str, Any]:
    """Return how elements are made, and by spatial position which of these it is."""
    texts = [made_from(scene, place) for place in np.ndindex(scene.plan.extent)]
    distinct = list(dict.fromkeys(texts))
    which = {"which": [distinct.index(text) for text in texts]} if len(distinct) > 1 else {}
    return {"made": distinct, **which}


def _compared(comparison: Comparison, outcome: Values) -> dict[str, Any]:
    """Return what the backend gave in place of the first output of an outcome.

    An element of "got" is empty where it is as expected, and "!" is before a wrong one.
    """
    expected, differing = outcome.outputs[0], comparison.differing(outcome, 0)
    assert differing is not None
    bounds = differing.bound(outcome.arithmetic)[comparison.wrong(outcome, 0)].tolist()
    # JSON has no infinity; a bound that admits everything is none.
    allowed = [float(f"{bound:.3g}") if np.isfinite(bound) else None for bound in bounds]
    pairs = zip(_exact(comparison.array(0)), _exact(expected.values), strict=True)
    got = [
        f"!{text}" if wrong else "" if of_document and text == should else text
        for (text, should), wrong, of_document in zip(
            pairs, comparison.where_wrong(outcome, 0).flat, defined(expected), strict=True
        )
    ]
    return {"got": _joined(got), "allowed": allowed}


def _returned(result: Result, drawn: Grid) -> dict[str, Any]:
    """Return what the backend gave of another form, or else the two elements that a report names.

    An element of "got" is empty where it is not known, and "!" is before a wrong one.
    """
    output = None if result.output is None else outputs_of(result.output)[0]
    worst, expected = result.worst, drawn.values
    if output is not None and output.ndim == expected.ndim:
        shapes = [f"{name_of(a.dtype)} {words.shape(a.shape)}" for a in (output, expected)]
        rows = output.reshape(-1, output.shape[-1] or 1)[:_MOST, :_MOST].tolist()
        lines = [" ".join(words.short(value).rjust(8) for value in row) for row in rows]
        return {"other": [f"returned: {shapes[0]}, expected {shapes[1]}", "\n".join(lines)]}
    if worst is None or worst.number:
        return {}
    named = {worst.first_index: worst.first_got} if worst.first_index else {}
    named |= {worst.index: worst.got}
    got = [""] * expected.size
    for index, value in named.items():
        place = int(np.ravel_multi_index(index, expected.shape))
        got[place] = f"!{exact(value, result.worst_dtype)}"
    return {"got": _joined(got), "known": f"{len(named)} of {worst.wrong}"}


def _expected(grid: Grid) -> list[str]:
    assert grid.defined is not None
    pairs = zip(_exact(grid.values), grid.defined.ravel().tolist(), strict=True)
    return [text if defined else UNDEFINED.glyph for text, defined in pairs]


def _exact(array: Array) -> list[str]:
    return _texts(array, lambda value: exact(value, name_of(array.dtype)))


def _texts(array: Array, write: Callable[[Any], str]) -> list[str]:
    """Return elements as texts; equal ones are written once."""
    bits = array.ravel().view(f"u{array.dtype.itemsize}")
    _, first, which = np.unique(bits, return_index=True, return_inverse=True)
    texts = [write(value) for value in array.ravel()[first]]
    return [texts[number] for number in which.tolist()]


def _joined(texts: list[str]) -> TrustedText:
    return TrustedText(" ".join(texts))


def _nearest(
    vector: Vector, result: Result, required: Mapping[str, str]
) -> tuple[Values | None, Comparison | None]:
    """Return the outcome to draw, and the comparison of the outputs with it.

    None where no outcome has values, or where the first output has another type or shape or was
    not kept.
    """
    admitted = [
        outcome
        for outcome in vector.values
        if any(_meets(combination, required) for combination in outcome.readings)
    ]
    values = admitted or vector.values
    if not values or result.output is None:
        return next(iter(values), None), None
    answer = answer_to(vector, outputs_of(result.output))
    comparison = Comparison(vector, answer.outputs)
    nearest = comparison.nearest(values)
    return nearest, comparison if comparison.differing(nearest, 0) else None


def _meets(combination: Combination, required: Mapping[str, str]) -> bool:
    return all(combination.get(clause, reading) == reading for clause, reading in required.items())


def _chosen(outcome: Values, required: Mapping[str, str]) -> Combination:
    """Return a combination of readings of an outcome."""
    admitted = [c for c in outcome.readings if _meets(c, required)] or list(outcome.readings)
    return admitted[0] if admitted else {}
