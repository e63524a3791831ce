"""PaddlePaddle's pooling functions on the CPU, as they are.

AvgPool-1 and nGraph-AvgPool are functional.avg_pool1d to 3d, MaxPool-1 is max_pool1d to 3d,
AdaptiveAvgPool-8 is adaptive_avg_pool1d to 3d. Pads are handed over as begin and end of every
axis, exclude-pad is `exclusive`, rounding_type is ceil_mode; same_upper and valid are the padding
words SAME and VALID. Paddle has no word for same_lower, which is unsupported; it refuses VALID with
ceil_mode, so that pads of zero stand for valid. Its CPU kernels are of float16, float32 and
float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends.windowed import Windowed, windowed
from conformance.errors import Unsupported
from conformance.vector import Array

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing paddle warns that ccache is not installed
    import paddle
    from paddle.nn import functional

_AVERAGE = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
_MAXIMUM = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)
_ADAPTIVE = (
    functional.adaptive_avg_pool1d,
    functional.adaptive_avg_pool2d,
    functional.adaptive_avg_pool3d,
)
_TYPES = ("float16", "float32", "float64")
_cpu = paddle.CPUPlace()


def backend(operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
    """Compute one case with one call of paddle; Unsupported says what it cannot express."""
    data = inputs[0]
    axes = data.ndim - 2
    if not 1 <= axes <= 3:
        if operator == "nGraph-AvgPool" and axes > 3:
            raise Unsupported(f"{axes} spatial axes: paddle pools over one to three")
        raise ValueError(f"{operator} of {data.ndim} dimensions")
    what = windowed(operator, attributes, axes)
    if data.dtype.name not in _TYPES:
        raise Unsupported(f"{data.dtype}: paddle has no CPU kernel of this type")
    tensor = paddle.to_tensor(data, place=_cpu)
    if what is None:
        result = _ADAPTIVE[axes - 1](tensor, _output_size(operator, inputs))
    else:
        what.check_lengths(axes)
        where = [list(what.kernel), list(what.strides), _padding(what)]
        if what.average:
            result = _AVERAGE[axes - 1](
                tensor, *where, exclusive=what.exclude_pad, ceil_mode=what.ceil
            )
        else:
            result = _MAXIMUM[axes - 1](tensor, *where, ceil_mode=what.ceil)
    values: Array = result.numpy()
    return values


def _padding(what: Windowed) -> Any:
    if what.auto_pad == "same_lower":
        raise Unsupported("same_lower: paddle's SAME puts the larger padding at the end")
    if what.auto_pad == "same_upper":
        return "SAME"
    if what.auto_pad == "valid":
        return [[0, 0]] * (2 + len(what.kernel)) if what.ceil else "VALID"
    pairs = zip(what.begin, what.end, strict=True)
    return [[0, 0], [0, 0], *([begin, end] for begin, end in pairs)]


def _output_size(operator: str, inputs: Sequence[Array]) -> Any:
    if operator != "AdaptiveAvgPool-8":
        raise Unsupported(f"operator {operator}")
    data, size = inputs
    if size.shape != (data.ndim - 2,) or size.dtype.kind != "i":
        raise ValueError(f"output_size={size.tolist()}: one integer per spatial axis")
    sizes = size.tolist()
    return sizes[0] if len(sizes) == 1 else sizes
