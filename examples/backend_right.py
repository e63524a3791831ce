"""AdaptiveAvgPool-8 in about ten lines of numpy: a backend that conforms."""

import numpy as np

from conformance import Unsupported


@np.errstate(all="ignore")  # the vectors hold NaN and overflow on purpose
def backend(operator, inputs, attributes):
    """Average each block of the input; the other operators are Unsupported, which is no failure."""
    if operator != "AdaptiveAvgPool-8":
        raise Unsupported(operator)
    data, sizes = inputs[0], inputs[1].tolist()
    if data.dtype.kind == "i" or not 3 <= data.ndim <= 5:
        raise ValueError(f"{data.dtype} data of {data.ndim} dimensions")
    result = np.empty((*data.shape[:2], *sizes), data.dtype)
    for place in np.ndindex(*sizes):
        axes = zip(place, data.shape[2:], sizes, strict=True)
        block = tuple(slice(i * d // o, -(-(i + 1) * d // o)) for i, d, o in axes)
        cells = data[(..., *block)].astype(np.float64)
        total = cells.sum(axis=tuple(range(2, data.ndim)))
        result[(..., *place)] = total / cells[0, 0].size
    return result
