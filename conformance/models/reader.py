"""Which kind of file a model is, told by its first bytes."""

from __future__ import annotations

from pathlib import Path

from conformance.errors import UsageError
from conformance.models.layer import Model
from conformance.models.onnx_model import read_onnx
from conformance.models.openvino_ir import read_ir

_ONNX = b"\x08"  # the tag of ir_version, the first field of every ONNX model


def read_model(path: str | Path) -> Model:
    """Return the pooling layers of an OpenVINO IR, a page of `<layer>` elements, or an ONNX model.

    Raises UsageError, naming the file, if it is none of them or cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        raise UsageError(f"{path}: a directory; give the model's .xml or .onnx file")
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
        is_onnx = path.suffix.lower() == ".onnx" or first == _ONNX
        return read_onnx(path) if is_onnx else read_ir(path)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give the model's .xml or .onnx file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
