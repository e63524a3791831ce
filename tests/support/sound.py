"""Odd but right backends: what a checker must never call a mismatch.

Each honours every base rule and differs from the plainest implementation in one way: the order and
type of its sums, how it divides, what it returns where nothing is defined, a disputed reading.
Windows and validation are the oracle's; arithmetic rounds after every operation, as an engine in
that type would, because numpy and ml_dtypes do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, Literal

import ml_dtypes
import numpy as np
from support.oracle import Array, Plan, WholeCaseUndefined, plan

# ---------------------------------------------------------------------------------------------
# Windows as index arrays


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """The windows of a case as arrays.

    `exponent` is that of a norm, 0 for others. Per axis: `cells` (outputs, longest window) indices
    of input cells, `inside` which of them count, `divisors` (outputs). For all axes: `divisor` and
    `empty` in the shape of the outputs.
    """

    average: bool
    exponent: int
    cells: list[Array]
    inside: list[Array]
    divisors: list[Array]
    divisor: Array
    empty: Array

    @staticmethod
    def of(planned: Plan) -> "Geometry":
        """Turn the windows of a plan into arrays."""
        cells, inside, divisors = [], [], []
        for axis, windows in enumerate(planned.axes):
            longest = max([1, *(len(w.inside) for w in windows)])
            padded = [[*w.inside, *[-1] * (longest - len(w.inside))] for w in windows]
            cells.append(np.array(padded))
            inside.append(cells[-1] >= 0)
            divisors.append(np.array(planned.divisors(axis)))
        counts = divisors if planned.average else [mask.sum(axis=1) for mask in inside]
        empty = reduce(np.multiply.outer, counts) == 0
        return Geometry(
            average=planned.average,
            exponent=planned.exponent,
            cells=cells,
            inside=inside,
            divisors=divisors,
            divisor=reduce(np.multiply.outer, divisors),
            empty=empty,
        )

    def gather(self, data: Array, fill: Any) -> Array:
        """Return the cells of each window, (N, C, *outputs, *window), `fill` outside the input."""
        axes = len(self.cells)
        index: list[Any] = [slice(None), slice(None)]
        counts = np.array(True)
        for axis, (cells, inside) in enumerate(zip(self.cells, self.inside, strict=True)):
            shape = [1] * (2 * axes)
            shape[axis], shape[axes + axis] = cells.shape
            index.append(cells.reshape(shape))
            counts = counts & inside.reshape(shape)
        gathered: Array = np.where(counts, data[tuple(index)], data.dtype.type(fill))
        return gathered


_GEOMETRIES: dict[Any, Geometry] = {}


def geometry(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    readings: Mapping[str, str],
) -> Geometry:
    """Return the windows of a case, remembered since many backends meet the same one.

    ValueError: invalid, or undefined as a whole.
    """
    sizes = tuple(inputs[1].tolist()) if len(inputs) > 1 else ()
    dtypes = tuple(array.dtype for array in inputs)
    key = (operator, inputs[0].shape, dtypes, sizes, repr(attributes), repr(readings))
    if key not in _GEOMETRIES:
        try:
            _GEOMETRIES[key] = Geometry.of(plan(operator, inputs, attributes, readings))
        except WholeCaseUndefined as error:
            raise ValueError(str(error)) from None
    return _GEOMETRIES[key]


# ---------------------------------------------------------------------------------------------
# Arithmetic: every operation rounds, and may flush


def flushed(values: Array) -> Array:
    """Return values with subnormals replaced by zero."""
    if values.dtype.kind in "iu":
        return values
    normal = ml_dtypes.finfo(values.dtype).smallest_normal  # type: ignore[no-untyped-call]
    return np.where(np.abs(values) < normal, values.dtype.type(0), values)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operations of one element type; `flushes` makes every subnormal result a zero."""

    flushes: bool = False

    def add(self, a: Array, b: Array) -> Array:
        """Return a + b, rounded."""
        return flushed(a + b) if self.flushes else a + b

    def multiply(self, a: Array, b: Array) -> Array:
        """Return a * b, rounded."""
        return flushed(a * b) if self.flushes else a * b

    def divide(self, a: Array, b: Array) -> Array:
        """Return a / b, rounded."""
        return flushed(a / b) if self.flushes else a / b


