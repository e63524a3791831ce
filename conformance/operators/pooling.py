"""A windowed operator in terms that any engine has: what an adapter hands on."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.errors import InvalidCase, Unsupported
from conformance.operators.attributes import PADS, Attribute, Role
from conformance.operators.clauses import clauses_of
from conformance.operators.operator import Operator
from conformance.operators.params import Params
from conformance.operators.pipeline import Extent, Pads
from conformance.operators.registry import OPERATORS
from conformance.vector import Array


@dataclass(frozen=True)
class Pooling:
    """Windows of `operator` on one input, whatever its document calls them: see `pooling_of`.

    `params` are the attributes in common terms, padding words and rounding as they were given.
    """

    operator: Operator
    params: Params

    @property
    def reduction(self) -> str:
        """What is computed of each window: "average", "maximum" or "norm"."""
        return self.operator.reduction.name

    @property
    def kernel(self) -> tuple[int, ...]:
        """Cells of a window per spatial axis."""
        return self.params.kernel

    @property
    def strides(self) -> tuple[int, ...]:
        """Cells from one window to the next per spatial axis."""
        return self.params.strides

    @property
    def dilations(self) -> tuple[int, ...]:
        """Cells from one cell of a window to the next per spatial axis."""
        return self.params.dilations

    @cached_property
    def pads_begin(self) -> tuple[int, ...]:
        """Cells of padding before each spatial axis, also where auto_pad is a word."""
        if self.params.auto_pad == "explicit":
            return self.params.pads_begin
        return tuple(begin for begin, _ in self._pads)

    @cached_property
    def pads_end(self) -> tuple[int, ...]:
        """Cells of padding after each spatial axis, also where auto_pad is a word."""
        if self.params.auto_pad == "explicit":
            return self.params.pads_end
        return tuple(end for _, end in self._pads)

    @property
    def ceil(self) -> bool:
        """Whether the number of windows is rounded up; never with same_*, which says how many."""
        return self.params.ceil and not self.params.same

    @cached_property
    def ceil_matters(self) -> bool:
        """Whether rounding up is asked for and gives more windows than rounding down."""
        return self.params.ceil and self._differ(self.params.rounding, "floor")

    @property
    def extent(self) -> tuple[int, ...]:
        """Windows per spatial axis; raises as `divisor` does."""
        return self.operator.pipeline.extent(self.params, self.operator.pipeline.pads(self.params))

    @property
    def exponent(self) -> int:
        """The p of a p-norm."""
        return self.params.exponent

    @property
    def include_pad(self) -> bool:
        """Whether padding counts in the divisor of an average."""
        return self.params.include_pad

    @property
    def include_pad_matters(self) -> bool:
        """Whether the divisors would be others if padding counted, or did not."""
        counted, left_out = (self._divisor(include_pad=include) for include in (True, False))
        return not np.array_equal(counted, left_out)

    @cached_property
    def divisor(self) -> npt.NDArray[np.int64]:
        """What the sum of each window is divided by, of the output's spatial shape (o1..or).

        1 for a maximum. In the default reading of every disputed clause; raises ValueError or an
        ArithmeticError for attributes that have no windows.
        """
        return self._divisor(include_pad=self.params.include_pad)

    @property
    def leaves_out_windows(self) -> bool:
        """Whether ceil_torch gives fewer windows than ceil on some axis: see `extent`."""
        torch = self.params.rounding == "ceil_torch" and not self.params.same
        return torch and self._differ("ceil_torch", "ceil")

    @property
    def keeps_windows(self) -> bool:
        """Whether its document keeps a window that rounding up adds past the input, and it does."""
        is_settled = "ceil-window-past-input" not in clauses_of(self.operator)
        return is_settled and self.params.rounding == "ceil" and self._differ("ceil", "ceil_torch")

    @property
    def _pads(self) -> Pads:
        """Begin and end per spatial axis; zeros where the attributes have no windows."""
        try:
            return self.operator.pipeline.pads(self.params)
        except (ArithmeticError, TypeError, ValueError):
            return ((0, 0),) * len(self.params.kernel)

    def _differ(self, rounding: str, other: str) -> bool:
        """Say whether two roundings give other numbers of windows, where the pads are explicit."""
        try:
            return self._extent(rounding) != self._extent(other)
        except (ArithmeticError, TypeError, ValueError):
            return False

    def _extent(self, rounding: str) -> Extent:
        explicit = replace(
            self.params,
            auto_pad="explicit",
            rounding=rounding,
            pads_begin=self.pads_begin,
            pads_end=self.pads_end,
        )
        pads = tuple(zip(self.pads_begin, self.pads_end, strict=True))
        return self.operator.pipeline.extent(explicit, pads)

    def _divisor(self, *, include_pad: bool) -> npt.NDArray[np.int64]:
        return self.operator.pipeline.plan(replace(self.params, include_pad=include_pad)).divisor


def pooling_of(
    operator: str,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    *,
    as_given: Container[Role] = (),
    takes: Container[str] = (),
) -> Pooling:
    """Return what an operator of windows does, in terms that any engine has; for adapters.

    The arguments are those of a backend. Lists are handed on as they are given, also with numbers
    that no document allows: to refuse them is the engine's task. An operator of whole planes has a
    kernel as large as they are. Raises Unsupported for an adaptive operator, for an unpooling, for
    one whose first output is no average, maximum or norm, and for what an engine would not see: an
    attribute that is missing, a value that means nothing, an axis of indices that is not there,
    and pads that no document allows where a word stands in their place. It raises it, too, for
    channels last, dilations, a divisor that is given and, where it makes a difference, the rounding
    ceil_torch, unless `takes` names "channels_last", "dilations", "fixed_divisor" or "ceil_torch":
    not every engine has them. Where it makes none, ceil stands for ceil_torch. What a document
    refuses though each number is in its range, and another number of axes than its only one, is
    handed on to an engine alone that `takes` "rules"; where a document keeps all windows that
    rounding up adds, those past the input to one that `takes` "ceil". An engine that gets the
    values of a role from `params` as the document has them sees those as well: `as_given` lists
    such roles.
    """
    definition = _of_windows(operator, attributes)
    channels_last = definition.convention_of(attributes).channels_last
    if channels_last and "channels_last" not in takes:
        raise Unsupported("data with channels last")
    sizes = inputs[0].shape[1:-1] if channels_last else inputs[0].shape[2:]
    params = definition.translate(sizes, attributes)
    if "rules" not in takes:
        _refuse_broken(definition, params)
    for attribute in definition.attributes:
        # What becomes something else here, no engine can refuse as it was.
        replaced = (
            attribute.values
            or attribute.role == "index_axis"
            or (attribute.role == "dilations" and "dilations" not in takes)
            or (attribute.role in PADS and params.auto_pad != "explicit")
        )
        if replaced and attribute.key in attributes and attribute.role not in as_given:
            check_or_unsupported(attribute, attributes[attribute.key], len(sizes))
    if "dilations" not in takes and any(n != 1 for n in params.dilations):
        raise Unsupported(f"dilations {list(params.dilations)}")
    if params.fixed_divisor is not None and "fixed_divisor" not in takes:
        raise Unsupported(f"a divisor of {params.fixed_divisor}")
    pooling = Pooling(definition, params)
    if "ceil" not in takes and pooling.keeps_windows:
        raise Unsupported("rounding up with a last window that starts past the input")
    if "ceil_torch" not in takes and params.rounding == "ceil_torch":
        if pooling.leaves_out_windows:
            raise Unsupported("rounding up without a last window that starts in padding")
        pooling = Pooling(definition, replace(params, rounding="ceil"))
    return pooling


def _of_windows(name: str, attributes: Mapping[str, Any]) -> Operator:
    """Return an operator by name; Unsupported for one that `pooling_of` does not translate."""
    operator = OPERATORS.get(name)
    if (
        operator is None
        or not operator.convention.is_plain
        or operator.is_adaptive
        or operator.scatters
        or operator.outputs[0].dtype
    ):
        raise Unsupported(f"operator {name}")
    sized = operator.attribute("fixed_output")
    if sized is not None and sized.key in attributes:
        raise Unsupported("an output size beside windows")
    return operator


def _refuse_broken(operator: Operator, params: Params) -> None:
    """Raise Unsupported for what a document refuses, and an engine of other rules would not."""
    if operator.rank not in {None, len(params.sizes)}:
        raise Unsupported(f"{len(params.sizes)} spatial axes: {operator.name} has {operator.rank}")
    for rule in operator.rules:
        with suppress(ValueError):  # of lists of different lengths, which the engine sees
            for axis in rule.breaking(params):
                raise Unsupported(f"{rule.says}, and an axis has {axis.of_windows}")


def check_or_unsupported(attribute: Attribute, value: Any, axes: int) -> None:
    """Raise Unsupported for a value that an attribute cannot have."""
    try:
        attribute.check(value, axes)
    except InvalidCase as error:
        raise Unsupported(str(error)) from None
