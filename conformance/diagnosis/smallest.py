"""A call of a backend as a line of Python, for pasting."""

from __future__ import annotations

from conformance.literals import array_expression
from conformance.operators import as_called
from conformance.vector import Case

_WRITTEN_OUT = 64
"""Elements of an array that are written out."""


def as_python(case: Case) -> str:
    """Return a call of `backend` with a case; "" where its data are too many to write out."""
    given, attributes = as_called(case)
    arrays = [array_expression(array) for array in given]
    if any(len(elements) > _WRITTEN_OUT for _, elements, _ in arrays):
        return ""
    inputs = [f"{begin}{', '.join(elements)}{end}" for begin, elements, end in arrays]
    return f"backend({case.operator!r}, [{', '.join(inputs)}], {attributes!r})"
