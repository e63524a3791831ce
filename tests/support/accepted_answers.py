"""Vectors of small cases, and what they accept: shared by the tests of outcomes."""

from support.oracle import array

from conformance.operators import vector_of
from conformance.vector import UNDEFINED, Case


def vector(operator, inputs, attributes):
    """Return the vector of a case."""
    return vector_of(Case("case", operator, attributes, tuple(inputs)))


def row(operator, values, attributes, dtype="float32"):
    """Return the vector of one row of one channel."""
    return vector(operator, [array([[values]], dtype)], attributes)


def disputed(found):
    """Return the disputed clauses that touch a vector, with their readings."""
    return {name: names for name, names in found.clauses.items() if names}


def values_under(found, **readings):
    """Return the flat expected values under readings, which decide them, as a list."""
    wanted = {name.replace("_", "-"): reading for name, reading in readings.items()}
    lists = [
        [
            None if m == UNDEFINED else float(v)
            for v, m in zip(o.outputs[0].values.flat, o.outputs[0].addends, strict=True)
        ]
        for o in found.outcomes
        if o.kind == "values" and any(wanted.items() <= c.items() for c in o.readings)
    ]
    assert lists
    assert all(values == lists[0] for values in lists)
    return lists[0]
