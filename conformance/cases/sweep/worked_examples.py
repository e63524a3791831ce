"""The worked examples of the documents, as they print them.

What is printed and what is derived is kept apart in the tags of each case.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.sweep.sweep_model import CaseSpec
from conformance.operators.operator import Operator


def examples(operator: Operator) -> Iterator[CaseSpec]:
    """Yield every worked example of a document, provenance printed, in the smoke tier."""
    for example in operator.examples:
        spec = CaseSpec(
            operator.name,
            example.attributes,
            example.shape,
            example.dtype,
            example.pattern,
            (example.output_size, "int64") if operator.takes_output_size else None,
            example.tags,
            tier="smoke",
            source=example.source,
            provenance="printed",
        )
        if example.printed_data is None:
            yield spec
        else:
            rest = () if example.printed_indices is None else (example.printed_indices,)
            yield spec.with_data(example.printed_data, *rest)
