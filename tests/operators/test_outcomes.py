"""Every answer that conforms, and no other: outcomes, their readings, what is undefined."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.drawn_params import assert_same, hard_cases, integer_cases
from support.effort import examples
from support.oracle import READINGS, WholeCaseUndefined, oracle, plan

from conformance.operators import CLAUSES, concerned, vector_of
from conformance.vector import TIED, UNDEFINED, Arithmetic, Case

OF_VALUES = ("nan-in-maximum", "index-of-ties", "index-of-nan", "column-major", "lp-overhang")
GEOMETRIC = [clause for clause in READINGS if clause not in OF_VALUES]
BESIDE = "pads-with-auto-pad"
READ = READINGS | {BESIDE: ("ignored", "used", "used-or-refused")}  # others ignore or refuse


def vector(operator, inputs, attributes):
    """Return the vector of a case."""
    return vector_of(Case("case", operator, attributes, tuple(inputs)))


def disputed(found):
    """Return the disputed clauses that touch a vector, with their readings."""
    return {name: names for name, names in found.clauses.items() if names}


def combinations_of(found):
    """Return every combination of readings of every outcome, as sorted pairs."""
    return [tuple(sorted(c.items())) for outcome in found.outcomes for c in outcome.readings]


def geometry(operator, inputs, attributes, readings):
    """Return which cells every window reads and what divides them, by the oracle.

    None where the kernel does not fit between pads that are given beside an auto_pad.
    """
    try:
        planned = plan(operator, inputs, attributes, readings)
    except WholeCaseUndefined:
        if readings.get(BESIDE) != "used-or-refused":
            raise
        return None
    cells = tuple(tuple(window.inside for window in windows) for windows in planned.axes)
    if not planned.average:
        return cells, None
    counts = [planned.divisors(axis) for axis in range(len(planned.axes))]
    return cells, tuple(math.prod(each) for each in product(*counts))


def clauses_by_oracle(operator, inputs, attributes):
    """Return the clauses of geometry and values whose readings change the oracle's answer."""
    geometric = [name for name in GEOMETRIC if operator in concerned(CLAUSES[name])]
    of_values = [name for name in OF_VALUES if operator in concerned(CLAUSES[name])]
    touched = {BESIDE} if gives_pads_beside(attributes) else set()
    for choice in product(*(READ[name] for name in geometric)):
        readings = dict(zip(geometric, choice, strict=True))
        here = geometry(operator, inputs, attributes, readings)
        for name in geometric:
            for other in READ[name]:
                there = geometry(operator, inputs, attributes, readings | {name: other})
                touched |= {name} if here != there else set()
        if here is None:
            continue
        for others in product(*(READINGS[name] for name in of_values)):
            read = readings | dict(zip(of_values, others, strict=True))
            here = oracle(operator, inputs, attributes, read)
            for name, reading in ((clause, r) for clause in of_values for r in READINGS[clause]):
                there = oracle(operator, inputs, attributes, read | {name: reading})
                touched |= set() if _is_same(here, there) else {name}
    return touched


def _is_same(one, other):
    """Say whether two answers of the oracle have the same defined values and indices."""
    return (
        np.array_equal(one.undefined, other.undefined)
        and np.array_equal(
            one.expected[~one.undefined].astype(np.float64),
            other.expected[~other.undefined].astype(np.float64),
            equal_nan=True,
        )
        and np.array_equal(one.indices, other.indices)
        and np.array_equal(one.tied, other.tied)
    )


def assert_matches_oracle(outcome, combination, case):
    """Assert that an outcome holds what the oracle computes under a combination."""
    readings = {name: reading for name, reading in combination.items() if name in READINGS}
    expected = oracle(*case, readings)
    undefined = expected.undefined.ravel()
    np.testing.assert_array_equal(outcome.outputs[0].addends == UNDEFINED, undefined)
    assert_same(
        np.where(expected.undefined, expected.expected, outcome.outputs[0].values).astype(
            outcome.outputs[0].values.dtype
        ),
        expected.expected,
    )
    if expected.indices is not None:
        indices = outcome.outputs[1]
        chosen = expected.indices.ravel() >= 0
        np.testing.assert_array_equal(indices.addends != UNDEFINED, chosen)
        np.testing.assert_array_equal(indices.addends == TIED, expected.tied.ravel())
        assert_same(indices.values.ravel()[chosen], expected.indices.ravel()[chosen])
    np.testing.assert_array_equal(
        outcome.outputs[0].divisor[~undefined], expected.divisor.ravel()[~undefined]
    )


def gives_pads_beside(attributes):
    """Say whether a node of ONNX has pads beside an auto_pad that says how much is padded."""
    return "pads" in attributes and attributes.get("auto_pad", "NOTSET") != "NOTSET"


