"""The verdict on the answer to one recipe: in bounded memory, block by block."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from conformance.backends.answer import ARRAY, NO_ARRAY, Answer, Returned
from conformance.batch import ExpectedColumns
from conformance.cases.large import Recipe
from conformance.dtypes import dtype_of, name_of
from conformance.judging.closeness import arithmetic_code
from conformance.judging.explanations import (
    Elements,
    elements_differ,
    elements_of,
    misfit,
    output_name,
    worst_of,
)
from conformance.judging.judge import VERDICT_OF_KIND
from conformance.operators import operator_named
from conformance.record.report import Result, Verdict, Worst
from conformance.record.why import Why, WrongCount
from conformance.repeated import groups
from conformance.vector import LARGE, Array

_GIB = 1 << 30


def judged(recipe: Recipe, answer: Answer, printed: str = "") -> Result:
    """Return the result of a recipe whose answer is known, with what was printed for it."""
    verdict = VERDICT_OF_KIND.get(answer.kind, "mismatch")
    if answer.kind not in {ARRAY, NO_ARRAY}:
        return _result(recipe, verdict, answer.why, printed)
    why = _misfit(recipe, answer)
    wrong = [] if why else _wrong(recipe, answer)
    if wrong:
        why = elements_differ(wrong)
    verdict = "mismatch" if why else "conforms"
    return _result(recipe, verdict, why, printed, wrong[0] if wrong else None)


def elements_looked_at(recipe: Recipe) -> int:
    """Return how many elements the outputs of a recipe have in all."""
    return prod(recipe.output_shape) * len(recipe.expected.outputs)


def _wrong(recipe: Recipe, answer: Answer) -> list[Worst]:
    """Return the worst element of each output that has wrong ones."""
    every = (_worst(recipe, number, _array(of)) for number, of in enumerate(answer.outputs))
    return [worst for worst in every if worst is not None]


def _array(output: Returned) -> Array:
    """Return an output of the right type and shape, in the memory where it is."""
    assert output.data is not None
    return np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)


def _result(
    recipe: Recipe, verdict: Verdict, why: Why | None, printed: str, worst: Worst | None = None
) -> Result:
    """Return the result of a recipe, with the shapes of the large case."""
    case = recipe.case
    return Result(
        id=recipe.id,
        operator=case.operator,
        verdict=verdict,
        attributes=case.attributes,
        dtype=name_of(case.data.dtype),
        shapes=(recipe.shape, *(size.shape for size in case.inputs[1:])),
        why=why,
        worst=worst,
        printed=printed,
        tier=LARGE,
        pattern=recipe.what,
        source=case.source,
        tags=(f"needs {recipe.memory / _GIB:.1f} GiB",),
        readings=({},) if verdict == "conforms" else (),
    )


def _misfit(recipe: Recipe, answer: Answer) -> Why | None:
    """Say what is wrong with the arrays that were returned, whatever they hold; None if nothing."""
    if answer.kind == NO_ARRAY:
        return answer.why
    expected = recipe.expected.outputs
    if len(answer.outputs) > len(expected):
        return WrongCount(len(answer.outputs), len(expected))
    for number, (got, wanted) in enumerate(zip(answer.outputs, expected, strict=False)):
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
    return worst and replace(worst, total=prod(recipe.output_shape))


def _differing(
    recipe: Recipe, number: int, got: Array, expected: Array, of_small: Array
) -> Elements:
    """Return elements that differ in some bit, flat; `of_small` number those they stand for.

    One that is within the bound of some outcome is right.
    """
    small = recipe.expected.outputs[number]
    columns = ExpectedColumns(
        small.values.ravel(), small.addends, small.divisor, small.magnitude
    ).at(of_small)
    output = operator_named(recipe.case.operator).outputs[number]
    arithmetics = {arithmetic_code(outcome) for outcome in recipe.vector.values}
    axes = small.values.ndim - 2
    return elements_of(got, replace(columns, values=expected), axes, output, arithmetics)


def _worse(before: Worst, now: Worst) -> Worst:
    """Return the worse of two elements, with the first wrong one of all that are wrong."""
    first = min(before, now, key=lambda worst: worst.first_index)
    return replace(
        max(before, now, key=lambda worst: worst.ulp),
        wrong=before.wrong + now.wrong,
        first_index=first.first_index,
        first_got=first.first_got,
        first_expected=first.first_expected,
    )
