"""Programs of tensors of torch, and their pooling as PyTorch's documents say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from conformance.backends.engines.torch_backend import array_of, tensor_of
from conformance.operators import OPERATORS, evaluate
from conformance.routes.program import Run
from conformance.vector import Array, Outputs, outputs_of


def outputs_by(function: Callable[..., Any], inputs: Sequence[Array], beside: int = 0) -> Outputs:
    """Return what a function makes of tensors, without so many of the last as are `beside`."""
    results = function(*map(tensor_of, inputs))
    outputs = tuple(map(array_of, results if isinstance(results, tuple | list) else (results,)))
    return outputs[: len(outputs) - beside]


def rightly(run: Run) -> Run:
    """Return a run with the pooling of this package, and all else by torch."""

    def computed(inputs: Sequence[Array]) -> Outputs:
        with _Documented():
            return run(inputs)

    return computed


class _Documented(TorchDispatchMode):  # type: ignore[misc]
    """Has this package compute the operators that PyTorch's documents define."""

    def __torch_dispatch__(
        self, called: Any, _types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        schema, given = called._schema, kwargs or {}  # noqa: SLF001 - it has no public name
        kind = schema.name.partition("::")[2].removeprefix("_").removesuffix("_with_indices")
        operator = f"PyTorch-{kind}"
        if operator not in OPERATORS:
            return called(*args, **given)
        inputs = [each for each in args if isinstance(each, torch.Tensor)]
        names = [argument.name for argument in schema.arguments]
        given = dict(zip(names, args, strict=False)) | given
        attributes = {
            key: value
            for key, value in given.items()
            if not isinstance(value, torch.Tensor) and value is not None and value != []
        }
        outputs = outputs_of(evaluate(operator, [*map(array_of, inputs)], attributes))
        results = tuple(map(tensor_of, outputs))[: len(schema.returns)]
        return results if len(schema.returns) > 1 else results[0]
