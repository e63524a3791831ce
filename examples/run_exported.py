"""Runs vectors that `conformance export safetensors` wrote, with numpy and safetensors alone.

python run_exported.py EXPORT.safetensors RESULTS.safetensors
"""

import json
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file


def compute(operator, inputs):
    """Compute AdaptiveAvgPool-8: your kernel goes here."""
    data, sizes = inputs[0], inputs[1].tolist()
    if data.dtype.kind == "i" or not 3 <= data.ndim <= 5:
        raise ValueError(f"{data.dtype} data of {data.ndim} dimensions")
    result = np.empty((*data.shape[:2], *sizes), data.dtype)
    for place in np.ndindex(*sizes):
        axes = zip(place, data.shape[2:], sizes, strict=True)
        block = tuple(slice(i * d // o, -(-(i + 1) * d // o)) for i, d, o in axes)
        cells = data[(..., *block)].astype(np.float64)
        total = cells.sum(axis=tuple(range(2, data.ndim)))
        result[(..., *place)] = total / cells[0, 0].size
    return result


np.seterr(all="ignore")  # the vectors hold NaN and overflow on purpose
outputs, raised, unsupported = {}, {}, {}
with safe_open(sys.argv[1], "np") as file:
    cases = json.loads(file.metadata()["pooling-conformance vectors"])["cases"]
    for case in cases:
        name, types = case["id"], [file.get_slice(each).get_dtype() for each in case["inputs"]]
        if case["operator"] != "AdaptiveAvgPool-8" or types[0] == "BF16":
            unsupported[name] = f"{case['operator']} of {types[0]}"
            continue
        try:
            outputs[name] = compute(case["operator"], [*map(file.get_tensor, case["inputs"])])
        except Exception as error:  # noqa: BLE001 - whatever it is, it is stored
            raised[name] = str(error)
about = {"version": 1, "ids": [case["id"] for case in cases]}
about |= {"raised": raised, "unsupported": unsupported}
save_file(outputs, sys.argv[2], {"pooling-conformance results": json.dumps(about)})
print(f"{len(outputs)} outputs, {len(raised)} raised, {len(unsupported)} unsupported")
