"""Runs what `conformance export npy` wrote, with numpy alone: computes, stores and judges.

python run_exported.py FOLDER
"""

import json
import sys
from pathlib import Path

import numpy as np


def compute(operator, inputs, types):
    """Compute AdaptiveAvgPool-8: your kernel goes here."""
    if operator != "AdaptiveAvgPool-8" or types[0] == "bfloat16":  # its bits come as uint16
        raise NotImplementedError(f"{operator} of {types[0]}")
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


def accepted(folder, answer, output):
    """Say whether an output is right by one of the accepted answers of a case, not bfloat16."""
    if answer["kind"] != "values":
        return answer["kind"] == "anything"
    lower, upper = (np.load(folder / answer[name]) for name in ("lower", "upper"))
    if (output.dtype, output.shape) != (lower.dtype, lower.shape):
        return False
    right = (lower <= output) & (output <= upper) | np.isnan(lower) & np.isnan(output)
    if answer["mask"]:
        mask = np.load(folder / answer["mask"])
        right |= (mask == 2) | (mask == 1) & ~np.isfinite(output) | (mask == 3) & np.isnan(output)
    return bool(right.all())


root = Path(sys.argv[1])
right = total = 0
without = {}  # why cases have no output
np.seterr(all="ignore")  # the vectors hold NaN and overflow on purpose
with (root / "status.tsv").open("w", encoding="utf-8") as status:
    for line in (root / "index.tsv").read_text("utf-8").splitlines():
        path, operator, _, name = line.split("\t")
        case = json.loads((root / path / "case.json").read_text("utf-8"))
        arrays = [np.load(root / path / each["file"]) for each in case["inputs"]]
        try:
            output = compute(operator, arrays, [each["dtype"] for each in case["inputs"]])
        except NotImplementedError as error:
            status.write(f"unsupported\t{name}\t{error}\n")
            without.setdefault("unsupported", []).append(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is stored
            status.write(f"raised\t{name}\t{error}\n")
            without.setdefault("raised an exception", []).append(f"{name}: {error}")
        else:
            np.save(root / path / "output.npy", output)
            total += 1
            right += any(accepted(root / path, each, output) for each in case["accepted"])
for what, reasons in without.items():
    print(f"{len(reasons)} {what}, the first: {reasons[0]}")
print(f"{right} of {total} outputs are right")
