"""TensorFlow's pooling on the CPU, and the adaptive pooling of Keras with it.

A window is tf.nn.avg_pool1d to 3d or max_pool1d to 3d, where it dilates tf.nn.pool, and where
indices are asked for max_pool_with_argmax. An adaptive operator is keras.ops.adaptive_average_pool
or adaptive_max_pool. same_upper and valid are the padding words SAME and VALID; explicit pads are
handed over to a maximum of one or two axes, and zeros stand for VALID elsewhere.

TensorFlow has no word for same_lower, rounds down, leaves padding out of divisors, and dilates with
strides of 1 and without padding: the rest is unsupported, and so are norms. Its CPU kernels take
channels last, so that data are transposed, and it counts indices with the channel innermost: they
are computed for two axes and one channel, without pads of numbers, values alone elsewhere. A
gradient is that of tf.GradientTape, through the same call. Tensors have no strides: inputs are
copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from conformance.backends.engines.engine import (
    adaptive_params,
    counterpart,
    for_axes,
    forward_of,
    has_counted_indices,
    known_operator,
    of_axes,
    output_sizes,
    pad_pairs,
    padding_word,
)
from conformance.errors import Unsupported
from conformance.operators import Operator, Params, pooling_of
from conformance.operators.pooling import Pooling
from conformance.vector import Array, Outputs

_SLIDING = {"average": for_axes(tf.nn, "avg_pool"), "maximum": for_axes(tf.nn, "max_pool")}
_ADAPTIVE = {
    "average": (keras.ops.adaptive_average_pool,) * 3,
    "maximum": (keras.ops.adaptive_max_pool,) * 3,
}
_NO_KERNEL = ("Could not find device for node", "is not in the list of allowed values")


def backend(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
) -> Array | Outputs:
    """Compute one case with one call of TensorFlow; Unsupported says what it cannot express."""
    definition, own, gradient = forward_of(known_operator(operator), inputs)
    data = own[0]
    pools = counterpart(definition, _ADAPTIVE if definition.is_adaptive else _SLIDING)
    pool = of_axes(pools, data.ndim - 2, "TensorFlow")
    if definition.is_adaptive:
        adaptive_params(definition, own, attributes)
        sizes = tuple(output_sizes(own[1], data.ndim - 2))
        return _called(pool, data, gradient, output_size=sizes, data_format="channels_last")
    pooling = pooling_of(definition.name, own, attributes, takes=("dilations", "ceil_torch"))
    padding = _padding(pooling)
    if set(pooling.dilations) - {1}:
        return _dilated(data, gradient, pooling, padding)
    window = {"ksize": pooling.kernel, "strides": pooling.strides, "padding": padding}
    counted = _counted(definition, pooling.params, data) if gradient is None else {}
    if isinstance(padding, str) and counted:
        return _called(tf.nn.max_pool_with_argmax, data, None, **window, **counted)
    return _called(pool, data, gradient, **window)


def _dilated(
    data: Array, gradient: Array | None, pooling: Pooling, padding: Any
) -> Array | Outputs:
    if padding != "VALID" or set(pooling.strides) - {1}:
        raise Unsupported("dilations with pads or strides: tf.nn.pool does not implement them")
    return _called(
        tf.nn.pool,
        data,
        gradient,
        window_shape=pooling.kernel,
        pooling_type="MAX" if pooling.reduction == "maximum" else "AVG",
        strides=pooling.strides,
        padding=padding,
        dilations=pooling.dilations,
    )


def _padding(pooling: Pooling) -> Any:
    """Return a padding word, or pads for each axis of the data."""
    if word := padding_word(pooling, "TensorFlow"):
        return word
    pairs = pad_pairs(pooling.params)
    if pooling.reduction == "average" or len(pairs) > 2:
        raise Unsupported("explicit pads: TensorFlow has them for maxima of one or two axes")
    return [(0, 0), *pairs, (0, 0)]


def _counted(operator: Operator, params: Params, data: Array) -> dict[str, Any]:
    """Return how max_pool_with_argmax counts as a case asks, empty if it does not."""
    if data.ndim != 4 or data.shape[1] != 1:
        return {}
    for axis in (0, 2):
        dtype = params.index_type
        if has_counted_indices(operator, params, data.shape, axis=axis, dtype=dtype):
            return {"output_dtype": tf.dtypes.as_dtype(dtype), "include_batch_in_index": axis == 0}
    return {}


def _called(pool: Any, data: Array, gradient: Array | None, **options: Any) -> Array | Outputs:
    """Call a function for channels-last data, or differentiate it with the gradient of its output.

    Unsupported without a kernel of their type.
    """
    try:
        with tf.device("CPU"), tf.GradientTape() as tape:
            tensor = _channels_last(data)
            tape.watch(tensor)
            result = pool(tensor, **options)
        if gradient is not None:
            with tf.device("CPU"):
                result = tape.gradient(result, tensor, _channels_last(gradient))
    except (TypeError, tf.errors.OpError) as refusal:
        if any(text in str(refusal) for text in _NO_KERNEL):
            raise Unsupported(f"{data.dtype}: TensorFlow has no CPU kernel of this type") from None
        raise
    if isinstance(result, tuple):
        values, indices = (np.moveaxis(output.numpy(), -1, 1) for output in result)
        return values, indices
    return np.moveaxis(np.asarray(result), -1, 1)


def _channels_last(data: Array) -> Any:
    return tf.constant(np.ascontiguousarray(np.moveaxis(data, 1, -1)))
