"""Odd but right backends of gradients: what a checker must never call a mismatch.

Each differs from the plainest one in a way: the type and order of its sums, how it divides, how it
computes the derivative of a norm, which of equal maxima it chooses. Windows and validation are the
oracle's; arithmetic rounds after every operation.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.oracle import Array, Plan, WholeCaseUndefined, plan

from conformance.vector import BACKWARD

Cell = tuple[int, ...]
Sum = Callable[[list[Any]], Any]


def forwards(terms: list[Any]) -> Any:
    """Add terms one after the other."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def backwards(terms: list[Any]) -> Any:
    """Add terms from the last to the first."""
    return forwards(terms[::-1])


def pairwise(terms: list[Any]) -> Any:
    """Add the sums of both halves."""
    middle = len(terms) // 2
    return pairwise(terms[:middle]) + pairwise(terms[middle:]) if middle else terms[0]


@dataclass(frozen=True, slots=True)
class SoundGradient:
    """A gradient in arithmetic of a type: of the data, or "float32" at least, or "float64".

    `reciprocal` multiplies by a rounded 1 / divisor; `by_axis` divides by the factors of a divisor.
    `norm` says how a derivative is computed; of norms that `weigh_whole` kernels, it is that of a
    mean. Others name readings.
    """

    name: str
    type: str = "wider"
    sum: Sum = forwards
    reciprocal: bool = False
    by_axis: bool = False
    norm: str = "quotient"
    ties: str = "first"
    masks: bool = False
    weigh_whole: bool = False

    def __call__(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Array:
        """Compute one case; ValueError where the gradient is of another shape."""
        if attributes.get("layout") == "nhwc":
            moved = [np.moveaxis(array, -1, 1) for array in inputs]
            return np.moveaxis(self(operator, moved, {**attributes, "layout": "nchw"}), 1, -1)
        gradient, data = inputs[0], inputs[1]
        read = {"lp-overhang": "whole-kernel"} if self.weigh_whole else {}
        try:
            planned = plan(operator.removesuffix(BACKWARD), list(inputs[1:]), attributes, read)
        except WholeCaseUndefined as error:
            raise ValueError("nothing to pool") from error
        if gradient.shape != (*data.shape[:2], *map(len, planned.axes)):
            raise ValueError(f"a gradient of shape {gradient.shape}")
        scalar = self._type(data.dtype)
        given: dict[Cell, list[Any]] = {}
        with np.errstate(all="ignore"):
            for index in itertools.product(*map(range, gradient.shape)):
                places = list(enumerate(index[2:]))
                reads = [planned.axes[axis][i].inside for axis, i in places]
                cells = [(*index[:2], *cell) for cell in itertools.product(*reads)]
                divisors = [planned.divisors(axis)[i] for axis, i in places]
                g = scalar(gradient[index])
                values = [scalar(data[cell]) for cell in cells]
                if not cells:
                    continue
                if planned.average:
                    terms = [self._divided(g, divisors, scalar)] * len(cells)
                elif planned.exponent:
                    whole = math.prod(planned.axes[axis][i].whole for axis, i in places)
                    terms = self._of_norm(operator, planned, whole, values, g, scalar)
                else:
                    terms = self._of_maximum(values, g, scalar)
                for cell, term in zip(cells, terms, strict=True):
                    given.setdefault(cell, []).append(term)
            result = np.zeros(data.shape, data.dtype)
            for cell, terms in given.items():
                result[cell] = self.sum(terms)
        return result

    def _type(self, dtype: np.dtype[Any]) -> Any:
        if self.type == "element-type":
            return dtype.type
        return np.float64 if self.type == "float64" or dtype == np.float64 else np.float32

    def _divided(self, g: Any, divisors: list[int], scalar: Any) -> Any:
        for divisor in divisors if self.by_axis else [math.prod(divisors)]:
            g = g * (scalar(1) / scalar(divisor)) if self.reciprocal else g / scalar(divisor)
        return g

    def _of_norm(
        self, operator: str, planned: Plan, whole: int, values: list[Any], g: Any, scalar: Any
    ) -> list[Any]:
        if operator.startswith("PyTorch-") and not any(values):
            return [scalar(0)] * len(values)  # as its document says
        if planned.weighs_whole:
            return _of_mean(values, g, planned.exponent, scalar, whole)
        return _OF_NORM[self.norm](values, g, planned.exponent, scalar)

    def _of_maximum(self, values: list[Any], g: Any, scalar: Any) -> list[Any]:
        largest = float(np.max([float(value) for value in values]))
        tied = [
            i
            for i, value in enumerate(values)
            if float(value) == largest or (math.isnan(largest) and math.isnan(float(value)))
        ]
        chosen = {"first": tied[:1], "last": tied[-1:]}.get(self.ties, tied)
        share = g / scalar(len(chosen)) if self.ties == "shared" else g
        others = scalar(0) * g if self.masks else scalar(0)
        return [share if i in chosen else others for i in range(len(values))]


def _quotient(values: list[Any], g: Any, p: int, scalar: Any) -> list[Any]:
    """Divide by the power of the norm."""
    norm = scalar(sum((abs(x) ** scalar(p) for x in values), scalar(0)) ** scalar(1 / p))
    return [g * np.sign(x) * abs(x) ** scalar(p - 1) / norm ** scalar(p - 1) for x in values]


def _chain(values: list[Any], g: Any, p: int, scalar: Any) -> list[Any]:
    """Apply the rules of the root, of the sum and of the power, one after the other."""
    total = scalar(sum((abs(x) ** scalar(p) for x in values), scalar(0)))
    of_sum = g * (scalar(1 / p) * total ** scalar(1 / p - 1))
    return [of_sum * (scalar(p) * abs(x) ** scalar(p - 1)) * np.sign(x) for x in values]


def _of_mean(values: list[Any], g: Any, p: int, scalar: Any, whole: int) -> list[Any]:
    """Apply the rules of the root, of a product with the cells of a kernel and of a mean."""
    count = scalar(len(values))
    mean = scalar(sum((abs(x) ** scalar(p) for x in values), scalar(0))) / count
    of_mean = g * (scalar(1 / p) * (mean * scalar(whole)) ** scalar(1 / p - 1)) * scalar(whole)
    of_sum = of_mean / count
    return [of_sum * (scalar(p) * abs(x) ** scalar(p - 1)) * np.sign(x) for x in values]


def _scaled(values: list[Any], g: Any, p: int, scalar: Any) -> list[Any]:
    """Take powers of the cells over the largest of them, and of their quotient by the norm."""
    largest = max(map(abs, values))
    total = sum(((abs(x) / largest) ** scalar(p) for x in values), scalar(0))
    norm = largest * scalar(total) ** scalar(1 / p)
    return [g * np.sign(x) * (abs(x) / norm) ** scalar(p - 1) for x in values]


_OF_NORM: dict[str, Callable[[list[Any], Any, int, Any], list[Any]]] = {
    "quotient": _quotient,
    "chain": _chain,
    "scaled": _scaled,
}

SOUND_GRADIENTS: tuple[SoundGradient, ...] = (
    SoundGradient("plain"),
    SoundGradient("float64", type="float64", ties="last"),
    SoundGradient("element-type", type="element-type", norm="chain"),
    SoundGradient("element-type-reciprocal", type="element-type", reciprocal=True, by_axis=True),
    SoundGradient("backwards", sum=backwards, by_axis=True, ties="all"),
    SoundGradient("pairwise", sum=pairwise, reciprocal=True, norm="scaled", ties="shared"),
    SoundGradient("masks", norm="chain", masks=True),
    SoundGradient("means", type="element-type", weigh_whole=True),
)
"""Backends that are right, each in its way."""
