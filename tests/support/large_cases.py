"""What a backend that is called here makes of a recipe of a large case."""

from __future__ import annotations

from conformance.backends.answer import answer_returned, native_view
from conformance.judging.large_judge import elements_looked_at, judged


def result_of(recipe, backend):
    """Return the result of a backend."""
    case = recipe.case
    return of_output(recipe, backend(case.operator, recipe.inputs(), case.attributes))


def of_output(recipe, output):
    """Return the result of what a backend returns."""
    return judged(recipe, answer_returned(output, elements_looked_at(recipe), native_view))
