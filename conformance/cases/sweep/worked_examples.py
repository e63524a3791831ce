"""The worked examples of the documents, as they print them.

What is printed and what is derived is kept apart in the tags of each case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of
from conformance.operators.examples import Example
from conformance.operators.operator import Operator
from conformance.vector import Array, Case


def examples(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield every worked example of a document, provenance printed, in the smoke tier."""
    for example in operator.examples:
        given = example.printed_data
        case = (
            _filled(operator, example, seed)
            if given is None
            else _of_numbers(operator, example, given)
        )
        yield replace(
            case, tier="smoke", source=example.source, provenance="printed", tags=example.tags
        )


def _of_numbers(operator: Operator, example: Example, data: Array) -> Case:
    size = (np.array(example.output_size, np.int64),) if operator.is_adaptive else ()
    return case_of(operator.name, example.attributes, (data, *size), pattern=example.pattern)


def _filled(operator: Operator, example: Example, seed: int) -> Case:
    size = (example.output_size, "int64") if operator.is_adaptive else None
    spec = CaseSpec(
        operator.name,
        example.attributes,
        example.shape,
        example.dtype,
        example.pattern,
        size,
    )
    return build(spec, seed=seed)
