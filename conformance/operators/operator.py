"""An operator: what a document calls it, what it takes and returns, and where it is disputed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, is_known, name_of
from conformance.errors import InvalidCase
from conformance.operators import pipeline as steps
from conformance.operators.attributes import Attribute, Role, complete
from conformance.operators.clause import Clause
from conformance.operators.needs import roles_of
from conformance.operators.params import Params, attributes_of, params_of
from conformance.operators.pipeline import Pipeline
from conformance.operators.reduction import Reduction
from conformance.vector import Array

ALL_TYPES = (*FLOATS, *INTEGERS)
"""For documents that list no types, or integers too."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output of an operator, of shape (N, C, o1..or).

    `dtype` is its element type, "" for that of the data. `comparison` says how close a backend
    must be: "bound" of a sum, or "exact". An output that is `always_defined` is so even where a
    window has no cells.
    """

    name: str
    dtype: str = ""
    comparison: Literal["exact", "bound"] = "exact"
    always_defined: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a document: attributes and data, and which of it the document prints.

    `data` are the numbers of one channel, nested by axis, where the document prints them;
    otherwise data of `shape` (N, C, d1..dr) are made by a `pattern` of `sweep.patterns`.
    `source` cites it. `tags` say what is printed and what is derived.
    """

    source: str
    attributes: Mapping[str, Any]
    tags: tuple[str, ...]
    shape: tuple[int, ...] = ()
    output_size: tuple[int, ...] = ()
    pattern: str = "integers"
    dtype: str = "float32"
    data: Sequence[Any] | None = None


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator as its document defines it.

    `axes` is the range of numbers of spatial axes it takes (the upper end None if open);
    `input_names` names its inputs in order: the data and, of an adaptive operator, the output
    size. `dtypes` are the element types of the data. `clauses` are those that this document adds
    to the shared ones. `smoke_rows` gives the rows of each covering array that are in the smoke
    tier, None for as many as make it about 60 vectors.
    """

    name: str
    document: str
    reduction: Reduction
    attributes: tuple[Attribute, ...]
    pipeline: Pipeline
    axes: tuple[int, int | None] = (1, 3)
    input_names: tuple[str, ...] = ("data",)
    outputs: tuple[Output, ...] = (Output("output"),)
    dtypes: tuple[str, ...] = FLOATS
    clauses: tuple[Clause, ...] = ()
    examples: tuple[Example, ...] = ()
    smoke_rows: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse, as ValueError, what no operator can be."""
        keys = [attribute.key for attribute in self.attributes]
        roles = [each.role for each in self.attributes if each.role != "ignored"]
        known = (*FLOATS, *INTEGERS)
        types = {*self.dtypes, *(output.dtype for output in self.outputs if output.dtype)}
        for wrong, rule in (
            (not re.fullmatch(r"\w[\w.-]*", self.name), "its name is letters, digits, ., - and _"),
            (len(set(keys)) < len(keys), "two attributes have the same key"),
            (len(set(roles)) < len(roles), "two attributes have the same role"),
            ({"pads", "pads_begin"} <= set(roles), "pads are in one list or in two"),
            (not self.outputs, "it has at least one output"),
            (not types <= set(known), f"element types are {', '.join(known)}"),
            (len(self.input_names) not in {1, 2}, "its inputs are data or data and output size"),
            (self.axes[0] < 1, "it has at least one spatial axis"),
        ):
            if wrong:
                raise ValueError(f"operator {self.name!r}: {rule}")

    def extended(
        self, *attributes: Attribute, name: str, document: str, **changes: Any
    ) -> Operator:
        """Return an operator that adds attributes to this one, or says them anew by their keys.

        Examples are not carried over: they are of another document. `changes` are fields.
        """
        mine = {attribute.key: attribute for attribute in (*self.attributes, *attributes)}
        changes = {"examples": (), "smoke_rows": None, **changes}
        return replace(
            self, name=name, document=document, attributes=tuple(mine.values()), **changes
        )

    @cached_property
    def roles(self) -> frozenset[Role]:
        """Roles of its attributes and inputs."""
        return roles_of(self.attributes) | ({"output"} if self.is_adaptive else set())

    @property
    def is_adaptive(self) -> bool:
        """Whether it takes its output size as an input."""
        return len(self.input_names) > 1

    @property
    def has_windows(self) -> bool:
        """Whether it slides a kernel."""
        return "kernel" in self.roles

    @property
    def reduces_by(self) -> str:
        """Name of its reduction."""
        return self.reduction.name

    @property
    def takes_integers(self) -> bool:
        """Whether its data may be integers."""
        return not set(self.dtypes) <= set(FLOATS)

    @property
    def limits_axes(self) -> bool:
        """Whether its document limits the number of spatial axes."""
        return self.axes[1] is not None

    def takes_axes(self, axes: int) -> bool:
        """Say whether its document allows so many spatial axes."""
        fewest, most = self.axes
        return fewest <= axes and (most is None or axes <= most)

    def attribute(self, role: Role) -> Attribute | None:
        """Return the attribute of a role, if it has one."""
        return next((each for each in self.attributes if each.role == role), None)

    def validate(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        """Return the case in common terms; InvalidCase says which rule of the document it breaks.

        `inputs[0]` has shape (N, C, d1..dr); an adaptive operator's second input is the 1-D
        integer output size.
        """
        if len(inputs) != len(self.input_names):
            names = ", ".join(self.input_names)
            raise InvalidCase(f"{self.name}: {len(inputs)} inputs given, it takes {names}")
        data = inputs[0]
        axes = data.ndim - 2
        if not self.takes_axes(axes):
            fewest, most = self.axes
            upper = "or more" if most is None else f"to {most + 2}"
            raise InvalidCase(
                f"data of shape {data.shape}: {self.name} takes {fewest + 2} {upper} dimensions"
            )
        if not is_known(data.dtype) or name_of(data.dtype) not in self.dtypes:
            raise InvalidCase(
                f"data of type {data.dtype}: {self.name} takes {', '.join(self.dtypes)}"
            )
        given = complete(self.attributes, attributes, axes)
        output = output_size_of(inputs[1], axes) if self.is_adaptive else ()
        return self.pipeline.resolve(params_of(self.attributes, given, data.shape[2:], output))

    def translate(self, sizes: tuple[int, ...], attributes: Mapping[str, Any]) -> Params:
        """Return attributes in common terms, lists of integers as they are given.

        `sizes` are the spatial ones of the data. Lengths and ranges are for whoever computes
        the case to refuse; KeyError or InvalidCase for what has no meaning to hand on.
        """
        return self.pipeline.resolve(params_of(self.attributes, attributes, sizes))

    def attributes_of(self, meanings: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes that say what some roles are to be, in the order of `meanings`.

        Roles that the document has no attribute for are left out. It is the inverse of what
        `validate` does with attributes.
        """
        return attributes_of(self.attributes, meanings)

    def tiled(self, kernel: tuple[int, ...]) -> dict[str, Any]:
        """Return the fewest attributes that ask for windows of `kernel` cells side by side.

        Nothing is padded, so that what else must be said may be anything: it is the first choice.
        """
        none = (0,) * len(kernel)
        plain = {"kernel": kernel, "strides": kernel, "pads_begin": none, "pads_end": none}
        given = self.attributes_of(plain)
        for attribute in self.attributes:
            if attribute.required:
                given.setdefault(attribute.key, next(iter(attribute.choices), None))
            elif attribute.is_list and given[attribute.key] == [
                *attribute.default_for(len(kernel))
            ]:
                del given[attribute.key]
        return given


def output_size_of(size: Array, axes: int) -> tuple[int, ...]:
    """Read the second input of an adaptive operator; InvalidCase if it is no output size."""
    if size.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise InvalidCase(f"output_size of type {size.dtype}: must be int32 or int64")
    if size.ndim != 1 or len(size) != axes or any(value < 0 for value in size.tolist()):
        raise InvalidCase(
            f"output_size={size.tolist()}: must be a list of {axes} integers >= 0, "
            "one per spatial axis"
        )
    return tuple(size.tolist())


def sliding(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the steps of an operator that slides a kernel; `replaced` are its own."""
    return Pipeline(
        resolve=steps.as_given,
        pads=steps.resolve_pads,
        extent=steps.count_windows,
        windows=steps.slide,
        gather=steps.clip,
        divide=steps.count_cells if reduction.sums else steps.no_divisor,
        reduce=reduction.reduce,
        further=steps.no_further,
    ).replace(**replaced)


def adaptive(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the steps of an operator that divides each axis into a wanted number of windows."""
    own = {"pads": steps.no_pads, "extent": steps.wanted_extent, "windows": steps.divide_axes}
    return sliding(reduction, **(own | replaced))
