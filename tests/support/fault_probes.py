"""A few hundred varied vectors to try faults on."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from conformance import open_vectors
from conformance.diagnosis.features import weight
from conformance.operators import OPERATORS, vector_of
from conformance.operators.params import attributes_of
from conformance.vector import Case, Vector
from conformance.vectorfile import shipped_suite

_MOST = 1400
_LARGEST = 1500


@cache
def _shipped(operator: str) -> tuple[Vector, ...]:
    # Those of an older version are among those of the newest, which are found where all are.
    own = shipped_suite() / f"{operator}.h5"
    with open_vectors(own if own.exists() else None, operator) as files:
        (file,) = files
        return tuple(file)[:: -(-len(file) // _MOST)]  # to go on is faster than to pick


def probes(operator: str) -> list[Case]:
    """Return shipped cases of one operator, as many as are quickly tried, and what they lack."""
    return [*(v.case for v in _shipped(operator)), *_more(operator), *_sized(operator)]


@cache
def _small(operator: str) -> list[Vector]:
    # Expected values of large cases take seconds.
    further = (*_more(operator), *_sized(operator))
    small = [case for case in further if sum(each.size for each in case.inputs) <= _LARGEST]
    vectors = (*_shipped(operator), *map(vector_of, small))
    return [vector for vector in vectors if weight(vector) <= _LARGEST]


def light_probes(*operators: str) -> list[Vector]:
    """Return half of the small vectors of some operators, or of all; all invalid ones, and ours."""
    small = [vector for name in operators or OPERATORS for vector in _small(name)]
    return [
        v for i, v in enumerate(small) if i % 2 or "invalid" in v.case.tags or not v.case.pattern
    ]


_LARGE = {
    "batch-of-41-channels": (2, 41, 1),
    "many-planes": (257, 257, 1),
    "many-rows-of-all-planes": (1, 2, 32769, 1),
    "33-slices": (1, 1, 33, 1, 2),
    "65-slices": (1, 1, 65, 1, 2),
    "513-rows": (1, 1, 513, 2),
    "rows-of-41": (1, 1, 80, 41),
    "large-planes": (1, 2, 257, 256),
    "large-batches": (2, 2, 257, 128),
}
"""Shapes in which one dimension is large."""
_NAN = {"negative": 0xFFC00000, "with-payload": 0x7FC00001}
"""Bits of float32."""


def _sized(operator: str) -> Iterator[Case]:
    """Yield cases of some sizes, kernels and special values, for operators of all kinds."""
    for name, shape in _LARGE.items():
        yield _case(name, operator, _data(shape), [1] * (len(shape) - 2), shape[2:])
    yield _case("window-of-1025", operator, _data((1, 1, 1025)), [1025], [1])
    numbers = {"1-and-12": (1, 12), "11-and-2": (11, 2)}  # read the same without a separator
    for name, kernel in numbers.items():
        yield _case(name, operator, _data((1, 1, 12, 12)), kernel, kernel)
    for name, bits in _NAN.items():
        cells = np.array([[[bits, 0x3F800000, 0x7FC00000]]], np.uint32).view(np.float32)
        yield _case(f"nan-{name}", operator, cells, [2], [2])
    for name, first in (("nan", np.nan), ("number", 1)):
        cells = np.array([[[first, 1 + 2**-40]]])
        yield _case(f"{name}-in-one-output", operator, cells, [2], [1])
    if operator == "MaxPool-1":
        for name, value in (("lowest", np.finfo(np.float32).min), ("minus-infinity", -np.inf)):
            cells = np.full((1, 1, 3), value, np.float32)
            yield _case(name, operator, cells, [3], [], strides=[2])
        cells = np.array([[[np.nan, 1]]])
        yield _case("nan-in-padded-window", operator, cells, [3], [], pads_begin=[1], pads_end=[1])


def _case(
    name: str,
    operator: str,
    data: np.ndarray,
    kernel: Sequence[int],
    output: Sequence[int],
    **others: Sequence[int],
) -> Case:
    """Return a case of some kernel or, of an adaptive operator, output size."""
    definition, axes = OPERATORS[operator], data.ndim - 2
    if definition.is_adaptive:
        return Case(name, operator, {}, (data, np.array(output)))
    meanings = {
        "kernel": list(kernel),
        "strides": [1] * axes,
        "pads_begin": [0] * axes,
        "pads_end": [0] * axes,
        "include_pad": False,
        **others,
    }
    return Case(name, operator, attributes_of(definition.attributes, meanings), (data,))


def _more(operator: str) -> list[Case]:
    """Return cases of kinds the sweep has none of."""
    if operator == "AdaptiveAvgPool-8":
        return [
            _adaptive("one-long-block", (1, 1, 301), [1]),
            _adaptive("49-to-49", (1, 1, 49), [49]),
            _adaptive("blocked-channels", (1, 16, 5), [2], "float16"),
            _adaptive("blocked-channels-float32", (1, 16, 5), [2]),
            _adaptive("tail-of-channels", (1, 11, 4), [2]),
            Case("five-axes", operator, {}, (_data((1, 1, 2, 2, 2, 2)), np.array([1, 2, 1, 2]))),
        ]
    attributes = {
        "kernel": [1] * 4,
        "strides": [1] * 4,
        "pads_begin": [0] * 4,
        "pads_end": [0] * 4,
    }
    one = {key: value[:1] for key, value in attributes.items()}
    flag = {} if operator == "MaxPool-1" else {"exclude_pad": True}
    padded = one | {"pads_begin": [1], "pads_end": [1]}
    padded |= {"exclude_pad": False} if operator == "AvgPool-1" else {}
    if operator == "nGraph-AvgPool":
        broken = {"window_shape": [2], "include_padding_in_avg_computation": "yes"}
        return [Case("flag-of-text", operator, broken, (_data((1, 1, 4)),))]
    found = [
        Case("four-axes", operator, attributes | flag, (_data((1, 1, 2, 2, 2, 2)),)),
        Case(
            "one-long-window",
            operator,
            one | flag | {"kernel": [300]},
            (np.arange(301, dtype=np.float32).reshape(1, 1, 301),),
        ),
        # Kernels that differ and strides that do not, and the reverse.
        _pool("kernel-differs", operator, [2, 3], [2, 2], flag),
        _pool("strides-differ", operator, [2, 2], [1, 2], flag),
        Case("kernel-one-with-pads", operator, padded, (_data((1, 1, 4)),)),
        Case(
            "eleven-channels",
            operator,
            one | flag | {"kernel": [2]},
            (_data((1, 11, 4)),),
        ),
    ]
    if operator == "MaxPool-1":
        cells = _data((1, 1, 11))
        cells[..., ::5] = np.nan
        found.append(Case("nan-up-to-the-tail", operator, one | {"kernel": [2]}, (cells,)))
    if operator == "AvgPool-1":
        found += [
            Case("integers", operator, one | flag, (_data((1, 1, 4)).astype(np.int32),)),
            Case("flag-of-text", operator, one | {"exclude_pad": "yes"}, (_data((1, 1, 4)),)),
        ]
    return found


def _pool(name: str, operator: str, kernel: list[int], strides: list[int], flag: dict) -> Case:
    attributes = {"kernel": kernel, "strides": strides, "pads_begin": [0, 0], "pads_end": [0, 0]}
    return Case(name, operator, attributes | flag, (_data((1, 1, 5, 6)),))


def _adaptive(name: str, shape: tuple[int, ...], size: list[int], dtype: str = "float32") -> Case:
    return Case(name, "AdaptiveAvgPool-8", {}, (_data(shape, dtype), np.array(size)))


def _data(shape: tuple[int, ...], dtype: str = "float32"):
    """Return numbers that all differ, of both signs."""
    values = np.arange(1, np.prod(shape) + 1) * np.where(np.arange(np.prod(shape)) % 3, 1, -1)
    return values.reshape(shape).astype(dtype)