Order = Callable[[Arithmetic, Array], Array]
"""Sums the last axis."""


def sequential(on: Arithmetic, cells: Array) -> Array:
    """Add from the first cell to the last."""
    return reduce(on.add, np.moveaxis(cells, -1, 0))


def backwards(on: Arithmetic, cells: Array) -> Array:
    """Add from the last cell to the first."""
    return sequential(on, cells[..., ::-1])


def ascending(on: Arithmetic, cells: Array) -> Array:
    """Add from the smallest magnitude to the largest."""
    order = np.argsort(np.abs(cells).astype(np.float64), axis=-1)
    return sequential(on, np.take_along_axis(cells, order, axis=-1))


def pairwise(on: Arithmetic, cells: Array) -> Array:
    """Add the halves of a tree."""
    count = cells.shape[-1]
    if count == 1:
        return cells[..., 0]
    half = (count + 1) // 2
    return on.add(pairwise(on, cells[..., :half]), pairwise(on, cells[..., half:]))


def lanes(on: Arithmetic, cells: Array, *, width: int) -> Array:
    """Keep `width` accumulators, one per vector lane, and add them up at the end."""
    each = [cells[..., lane::width] for lane in range(min(width, cells.shape[-1]))]
    return reduce(on.add, [sequential(on, lane) for lane in each])


def kahan(on: Arithmetic, cells: Array) -> Array:
    """Carry the rounding error of each addition into the next."""
    total = np.zeros_like(cells[..., 0])
    lost = total
    for cell in np.moveaxis(cells, -1, 0):
        corrected = on.add(cell, -lost)
        raised = on.add(total, corrected)
        lost = on.add(on.add(raised, -total), -corrected)
        total = raised
    # infinities make the correction NaN; who compensates has to fall back
    return np.where(np.isfinite(total), total, sequential(on, cells))


Average = Callable[[Arithmetic, Array, Geometry], Array]
"""Averages gathered cells (N, C, *outputs, *window) to (N, C, *outputs), all in one type."""


def flat(cells: Array, geometry: Geometry) -> Array:
    """Return (N, C, *outputs, cells of the window)."""
    return cells.reshape(*cells.shape[: 2 + len(geometry.cells)], -1)


def sum_then_divide(
    on: Arithmetic, cells: Array, geometry: Geometry, *, order: Order = sequential
) -> Array:
    return on.divide(order(on, flat(cells, geometry)), geometry.divisor.astype(cells.dtype))


def reciprocal(on: Arithmetic, divisor: Array, dtype: Any) -> Array:
    """Return 1 / divisor, rounded."""
    return on.divide(np.ones((), dtype), divisor.astype(dtype))


def sum_times_reciprocal(
    on: Arithmetic, cells: Array, geometry: Geometry, *, order: Order = sequential
) -> Array:
    """Multiply the sum by a rounded 1/n."""
    factor = reciprocal(on, geometry.divisor, cells.dtype)
    return on.multiply(order(on, flat(cells, geometry)), factor)


def scaled_first(
    on: Arithmetic, cells: Array, geometry: Geometry, *, order: Order = sequential
) -> Array:
    """Multiply every cell by a rounded 1/n, then add: the weights of a convolution."""
    factor = reciprocal(on, geometry.divisor, cells.dtype)[..., np.newaxis]
    return order(on, on.multiply(flat(cells, geometry), factor))


