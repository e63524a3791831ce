"""A program that a converter emitted, and who departs from the document of a call."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from conformance.backends.answer import error_line
from conformance.errors import InvalidCase, Unsupported
from conformance.judging.judge import accepts
from conformance.operators import vector_of
from conformance.vector import Array, Case, Outputs

_REFUSALS = re.compile(
    "UnsupportedOperatorError|SymbolicValueError|DispatchError|OpConversionFailure"
    "|Unsupported operation of type|SpecViolationError|load method forward, error: 0x:14"
    "|Lowering not found|failed to legalize operation|NotImplementedError"
)
"""By which a converter says, in the name of an exception or its text, that it has no such call.

The first three are of torch.onnx, two of OpenVINO, two of ExecuTorch (0x14: a kernel is missing),
two of litert-torch, and the last of onnx2torch."""

Run = Callable[[Sequence[Array]], Outputs]


@dataclass(frozen=True, slots=True)
class Program:
    """What a converter emitted: `run` has an engine compute it, `nodes` are it in words.

    `rightly` computes it as the document of its nodes says, which is of `publisher`, None where
    nothing here does.
    """

    nodes: str
    run: Run
    rightly: Run | None = None
    publisher: str = "ONNX"

    def answer(
        self, operator: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> Outputs:
        """Return what the engine computes; where that does not conform, print who departs."""
        case = Case("", operator, attributes, tuple(inputs))
        try:
            outputs = self.run(inputs)
        except Unsupported:
            raise
        except Exception:
            _say(self._departs(case, None))
            raise
        _say(self._departs(case, outputs))
        return outputs

    def _departs(self, case: Case, outputs: Outputs | None) -> str:
        """Say what was emitted and who departs, "" if the outputs conform; None: an exception."""
        try:
            vector = vector_of(case)
        except InvalidCase:
            return f"emitted: {self.nodes}"
        if accepts(vector, outputs):
            return ""
        words = f"emitted: {self.nodes}"
        if self.rightly is None:
            return words
        try:
            right: Outputs | None = self.rightly(vector.case.inputs)
        except Exception:  # noqa: BLE001 - what computes the other nodes has exceptions of its own
            right = None
        how = f"computed as {self.publisher} says, these nodes"
        if accepts(vector, right):
            return f"{words}\nthe engine departs: {how} conform"
        return f"{words}\nthe converter departs: {how} do not conform"


def _say(words: str) -> None:
    """Print words, if any, which a report shows with the failure."""
    if words:
        print(words)  # noqa: T201 - see above


@contextmanager
def converting() -> Iterator[None]:
    """Raise Unsupported for what a converter refuses as such; say of all else that it raised it."""
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Unsupported:
        raise
    except Exception as error:
        for cause in _causes(error):
            if _REFUSALS.search(f"{type(cause).__name__}: {cause}"):
                raise Unsupported(error_line(cause)) from None
        _say("the converter raised this")
        raise
    finally:
        logging.disable(logging.NOTSET)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
