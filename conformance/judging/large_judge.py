"""The verdict on the answer to one recipe: in bounded memory, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np
from msgspec import structs

from conformance.backends.answer import ARRAY, NO_ARRAY, Returned
from conformance.backends.runner import Answers
from conformance.cases.large import LargeBatch, Recipe
from conformance.dtypes import dtype_of, name_of
from conformance.judging.explanations import (
    Elements,
    Explanation,
    elements_differ,
    elements_of,
    misfit,
    output_name,
    worst_of,
)
from conformance.judging.verdicts import UNACCEPTED, Judged, Sums, output_reports, result_of
from conformance.operators import operator_named
from conformance.record.report import VERDICTS, Worst
from conformance.record.why import Why, WrongCount
from conformance.repeated import groups
from conformance.vector import Array


def judge_large(batch: LargeBatch, answers: Answers) -> Judged:
    """Judge the answer to a recipe, in the memory in which its outputs are.

    Every outcome of a recipe has the same values, so that no reading is required or ruled out: what
    is within the bound of one of them conforms.
    """
    kind, outputs, why = answers.kind[0], answers.outputs[0], answers.why.get(0)
    worst: list[Worst] = []
    verdict = VERDICTS[UNACCEPTED[kind]]
    if kind in {ARRAY, NO_ARRAY}:
        why = why or _misfit(batch.recipe, outputs)
        worst = [] if why else _wrong(batch.recipe, outputs)
        why = elements_differ(worst) if worst else why
        verdict = "mismatch" if why else "conforms"
    explanation = Explanation(why, worst[0] if worst else None)
    readings: tuple[Mapping[str, str], ...] = ({},) if verdict == "conforms" else ()
    return Judged(
        [result_of(batch, 0, verdict, explanation, readings=readings)],
        Sums(outputs=output_reports(batch.operator, np.array([len(outputs)]))),
    )


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
    small = recipe.expected.outputs[number].values
    numbers = np.arange(small.size).reshape(small.shape)
    expected = recipe.expected_values(number)
    bits = np.dtype(f"u{small.dtype.itemsize}")
    worst: Worst | None = None
    for group in groups(small.shape, recipe.output_runs):
        for place, block in expected.blocks(group):
            part = np.ascontiguousarray(got[group.at(place)])
            unequal = part.view(bits) != np.ascontiguousarray(block).view(bits)
            if not unequal.any():
                continue
            of_small = group.of(numbers)[unequal]
            elements = _differing(recipe, number, part[unequal], block[unequal], of_small)
            if elements.wrong.any():
                where = np.argwhere(unequal) + np.array(place)
                found = worst_of(elements, recipe.case.operator, number, where.__getitem__)
                worst = found if worst is None else _worse(worst, found)
    return worst and structs.replace(worst, total=prod(recipe.output_shape))


def _differing(
    recipe: Recipe, number: int, got: Array, expected: Array, of_small: Array
) -> Elements:
    """Return elements that differ in some bit, flat; `of_small` number those they stand for.

    One that is within the bound of some outcome is right.
    """
    small = recipe.expected.outputs[number]
    columns = small.at(of_small)
    output = operator_named(recipe.case.operator).outputs[number]
    arithmetics = {outcome.arithmetic for outcome in recipe.vector.values}
    axes = small.values.ndim - 2
    return elements_of(got, replace(columns, values=expected), axes, output, arithmetics)


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