def clause_reached(inputs, attributes, *, used):
    """Return the clause of pads as long as the kernel that a node of ONNX touches; None of none.

    The pads are those given if they are `used`, else those of auto_pad.
    """
    kernel, sizes = attributes["kernel_shape"], inputs[0].shape[2:]
    ones = [1] * len(sizes)
    strides, dilations = (attributes.get(name, ones) for name in ("strides", "dilations"))
    spans = [(k - 1) * n + 1 for k, n in zip(kernel, dilations, strict=True)]
    if used:
        given, half = attributes["pads"], len(sizes)
        pads = [*map(max, given[:half], given[half:])]
    elif attributes["auto_pad"] == "VALID":
        pads = [0] * len(sizes)
    else:
        axes = zip(sizes, strides, spans, strict=True)
        pads = [-(-((-(-d // s) - 1) * s + span - d) // 2) for d, s, span in axes]
    if not any(pad >= k for pad, k in zip(pads, kernel, strict=True)):
        return None
    is_far = any(pad >= span for pad, span in zip(pads, spans, strict=True))
    return "pads-not-below-kernel" if is_far else "pads-not-below-undilated-kernel"


SAME_PADS_REACH_KERNEL = (
    "ONNX-MaxPool-22",
    [np.full((1, 1, 1), 0.1257, np.float16)],
    {"kernel_shape": [2], "pads": [0, 0], "auto_pad": "SAME_UPPER", "dilations": [3]},
)
"""Pads beside an auto_pad that do not reach the kernel where they are used, as those of SAME do."""
PADS_REACH_BOTH = (
    "ONNX-MaxPool-10",
    [np.full((1, 1, 1, 1, 1), 0.1257, np.float16)],
    {
        "kernel_shape": [2, 1, 1],
        "pads": [0, 0, 0, 0, 0, 1],
        "auto_pad": "SAME_UPPER",
        "dilations": [3, 1, 1],
    },
)
"""Those given reach a dilated kernel of 1, and those of SAME one that is not dilated."""


def pads_reach_kernel(attributes):
    """Say whether the pads that ONNX lists are as long as the kernel on some axis."""
    kernel, pads = attributes.get("kernel_shape", []), attributes.get("pads", [])
    return any(pad >= k for pad, k in zip(pads, [*kernel, *kernel], strict=False))


def refusing_readings(attributes):
    """Return the readings of pads beside auto_pad that refuse the pads that ONNX lists."""
    reach = pads_reach_kernel(attributes)
    return {"refused", *["zeros-alone"] * any(attributes.get("pads", [])), *["checked"] * reach}


class TestAnyCase:
    """What holds of every valid case."""

    @examples(2)
    @given(case=st.one_of(hard_cases(), integer_cases()))
    def test_readings_are_the_full_product_once(self, case):
        """Each combination of the readings of the touching clauses has exactly one outcome."""
        found = vector(*case)
        clauses = disputed(found)
        every = [
            tuple(sorted(zip(clauses, choice, strict=True)))
            for choice in product(*clauses.values())
        ]
        if "pads-not-below-kernel" in clauses:
            # a refusal is one outcome for all other readings
            assert found.outcomes[-1].kind == "raises"
        assert sorted(combinations_of(found)) == sorted(every)

    @examples(2)
    @given(case=hard_cases())
    @example(case=SAME_PADS_REACH_KERNEL)
    @example(case=PADS_REACH_BOTH)
    def test_values_under_each_combination_are_the_oracles(self, case):
        """Expected values, undefined elements and divisors, reading by reading."""
        _, inputs, attributes = case
        refusing = refusing_readings(attributes)
        by_clause = ["pads-not-below-kernel", "pads-not-below-undilated-kernel"]
        for outcome in vector(*case).outcomes:
            for combination in outcome.readings:
                used = combination.get(BESIDE, "").startswith("used")
                reached = by_clause
                if gives_pads_beside(attributes):
                    reached = [clause_reached(inputs, attributes, used=used)]
                accepted = (
                    "rejected" not in map(combination.get, reached)
                    and combination.get(BESIDE) not in refusing
                    and not (used and geometry(*case, {BESIDE: combination[BESIDE]}) is None)
                    and combination.get("kernel-above-input") != "refused"
                )
                if outcome.kind == "values":
                    assert accepted
                    assert_matches_oracle(outcome, combination, case)
                    own = combination.get("accumulator") == "element-type"
                    flushed = combination.get("subnormals") == "flushed"
                    assert (Arithmetic.ELEMENT_TYPE in outcome.arithmetic) is own
                    assert (Arithmetic.FLUSHED in outcome.arithmetic) is flushed
                    range_is_kept = combination.get("sum-overflow", "finite") == "finite"
                    if range_is_kept and combination.get("lp-range", "scaled") == "scaled":
                        assert Arithmetic.OVERFLOWS not in outcome.arithmetic
                elif outcome.kind == "raises":
                    assert not accepted
                else:
                    read = {name: combination[name] for name in READINGS if name in combination}
                    with pytest.raises(WholeCaseUndefined):
                        oracle(*case, read)

    @examples(0.5)
    @given(case=st.one_of(hard_cases(), integer_cases()))
    def test_a_clause_touches_where_the_oracle_depends_on_its_reading(self, case):
        """No clause is named in vain and none is forgotten."""
        try:
            expected = clauses_by_oracle(*case)
        except WholeCaseUndefined:
            expected = set()
        assert {name for name in vector(*case).clauses if name in READINGS} == expected

    @examples(2)
    @given(case=hard_cases())
    def test_outcomes_differ(self, case):
        """No two outcomes of a vector accept the same answers."""
        found = vector(*case)
        keys = [
            (
                o.arithmetic,
                tuple(
                    (
                        each.values.shape,
                        each.values[(each.addends != -1).reshape(each.values.shape)].tobytes(),
                        each.addends.tobytes(),
                        each.divisor.tobytes(),
                        each.magnitude.tobytes(),
                    )
                    for each in o.outputs
                ),
            )
            for o in found.values
        ]
        others = [type(o) for o in found.outcomes if o not in found.values]
        assert len(keys) == len(set(keys))
        assert len(others) == len(set(others))
