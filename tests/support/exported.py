"""Vectors to export, and what an exported folder says, read without the package."""

import json

import ml_dtypes
import numpy as np

from conformance.vectorfile.sources import chosen, opened, vectors_in


def cases(folder):
    """Yield the folder and the content of case.json of each vector, in the order of the index."""
    for line in (folder / "index.tsv").read_text("utf-8").splitlines():
        path, operator, dtype, vector_id = line.split("\t")
        case = json.loads((folder / path / "case.json").read_text("utf-8"))
        assert (case["id"], case["operator"]) == (vector_id, operator)
        assert case["inputs"][0]["dtype"] == dtype
        yield folder / path, case


def smoke_tier():
    """Return the vectors of the smoke tier of the shipped suite."""
    with opened(None) as files:
        return [
            vector
            for each in chosen(files, None, None, "smoke")
            for vector in vectors_in(each.source, each.numbers)
        ]


def loaded(folder, name, dtype):
    """Return an array of a case."""
    array = np.load(folder / name)
    return array.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else array


@np.errstate(all="ignore")
def admits(folder, answer, output):
    """Say whether an answer of a case admits an output, as docs/results.md says."""
    if answer["kind"] != "values":
        return answer["kind"] == "anything"
    expected, lower, upper = (
        loaded(folder, answer[name], answer["dtype"]) for name in ("expected", "lower", "upper")
    )
    if (output.dtype, output.shape) != (expected.dtype, expected.shape):
        return False
    mask = np.load(folder / answer["mask"]) if answer["mask"] else np.zeros(output.shape)
    within = (lower <= output) & (output <= upper) | np.isnan(lower) & np.isnan(output)
    within |= (mask == 2) | (mask == 1) & ~np.isfinite(output)
    return bool(within.all())
