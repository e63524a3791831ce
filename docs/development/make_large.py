"""Writes docs/large.md from the code, which a test compares: `make_large.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.cases.large import Recipe, recipes
from conformance.dtypes import name_of

PAGE = Path(__file__).parents[1] / "large.md"

HEAD = """\
# Large tensors

The tier `large` is for what goes wrong beyond the numbers that an index of 32 bits holds, a
counter of 16 bits or a float32: in axes, planes, batches, channels, and offsets in elements and
bytes.

```
conformance check torch --tier large
conformance check torch --tier large --memory 8G --select "*bytes-past*"
```

It runs only if it is asked for by name, and alone: `--tier exhaustive` does not hold it.

- Its vectors are in no file. Each is a recipe of a few kilobytes; the tensor is made when its
  turn comes, in the process that calls the backend. That is a new one for each vector, of which
  nothing is left afterwards. What a crash, an exit, a hang, printed text or changed inputs come to
  is as in the other tiers.
- The backend's process leaves its outputs in memory that the checker shares and reads block by
  block; it has no part in the judgement.
- `--memory` is what a vector may need, by default what the machine has free. What needs more is
  left out, counted as not run, and named in the report with what it needs. `--memory 1` lists all
  of them. A vector needs twice its inputs and outputs, since engines copy, 8 bytes for each
  maximum, since engines make indices of them, and 1 GiB.
- An engine may take more. Where memory runs out before the backend is called, or the system says
  that it has ended a process for want of memory, the vector has no verdict and the run is
  incomplete: give less with `--memory`. A process that ends by a signal otherwise has crashed.
- `--timeout` is the time beyond 1 second for each 50 MiB of a vector.
- There is one job. Backends are those in Python: no pipe of `exec:` and no file of `results:`
  takes such tensors.
- No causes are searched for and no vector is called twice; a failure comes with a script that
  makes its tensor again. All else of a report is as in the other tiers: expected failures,
  floors, shards, `merge`.
- `conformance verify` recomputes the recipes, together with the vectors that come with the
  package.

## A recipe

A recipe is a small case, and for each axis of its data, batch and channels too, a run of cells
and how often the large data has it: `a b c d e` with `c` a million times. The large output is
then the small one, in which a run of outputs comes as often. What an element must be is never
stored, and the output of a backend is compared block by block with the small one. The judge takes
some 250 MB at most besides the output, whatever the size.

This is right because of how the cases are chosen:

1. Windows move by whole runs: a run is a multiple of the stride, of adaptive operators a multiple
   of the ratio of sizes. On both sides of the run lie more cells like those in it, so far that
   each window of the run's outputs sees only such cells. What the windows of a repeat hold is
   then the same for each repeat.
2. Other windows do not reach the run, or see in it the same cells as before.
3. So each element of the large output has the value of one of the small output, which the
   reference computes exactly. The index of a maximum is greater by the cells that lie between:
   whole runs on each axis.
4. A window that holds the whole plane swallows every repeat. Its maximum lies outside of the run,
   so that repeats change no value, and move the index if it lies behind them. For an average, the
   run holds zeros: the sum is that of the small case, the divisor the cells of the large one.

Windows see at most two neighbouring repeats. A recipe with three repeats therefore has every
window that the large case has, and is small enough for the reference: `verify` and the tests
evaluate it as a whole and compare it with what the recipe expects, for every recipe, values,
indices and bounds.

## What it catches

The cells of a run are all different, other ones in each plane, and the length of a run divides no
power of two, so that what is read 2^31 or 2^32 places away is something else. The corners of the
data hold impulses, larger than all other values, so the first and last cells of the tensor stand
for themselves. Values are small integers, and windows of averages hold a power of two of cells, or
zeros but for impulses: any sound sum is exact.

Tests make the same tier for integers of 16 bits and counters of 4, and plant numbers that wrap in
a sound backend: signed and unsigned offsets in elements and in bytes, planes, places on an axis,
places in float32 precision, the product of place and size in adaptive windows, counts of cells,
offsets of the output, and indices. Each is caught by every vector that is made for it, and backends
with numbers that are wide enough conform.

Not in it: norms and gradients, indices in column-major order.

## What engines made of it

On two cores and 23 GiB, of what fits: PyTorch 2.13.0 conforms, and so does ONNX Runtime 1.32.0
where it has the operator. OpenVINO 2026.4.1 counts indices in 32 bits and computes windows in
float32 ([findings](findings.md#openvino) 1, 54 and 55), and refuses an axis past 2^31
([no defect](findings.md#56-openvino-an-axis-past-231-is-refused)). A run took six minutes
with PyTorch, eight with ONNX Runtime, and three quarters of an hour or more with OpenVINO.

## Its vectors

[make_large.py](development/make_large.py) makes this page from the code.

| what | operator | data | shape | GiB needed |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the page as it should be."""
    return HEAD + "".join(_row(recipe) for recipe in _in_order())


def _in_order() -> Iterator[Recipe]:
    """Yield the recipes by what they are for."""
    yield from sorted(recipes(), key=lambda recipe: recipe.what)


def _row(recipe: Recipe) -> str:
    shape = "x".join(str(size) for size in recipe.shape)
    cells = [recipe.what, recipe.case.operator, name_of(recipe.case.data.dtype), shape]
    return f"| {' | '.join(cells)} | {recipe.memory / 2**30:.1f} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
