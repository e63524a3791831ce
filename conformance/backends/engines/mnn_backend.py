"""MNN's max_pool and avg_pool of its expressions, on the CPU, in float32.

They pool over two axes. same_upper and valid are the padding modes SAME and VALID, which leave
padding out of divisors; pads, alike at both ends, are those of the mode CAFFE, which counts them
and rounds up. What would be padded, rounded or divided in another way is unsupported, and so are
same_lower, dilations, adaptive pooling and norms. MNN has no indices: values are computed alone.
Inputs are copied into C order: strides are not passed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from MNN import expr

from conformance.backends.engines.engine import counterpart, known_operator
from conformance.errors import Unsupported
from conformance.operators import Pooling, pooling_of
from conformance.vector import Array

_POOLS = {"average": expr.avg_pool, "maximum": expr.max_pool}
_MODES = {"same_upper": expr.Padding_Mode.SAME, "valid": expr.Padding_Mode.VALID}


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case; Unsupported says what MNN cannot express."""
    data = inputs[0]
    definition = known_operator(operator)
    if definition.is_adaptive:
        raise Unsupported(f"operator {operator}: MNN has no adaptive pooling")
    pool = counterpart(definition, _POOLS)
    pooling = pooling_of(operator, inputs, attributes)
    if data.ndim != 4 or len(pooling.kernel) != 2 or len(pooling.strides) != 2:
        raise Unsupported("MNN pools over two spatial axes")
    if data.dtype != np.float32:
        raise Unsupported(f"{data.dtype}: MNN's expressions compute float32")
    if data.size == 0:
        raise Unsupported("an empty dimension: MNN reads no such variable")
    mode, pads = _padding(pooling)
    x = expr.const(np.ascontiguousarray(data), list(data.shape), expr.NCHW)
    # width comes first
    lists = (list(reversed(pooling.kernel)), list(reversed(pooling.strides)))
    y = pool(expr.convert(x, expr.NC4HW4), *lists, mode, list(reversed(pads)))
    return np.array(expr.convert(y, expr.NCHW).read())


def _padding(pooling: Pooling) -> tuple[Any, tuple[int, ...]]:
    """Return a padding mode and its pads; Unsupported where it means another thing."""
    params = pooling.params
    begin, end = pooling.pads_begin, pooling.pads_end
    counts = pooling.include_pad
    if params.auto_pad == "explicit" and any((*begin, *end)):
        if begin != end:
            raise Unsupported(f"pads {list(begin)} and {list(end)}: MNN pads both ends alike")
        if not params.ceil and _has_rest(pooling):
            raise Unsupported("rounding down with pads: MNN's mode CAFFE rounds up")
        mode, counted = expr.Padding_Mode.CAFFE, True
    else:
        word = "valid" if params.auto_pad == "explicit" else params.auto_pad
        if word not in _MODES:
            raise Unsupported(f"auto_pad={word}: MNN has SAME and VALID")
        if pooling.ceil_matters:
            raise Unsupported("rounding up without pads: MNN's mode VALID rounds down")
        mode, counted, begin = _MODES[word], False, (0, 0)
    if pooling.reduction == "average" and counts != counted and pooling.include_pad_matters:
        raise Unsupported(f"include_pad={counts}: MNN's padding mode decides it")
    return mode, begin


def _has_rest(pooling: Pooling) -> bool:
    """Say whether the last window of an axis ends before its padding does."""
    axes = zip(
        pooling.params.sizes, pooling.kernel, pooling.strides, pooling.pads_begin, strict=True
    )
    return any(s < 1 or (d + 2 * begin - k) % s for d, k, s, begin in axes)
