"""A slow pooling oracle: plain loops over exact fractions, written from the documents alone.

It shares no code with the package, so that a mistake there cannot hide here. numpy and ml_dtypes
only carry values in and out. The clauses and readings are those of the project's list of rulings.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Exact = Fraction | Literal["nan", "inf", "-inf"]

READINGS: dict[str, tuple[str, ...]] = {
    "same-output-size": ("divided", "same-as-input"),
    "same-never-crops": ("clamped", "cropped-floor", "cropped-truncated"),
    "same-with-ceil": ("rounding-ignored", "rounding-applied"),
    "ceil-window-past-input": ("kept", "dropped", "all-dropped"),
    "ceil-torch-start": ("once", "repeatedly", "in-padding"),
    "valid-rounds": ("applied", "ignored"),
    "overhang-divisor": ("padded-extent", "whole-kernel"),
    "pads-with-auto-pad": (
        "ignored",
        "refused",
        "zeros-alone",
        "checked",
        "used",
        "used-or-refused",
    ),
    "nan-in-maximum": ("propagates", "ignored"),
    "index-of-ties": ("first", "last", "some"),
    "index-of-nan": ("first", "last", "some"),
    "column-major": ("spatial", "all"),
    "lp-overhang": ("cells", "whole-kernel"),
    "webnn-output-sizes-clear-padding": ("cleared", "kept"),
    "onnx-valid-floor": ("all-that-fit", "as-printed"),
}
"""The readings this oracle knows, the default first."""

FORMATS: dict[str, tuple[int, int, int]] = {
    "float16": (11, -24, 16),
    "bfloat16": (8, -133, 128),
    "float32": (24, -149, 128),
    "float64": (53, -1074, 1024),
}
"""Bits of precision, exponent of the smallest subnormal, exponent of the first power too large."""
ONNX_SINCE: dict[str, dict[str, int]] = {
    "AveragePool": {"count_include_pad": 7, "ceil_mode": 10, "dilations": 19},
    "MaxPool": {"storage_order": 8, "dilations": 10, "ceil_mode": 10},
    "LpPool": {"p": 1, "dilations": 18, "ceil_mode": 18},
}
"""The version of ONNX's documents in which an attribute came, of those that came later or are p."""
ONNX_VERSIONS: dict[str, tuple[int, ...]] = {
    "AveragePool": (1, 7, 10, 11, 19),
    "MaxPool": (1, 8, 10, 11, 12),
    "LpPool": (1, 2, 11, 18),
    "GlobalAveragePool": (1,),
    "GlobalMaxPool": (1,),
    "GlobalLpPool": (1, 2),
}
"""The versions before 22."""
FORMATS_OF_8_BITS: dict[str, tuple[int, int, int]] = {
    "float8_e4m3fn": (4, -9, 9),
    "float8_e5m2": (3, -16, 16),
}
"""The same of types of 8 bits. In the first, 480 is a NaN, and so is what is too large."""


class WholeCaseUndefined(Exception):  # noqa: N818 - a state of the case, not an error of the test
    """No element of the output is defined: any value, nothing, or an exception conforms."""


# ---------------------------------------------------------------------------------------------
# Geometry: which cells each output index reads, one axis at a time


@dataclass(frozen=True, slots=True)
class Window:
    """What one output index reads on one axis.

    `inside`: indices of the input cells. `padded`: how many of its cells lie inside input + pads.
    `whole`: how many cells it has at all.
    """

    inside: tuple[int, ...]
    padded: int
    whole: int


@dataclass(frozen=True, slots=True)
class Plan:
    """An operator with its attributes resolved: the windows of each axis, and what divides.

    `index_type` is that of the second output, "" if there is none; `index_axis` is the first axis
    that indices count, `column_major` says that they count the first axes fastest. `exponent` is
    that of a norm, 0 for what is no norm. `given` is a divisor that wins over what divides. A norm
    may weigh missing cells as the mean of those that exist.
    """

    average: bool
    axes: tuple[tuple[Window, ...], ...]
    divides: Literal["inside", "padded", "whole"] = "inside"
    index_type: str = ""
    index_axis: int = 0
    column_major: bool = False
    exponent: int = 0
    given: int = 0
    weighs_whole: bool = False

    def divisors(self, axis: int) -> list[int]:
        """Return the factor each window of `axis` contributes to the divisor."""
        if self.given:
            return [self.given if axis == 0 else 1] * len(self.axes[axis])
        return [
            {"inside": len(w.inside), "padded": w.padded, "whole": w.whole}[self.divides]
            for w in self.axes[axis]
        ]


@dataclass(frozen=True, slots=True)
class Axis:
    """The numbers that place the windows of one axis."""

    size: int
    kernel: int
    stride: int
    begin: int
    end: int
    extent: int
    dilation: int = 1

    def windows(self) -> tuple[Window, ...]:
        """Return the windows, the first at `-begin` in coordinates of the input."""
        windows = []
        for index in range(self.extent):
            first = index * self.stride - self.begin
            cells = [first + number * self.dilation for number in range(self.kernel)]
            windows.append(
                Window(
                    inside=tuple(c for c in cells if 0 <= c < self.size),
                    padded=sum(-self.begin <= c < self.size + self.end for c in cells),
                    whole=self.kernel,
                )
            )
        return tuple(windows)


