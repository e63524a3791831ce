"""A call of PyTorch's documents as a module of torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional

from conformance.backends.engines.torch_backend import own_call
from conformance.errors import Unsupported
from conformance.operators import Operator
from conformance.vector import Array


class FunctionModule(torch.nn.Module):  # type: ignore[misc]
    """A module that calls one function of torch.nn.functional."""

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        super().__init__()
        self._function, self._given = getattr(functional, name), given

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Call it with tensors, those of the document's inputs."""
        return self._function(*tensors, **self._given)


def function_of(
    operator: Operator,
    inputs: Sequence[Array],
    attributes: Mapping[str, Any],
    *,
    with_indices: bool = True,
) -> tuple[str, dict[str, Any]]:
    """Return the function that an operator is, and its keywords.

    Unsupported for another document than PyTorch's, and for a gradient.
    """
    if operator.publisher != "PyTorch" or operator.is_gradient:
        raise Unsupported(f"operator {operator.name}: it is no function of PyTorch's documents")
    return own_call(operator, inputs, attributes, with_indices=with_indices)
