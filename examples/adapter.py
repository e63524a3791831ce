"""A starting adapter: put a call of your engine in place of the lines from `padded` on."""

import numpy as np

from conformance import Unsupported, pooling_of


@np.errstate(all="ignore")  # the vectors hold NaN and overflow on purpose
def backend(operator, inputs, attributes):
    """Answer one call; what this engine lacks is Unsupported, which is no failure."""
    if operator.endswith("-backward"):
        raise Unsupported("gradients")
    pooling, data = pooling_of(operator, inputs, attributes, takes=("channels_last",)), inputs[0]
    if pooling.channels_last:  # leave this out where your engine has them last, too
        data = np.moveaxis(data, -1, 1)
    if pooling.reduction == "norm" or pooling.ceil_matters:
        raise Unsupported("norms, ceil")
    if data.dtype.kind in "iu" or data.ndim > 5:
        raise Unsupported("integers, more than three axes")
    average, axes = pooling.reduction == "average", tuple(range(2, data.ndim))
    pads = [(0, 0), (0, 0), *zip(pooling.pads_begin, pooling.pads_end, strict=True)]
    steps = [slice(None, None, stride) for _, stride in zip(axes, pooling.strides, strict=True)]
    if min(pooling.kernel + pooling.strides) < 1:
        raise ValueError("this engine takes numbers above 0")
    padded = np.pad(data.astype(np.float64), pads, constant_values=0 if average else -np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, pooling.kernel, axes)
    reduced = tuple(range(-len(axes), 0))
    windows = windows[(..., *steps, *(slice(None) for _ in axes))]
    result = windows.sum(reduced) / pooling.divisor if average else windows.max(reduced)
    return np.moveaxis(result, 1, -1 if pooling.channels_last else 1).astype(data.dtype)
