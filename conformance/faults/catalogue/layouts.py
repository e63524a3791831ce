"""Faults of a layout that an attribute chooses: arrays, or their sizes, read as in the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.faults.atoms.conditions import CHANNELS_LAST
from conformance.faults.behaviour import Behaviour, Faults, after, before, instead
from conformance.faults.call import Call
from conformance.faults.catalogue import geometry
from conformance.operators.clause import StepWrap
from conformance.operators.form import Form
from conformance.operators.needs import Needs
from conformance.operators.params import Params
from conformance.operators.pipeline import Divisor, Gathered, Windows
from conformance.vector import Array

_CHOSEN = Needs(roles=("channels_last",))
_LAST = Form(channels_last=True)


def _taken_as_other(words: str, *, last: bool) -> Behaviour:
    """Take arrays with channels last, or those with channels second, as in the other layout.

    All of them, the output too; so the sizes of the data are others.
    """
    read, back = _LAST.array_given, _LAST.array_taken
    if not last:
        read, back = back, read

    def call(given: Call) -> tuple[Call]:
        is_other = given.meaning("channels_last") is last
        return (replace(given, inputs=tuple(map(read, given.inputs))) if is_other else given,)

    def data(cells: Array, params: Params, windows: Windows) -> tuple[Array, Params, Windows]:
        return read(cells) if params.channels_last is last else cells, params, windows

    def reduced(reduce: Callable[..., Array], gathered: Gathered, divisor: Divisor) -> Array:
        if gathered.params.channels_last is not last:
            return reduce(gathered, divisor)
        beside = None if gathered.beside is None else read(gathered.beside)
        return back(reduce(replace(gathered, beside=beside), divisor))

    steps: dict[str, StepWrap] = before("validate", call)
    steps |= before("gather", data) | instead("reduce", reduced)
    return Behaviour(words, _CHOSEN, steps)


def _sizes_of_other_axes(params: Params, call: Call) -> Params:
    """Take the last two of three sizes, those of the channels among them, as the spatial ones."""
    if not params.channels_last:
        return params
    sizes = (*params.sizes[1:], call.inputs[-1].shape[1])
    kernel = params.kernel if "kernel" in call.given else sizes
    return replace(params, sizes=sizes, kernel=kernel)


def _fitted(data: Array, params: Params, windows: Windows) -> tuple[Array, Params, Windows]:
    """Cut off cells beyond the sizes, and add zeros up to these."""
    inside: tuple[Any, ...] = (..., *map(slice, params.sizes))
    kept = data[inside]
    added = [(0, d - have) for d, have in zip(params.sizes, kept.shape[2:], strict=True)]
    return np.pad(kept, [(0, 0), (0, 0), *added]), params, windows


def _as_the_other(output: Array, gathered: Gathered, _divisor: Divisor) -> Array:
    """Return an output with channels second where they are last."""
    return _LAST.array_taken(output) if gathered.params.channels_last else output


FAULTS: Faults = {
    "layout-last-as-second": _taken_as_other(
        "data with channels last taken as data with channels second", last=True
    ),
    "layout-second-as-last": _taken_as_other(
        "data with channels second taken as data with channels last", last=False
    ),
    "layout-sizes-of-other-axes": Behaviour(
        "the sizes of the last two axes taken as the spatial ones where channels are last",
        _CHOSEN,
        after("validate", _sizes_of_other_axes) | before("gather", _fitted),
    ),
    "layout-of-input-alone": Behaviour(
        "the output returned with channels second where they are last",
        _CHOSEN,
        after("reduce", _as_the_other),
    ),
    "layout-last-without-begin-pads": CHANNELS_LAST.of(
        geometry.FAULTS["windows-without-begin-pads"]
    ),
}
