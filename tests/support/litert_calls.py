"""A call of LiteRT's pools: two rows of integers, in halves of two columns."""

import numpy as np

ROWS = np.array([[0, -24, 8, 16], [12, 8, -40, 28]]).reshape(1, 2, 4, 1)
HALVES = {
    "padding": "VALID",
    "filter_height": 2,
    "filter_width": 2,
    "stride_h": 2,
    "stride_w": 2,
    "fused_activation_function": "NONE",
}