def divided_first(
    on: Arithmetic, cells: Array, geometry: Geometry, *, order: Order = pairwise
) -> Array:
    """Divide every cell by n, then add."""
    divisor = geometry.divisor.astype(cells.dtype)[..., np.newaxis]
    return order(on, on.divide(flat(cells, geometry), divisor))


def fused(on: Arithmetic, cells: Array, geometry: Geometry) -> Array:
    """Add cell * (1/n) with one rounding; emulated in float64, so exact up to float32."""
    if cells.dtype == np.float64:
        return scaled_first(on, cells, geometry)
    factor = reciprocal(on, geometry.divisor, cells.dtype).astype(np.float64)
    total = np.zeros(cells.shape[: 2 + len(geometry.cells)], cells.dtype)
    for cell in np.moveaxis(flat(cells, geometry).astype(np.float64), -1, 0):
        total = (cell * factor + total.astype(np.float64)).astype(cells.dtype)
        total = flushed(total) if on.flushes else total
    return total


def separable(
    on: Arithmetic,
    cells: Array,
    geometry: Geometry,
    *,
    divide: Literal["each", "once", "by reciprocals", "before"],
    order: Order = sequential,
) -> Array:
    """Reduce one axis at a time, the last first, dividing as `divide` says.

    After each axis, by its count or the reciprocal of it; cells before each; or once at the end.
    """
    axes, dtype = len(geometry.cells), cells.dtype
    for axis in reversed(range(axes)):

        def along(numbers: Array, cells: Array, axis: int = axis) -> Array:
            return numbers.reshape([-1 if place == 2 + axis else 1 for place in range(cells.ndim)])

        count = geometry.divisors[axis]
        if divide == "before":
            cells = on.multiply(cells, along(reciprocal(on, count, dtype), cells))
        cells = order(on, cells)
        if divide == "each":
            cells = on.divide(cells, along(count.astype(dtype), cells))
        elif divide == "by reciprocals":
            cells = on.multiply(cells, along(reciprocal(on, count, dtype), cells))
    if divide == "once":
        cells = on.divide(cells, geometry.divisor.astype(dtype))
    return cells


Maximum = Callable[[Array], Array]
"""Takes the maximum of the last axis."""


def scanned(cells: Array) -> Array:
    """Keep the larger of two, or the NaN."""
    return reduce(np.maximum, np.moveaxis(cells, -1, 0))


def sorted_last(cells: Array) -> Array:
    """Sort and take the last: NaN sorts last."""
    return np.sort(cells, axis=-1)[..., -1]


def tree(cells: Array) -> Array:
    """Compare in pairs, then the winners."""
    while cells.shape[-1] > 1:
        if cells.shape[-1] % 2:
            cells = np.concatenate([cells, cells[..., -1:]], axis=-1)
        cells = np.maximum(cells[..., ::2], cells[..., 1::2])
    return cells[..., 0]


def ignoring_nan(cells: Array) -> Array:
    """Keep the larger number of two, a NaN only if both are."""
    return reduce(np.fmax, np.moveaxis(cells, -1, 0))


# ---------------------------------------------------------------------------------------------
# Backends


