"""A call of PyTorch's documents as a module of torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional


class FunctionModule(torch.nn.Module):  # type: ignore[misc]
    """A module that calls one function of torch.nn.functional."""

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        super().__init__()
        self._function, self._given = getattr(functional, name), given

    def forward(self, *tensors: torch.Tensor) -> Any:
        """Call it with tensors, those of the document's inputs."""
        return self._function(*tensors, **self._given)
