"""A norm whose exponent is always 2, like WebNN's l2Pool2d."""

from __future__ import annotations

from conformance.operators import (
    NORM,
    ROUNDINGS,
    Attribute,
    Example,
    Operator,
    Printed,
    sliding,
)

L2_POOL = Operator(
    name="Mine-l2Pool2d",
    document="Mine l2Pool2d",
    reduction=NORM,
    attributes=(
        Attribute("windowDimensions", "kernel", "MLPool2dOptions", default="sizes", least=1),
        Attribute("padding", "pads", "MLPool2dOptions", default=0, order="axes"),
        Attribute("strides", "strides", "MLPool2dOptions", default=1, least=1),
        Attribute("dilations", "dilations", "MLPool2dOptions", default=1, least=1),
        Attribute(
            "outputShapeRounding", "rounding", "MLPool2dOptions", default="floor", values=ROUNDINGS
        ),
    ),
    constants={"exponent": 2},
    pipeline=sliding(NORM),
    axes=(2, 2),
    dtypes=("float32", "float16"),
    examples=(
        Example(
            "webnn-baseline, l2Pool2d, 4x4",
            {"windowDimensions": [3, 3]},
            ("printed: attributes, data, output",),
            data=((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16)),
            pattern="printed",
            outputs=(
                Printed(
                    (
                        (20.639767440550294, 23.302360395462088),
                        (31.654383582688826, 34.51086785347479),
                    )
                ),
            ),
        ),
    ),
)
