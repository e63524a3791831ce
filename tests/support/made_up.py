"""Operators of documents that nobody wrote, each unlike the others in what it has and lacks."""

import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
from support.outside import OUTSIDE

from conformance.operators import (
    ALL_TYPES,
    AVERAGE,
    MAXIMUM,
    Attribute,
    Operator,
    Output,
    adaptive,
    registry,
    sliding,
)


def _whole(params):
    """Pool all cells of an axis in one window."""
    ones, zeros = (1,) * len(params.sizes), (0,) * len(params.sizes)
    return replace(params, kernel=params.sizes, strides=ones, pads_begin=zeros, pads_end=zeros)


KERNEL_ALONE = Operator(
    "KernelAlone",
    "Kernel Alone",
    AVERAGE,
    (Attribute("k", "kernel", "Attributes", least=1),),
    sliding(AVERAGE),
)
PLANES_OF_INTEGERS = replace(
    KERNEL_ALONE,
    name="PlanesOfIntegers",
    reduction=MAXIMUM,
    pipeline=sliding(MAXIMUM),
    outputs=(Output("output"),),
    axes=(2, 2),
    dtypes=("int8", "int16"),
)
ALL_REQUIRED = Operator(
    "AllRequired",
    "All Required",
    AVERAGE,
    (
        Attribute("size", "kernel", "Attributes", least=1),
        Attribute("hop", "strides", "Attributes", least=1),
        Attribute("pads", "pads", "Attributes"),
        Attribute("count", "include_pad", "Attributes", values={0: False, 1: True}),
        Attribute("up", "rounding", "Attributes", values={"DOWN": "floor", "UP": "ceil"}),
    ),
    sliding(AVERAGE),
    axes=(1, None),
    dtypes=ALL_TYPES,
)
UNUSUAL_DEFAULTS = Operator(
    "UnusualDefaults",
    "Unusual Defaults",
    AVERAGE,
    (
        Attribute("k", "kernel", "Attributes", default=3, least=1),
        Attribute("s", "strides", "Attributes", default=2, least=1),
        Attribute("begin", "pads_begin", "Attributes", default=0),
    ),
    sliding(AVERAGE),
    constants={"include_pad": False},
    axes=(3, 3),
    dtypes=("float16",),
)
ADAPTIVE_MAXIMUM = Operator(
    "AdaptiveMaximum",
    "Adaptive Maximum",
    MAXIMUM,
    (),
    adaptive(MAXIMUM),
    input_names=("data", "output_size"),
    dtypes=ALL_TYPES,
)
WHOLE_AVERAGE = Operator(
    "WholeAverage", "Whole Average", AVERAGE, (), sliding(AVERAGE, resolve=_whole)
)
WHOLE_MAXIMUM = Operator(
    "WholeMaximum",
    "Whole Maximum",
    MAXIMUM,
    (),
    sliding(MAXIMUM, resolve=_whole),
    axes=(1, None),
    dtypes=ALL_TYPES,
)


def _outside():
    """Return the operator of tests/outside."""
    sys.path.insert(0, str(OUTSIDE))
    try:
        from minimum_pool import MINIMUM_POOL  # noqa: PLC0415 - not on the path before
    finally:
        sys.path.remove(str(OUTSIDE))
    return MINIMUM_POOL


MINIMUM_POOL = _outside()
MADE_UP = {
    operator.name: operator
    for operator in (
        MINIMUM_POOL,
        KERNEL_ALONE,
        PLANES_OF_INTEGERS,
        ALL_REQUIRED,
        UNUSUAL_DEFAULTS,
        ADAPTIVE_MAXIMUM,
        WHOLE_AVERAGE,
        WHOLE_MAXIMUM,
    )
}


@contextmanager
def registered(*more):
    """Make them known, and more operators, as if a package were installed that adds them."""
    every = {**registry._operators(), **MADE_UP, **{operator.name: operator for operator in more}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_operators", lambda: every)
        patch.setattr(
            registry, "_clauses", getattr(registry._clauses, "__wrapped__", registry._clauses)
        )
        yield
