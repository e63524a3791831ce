"""Models of LiteRT, flatbuffers of one operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np

from conformance.errors import Unsupported
from conformance.vector import Array

# Numbers of the schema of models, version 3.
OPERATIONS = {"LiteRT-AVERAGE_POOL_2D": 1, "LiteRT-MAX_POOL_2D": 17}
"""Those of LiteRT's documents, and their numbers in a model."""
_TYPES = {"float32": 0, "uint8": 3, "int16": 7, "int8": 9}
_PADDINGS = {"SAME": 0, "VALID": 1}
_ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}
_OF_POOLS = 5
"""What the options of an operation are: those of pools."""


def model_of(
    operator: str,
    data: Array,
    attributes: Mapping[str, Any],
    output_shape: Sequence[int] = (1, 1, 1, 1),
) -> bytes:
    """Return a model of one operation, from tensor 0 to tensor 1.

    `output_shape` matters to an interpreter that does not find it out, as that of LiteRT does.
    Unsupported for an operator of another document, or another type; KeyError for a word that the
    schema does not have, TypeError for what is no integer.
    """
    if operator not in OPERATIONS:
        raise Unsupported(f"operator {operator}: it is none of LiteRT's documents")
    if data.dtype.name not in _TYPES:
        raise Unsupported(f"{data.dtype}: no type of the operation")
    new = _Tables()
    dtype, code = data.dtype.name, OPERATIONS[operator]
    integers = {}
    if dtype != "float32":
        scale, zero_point = attributes.get("scale", 1), attributes.get("zero_point", 0)
        integers = {4: new.table({2: new.floats(scale), 3: new.longs(zero_point)})}
    tensors = [
        new.table({0: new.ints(*shape), 1: _Byte(_TYPES[dtype]), **integers})
        for shape in (data.shape, output_shape)
    ]
    options = new.table(
        {
            0: _Byte(_PADDINGS[attributes["padding"]]),
            **{
                slot: _Int(attributes[key])
                for slot, key in enumerate(
                    ("stride_w", "stride_h", "filter_width", "filter_height"), 1
                )
            },
            5: _Byte(_ACTIVATIONS[attributes["fused_activation_function"]]),
        }
    )
    operation = new.table({1: new.ints(0), 2: new.ints(1), 3: _Byte(_OF_POOLS), 4: options})
    graph = {0: new.tables(*tensors), 1: new.ints(0), 2: new.ints(1), 3: new.tables(operation)}
    kind = new.table({0: _Byte(code), 2: _Int(2), 3: _Int(code)})
    return new.finished(
        {
            0: _Int(3),
            1: new.tables(kind),
            2: new.tables(new.table(graph)),
            4: new.tables(new.table({})),
        }
    )


class _Byte(int):
    """An entry of one byte."""


class _Int(int):
    """An entry of four bytes."""


class _Tables:
    """A flatbuffer in the making: entries are offsets, unless they are a `_Byte` or an `_Int`."""

    def __init__(self) -> None:
        self._builder: Any = flatbuffers.Builder(1024)

    def ints(self, *values: int) -> int:
        return self._vector(values, np.int32)

    def longs(self, *values: int) -> int:
        return self._vector(values, np.int64)

    def floats(self, *values: float) -> int:
        return self._vector(values, np.float32)

    def _vector(self, values: Sequence[float], dtype: Any) -> int:
        offset: int = self._builder.CreateNumpyVector(np.array(values, dtype))
        return offset

    def tables(self, *offsets: int) -> int:
        """Return a vector of tables."""
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        vector: int = self._builder.EndVector()
        return vector

    def table(self, entries: Mapping[int, int]) -> int:
        """Return a table of entries by slot."""
        self._builder.StartObject(max(entries, default=-1) + 1)
        for slot, value in entries.items():
            if isinstance(value, _Byte):
                self._builder.PrependInt8Slot(slot, int(value), 0)
            elif isinstance(value, _Int):
                self._builder.PrependInt32Slot(slot, int(value), 0)
            else:
                self._builder.PrependUOffsetTRelativeSlot(slot, value, 0)
        offset: int = self._builder.EndObject()
        return offset

    def finished(self, entries: Mapping[int, int]) -> bytes:
        """Return the bytes of a model, whose table has some entries."""
        self._builder.Finish(self.table(entries), b"TFL3")
        return bytes(self._builder.Output())
