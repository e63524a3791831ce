"""An operator: what a document calls it, what it takes, its pipeline, and where it is disputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, is_known, name_of
from conformance.errors import InvalidCase
from conformance.operators.attributes import Attribute, complete
from conformance.operators.pipeline import Params, Pipeline
from conformance.vector import Array


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """An operator as its document defines it.

    `axes` is the range of numbers of spatial axes it takes (the upper end None if open);
    `input_names` names its inputs in order.
    """

    name: str
    document: str
    reduction: Literal["average", "maximum"]
    attributes: tuple[Attribute, ...]
    pipeline: Pipeline
    axes: tuple[int, int | None] = (1, 3)
    input_names: tuple[str, ...] = ("data",)
    dtypes: tuple[str, ...] = FLOATS

    def validate(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        """Return the case in common terms; InvalidCase says which rule of the document it breaks.

        `inputs[0]` has shape (N, C, d1..dr); an adaptive operator's second input is the 1-D
        integer output size.
        """
        if len(inputs) != len(self.input_names):
            names = ", ".join(self.input_names)
            raise InvalidCase(f"{self.name}: {len(inputs)} inputs given, it takes {names}")
        data = inputs[0]
        fewest, most = self.axes
        axes = data.ndim - 2
        if axes < fewest or (most is not None and axes > most):
            upper = "or more" if most is None else f"to {most + 2}"
            raise InvalidCase(
                f"data of shape {data.shape}: {self.name} takes {fewest + 2} {upper} dimensions"
            )
        if not is_known(data.dtype) or name_of(data.dtype) not in self.dtypes:
            raise InvalidCase(
                f"data of type {data.dtype}: {self.name} takes {', '.join(self.dtypes)}"
            )
        return self.pipeline.resolve(
            complete(self.attributes, attributes, axes), data.shape[2:], inputs
        )


def output_size_of(inputs: Sequence[Array], axes: int) -> tuple[int, ...]:
    """Read the second input of an adaptive operator; InvalidCase if it is no output size."""
    size = inputs[1]
    if size.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise InvalidCase(f"output_size of type {size.dtype}: must be int32 or int64")
    if size.ndim != 1 or len(size) != axes or any(value < 0 for value in size.tolist()):
        raise InvalidCase(
            f"output_size={size.tolist()}: must be a list of {axes} integers >= 0, "
            "one per spatial axis"
        )
    return tuple(size.tolist())


ALL_TYPES = (*FLOATS, *INTEGERS)
