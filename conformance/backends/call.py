"""One call of a backend of Python, here or in a worker: whatever it does is an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.backends.answer import (
    NOT_RUN,
    Answer,
    answer_raised,
    answer_returned,
    error_line,
    native_bytes,
    own_attributes,
)
from conformance.backends.variations import Variation
from conformance.record.why import NotCalled
from conformance.repeated import Repeated
from conformance.vector import Array


def called(
    backend: Callable[..., Any],
    operator: str,
    inputs: Sequence[Array | Repeated],
    attributes: Mapping[str, Any],
    variation: Variation,
    limit: int,
    elements: Callable[[Array], bytes | memoryview] = native_bytes,
    passed_on: tuple[type[BaseException], ...] = (),
) -> Answer:
    """Return the answer of a backend to a case that it is called for in a variation.

    Outputs of more than `limit` elements have no data; see `answer_returned`. NOT_RUN, with a text,
    is the answer where this process has no memory or no thread for the call: no fault of the
    backend. Raises what the backend raises where that is to be `passed_on`.
    """

    def once(own: list[Array]) -> Answer:
        try:
            output = backend(operator, own, own_attributes(attributes))
        except passed_on:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the backend raised it
            return answer_raised(error)
        return answer_returned(output, limit, elements)

    try:
        return variation.perform(once, inputs)
    except (MemoryError, RuntimeError) as error:  # of copies, of a thread
        return Answer(NOT_RUN, why=NotCalled(variation.how, error_line(error)))
