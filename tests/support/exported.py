"""Vectors to export, and what an exported file says, read and judged without the package."""

import gzip
import json
import re

import ml_dtypes
import numpy as np
from safetensors import deserialize
from support.paths import DOCS

from conformance.vectorfile.sources import chosen, opened, vectors_in

OF_ML_DTYPES = {
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
}


def smoke_tier():
    """Return the vectors of the smoke tier of the shipped suite."""
    with opened(None) as files:
        return [
            vector
            for each in chosen(files, None, None, "smoke")
            for vector in vectors_in(each.source, each.numbers)
        ]


def about(path, key="pooling-conformance vectors"):
    """Return the JSON in the header of a file."""
    content = decompressed(path)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert list(header["__metadata__"]) == [key]
    return json.loads(header["__metadata__"][key])


def exported(path):
    """Return the cases in a file, and its tensors by name."""
    tensors = {
        name: np.frombuffer(tensor["data"], dtype(tensor["dtype"])).reshape(tensor["shape"])
        for name, tensor in deserialize(decompressed(path))
    }
    return about(path)["cases"], tensors


def dtype(code):
    """Return the type that safetensors calls F32, BF16, I64 and so on."""
    if code in OF_ML_DTYPES:
        return np.dtype(OF_ML_DTYPES[code])
    return np.dtype(f"{code[0].lower()}{int(code[1:]) // 8}")


def decompressed(path):
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _of_page():
    """Return what docs/results.md shows: whether an answer to a case conforms."""
    page = (DOCS / "results.md").read_text()
    names = {}
    exec(re.search(r"```python\n(import numpy.*?def conforms\(.*?)```", page, re.DOTALL)[1], names)
    return np.errstate(all="ignore")(names["conforms"])


conforms = _of_page()
