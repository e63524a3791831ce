"""The worked examples of the documents, as they print them.

What is printed and what is derived is kept apart in the tags of each case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.cases.sweep.sweep_model import CaseSpec, build, case_of
from conformance.operators.operator import Operator
from conformance.vector import Case


def examples(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield every worked example of a document, provenance printed, in the smoke tier."""
    for example in operator.examples:
        size = (example.output_size, "int64") if operator.takes_output_size else None
        pattern, data = example.pattern, example.printed_data
        spec = CaseSpec(
            operator.name, example.attributes, example.shape, example.dtype, pattern, size
        )
        if data is None:
            case = build(spec, seed=seed)
        else:
            indices = example.printed_indices
            inputs = spec.own_inputs(data) if indices is None else (data, indices)
            case = case_of(operator.name, example.attributes, inputs, pattern=pattern)
        yield replace(
            case, tier="smoke", source=example.source, provenance="printed", tags=example.tags
        )