@dataclass(frozen=True)
class Sound:
    """A right backend; every field but the name is one way to be odd.

    `accumulator` is the narrowest type sums are kept in; "element" is the data's own. `flush` says
    where subnormals become zero; "everything" is inputs, every operation, and results.
    """

    name: str
    average: Average = sum_then_divide
    accumulator: Literal["element", "float32", "float64"] = "float64"
    maximum: Maximum = scanned
    readings: Mapping[str, str] = field(default_factory=dict)
    undefined: Literal["nan", "inf", "zero", "minus-zero", "lowest", "raises"] = "nan"
    flush: Literal["nothing", "inputs", "results", "everything"] = "nothing"
    refuses_wide_pads: bool = False
    finish: Callable[[Array], Array] = field(default=lambda result: result)

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute a case; ValueError where the attributes are invalid or nothing is defined."""
        if attributes.get("layout") == "nhwc":
            moved = [np.moveaxis(array, -1, 1) for array in inputs]
            return np.moveaxis(self(operator, moved, {**attributes, "layout": "nchw"}), 1, -1)
        windows = geometry(operator, inputs, attributes, self.readings)
        if self.refuses_wide_pads:
            refuse_wide_pads(attributes)
        if self.undefined == "raises" and windows.empty.any() and not windows.exponent:
            raise ValueError("a window holds nothing")
        with np.errstate(all="ignore"):
            return self.finish(self._compute(inputs[0], windows))

    def _compute(self, data: Array, windows: Geometry) -> Array:
        if self.flush in {"inputs", "everything"}:
            data = flushed(data)
        if windows.exponent:
            pool = self._norm
        else:
            pool = self._average if windows.average else self._maximum
        result = pool(data, windows).astype(data.dtype)
        if self.flush in {"results", "everything"}:
            result = flushed(result)
        if windows.empty.any() and not windows.exponent:  # the norm of nothing is 0
            result[..., windows.empty] = undefined_value(self.undefined, data.dtype)
        return result

    def _average(self, data: Array, windows: Geometry) -> Array:
        wide = np.dtype(data.dtype if self.accumulator == "element" else self.accumulator)
        wide = max(wide, data.dtype, key=lambda dtype: dtype.itemsize)
        on = Arithmetic(flushes=self.flush == "everything")
        return self.average(on, windows.gather(data, 0).astype(wide), windows)

    def _norm(self, data: Array, windows: Geometry) -> Array:
        """Scale by the largest cell, so that no power overflows."""
        cells = flat(windows.gather(np.abs(data.astype(np.float64)), 0), windows)
        largest = scanned(cells)
        scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
        total = sequential(Arithmetic(), (cells / scale[..., np.newaxis]) ** windows.exponent)
        return np.asarray(total ** (1 / windows.exponent) * scale)

    def _maximum(self, data: Array, windows: Geometry) -> Array:
        if data.dtype.kind in "iu":
            return self.maximum(flat(windows.gather(data, np.iinfo(data.dtype).min), windows))
        # float64 holds every floating-point type, and numpy sorts it
        wide = data.astype(np.float64)
        return self.maximum(flat(windows.gather(wide, -np.inf), windows))


def refuse_wide_pads(attributes: Mapping[str, Any]) -> None:
    """Raise ValueError for explicit pads as large as the kernel."""
    kernel = attributes.get("kernel", attributes.get("window_shape", []))
    names = ("pads_begin", "pads_end", "padding_below", "padding_above")
    if attributes.get("auto_pad", "explicit") == "explicit":
        for name in names:
            if any(p >= k for p, k in zip(attributes.get(name, []), kernel, strict=False)):
                raise ValueError(f"{name} must be smaller than the kernel")


def undefined_value(style: str, dtype: np.dtype[Any]) -> Any:
    """Return what a backend leaves where nothing is defined."""
    if dtype.kind in "iu":
        return 0 if "zero" in style else np.iinfo(dtype).min
    lowest = ml_dtypes.finfo(dtype).min  # type: ignore[no-untyped-call]
    values = {"nan": np.nan, "inf": np.inf, "zero": 0.0, "minus-zero": -0.0, "lowest": lowest}
    return dtype.type(values.get(style, 0.0))


def minus_zeros(result: Array) -> Array:
    """Return a result whose zeros are all negative."""
    return np.where(result == 0, -np.abs(result), result).astype(result.dtype)


def _arithmetic() -> list[Sound]:
    orders: dict[str, Order] = {
        "sequential": sequential,
        "backwards": backwards,
        "ascending": ascending,
        "pairwise": pairwise,
        "4 lanes": partial(lanes, width=4),
        "8 lanes": partial(lanes, width=8),
        "Kahan": kahan,
    }
    averages: dict[str, Average] = {
        **{f"{name} sum": partial(sum_then_divide, order=orders[name]) for name in orders},
        "sum times 1/n": sum_times_reciprocal,
        "sum of cell times 1/n": scaled_first,
        "sum of cell / n": divided_first,
        "fused cell times 1/n": fused,
        "separable, dividing per axis": partial(separable, divide="each"),
        "separable, dividing once": partial(separable, divide="once"),
    }
    wide = {
        "float32": ["sequential sum", "8 lanes sum", "Kahan sum", "sum of cell times 1/n",
                    "fused cell times 1/n", "separable, dividing per axis"],
        "float64": ["backwards sum"],
    }  # fmt: skip
    return [
        *(Sound(f"{name} in the element type", a, "element") for name, a in averages.items()),
        *(Sound(f"{name} in float32", averages[name], "float32") for name in wide["float32"]),
        *(Sound(f"{name} in float64", averages[name], "float64") for name in wide["float64"]),
    ]


def _readings() -> list[Sound]:
    others = {
        "same-output-size": ["same-as-input"],
        "same-never-crops": ["cropped-floor", "cropped-truncated"],
        "same-with-ceil": ["rounding-applied"],
        "ceil-window-past-input": ["dropped", "all-dropped"],
        "valid-rounds": ["ignored"],
        "overhang-divisor": ["whole-kernel"],
    }
    nan = {"nan-in-maximum": "ignored"}
    return [
        *(
            Sound(f"reading {name}={reading}", readings={name: reading})
            for name, readings in others.items()
            for reading in readings
        ),
        Sound("reading nan-in-maximum=ignored", maximum=ignoring_nan, readings=nan),
        Sound("reading pads-not-below-kernel=rejected", refuses_wide_pads=True),
        Sound(
            "the readings of OpenVINO",
            accumulator="float32",
            maximum=ignoring_nan,
            readings=nan
            | {"same-with-ceil": "rounding-applied", "overhang-divisor": "whole-kernel"},
        ),
        Sound(
            "the readings of PyTorch",
            readings={"ceil-window-past-input": "dropped"},
            refuses_wide_pads=True,
        ),
        Sound(
            "the readings of ONNX's text",
            readings={
                "same-never-crops": "cropped-floor",
                "ceil-window-past-input": "all-dropped",
                "valid-rounds": "ignored",
            },
        ),
    ]


def _others() -> list[Sound]:
    return [
        Sound("maximum by sorting", maximum=sorted_last),
        Sound("maximum by a tree", maximum=tree),
        Sound("undefined elements are inf", undefined="inf"),
        Sound("undefined elements are 0", undefined="zero"),
        Sound("undefined elements are -0", undefined="minus-zero"),
        Sound("undefined elements are the lowest value", undefined="lowest"),
        Sound("undefined elements raise", undefined="raises"),
        Sound("subnormal inputs are zero", flush="inputs"),
        Sound("subnormal results are zero", flush="results"),
        Sound("subnormals are zero everywhere", accumulator="element", flush="everything"),
        Sound(
            "subnormals are zero everywhere, sum of cell times 1/n",
            scaled_first,
            accumulator="element",
            flush="everything",
        ),
        Sound(
            "subnormals are zero everywhere, pairwise sum of cell / n",
            divided_first,
            accumulator="element",
            flush="everything",
        ),
        Sound(
            "subnormals are zero everywhere, separable, dividing per axis",
            partial(separable, divide="each"),
            accumulator="element",
            flush="everything",
        ),
        Sound(
            "subnormals are zero everywhere, maximum by a tree", maximum=tree, flush="everything"
        ),
        Sound("every zero is -0", finish=minus_zeros),
        Sound("outputs in Fortran order", finish=np.asfortranarray),
    ]


SOUND: list[tuple[str, Sound]] = [
    (sound.name, sound) for sound in (*_arithmetic(), *_readings(), *_others())
]
"""Every backend by what is odd about it."""
