"""Hypothesis strategies that draw cases: attributes and data within the rules of the documents.

They reach far beyond the levels of the vector files: any size, kernel, stride and pad in any
relation, data of every kind, all element types. What they draw shrinks to the smallest and
plainest: one batch, one channel, one axis, a kernel of 1, attributes absent, zeros and small
integers. In a test of your own:

    @given(cases("AvgPool-1", dtypes=["float32"], axes=2))
    def test_my_kernel(case):
        got = my_kernel(*case.inputs, **case.attributes)
        np.testing.assert_allclose(
            got, evaluate(case.operator, case.inputs, case.attributes), rtol=1e-5, atol=1e-6
        )
"""

from __future__ import annotations

from conformance.cases.strategies.drawn_cases import attributes, cases, invalid_cases
from conformance.cases.strategies.drawn_data import MIXES, arrays

__all__ = ["MIXES", "arrays", "attributes", "cases", "invalid_cases"]
