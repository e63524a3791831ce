"""What a backend that is called here makes of a recipe of a large case."""

import numpy as np

from conformance.backends.answer import answer_returned, native_view
from conformance.backends.runner import Answers, largest_looked_at
from conformance.cases.large import Recipes
from conformance.judging.batch_judge import judge_batch


def result_of(recipe, backend):
    """Return the result of a backend."""
    case = recipe.case
    return of_output(recipe, backend(case.operator, recipe.inputs(), case.attributes))


def of_output(recipe, output):
    """Return the result of what a backend returns."""
    (batch,) = Recipes(recipe.case.operator, [recipe]).batches(np.array([0]))
    answers = Answers.none_yet(1)
    answers.put(0, answer_returned(output, *largest_looked_at(batch), native_view))
    (result,), _ = judge_batch(batch, answers, {})
    return result