def resolve_axis(
    size: int,
    kernel: int,
    stride: int,
    begin: int,
    end: int,
    mode: str,
    rounding: str,
    readings: Mapping[str, str],
    dilation: int = 1,
) -> Axis:
    """Resolve the pads and the output extent of one axis of a windowed operator."""

    def axis(extent: int) -> Axis:
        return Axis(size, kernel, stride, begin, end, extent, dilation)

    reach = 1 + dilation * (kernel - 1)  # "(kernel[0] - 1) * dilations[0] + 1"
    if mode == "valid":
        begin = end = 0
    if mode in ("same_upper", "same_lower"):
        as_input = readings["same-output-size"] == "same-as-input"
        extent = size if as_input else math.ceil(Fraction(size, stride))
        total = (extent - 1) * stride + reach - size
        if total < 0 and readings["same-never-crops"] == "clamped":
            total = 0
        truncates = readings["same-never-crops"] == "cropped-truncated"
        half = math.trunc(Fraction(total, 2)) if truncates else math.floor(Fraction(total, 2))
        begin, end = (half, total - half) if mode == "same_upper" else (total - half, half)
        rounds = rounding == "ceil" and readings["same-with-ceil"] == "rounding-applied"
        if as_input or not rounds:
            return axis(extent)
    free = size + begin + end - reach
    if free < 0:
        raise WholeCaseUndefined(f"kernel {kernel} is longer than the padded axis")
    if rounding == "floor" or (mode == "valid" and readings["valid-rounds"] == "ignored"):
        return axis(free // stride + 1)
    starts = [index * stride for index in range(math.ceil(Fraction(free, stride)) + 1)]
    return axis(len(starts) - dropped(starts, size + begin, end, mode, rounding, readings))


def dropped(
    starts: list[int],
    past: int,
    end: int,
    mode: str,
    rounding: str,
    readings: Mapping[str, str],
) -> int:
    """Return how many windows are left out at the end, of those that rounding up gives.

    `starts` and `past`, the first cell after the input, count from the begin of the padding.
    """
    beyond = [start for start in starts if start >= past]
    if rounding == "ceil_torch":
        reading = readings["ceil-torch-start"]
        if reading == "in-padding":
            return sum(start < past + end for start in beyond[-1:])
        return len(beyond) if reading == "repeatedly" else min(1, len(beyond))
    if mode not in ("explicit", "valid"):
        return 0  # under same_* it would undo `rounding-applied`
    most = {"kept": 0, "dropped": 1, "all-dropped": len(beyond)}
    return min(len(beyond), most[readings["ceil-window-past-input"]])


# ---------------------------------------------------------------------------------------------
# Attributes: what the documents allow


def require(condition: object, message: str) -> None:
    """Raise ValueError(message) unless the condition holds."""
    if not condition:
        raise ValueError(message)


def integers(attributes: Mapping[str, Any], name: str, count: int, least: int) -> list[int]:
    """Return a required list of `count` integers, each at least `least`."""
    require(name in attributes, f"{name} is required")
    values = attributes[name]
    require(isinstance(values, (list, tuple)), f"{name} is a list")
    require(len(values) == count, f"{name} has one value per spatial axis")
    require(all(type(v) is int for v in values), f"{name} holds integers")
    require(all(v >= least for v in values), f"{name} starts from {least}")
    return list(values)


def boolean(attributes: Mapping[str, Any], name: str) -> bool:
    """Return a required boolean."""
    require(name in attributes, f"{name} is required")
    require(type(attributes[name]) is bool, f"{name} is true or false")
    return bool(attributes[name])


def choice(attributes: Mapping[str, Any], name: str, allowed: Sequence[str]) -> str:
    """Return one of the `allowed` words, the first where the attribute is absent."""
    word = attributes.get(name, allowed[0])
    require(word in allowed, f"{name} is one of {allowed}")
    return str(word)


def known(attributes: Mapping[str, Any], names: str) -> None:
    """Refuse attributes the document does not have."""
    unknown = set(attributes) - set(names.split())
    require(not unknown, f"no such attributes: {sorted(unknown)}")


def plan(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> Plan:
    """Resolve a case to its windows.

    ValueError: attributes or inputs break the document. WholeCaseUndefined: nothing is defined.
    """
    read = {clause: names[0] for clause, names in READINGS.items()}
    for clause, reading in (readings or {}).items():
        if reading not in READINGS.get(clause, ()):
            raise LookupError(f"no reading {clause}={reading}")
        read[clause] = reading

    resolve = {
        "AvgPool-1": _openvino,
        "AvgPool-14": _openvino,
        "AvgPool-16": _openvino,
        "MaxPool-1": _openvino,
        "MaxPool-8": _openvino,
        "MaxPool-14": _openvino,
        "AdaptiveAvgPool-8": _adaptive,
        "AdaptiveMaxPool-8": _adaptive,
        "nGraph-AvgPool": _ngraph,
        "ONNX-AveragePool-22": _onnx,
        "ONNX-MaxPool-22": _onnx,
        "ONNX-LpPool-22": _onnx,
        "ONNX-GlobalAveragePool-22": _onnx_global,
        "ONNX-GlobalMaxPool-22": _onnx_global,
        "ONNX-GlobalLpPool-22": _onnx_global,
        **{
            f"ONNX-{kind}-{version}": _onnx_global if kind.startswith("Global") else _onnx
            for kind, versions in ONNX_VERSIONS.items()
            for version in versions
        },
        **{f"WebNN-{kind}Pool2d": _webnn for kind in ("average", "l2", "max")},
        **{f"PyTorch-{kind}_pool{r}d": _torch for kind in ("avg", "max") for r in (1, 2, 3)},
        **{f"PyTorch-lp_pool{r}d": _torch_norm for r in (1, 2, 3)},
        **{
            f"PyTorch-adaptive_{kind}_pool{r}d": _torch_adaptive
            for kind in ("avg", "max")
            for r in (1, 2, 3)
        },
    }.get(operator)
    if resolve is None:
        raise LookupError(f"no operator {operator}")
    return resolve(operator, inputs, attributes, read)


def _openvino(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """AvgPool-1, -14, -16 and MaxPool-1, -8, -14: Attributes, Inputs, Outputs."""
    average = operator.startswith("Avg")
    version = int(operator.partition("-")[2])
    require(len(inputs) == 1, "one input")
    require(3 <= inputs[0].ndim <= 5, "a 3D, 4D or 5D input")
    floating = average and version == 1
    require(not floating or inputs[0].dtype.name in FORMATS, "a floating-point input")
    sizes = inputs[0].shape[2:]
    names = "kernel strides pads_begin pads_end rounding_type auto_pad"
    names += " exclude_pad" if average else ""
    names += " dilations" if operator in ("AvgPool-16", "MaxPool-8", "MaxPool-14") else ""
    has_indices = operator in ("MaxPool-8", "MaxPool-14")
    names += " index_element_type axis" if has_indices else ""
    known(attributes, names)
    if "dilations" in attributes:
        dilations = integers(attributes, "dilations", len(sizes), 1)
    else:
        dilations = [1] * len(sizes)
    axis = attributes.get("axis", 0)
    require(type(axis) is int, "axis is an integer")
    require(-inputs[0].ndim <= axis < inputs[0].ndim, "axis is -R to R - 1")
    index_type = choice(attributes, "index_element_type", ["i64", "i32"])
    kernel = integers(attributes, "kernel", len(sizes), 1)
    strides = integers(attributes, "strides", len(sizes), 1)
    begins = integers(attributes, "pads_begin", len(sizes), 0)
    ends = integers(attributes, "pads_end", len(sizes), 0)
    exclude = not average or boolean(attributes, "exclude_pad")
    torch = ["ceil_torch"] if version >= 14 else []
    rounding = choice(attributes, "rounding_type", ["floor", "ceil", *torch])
    mode = choice(attributes, "auto_pad", ["explicit", "same_upper", "same_lower", "valid"])
    _refuse_undefined(inputs[0], average=average)
    # the example of valid with ceil settles it for the newer documents
    read = read if version == 1 else {**read, "valid-rounds": "applied"}
    axes = [
        resolve_axis(*numbers, mode, rounding, read, dilation)
        for *numbers, dilation in zip(sizes, kernel, strides, begins, ends, dilations, strict=True)
    ]
    any_pad = any(axis.begin or axis.end for axis in axes)
    whole = any_pad and read["overhang-divisor"] == "whole-kernel"
    return Plan(
        average=average,
        axes=tuple(axis.windows() for axis in axes),
        divides="inside" if exclude else "whole" if whole else "padded",
        index_type={"i64": "int64", "i32": "int32"}[index_type] if has_indices else "",
        index_axis=axis,
    )


def _ngraph(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """AvgPool of nGraph: Attributes and Formal definition."""
    require(len(inputs) == 1, "one input")
    require(inputs[0].ndim >= 3, "an input (N, C, d1, ..., dn) with n > 0")
    sizes = inputs[0].shape[2:]
    ones, zeros = [1] * len(sizes), [0] * len(sizes)
    defaults = {
        "window_movement_strides": ones,
        "padding_below": zeros,
        "padding_above": zeros,
        "include_padding_in_avg_computation": False,
    }
    known(attributes, " ".join(["window_shape", *defaults]))
    full = defaults | dict(attributes)
    window = integers(full, "window_shape", len(sizes), 1)
    strides = integers(full, "window_movement_strides", len(sizes), 1)
    below = integers(full, "padding_below", len(sizes), 0)
    above = integers(full, "padding_above", len(sizes), 0)
    include = boolean(full, "include_padding_in_avg_computation")
    _refuse_undefined(inputs[0], average=True)
    axes = [
        resolve_axis(*axis, "explicit", "floor", read)
        for axis in zip(sizes, window, strides, below, above, strict=True)
    ]
    return Plan(
        average=True,
        axes=tuple(axis.windows() for axis in axes),
        divides="whole" if include else "inside",
    )


def _onnx(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """AveragePool, MaxPool and LpPool of ONNX: Summary, Attributes."""
    kind, version = operator.split("-")[1], int(operator.split("-")[2])
    require(len(inputs) == 1, "one input")
    require(inputs[0].ndim >= 3, "an input (N x C x D1 x ... x Dn)")
    integer = ["int8", "uint8"] if kind == "MaxPool" and version >= 12 else []
    require(inputs[0].dtype.name in [*_onnx_floats(version), *integer], "a type of the constraints")
    sizes = inputs[0].shape[2:]
    own = {"AveragePool": "count_include_pad", "MaxPool": "storage_order", "LpPool": "p"}[kind]
    named = [name for name, since in ONNX_SINCE[kind].items() if since <= version]
    known(attributes, " ".join(["auto_pad kernel_shape pads strides", *named]))
    ones, zeros = [1] * len(sizes), [0] * len(sizes)
    full = {"strides": ones, "dilations": ones, "pads": 2 * zeros} | dict(attributes)
    is_open = (kind, version) == ("LpPool", 1) and "kernel_shape" not in attributes
    full |= {"kernel_shape": ones} if is_open else {}
    kernel = integers(full, "kernel_shape", len(sizes), 1)
    strides = integers(full, "strides", len(sizes), 1)
    dilations = integers(full, "dilations", len(sizes), 1)
    pads = integers(full, "pads", 2 * len(sizes), 0)
    flags = {name: attributes.get(name, 0) for name in ("ceil_mode", own)}
    exponent = _exponent(attributes, float if version == 1 else int) if own == "p" else 0
    for name, flag in flags.items():
        require(name == "p" or (type(flag) is int and flag in (0, 1)), f"{name} is 0 or 1")
    mode = choice(attributes, "auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    _refuse_undefined(inputs[0], average=kind == "AveragePool")
    if is_open:
        raise WholeCaseUndefined("no kernel, and no word of what it is then")
    # ceil(input_shape[i] / strides[i]) is printed for either ceil_mode; AveragePool and MaxPool
    # ignore windows that start in the right padding from 22 on
    read = {**read, "same-with-ceil": "rounding-ignored"}
    if not (kind == "LpPool" and version < 11):
        read["same-output-size"] = "divided"
    up = "ceil_torch" if kind != "LpPool" and version == 22 else "ceil"
    rounding = "floor" if mode.startswith("SAME") or not flags["ceil_mode"] else up
    word = {"NOTSET": "explicit"}.get(mode, mode.lower())
    begins, ends = pads[: len(sizes)], pads[len(sizes) :]
    axes = [
        resolve_axis(*numbers, word, rounding, read, dilation)
        for *numbers, dilation in zip(sizes, kernel, strides, begins, ends, dilations, strict=True)
    ]
    as_printed = (kind, version) == ("AveragePool", 11) and read["onnx-valid-floor"] == "as-printed"
    if as_printed and mode == "VALID" and not flags["ceil_mode"]:
        axes = [replace(axis, extent=(axis.size - axis.kernel + 1) // axis.stride) for axis in axes]
    if "pads" in attributes and mode != "NOTSET" and read["pads-with-auto-pad"].startswith("used"):
        rounding = up if flags["ceil_mode"] else "floor"
        clips = read["pads-with-auto-pad"] == "used"
        axes = [
            Axis(*numbers, 1, dilation)
            if clips and 1 + dilation * (numbers[1] - 1) > numbers[0] + numbers[3] + numbers[4]
            else resolve_axis(*numbers, "explicit", rounding, read, dilation)
            for *numbers, dilation in zip(
                sizes, kernel, strides, begins, ends, dilations, strict=True
            )
        ]
    any_pad = any(axis.begin or axis.end for axis in axes)
    whole = any_pad and read["overhang-divisor"] == "whole-kernel"
    counts = kind == "AveragePool" and flags[own]
    return Plan(
        average=kind == "AveragePool",
        axes=tuple(axis.windows() for axis in axes),
        divides=("whole" if whole else "padded") if counts else "inside",
        index_type="int64" if kind == "MaxPool" and version >= 8 else "",
        column_major=kind == "MaxPool" and flags[own] == 1,
        exponent=exponent,
    )


def _onnx_floats(version: int) -> list[str]:
    """Return the floating-point types: bfloat16 came with version 22."""
    return [name for name in FORMATS if name != "bfloat16" or version == 22]


def _torch(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """avg_pool and max_pool of one to three axes: the signatures, Args, Shape."""
    average, rank = "avg" in operator, int(operator[-2])
    require(len(inputs) == 1, "one input")
    require(inputs[0].ndim == rank + 2, "a batch, channels and the axes in the name")
    integer = [] if average else ["int8", "uint8", "int32", "int64"]
    require(inputs[0].dtype.name in [*FORMATS, *integer], "a type that torch pools")
    own = "count_include_pad" if average else "dilation"
    own += " divisor_override" if average and rank > 1 else ""
    known(attributes, f"kernel_size stride padding ceil_mode {own}")

    def numbers(name: str, least: int, default: list[int] | None) -> list[int]:
        return _for_all(attributes, name, rank, least, default)

    sizes = inputs[0].shape[2:]
    kernel = numbers("kernel_size", 1, None)
    strides = numbers("stride", 1, kernel) if attributes.get("stride", []) != [] else kernel
    padding = numbers("padding", 0, [0])
    require(all(2 * p <= k for p, k in zip(padding, kernel, strict=True)), "half a kernel at most")
    dilations = numbers("dilation", 1, [1])
    rounds_up = boolean({"ceil_mode": False} | dict(attributes), "ceil_mode")
    counts = boolean({"count_include_pad": True} | dict(attributes), "count_include_pad")
    given = attributes.get("divisor_override")
    require(given is None or (type(given) is int and given > 0), "a divisor above zero, or none")
    _refuse_undefined(inputs[0], average=average)
    read = {**read, "ceil-torch-start": "once"}
    rounding = "ceil_torch" if rounds_up else "floor"
    axes = [
        resolve_axis(d, k, s, p, p, "explicit", rounding, read, n)
        for d, k, s, p, n in zip(sizes, kernel, strides, padding, dilations, strict=True)
    ]
    return Plan(
        average=average,
        axes=tuple(axis.windows() for axis in axes),
        divides="padded" if counts else "inside",
        index_type="" if average else "int64",
        index_axis=2,
        given=given or 0,
    )


def _for_all(
    attributes: Mapping[str, Any], name: str, rank: int, least: int, default: list[int] | None
) -> list[int]:
    """Return a list of `rank` integers, of which one may stand for all."""
    value = attributes.get(name, default)
    require(value is not None, f"{name} is required")
    if type(value) is int:
        value = [value]
    if len(value) == 1:
        value = [*value] * rank
    return integers({name: value}, name, rank, least)


def _torch_norm(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """lp_pool of one to three axes: the signatures, Args, Shape."""
    rank = int(operator[-2])
    require(len(inputs) == 1, "one input")
    require(inputs[0].ndim == rank + 2, "a batch, channels and the axes in the name")
    require(inputs[0].dtype.name in FORMATS, "a type that torch pools")
    known(attributes, "norm_type kernel_size stride ceil_mode")
    require(type(attributes.get("norm_type")) is int, "norm_type is an integer here")
    sizes = inputs[0].shape[2:]
    alone = type(attributes.get("kernel_size")) is int or len(attributes["kernel_size"]) == rank
    require(alone, "of a kernel, one number for all axes is in no list")
    kernel = _for_all(attributes, "kernel_size", rank, 1, None)
    own = attributes.get("stride", []) != []
    strides = _for_all(attributes, "stride", rank, 1, kernel) if own else kernel
    rounds_up = boolean({"ceil_mode": False} | dict(attributes), "ceil_mode")
    p = attributes["norm_type"]
    _refuse_undefined(inputs[0], average=False)
    if not 1 <= p <= 1024:
        raise WholeCaseUndefined("no norm")
    if p % 2 and (inputs[0].astype(np.float64) < 0).any():
        raise WholeCaseUndefined("an odd power of a negative number")
    read = {**read, "ceil-torch-start": "once"}
    axes = [
        resolve_axis(d, k, s, 0, 0, "explicit", "ceil_torch" if rounds_up else "floor", read)
        for d, k, s in zip(sizes, kernel, strides, strict=True)
    ]
    whole = read["lp-overhang"] == "whole-kernel"
    windows = tuple(axis.windows() for axis in axes)
    return Plan(average=False, axes=windows, exponent=p, weighs_whole=whole)


def _torch_adaptive(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], _read: Mapping[str, str]
) -> Plan:
    """adaptive_avg_pool and adaptive_max_pool of one to three axes: Args."""
    average, rank = "avg" in operator, int(operator[-2])
    require(len(inputs) == 1, "one input")
    data = inputs[0]
    require(data.ndim == rank + 2, "a batch, channels and the axes in the name")
    require(data.dtype.name in FORMATS, "a floating-point input")
    known(attributes, "output_size")
    require("output_size" in attributes, "output_size is required")
    given = attributes["output_size"]
    extents = [given] * rank if type(given) is int else list(given)
    require(len(extents) == rank, "an output size for each axis")
    if rank > 1:
        extents = [d if o is None else o for d, o in zip(data.shape[2:], extents, strict=True)]
    require(all(type(o) is int and o >= 0 for o in extents), "output sizes are not negative")
    _refuse_undefined(data, average=average)
    if 0 in extents:
        raise WholeCaseUndefined("an output dimension is empty")
    return Plan(
        average=average,
        axes=tuple(_blocks(d, o) for d, o in zip(data.shape[2:], extents, strict=True)),
        index_type="" if average else "int64",
        index_axis=2,
    )


def _webnn(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """averagePool2d, l2Pool2d and maxPool2d: MLPool2dOptions, calculate conv output size."""
    kind = operator.removeprefix("WebNN-").removesuffix("Pool2d")
    require(len(inputs) == 1 and inputs[0].ndim == 4, "one input of rank 4")
    integer = ["int8", "uint8", "int32", "uint32", "int64", "uint64"] if kind == "max" else []
    require(inputs[0].dtype.name in ["float32", "float16", *integer], "a type that is listed")
    known(
        attributes,
        "windowDimensions padding strides dilations outputShapeRounding layout outputSizes",
    )
    choice(attributes, "layout", ["nchw", "nhwc"])  # cases have channels second in either
    sizes = inputs[0].shape[2:]
    full = {"windowDimensions": list(sizes), "padding": [0] * 4} | dict(attributes)
    full = {"strides": [1, 1], "dilations": [1, 1]} | full
    window = integers(full, "windowDimensions", 2, 1)
    padding = integers(full, "padding", 4, 0)
    strides = integers(full, "strides", 2, 1)
    dilations = integers(full, "dilations", 2, 1)
    rounding = choice(attributes, "outputShapeRounding", ["floor", "ceil"])
    _refuse_undefined(inputs[0], average=kind != "max")
    read = {**read, "ceil-window-past-input": "kept"}
    if "outputSizes" in attributes:
        given = integers(attributes, "outputSizes", 2, 1)
        spans = [(k - 1) * n + 1 for k, n in zip(window, dilations, strict=True)]

        def fits(pads: list[int]) -> bool:
            sums = (pads[0] + pads[1], pads[2] + pads[3])
            c = [
                Fraction(d - e + p, s) + 1
                for d, e, p, s in zip(sizes, spans, sums, strides, strict=True)
            ]
            return given in ([*map(math.floor, c)], [*map(math.ceil, c)])

        agree = {fits(padding), fits([0] * 4)}
        require(True in agree, "all floors, or all ceils")
        if agree != {True} or any(o >= s for o, s in zip(given, strides, strict=True)):
            raise WholeCaseUndefined("sizes that may be refused")
        if read["webnn-output-sizes-clear-padding"] == "cleared":
            padding = [0] * 4
    pads = (padding[:2], padding[2:])
    axes = [
        resolve_axis(d, k, s, begin, end, "explicit", rounding, read, n)
        for d, k, s, (begin, end), n in zip(sizes, window, strides, pads, dilations, strict=True)
    ]
    if "outputSizes" in attributes:
        axes = [replace(axis, extent=o) for axis, o in zip(axes, given, strict=True)]
    return Plan(
        average=kind == "average",
        axes=tuple(axis.windows() for axis in axes),
        exponent=2 if kind == "l2" else 0,
    )


def _onnx_global(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """Pool each plane as a whole."""
    kind, version = operator.split("-")[1], int(operator.split("-")[2])
    known(attributes, "p" if kind == "GlobalLpPool" else "")
    require(len(inputs) == 1, "one input")
    require(inputs[0].ndim >= 3, "an input (N x C x D1 x ... x Dn)")
    require(inputs[0].dtype.name in _onnx_floats(version), "a floating-point input")
    number = float if version == 1 else int
    exponent = _exponent(attributes, number) if kind == "GlobalLpPool" else 0
    _refuse_undefined(inputs[0], average=True)
    return Plan(
        average=kind == "GlobalAveragePool",
        axes=tuple((Window(tuple(range(d)), d, d),) for d in inputs[0].shape[2:]),
        exponent=exponent,
    )


def _exponent(attributes: Mapping[str, Any], number: type) -> int:
    exponent = attributes.get("p", number(2))
    require(type(exponent) is number, "p is an integer, or a float in version 1")
    if not 1 <= exponent <= 1024 or exponent != int(exponent):
        raise WholeCaseUndefined("p makes no norm, or powers that no type holds")
    return int(exponent)


def _adaptive(
    operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any], read: Mapping[str, str]
) -> Plan:
    """AdaptiveAvgPool-8 and AdaptiveMaxPool-8: Detailed description, Outputs."""
    average = operator == "AdaptiveAvgPool-8"
    require(len(inputs) == 2, "two inputs")
    data, sizes_out = inputs
    require(3 <= data.ndim <= 5, "a 3D, 4D or 5D input")
    # the example of AdaptiveAvgPool-8 has an output_type; the text gives it no meaning
    known(attributes, "output_type" if average else "index_element_type")
    index_type = choice(attributes, "index_element_type", ["i64", "i32"])
    require(sizes_out.dtype in (np.int32, np.int64), "output_size is int32 or int64")
    require(sizes_out.shape == (data.ndim - 2,), "output_size has one value per spatial axis")
    require(all(int(o) >= 0 for o in sizes_out), "output sizes are not negative")
    require(data.dtype.name in FORMATS, "a floating-point input")
    _refuse_undefined(data, average=average)
    if 0 in [int(o) for o in sizes_out]:
        raise WholeCaseUndefined("an output dimension is empty")
    return Plan(
        average=average,
        axes=tuple(_blocks(d, int(o)) for d, o in zip(data.shape[2:], sizes_out, strict=True)),
        index_type="" if average else {"i64": "int64", "i32": "int32"}[index_type],
        index_axis=2,
    )


def _blocks(size: int, extent: int) -> tuple[Window, ...]:
    """Return the windows of an axis that is divided into so many."""
    windows = []
    for index in range(extent):
        start = math.floor(Fraction(index * size, extent))
        stop = math.ceil(Fraction((index + 1) * size, extent))
        windows.append(Window(tuple(range(start, stop)), stop - start, stop - start))
    return tuple(windows)


def _refuse_undefined(data: Array, *, average: bool) -> None:
    if 0 in data.shape:
        raise WholeCaseUndefined("a dimension is empty")
    if average and data.dtype.name not in FORMATS:
        raise WholeCaseUndefined("the average of integers")


# ---------------------------------------------------------------------------------------------
# Values: exact mean, maximum, and one rounding to the element type


def exact_value(element: Any) -> Exact:
    """Return the exact value of one array element."""
    if isinstance(element, np.integer):
        return Fraction(int(element))
    value = float(element)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return Fraction(value)


def exact_mean(values: Sequence[Exact], divisor: int) -> Exact:
    """Return sum / divisor; NaN for any NaN or both infinities, else the infinity."""
    special = {v for v in values if not isinstance(v, Fraction)}
    if "nan" in special or special == {"inf", "-inf"}:
        return "nan"
    for infinity in special:
        return infinity
    return sum((v for v in values if isinstance(v, Fraction)), Fraction(0)) / divisor


def exact_maximum(values: Sequence[Exact]) -> Exact:
    """Return the largest value, NaN if there is one; a window has at least one cell."""
    if "nan" in values:
        return "nan"
    if "inf" in values:
        return "inf"
    finite = [v for v in values if isinstance(v, Fraction)]
    return max(finite) if finite else "-inf"


def power_sum(values: Sequence[Exact], p: int) -> Exact:
    """Return sum |x|**p; NaN for any NaN, else infinity for any infinity."""
    if "nan" in values:
        return "nan"
    finite = [abs(v) ** p for v in values if isinstance(v, Fraction)]
    return sum(finite, Fraction(0)) if len(finite) == len(values) else "inf"


def rounded_root(total: Exact, p: int, dtype: np.dtype[Any]) -> Any:
    """Return the p-th root of `total` rounded once to `dtype`, ties to even.

    No root is computed: powers of the numbers of the type, and of what lies midway between them,
    are compared with the total, by bisection.
    """
    if not isinstance(total, Fraction):
        return dtype.type(total)
    precision, lowest, too_large = FORMATS[dtype.name]

    def number(code: int) -> Fraction:
        """Return the code-th number of the type from zero, 2**too_large after the largest."""
        exponent, digits = divmod(code, 2 ** (precision - 1))
        if exponent == 0:
            return Fraction(digits) * Fraction(2) ** lowest
        return Fraction(2 ** (precision - 1) + digits) * Fraction(2) ** (lowest + exponent - 1)

    beyond = (too_large - (lowest + precision - 1) + 1) * 2 ** (precision - 1)
    assert number(beyond) == Fraction(2) ** too_large
    below, above = 0, beyond + 1  # the root is at least the first and below the second, or beyond
    while above - below > 1:
        middle = (below + above) // 2
        if number(middle) ** p <= total:
            below = middle
        else:
            above = middle
    if below < beyond:
        tie = ((number(below) + number(below + 1)) / 2) ** p
        if total > tie or (total == tie and below % 2 == 1):
            below += 1
    if below >= beyond:
        return dtype.type(math.inf)
    return dtype.type(float(number(below)))


def rounded(value: Exact, dtype: np.dtype[Any]) -> Any:
    """Return `value` rounded once to `dtype`, ties to even, as a scalar of that type."""
    if not isinstance(value, Fraction):
        return dtype.type(value)
    formats = FORMATS | FORMATS_OF_8_BITS
    if dtype.name not in formats:
        return dtype.type(int(value))
    precision, lowest, too_large = formats[dtype.name]
    if value == 0:
        return dtype.type(0.0)
    magnitude = abs(value)
    # the exponent e with 2**e <= magnitude < 2**(e + 1), found without floating point
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    spacing = max(exponent - (precision - 1), lowest)
    scaled = magnitude / Fraction(2) ** spacing
    units, rest = divmod(scaled.numerator, scaled.denominator)
    twice = Fraction(2 * rest, scaled.denominator)
    if twice > 1 or (twice == 1 and units % 2 == 1):
        units += 1
    sign = -1 if value < 0 else 1
    number = Fraction(units) * Fraction(2) ** spacing
    if dtype.name == "float8_e4m3fn" and number >= 480:
        return dtype.type(math.nan)
    if number >= Fraction(2) ** too_large:
        return dtype.type(sign * math.inf)
    return dtype.type(sign * math.ldexp(units, spacing))


# ---------------------------------------------------------------------------------------------
# The oracle


@dataclass(frozen=True, slots=True, eq=False)
class OracleResult:
    """The answer to a case, every array in the shape of the output.

    `expected`: correctly rounded, in the element type; 0 where undefined. `undefined`: bool.
    `addends`: non-zero addends of an average, 0 for a maximum, -1 where undefined. `divisor`: 1 for
    a maximum. `magnitude`: object array of Fraction, sum|x| / divisor; 0 for a maximum, where
    undefined, and where an addend is not finite. Of a norm, `divisor` is -p, the other two are
    those of a maximum, and `exact` is the power of the norm. `exact`: object array of Fraction,
    'nan', 'inf' or '-inf'; None where undefined. `indices`: the second output, None if there is
    none; -1 where it is undefined. `tied`: bool, where any of several cells may be chosen.
    """

    expected: Array
    undefined: Array
    addends: Array
    divisor: Array
    magnitude: Array
    exact: Array
    indices: Array | None = None
    tied: Array | None = None


def oracle(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str] | None = None,
) -> OracleResult:
    """Compute a case exactly.

    ValueError: attributes or inputs break the document. WholeCaseUndefined: nothing is defined.
    LookupError: no such operator or reading, a mistake in the test.
    """
    planned = plan(operator, inputs, attributes, readings)
    read = {clause: names[0] for clause, names in READINGS.items()} | dict(readings or {})
    ignores_nan = read["nan-in-maximum"] == "ignored"
    data = inputs[0]
    shape = (*data.shape[:2], *(len(windows) for windows in planned.axes))
    divisors = [planned.divisors(axis) for axis in range(len(planned.axes))]
    result = OracleResult(
        expected=np.zeros(shape, data.dtype),
        undefined=np.zeros(shape, bool),
        addends=np.zeros(shape, np.int64),
        divisor=np.ones(shape, np.int64),
        magnitude=np.full(shape, Fraction(0), object),
        exact=np.full(shape, None, object),
        indices=np.full(shape, -1, planned.index_type) if planned.index_type else None,
        tied=np.zeros(shape, bool) if planned.index_type else None,
    )
    for index in itertools.product(*map(range, shape)):
        batch, channel, *place = index
        reads = [planned.axes[axis][i].inside for axis, i in enumerate(place)]
        values = [exact_value(data[batch, channel, *cell]) for cell in itertools.product(*reads)]
        if planned.average:
            divisor = math.prod(divisors[axis][i] for axis, i in enumerate(place))
            result.divisor[index] = divisor
            result.undefined[index] = divisor == 0
        elif not planned.exponent:
            values = [v for v in values if not (ignores_nan and v == "nan")]
            result.undefined[index] = not values
        if result.undefined[index]:
            result.addends[index] = -1
            continue
        if planned.average:
            exact = exact_mean(values, divisor)
            result.addends[index] = sum(v != 0 for v in values)
            finite = [v for v in values if isinstance(v, Fraction)]
            if len(finite) == len(values):
                result.magnitude[index] = Fraction(sum(map(abs, finite)), divisor)
        elif planned.exponent:
            exact = power_sum(values, planned.exponent)
            if planned.weighs_whole and isinstance(exact, Fraction):
                whole = [planned.axes[axis][i].whole for axis, i in enumerate(place)]
                exact *= Fraction(math.prod(whole), len(values))
            result.exact[index] = exact
            result.expected[index] = rounded_root(exact, planned.exponent, data.dtype)
            result.divisor[index] = -planned.exponent
            continue
        else:
            exact = exact_maximum(values)
        result.exact[index] = exact
        result.expected[index] = rounded(exact, data.dtype)
        if result.indices is not None and result.tied is not None:
            windows = [planned.axes[axis][i] for axis, i in enumerate(place)]
            cells = [(batch, channel, *cell) for cell in itertools.product(*reads)]
            found = _indices(data, cells, windows, exact, planned, read)
            reading = read["index-of-nan" if exact == "nan" else "index-of-ties"]
            result.indices[index] = found[-1 if reading == "last" else 0]
            result.tied[index] = reading == "some" and len({*found}) > 1
    return result


def _indices(
    data: Array,
    cells: Sequence[tuple[int, ...]],
    windows: Sequence[Window],
    maximum: Exact,
    planned: Plan,
    read: Mapping[str, str],
) -> list[int]:
    """Return the indices of the cells that are the maximum, -1 where padding is as large."""
    lowest = Fraction(np.iinfo(data.dtype).min) if data.dtype.name not in FORMATS else "-inf"
    if maximum == lowest and any(len(window.inside) < window.whole for window in windows):
        return [-1]
    found = []
    for cell in cells:
        if exact_value(data[cell]) == maximum:
            index = 0
            numbers = list(zip(data.shape, cell, strict=True))[planned.index_axis % data.ndim :]
            if planned.column_major:
                kept = 2 if read["column-major"] == "spatial" else 0
                numbers[kept:] = reversed(numbers[kept:])
            for size, place in numbers:
                index = index * size + place
            found.append(index)
    return found


def array(values: Any, dtype: str = "float32") -> Array:
    """Return an array of an element type given by the suite's name."""
    return np.array(values, getattr(ml_dtypes, dtype, dtype))
