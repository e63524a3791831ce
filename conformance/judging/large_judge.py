"""The verdict on the answer to one recipe: in bounded memory, block by block."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from msgspec import structs

from conformance.backends.answer import ARRAY, NO_ARRAY, Answer, Returned
from conformance.cases.large import Recipe
from conformance.dtypes import dtype_of, name_of
from conformance.judging.comparison import DifferingElements, where_bits_differ
from conformance.judging.explanations import (
    Explanation,
    elements_differ,
    misfit,
    output_name,
    worst_of,
)
from conformance.judging.verdicts import UNACCEPTED, Judged
from conformance.record.report import Worst
from conformance.record.why import Why, WrongCount
from conformance.repeated import groups
from conformance.vector import Array


def judge_large(recipe: Recipe, answer: Answer) -> Judged:
    """Judge the answer to a recipe, in the memory in which its outputs are.

    Every outcome of a recipe has the same values, so that no reading is required or ruled out: what
    is within the bound of one of them conforms.
    """
    why, worst = answer.why, list[Worst]()
    verdict = UNACCEPTED[answer.kind]
    if answer.kind in {ARRAY, NO_ARRAY}:
        why = why or _misfit(recipe, answer.outputs)
        worst = [] if why else _wrong(recipe, answer.outputs)
        why = elements_differ(worst) if worst else why
        verdict = "mismatch" if why else "conforms"
    explanation = Explanation(why, worst[0] if worst else None)
    return Judged(verdict, int(verdict == "conforms"), explanation)


def _wrong(recipe: Recipe, outputs: tuple[Returned, ...]) -> list[Worst]:
    """Return the worst element of each output that has wrong ones."""
    every = (_worst(recipe, number, _array(of)) for number, of in enumerate(outputs))
    return [worst for worst in every if worst is not None]


def _array(output: Returned) -> Array:
    """Return an output of the right type and shape, in the memory where it is."""
    assert output.data is not None
    return np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)


def _misfit(recipe: Recipe, outputs: tuple[Returned, ...]) -> Why | None:
    """Say what is wrong with the arrays that were returned, whatever they hold; None if nothing."""
    expected = recipe.expected.outputs
    if len(outputs) > len(expected):
        return WrongCount(len(outputs), len(expected))
    for number, (got, wanted) in enumerate(zip(outputs, expected, strict=False)):
        dtype = name_of(wanted.values.dtype)
        name = output_name(recipe.case.operator, number)
        if wrong := misfit(got, [(recipe.output_shape, dtype)], name):
            return wrong
    return None


def _worst(recipe: Recipe, number: int, got: Array) -> Worst | None:
    """Return the worst element of an output of the right type and shape; None if all are right."""
    small = recipe.expected.outputs[number]
    shape, operator = small.values.shape, recipe.case.operator
    numbers = np.arange(small.values.size).reshape(shape)
    arithmetics = {outcome.arithmetic for outcome in recipe.vector.values}
    large = recipe.expected_values(number)
    worst: Worst | None = None
    for group in groups(shape, recipe.output_runs):
        for place, block in large.blocks(group):
            part = np.ascontiguousarray(got[group.at(place)])
            unequal = where_bits_differ(part, np.ascontiguousarray(block))
            if not unequal.any():
                continue
            expected = replace(small.at(group.of(numbers)[unequal]), values=block[unequal])
            differing = DifferingElements(
                operator, number, expected, part[unequal], np.flatnonzero(unequal), len(shape) - 2
            )
            # One that is within the bound of some outcome is right.
            wrong = np.logical_and.reduce([differing.wrong(each) for each in arithmetics])
            if wrong.any():
                where = np.argwhere(unequal) + np.array(place)
                total = prod(recipe.output_shape)
                found = worst_of(differing, wrong, min(arithmetics), where, total)
                worst = found if worst is None else _worse(worst, found)
    return worst


def _worse(before: Worst, now: Worst) -> Worst:
    """Return the worse of two elements, with the first wrong one of all that are wrong."""
    first = min(before, now, key=lambda worst: worst.first_index)
    return structs.replace(
        max(before, now, key=lambda worst: worst.ulp),
        wrong=before.wrong + now.wrong,
        first_index=first.first_index,
        first_got=first.first_got,
        first_expected=first.first_expected,
    )
