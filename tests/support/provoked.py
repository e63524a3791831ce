"""Vectors at which the backends of `hostile` misbehave or do not, and verdicts by a Runner."""

import numpy as np
from support.fakes import ramp, vector
from support.hostile import TRIGGER

from conformance.backends.answer import NOT_RUN
from conformance.backends.runner import Answers
from conformance.batch import batch_of
from conformance.judging.judge import judge
from conformance.record.words import in_words

FINE = ("conforms", "")


def friendly():
    """Return a vector at which no hostile backend misbehaves."""
    return vector(ramp(1, 1, 6))


def provoking():
    """Return a vector at which every hostile backend misbehaves."""
    return vector(ramp(1, 1, 6) + np.float32(TRIGGER - 1))


def verdicts(runner, vectors, *, tick=lambda done: None):
    """Return per vector its verdict and its detail, None where it was not run; and the answers."""
    batch = batch_of(vectors)
    answers = Answers.none_yet(len(batch))
    runner.run(batch, answers, tick)
    found = [
        None if (answer := answers.at(number)).kind == NOT_RUN else _said(vector, answer)
        for number, vector in enumerate(vectors)
    ]
    return found, answers


def _said(vector, answer):
    judged = judge(vector, answer, {})
    return judged.verdict, in_words(judged.explanation.why)
