"""The verdict on the answer to one recipe: in bounded memory, block by block."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from msgspec import structs

from conformance.backends.answer import ARRAY, NO_ARRAY, Answer, Returned
from conformance.cases.large import Recipe
from conformance.dtypes import dtype_of
from conformance.judging.comparison import DifferingElements, where_bits_differ
from conformance.judging.explanations import (
    Explanation,
    elements_differ,
    forms_of,
    misfit,
    worst_of,
)
from conformance.judging.verdicts import UNACCEPTED, Judged
from conformance.record.report import Worst
from conformance.repeated import groups


def judge_large(recipe: Recipe, answer: Answer) -> Judged:
    """Judge the answer to a recipe, in the memory in which its outputs are.

    Every outcome of a recipe has the same values, so that no reading is required or ruled out: what
    is within the bound of one of them conforms.
    """
    why, worst, verdict = answer.why, list[Worst](), UNACCEPTED[answer.kind]
    if answer.kind in {ARRAY, NO_ARRAY}:
        forms = [(recipe.output_shape, dtype) for _, dtype in forms_of(recipe.expected)]
        why = why or misfit(recipe.case.operator, answer.outputs, [forms])
        if why is None:
            every = (_worst(recipe, number, of) for number, of in enumerate(answer.outputs))
            worst = [of_output for of_output in every if of_output is not None]
            why = elements_differ(worst) if worst else None
        verdict = "mismatch" if why else "conforms"
    explanation = Explanation(why, worst[0] if worst else None)
    return Judged(verdict, int(verdict == "conforms"), explanation)


def _worst(recipe: Recipe, number: int, output: Returned) -> Worst | None:
    """Return the worst element of an output of the right type and shape; None if all are right."""
    assert output.data is not None
    got = np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)
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
