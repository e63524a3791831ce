"""An operator as its document defines it: inputs, outputs, attributes, steps, clauses, examples."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, WIDE_FLOATS, is_known, name_of
from conformance.errors import InvalidCase, Unsupported
from conformance.operators import pipeline as steps
from conformance.operators.attributes import (
    PADS,
    Attribute,
    Role,
    complete,
    roles_of,
    wrong_constant,
)
from conformance.operators.call_convention import PLAIN, CallConvention
from conformance.operators.clause import Clause
from conformance.operators.examples import Example
from conformance.operators.params import Params, attributes_of, params_of
from conformance.operators.pipeline import Pipeline
from conformance.operators.reduction import AVERAGE, MAXIMUM, NORM, Reduction
from conformance.operators.rule import Rule
from conformance.vector import BACKWARD, Array, own_inputs

ALL_TYPES = (*WIDE_FLOATS, *INTEGERS)
"""Element types of a document that lists no types, or integers too."""


Comparison = Literal["exact", "bound"]


@dataclass(frozen=True, slots=True)
class Output:
    """One output of an operator, of shape (N, C, o1..or).

    `dtype` is its element type, "" for that of the data, or several of which an attribute chooses
    one. `comparison` says what conforms: values within the "bound" of a sum, or "exact" ones. By
    default it is "bound" for the first output of a reduction that sums, and "exact" for all others.
    An output that is `always_defined` is defined even for a window without cells. One that
    `is_index` says where the value of the first was found; it is undefined where it is negative,
    by the clause that `undefined` names.
    """

    name: str
    dtype: str | tuple[str, ...] = ""
    comparison: Comparison | Literal[""] = ""
    always_defined: bool = False
    is_index: bool = False
    undefined: str = ""

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The element types that it may have; none if it has that of the data."""
        if isinstance(self.dtype, tuple):
            return self.dtype
        return (self.dtype,) if self.dtype else ()


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator as its document defines it.

    `axes` is the smallest and the largest number of spatial axes (None: no limit). `input_names`
    names the inputs in order: the data and, unless an attribute says it, the output size of an
    adaptive operator, or the indices of an unpooling. `dtypes` are the element types of the data.
    `constants` are the values of `Params`, by role, that the document fixes and has no attribute
    for: `{"exponent": 2}`. `convention` is how it hands over a call, see `convention_of`. `rules`
    are what it excludes of the numbers of an axis, though each is in its range. `clauses` are those
    that this document adds to the shared ones. `levels` says whether its sweep has all levels of
    types, data and numbers, few of them, where older operators of its kind have all, or the least,
    where another differs from it in the number of axes alone. Data may be without a batch if it
    `takes_unbatched`; no case has such, a variation of calls does. The suite has its gradient, if
    there is one of its reduction, where it `has_gradient`; `of_gradient` is what its document says
    of that: fields of the step that computes it. A gradient has the operator that it is of in
    `forward`, see operators/gradients.py; its first input is the gradient of that operator's first
    output. An older version of a document has the next one in `newer`: its vectors are those of the
    newest, see vectorfile/older_vectors.py.
    """

    name: str
    document: str
    reduction: Reduction
    attributes: tuple[Attribute, ...]
    pipeline: Pipeline
    axes: tuple[int, int | None] = (1, 3)
    input_names: tuple[str, ...] = ("data",)
    outputs: tuple[Output, ...] = (Output("output"),)
    dtypes: tuple[str, ...] = WIDE_FLOATS
    constants: Mapping[Role, Any] = field(default_factory=dict)
    convention: CallConvention = PLAIN
    rules: tuple[Rule, ...] = ()
    clauses: tuple[Clause, ...] = ()
    examples: tuple[Example, ...] = ()
    levels: Literal["all", "few", "least"] = "all"
    takes_unbatched: bool = False
    has_gradient: bool = True
    of_gradient: Mapping[str, str] = field(default_factory=dict)
    forward: Operator | None = None
    newer: Operator | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the parts do not fit; fill in how each output is compared."""
        keys = [attribute.key for attribute in self.attributes]
        roles = [attribute.role for attribute in self.attributes if attribute.role != "ignored"]
        types = {*self.dtypes, *(dtype for output in self.outputs for dtype in output.dtypes)}
        sources = {example.source for example in self.examples}
        printed = max((len(example.outputs) for example in self.examples), default=0)
        wrong_constants = ", ".join(
            filter(None, (wrong_constant(role, value) for role, value in self.constants.items()))
        )
        unstated = ", ".join(self._unstated())
        known = (*FLOATS, *INTEGERS)
        for wrong, rule in (
            (not re.fullmatch(r"\w[\w.-]*", self.name), "its name is letters, digits, ., - and _"),
            (len(set(keys)) < len(keys), "two attributes have the same key"),
            (len(set(roles)) < len(roles), "two attributes have the same role"),
            ({"pads", "pads_begin"} <= set(roles), "pads are in one list or in two"),
            (wrong_constants, wrong_constants),
            (set(roles) & set(self.constants), "a constant has the role of an attribute"),
            (unstated, f"no attribute and no constant of it has the role {unstated}"),
            (len(sources) < len(self.examples), "two examples have the same source"),
            (not self.outputs, "it has at least one output"),
            (self._pools_as, f"its pipeline is that of the reduction {self._pools_as}"),
            (printed > len(self.outputs), "an example prints more outputs than it has"),
            (not types <= set(known), f"element types are {', '.join(known)}"),
            (
                len(self._own_names) not in ({2} if self.scatters else {1, 2}),
                "its inputs are data or data and output size, of an unpooling data and indices",
            ),
            (self.axes[0] < 1, "it has at least one spatial axis"),
            (
                self.is_gradient != self.name.endswith(BACKWARD),
                f"the name of a gradient ends in {BACKWARD}, and no other",
            ),
        ):
            if wrong:
                raise ValueError(f"operator {self.name!r}: {rule}")
        others: Comparison = "exact"
        first: Comparison = "bound" if self.reduction.sums else others
        outputs = (
            replace(output, comparison=output.comparison or (others if number else first))
            for number, output in enumerate(self.outputs)
        )
        object.__setattr__(self, "outputs", tuple(outputs))

    def _unstated(self) -> Iterator[Role]:
        """Yield the roles that its values depend on and no attribute or constant has."""
        stated = {*self.roles, *self.constants}
        padded = not stated.isdisjoint({*PADS, "auto_pad"})
        slides = self.pipeline.windows is steps.slide and self.pipeline.resolve is steps.as_given
        needed: dict[Role, bool] = {
            "kernel": slides,
            "include_pad": self.reduction.divides and padded,
            "exponent": self.reduction.powers,
            "index_axis": self.has_indices or self.scatters,
            "index_type": any(isinstance(output.dtype, tuple) for output in self.outputs),
        }
        return (role for role, is_needed in needed.items() if is_needed and role not in stated)

    def extended(
        self, *attributes: Attribute, name: str, document: str, **changes: Any
    ) -> Operator:
        """Return an operator like this one with more attributes, for a document that adds to this.

        An attribute replaces one with the same key, or a constant of the same role. `changes` are
        values of other fields. Examples are left out, since they are of this document.
        """
        by_key = {attribute.key: attribute for attribute in (*self.attributes, *attributes)}
        varied = roles_of(attributes)
        constants = {role: fixed for role, fixed in self.constants.items() if role not in varied}
        changes = {"examples": (), "constants": constants, "newer": None, **changes}
        return replace(
            self, name=name, document=document, attributes=tuple(by_key.values()), **changes
        )

    def version(
        self, number: int, *changed: Attribute, without: Container[str] = (), **changes: Any
    ) -> Operator:
        """Return an older version: `without` attributes by key, and others `changed`.

        `changes` are values of other fields. Its name ends in its number, as this one's does. It
        has the least levels, and no gradient.
        """
        name = f"{self.name.rpartition('-')[0]}-{number}"
        by_key = {attribute.key: attribute for attribute in (*self.attributes, *changed)}
        kept = tuple(each for key, each in by_key.items() if key not in without)
        changes = {"levels": "least", "has_gradient": False, "examples": (), **changes}
        document = name.replace("-", " ", 1)
        return replace(self, name=name, document=document, attributes=kept, newer=self, **changes)

    @cached_property
    def roles(self) -> frozenset[Role]:
        """Roles of its attributes and inputs."""
        return roles_of(self.attributes) | ({"output"} if self.takes_output_size else set())

    def convention_of(self, attributes: Mapping[str, Any]) -> CallConvention:
        """Return `convention`, in the layout that the attributes of a call choose.

        A layout that the document does not have is that of channels second.
        """
        if self.attribute("channels_last") is None:
            return self.convention
        last = self.meaning("channels_last", attributes) is True
        if self.convention.channels_last is last:
            return self.convention  # a call in the usual layout needs no copy
        return replace(self.convention, channels_last=last)

    @property
    def publisher(self) -> str:
        """Whose document defines it: the first word of its name."""
        return self.document.split()[0]

    @property
    def family(self) -> str:
        """What documents it belongs to: their publisher, in lower case."""
        return self.publisher.lower()

    @property
    def newest(self) -> Operator:
        """The newest version of its document: itself, unless that is an older one."""
        return self if self.newer is None else self.newer.newest

    @property
    def is_adaptive(self) -> bool:
        """Whether the caller says its output size."""
        return "output" in self.roles

    @property
    def takes_output_size(self) -> bool:
        """Whether its output size is an input."""
        return len(self._own_names) > 1 and not self.scatters

    @property
    def is_gradient(self) -> bool:
        """Whether it is the gradient of another operator."""
        return self.forward is not None

    @property
    def scatters(self) -> bool:
        """Whether it is an unpooling: it puts cells where indices say, and reads no windows."""
        return self.reduction.scatters

    def gradient_or_indices(self, inputs: Sequence[Array]) -> Array | None:
        """Return the array beside the data that values depend on, None where there is none.

        That is the gradient of an output, of a gradient, and the indices of an unpooling.
        """
        if self.is_gradient:
            return inputs[0]
        return inputs[1] if self.scatters else None

    @property
    def _own_names(self) -> tuple[str, ...]:
        return own_inputs(self.name, self.input_names)

    @property
    def has_windows(self) -> bool:
        """Whether it slides a kernel over the data."""
        return "kernel" in self.roles and not self.scatters

    @property
    def has_indices(self) -> bool:
        """Whether an output says where the values of the first were found."""
        return any(output.is_index for output in self.outputs)

    @cached_property
    def pads_both_ends(self) -> bool:
        """Whether its document has one number for the padding of both ends of an axis."""
        pads = self.attribute("pads")
        return pads is not None and pads.order == "both"

    @property
    def takes_integers(self) -> bool:
        """Whether its data may be integers."""
        return not set(self.dtypes) <= set(FLOATS)

    @cached_property
    def _typed(self) -> tuple[Attribute, ...]:
        """The attributes that have one value unless the data have some types."""
        return tuple(attribute for attribute in self.attributes if attribute.of_types)

    @property
    def leaves_no_rest(self) -> bool:
        """Whether its document refuses a stride that leaves cells over."""
        return any(rule.leaves_no_rest for rule in self.rules)

    @property
    def rounds_integers(self) -> bool:
        """Whether its document says how averages of integers round."""
        settled = any(clause.settles == "integer-average" for clause in self.clauses)
        return self.reduction.divides and settled

    @property
    def settles_integers(self) -> bool:
        """Whether what it computes of integers, if it takes them, is defined."""
        return not self.reduction.sums or self.rounds_integers

    @property
    def requantises(self) -> bool:
        """Whether integers of its output stand for other numbers than those of its data."""
        return "output_scale" in self.roles

    @property
    def rank(self) -> int | None:
        """The number of spatial axes, if its document allows one alone."""
        fewest, most = self.axes
        return fewest if fewest == most else None

    def takes_axes(self, axes: int) -> bool:
        """Say whether its document allows data of `axes` spatial axes."""
        fewest, most = self.axes
        return fewest <= axes and (most is None or axes <= most)

    def example(self, source: str) -> Example | None:
        """Return the worked example that a source cites, None if there is none."""
        return next((example for example in self.examples if example.source == source), None)

    def attribute(self, role: Role) -> Attribute | None:
        """Return the attribute of a role; None if there is none."""
        return next((attribute for attribute in self.attributes if attribute.role == role), None)

    def of_roles(self, roles: Iterable[Role]) -> dict[Role, Attribute]:
        """Return the attributes of those roles that it has, in their order."""
        return {role: a for role in roles if (a := self.attribute(role)) is not None}

    @property
    def _pools_as(self) -> str:
        """The name of another reduction whose step the pipeline has; "" if it has none."""
        own = self.reduction.reduce
        others = (each for each in (AVERAGE, MAXIMUM, NORM) if each.reduce is not own)
        return next((o.name for o in others if o.reduce is self.pipeline.reduce), "")

    def meaning(self, role: Role, attributes: Mapping[str, Any]) -> Any:
        """Return what a call says of a role, or its default; None where the document has none."""
        attribute = self.attribute(role)
        if attribute is None:
            return None
        return attribute.meaning_of(attributes.get(attribute.key, attribute.default))

    def left_open(self, attributes: Mapping[str, Any]) -> dict[str, str]:
        """Return, by key, the clauses of attributes of which its document does not say what is."""
        return {
            attribute.key: attribute.left_open
            for attribute in self.attributes
            if attribute.leaves_open(attributes.get(attribute.key))
        }

    def validate(self, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Params:
        """Check a case and return its parameters; InvalidCase says which rule it breaks.

        The data have shape (N, C, d1..dr). The input of an adaptive operator after them is the
        output size, an integer array of shape (r,), and that of an unpooling are indices, int64, of
        their shape. Whether these lie in the output, and whether the gradient of an output has the
        shape of that output, depends on readings: the step `reduce` checks it.
        """
        if len(inputs) != len(self.input_names):
            names = ", ".join(self.input_names)
            raise InvalidCase(f"{self.name}: {len(inputs)} inputs given, it takes {names}")
        data, *sizes = own_inputs(self.name, inputs)
        axes = data.ndim - 2
        if not self.takes_axes(axes):
            fewest, most = self.axes
            upper = " or more" if most is None else f" to {most + 2}" if most > fewest else ""
            raise InvalidCase(
                f"data of shape {data.shape}: {self.name} takes {fewest + 2}{upper} dimensions"
            )
        if not is_known(data.dtype) or name_of(data.dtype) not in self.dtypes:
            raise InvalidCase(
                f"data of type {data.dtype}: {self.name} takes {', '.join(self.dtypes)}"
            )
        if self.is_gradient:
            _check_gradient(inputs[0], data)
        if self.scatters:
            _check_indices(sizes[0], data)
        given = complete(self.attributes, attributes, data.shape[2:])
        output = output_size_of(sizes[0], axes) if self.takes_output_size else ()
        for attribute in self._typed:
            value, only = given[attribute.key], attribute.elsewhere
            if value != only and not attribute.concerns_type(name_of(data.dtype)):
                raise InvalidCase(f"{attribute.key}={value}: must be {only} for {data.dtype}")
        params = self.pipeline.resolve(self.stated(given, data.shape[2:], output, attributes))
        if data.dtype.kind in "iu":
            _check_zero_points(params, data.dtype)
        self.check_rules(params)
        return params

    def check_rules(self, params: Params) -> None:
        """Raise InvalidCase for an axis that breaks a rule whose breach is refused."""
        for rule in (rule for rule in self.rules if not rule.undefined):
            for axis in rule.breaking(params):
                raise InvalidCase(f"{self.name}: {rule.says}; an axis has {axis.of_windows}")

    def stated(
        self,
        given: Mapping[str, Any],
        sizes: tuple[int, ...],
        output: tuple[int, ...] = (),
        said: Container[str] | None = None,
    ) -> Params:
        """Return what attributes, their defaults and its constants state: see `params_of`.

        That is what the step `resolve` gets.
        """
        return params_of(self.attributes, given, sizes, output, self.constants, said)

    def output_shape(
        self, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> tuple[int, ...]:
        """Return the shape of the outputs of a case, in the default readings; 0 where it is less.

        InvalidCase as in `validate`. Of an operator that is no gradient.
        """
        params = self.validate(inputs, attributes)
        extent = self.pipeline.extent(params, self.pipeline.pads(params))
        return (*inputs[0].shape[:2], *(max(0, o) for o in extent))

    def translate(self, sizes: tuple[int, ...], attributes: Mapping[str, Any]) -> Params:
        """Return the parameters that attributes stand for, for data of spatial `sizes`.

        Lists, and values that the document does not have, are taken as they are given: nothing is
        checked. Unsupported if a required attribute is missing.
        """
        try:
            return self.pipeline.resolve(self.stated(attributes, sizes))
        except KeyError as missing:
            raise Unsupported(f"{missing.args[0]}: required, nothing to hand on") from None

    def attributes_of(self, meanings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes that stand for values of `Params`, given by role in `meanings`.

        In the order of `meanings`. Roles that the document has no attribute for are left out. The
        inverse of what `validate` does with attributes.
        """
        return attributes_of(self.attributes, meanings)

    def tiled(self, kernel: tuple[int, ...], extent: tuple[int, ...] = ()) -> dict[str, Any]:
        """Return the fewest attributes for `extent` windows of `kernel` cells, unpadded.

        They are a kernel apart. Any value of the other required attributes will do: without padding
        they change nothing.
        """
        zeros = (0,) * len(kernel)
        meanings = {"kernel": kernel, "strides": kernel, "pads_begin": zeros, "pads_end": zeros}
        meanings["output"] = extent or (1,) * len(kernel)
        given = self.attributes_of(meanings)
        for attribute in self.attributes:
            if attribute.required:
                some = attribute.choices or attribute.samples or (0,)
                given.setdefault(attribute.key, some[0])
            elif attribute.is_list and given.get(attribute.key) == [
                *attribute.default_for({"kernel": kernel, "sizes": (0,) * len(kernel)})
            ]:
                del given[attribute.key]
        return given


def _check_zero_points(params: Params, dtype: np.dtype[Any]) -> None:
    """Raise InvalidCase unless a type of integers holds the zero points."""
    ends = np.iinfo(dtype)
    for point in (params.input_zero_point, params.output_zero_point):
        if not ends.min <= point <= ends.max:
            raise InvalidCase(f"zero point {point}: {dtype} holds {ends.min} to {ends.max}")


def _check_gradient(gradient: Array, data: Array) -> None:
    """Raise InvalidCase unless a gradient has type, rank, batch and channels of the data."""
    if gradient.dtype != data.dtype:
        raise InvalidCase(f"gradient of type {gradient.dtype}: the data are of type {data.dtype}")
    if gradient.ndim != data.ndim or gradient.shape[:2] != data.shape[:2]:
        raise InvalidCase(f"gradient of shape {gradient.shape}: the data have {data.shape}")


def _check_indices(indices: Array, data: Array) -> None:
    """Raise InvalidCase unless indices are int64, of the shape of the data."""
    if indices.dtype != np.int64:
        raise InvalidCase(f"indices of type {indices.dtype}: must be int64")
    if indices.shape != data.shape:
        raise InvalidCase(f"indices of shape {indices.shape}: the data have {data.shape}")


def output_size_of(size: Array, axes: int) -> tuple[int, ...]:
    """Return the output size per spatial axis from the second input of an adaptive operator.

    InvalidCase unless it is an int32 or int64 array of shape (axes,) without negative entries.
    """
    if size.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise InvalidCase(f"output_size of type {size.dtype}: must be int32 or int64")
    if size.ndim != 1 or len(size) != axes or any(value < 0 for value in size.tolist()):
        raise InvalidCase(
            f"output_size={size.tolist()}: must be a list of {axes} integers >= 0, "
            "one per spatial axis"
        )
    return tuple(size.tolist())


def sliding(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the pipeline of an operator that slides a kernel, with some steps `replaced`."""
    return Pipeline(
        resolve=steps.as_given,
        pads=steps.resolve_pads,
        extent=steps.count_windows,
        windows=steps.slide,
        gather=steps.clip,
        divide=steps.count_cells if reduction.divides else steps.no_divisor,
        reduce=reduction.reduce,
        further=steps.no_further,
        clamp=steps.no_clamp,
    ).replace(**replaced)


def whole(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the pipeline of an operator that makes one value of each plane.

    `replaced` are its own steps.
    """
    return sliding(reduction, **({"resolve": steps.whole_plane} | replaced))


def adaptive(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the pipeline of an operator that divides each axis into a given number of windows.

    `replaced` are its own steps.
    """
    blocks = {"pads": steps.no_pads, "extent": steps.wanted_extent, "windows": steps.divide_axes}
    return sliding(reduction, **(blocks | replaced))


def unpooling(reduction: Reduction, **replaced: Any) -> Pipeline:
    """Return the pipeline of an operator that puts each cell of the data where an index says.

    `replaced` are its own steps.
    """
    scattered = {"extent": steps.unpooled_extent, "windows": steps.no_cells}
    return sliding(reduction, **(scattered | replaced))
