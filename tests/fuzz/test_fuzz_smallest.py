"""Of every fault, the case that is found is the smallest and plainest that can show it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.effort import one_in
from support.made_up import registered

from conformance.cases.minimize import polished
from conformance.cases.sweep.sweep_model import case_of
from conformance.faults import fault_named, faulty
from conformance.fuzz import fuzz
from conformance.fuzz.signature import Signature


@dataclass(frozen=True)
class Smallest:
    """What is left of a failure: all that is not said here is 1, absent, zero or plain.

    `data` are the cells, `size` the output size asked for; `why` says why less would not do.
    """

    fault: str
    operator: str
    sizes: tuple[int, ...]
    attributes: dict[str, Any]
    data: list[float]
    why: str
    planes: tuple[int, int] = (1, 1)
    dtype: str = "float32"
    size: list[int] | None = None


NOTHING = [0.0]
FOUND = [
    # Attributes taken for another axis need two axes that differ: by one.
    Smallest("strides-reversed", "AvgPool-1", (1, 2), {"strides": [1, 2]}, [0, 0],
             "on the shorter axis either stride gives one window"),
    Smallest("output-reversed", "AdaptiveAvgPool-8", (1, 1), {}, NOTHING,
             "an output of 1x2 from one cell comes out as 2x1", size=[1, 2]),
    Smallest("strides-ignored", "MaxPool-1", (2,), {"strides": [2]}, [0, 0],
             "two windows instead of one"),
    Smallest("windows-stride-ignored", "MaxPool-1", (3,), {"strides": [2]}, [1, 2, 3],
             "the second window is at the second cell, not at the third"),
    # Pads show in the extent, with a kernel of 1 and one cell.
    Smallest("pads-begin-ignored", "AvgPool-1", (1,), {"pads_begin": [1]}, NOTHING,
             "one window less"),
    Smallest("pads-doubled", "MaxPool-1", (1,), {"pads_end": [1]}, NOTHING, "one window more"),
    Smallest("pads-interleaved", "AvgPool-1", (1, 1), {"pads_end": [1, 0]}, NOTHING,
             "of one axis, both orders are the same"),
    Smallest("pads-clamped-to-one", "AvgPool-1", (1,), {"pads_end": [2]}, NOTHING,
             "a pad of 2 is the first that is clamped"),
    Smallest("kernel-clamped-to-7", "MaxPool-1", (8,), {"kernel": [8]}, [0] * 8,
             "8 is the first kernel that is clamped, and needs as many cells"),
    Smallest("kernel-clamped-to-input", "AvgPool-1", (1,), {"kernel": [2], "pads_end": [1]},
             NOTHING, "a kernel above the input needs a pad"),
    Smallest("valid-keeps-pads", "MaxPool-1", (1,), {"auto_pad": "valid", "pads_end": [1]},
             NOTHING, "one pad that valid drops"),
    # Padding that follows from the size: an odd one, and cells that differ.
    Smallest("same-lower-as-upper", "MaxPool-1", (2,), {"auto_pad": "same_lower", "kernel": [2]},
             [1, 2], "the one pad of a kernel of 2 lies on the other side"),
    Smallest("same-upper-as-lower", "AvgPool-1", (2,), {"auto_pad": "same_upper", "kernel": [2]},
             [1, 2], "the one pad of a kernel of 2 lies on the other side"),
    Smallest("refuses-same-lower", "AvgPool-1", (1,), {"auto_pad": "same_lower"}, NOTHING,
             "the word alone"),
    # Rounding: two windows' worth of stride and a rest.
    Smallest("ceil-ignored", "AvgPool-1", (3,),
             {"rounding_type": "ceil", "kernel": [2], "strides": [2]}, [0] * 3,
             "a kernel of 1 leaves a window past the input, which may be dropped"),
    Smallest("floor-ignored", "MaxPool-1", (2,), {"strides": [2]}, [0, 0],
             "a rest of one cell"),
    Smallest("default-rounding-type-ceil", "AvgPool-1", (2,), {"strides": [2]}, [0, 0],
             "a rest of one cell, and no rounding_type"),
    # Divisors: a window of a cell and a pad, and a sum that is not 0.
    Smallest("exclude-pad-ignored", "AvgPool-1", (1,), {"kernel": [2], "pads_end": [1]}, [1],
             "1 / 1 becomes 1 / 2"),
    Smallest("windows-one-cell-short", "AvgPool-1", (2,), {"kernel": [2]}, [1, 2],
             "the second of two cells"),
    # Blocks: more outputs than cells.
    Smallest("adaptive-end-floor", "AdaptiveAvgPool-8", (1,), {}, NOTHING,
             "the first half of one cell ends at 0", size=[2]),
    Smallest("adaptive-length-ceil", "AdaptiveAvgPool-8", (2,), {}, [1, 2],
             "the middle one of three blocks has two cells", size=[3]),
    # Values: one cell.
    Smallest("magnitudes", "AvgPool-1", (1,), {}, [-1], "a negative cell"),
    Smallest("negative-results-zero", "nGraph-AvgPool", (1,), {}, [-1], "a negative cell"),
    Smallest("maximum-from-zero", "MaxPool-1", (1,), {}, [-1], "a negative cell"),
    Smallest("infinity-clamped-in-average", "AvgPool-1", (1,), {}, [float("inf")], "one infinity"),
    # Planes: as many as it takes.
    Smallest("channel-tail-4-unwritten", "AvgPool-1", (1,), {}, [1] * 5,
             "the first channel beyond a group of 4", planes=(1, 5)),
    Smallest("last-channel-unwritten", "AvgPool-1", (1,), {}, [1, 1], "two channels",
             planes=(1, 2)),
    Smallest("last-batch-unwritten", "MaxPool-1", (1,), {}, [1, 1], "two batches", planes=(2, 1)),
    Smallest("column-tail-4-unwritten", "MaxPool-1", (5,), {}, [1] * 5,
             "the first column beyond a group of 4"),
    # Shapes and types of the output.
    Smallest("output-last-axes-swapped", "MaxPool-1", (1, 2), {}, [0, 0],
             "two axes of another length"),
    Smallest("output-squeezed", "AvgPool-1", (1,), {}, NOTHING, "one cell has axes of 1"),
    Smallest("output-float32", "AvgPool-1", (1,), {}, NOTHING, "another type",
             dtype="float16"),
    # Refusals of what is allowed.
    Smallest("refuses-stride-above-kernel", "MaxPool-1", (1,), {"strides": [2]}, NOTHING,
             "a stride of 2, a kernel of 1"),
    Smallest("refuses-three-axes", "MaxPool-1", (1, 1, 1), {}, NOTHING, "three axes"),
    Smallest("refuses-float16", "AvgPool-1", (1,), {}, NOTHING, "the type alone",
             dtype="float16"),
    Smallest("refuses-asymmetric-pads", "AvgPool-1", (1,), {"kernel": [2], "pads_end": [1]},
             NOTHING, "with a kernel of 1, any pad may be refused"),
    Smallest("required-auto-pad", "MaxPool-1", (1,), {}, NOTHING, "auto_pad is absent"),
    # Acceptance of what is not.
    Smallest("accepts-stride-zero", "AvgPool-1", (1,), {"strides": [0]}, NOTHING,
             "one cell, one stride"),
    Smallest("accepts-output-size-negative", "AdaptiveAvgPool-8", (1,), {}, NOTHING,
             "-1 is the first size below 0", size=[-1]),
]  # fmt: skip


@pytest.mark.parametrize("each", one_in(20, FOUND), ids=lambda each: each.fault)
def test_the_smallest_case_of_a_fault_is_found(each):
    """What is found of a fault has nothing that it could do without."""
    backend = faulty(fault_named(each.fault))
    report = fuzz(backend, operators=[each.operator], max_examples=2000, max_causes=1, seed=1)
    (finding,) = report.findings
    case = finding.vector.case
    axes = len(each.sizes)
    wanted = _plain(each.operator, axes) | each.attributes
    assert case.inputs[0].shape == (*each.planes, *each.sizes), each.why
    assert dict(case.attributes) == wanted, each.why
    assert case.inputs[0].dtype.name == each.dtype
    assert case.inputs[0].ravel().tolist() == each.data, each.why
    assert [array.tolist() for array in case.inputs[1:]] == ([each.size] if each.size else [])


def test_a_smaller_case_is_one_that_the_document_defines():
    """A kernel does not outgrow the data, though the backend would fail there as well."""
    ones = np.ones((1, 1, 9), np.float32)
    given = {"kernel": [7], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    case = case_of("MaxPool-1", given, (ones,), pattern="ones")
    small = polished(case, lambda each: each.attributes["kernel"][0] > 4)
    assert (small.attributes["kernel"], small.inputs[0].shape) == ([5], (1, 1, 5))


def test_data_are_signs_or_whole_numbers_if_they_can_be():
    """Where neither zeros nor ones will do."""
    data = np.float32([[[-0.5039, 3.25]]])
    given = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    case = case_of("MaxPool-1", given, (data,), pattern="normals")

    def cells(fails):
        return polished(case, lambda each: fails(each.inputs[0].min(), each.inputs[0].max()))

    assert cells(lambda low, _: low < 0).inputs[0].tolist() == [[[-1]]]
    assert cells(lambda low, high: low < 0 and high > 2).inputs[0].tolist() == [[[-1, 3]]]


def test_a_kernel_and_its_axis_get_smaller_together():
    """Where each needs the other as it is."""
    zeros = np.zeros((1, 1, 6), np.float32)
    given = {"kernel": [5], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    case = case_of("MaxPool-1", given, (zeros,), pattern="zeros")
    small = polished(case, lambda each: each.inputs[0].shape[2] == each.attributes["kernel"][0] + 1)
    assert (small.attributes["kernel"], small.inputs[0].shape) == ([1], (1, 1, 2))


def test_pads_are_given_rather_than_made_by_a_word():
    """With a plain word, and the pads that the other one makes."""
    zeros = np.zeros((1, 1, 1), np.float32)
    given = {"kernel": [3], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    given |= {"auto_pad": "same_upper"}
    case = case_of("MaxPool-1", given, (zeros,), pattern="zeros")
    small = polished(case, lambda each: each.attributes["kernel"][0] > each.inputs[0].shape[2])
    kernel, pads = {"kernel": [2], "strides": [1]}, {"pads_begin": [0], "pads_end": [1]}
    assert small.attributes == kernel | pads


def test_pads_are_at_the_ends():
    """Of a pad that may be anywhere, at the end of the last axis."""
    zeros = np.zeros((1, 1, 1, 1), np.float32)
    given = {"kernel": [1, 1], "strides": [1, 1], "pads_begin": [0, 1], "pads_end": [0, 0]}
    case = case_of("MaxPool-1", given, (zeros,), pattern="zeros")

    def padded(each):
        return each.inputs[0].ndim == 4 and 1 in each.attributes["pads_begin"]

    assert polished(case, padded).attributes["pads_begin"] == [0, 1]

    def padded_anywhere(each):
        ends = [*each.attributes["pads_begin"], *each.attributes["pads_end"]]
        return each.inputs[0].ndim == 4 and 1 in ends

    small = polished(case, padded_anywhere).attributes
    assert (small["pads_begin"], small["pads_end"]) == ([0, 0], [0, 1])


def test_what_is_long_gets_shorter_in_few_steps():
    """Half of the way to the smallest each time, not one by one."""
    tried = []
    zeros = np.zeros((1, 1, 65537), np.float32)
    given = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    case = case_of("MaxPool-1", given, (zeros,), pattern="zeros")

    def fails(each):
        tried.append(each)
        return each.inputs[0].shape[2] > 300

    assert polished(case, fails).inputs[0].shape == (1, 1, 301)
    assert len(tried) < 200


def test_an_axis_goes_with_both_of_its_pads():
    """Where pads are one list, begins and then ends."""
    data = np.ones((1, 1, 2, 3), np.float32)
    given = {"window": [2, 2], "step": [1, 1], "pads": [1, 0, 0, 1]}
    with registered():
        case = case_of("MinimumPool-1", given, (data,), pattern="ones")
        small = polished(case, lambda each: each.attributes.get("pads", [0])[-1] == 1)
    assert (small.inputs[0].shape, small.attributes) == ((1, 1, 1), {"window": [1], "pads": [0, 1]})


def test_a_failure_needs_the_words_that_are_not_plain():
    """The default or, of a word that is required, the first one of the document."""
    data = np.zeros((1, 1, 1), np.float32)
    given = {"size": [1], "hop": [1], "pads": [0, 1], "count": 0, "up": "UP"}
    with registered():
        words = Signature.of(case_of("AllRequired", given, (data,), pattern="zeros")).words
    assert words == {"some pads", "up=UP"}


def _plain(operator, axes):
    """Return the attributes that an operator requires, as plain as can be."""
    if operator == "AdaptiveAvgPool-8":
        return {}
    if operator == "nGraph-AvgPool":
        return {"window_shape": [1] * axes}
    ones, zeros = [1] * axes, [0] * axes
    plain = {"kernel": ones, "strides": ones, "pads_begin": zeros, "pads_end": zeros}
    return plain | ({"exclude_pad": True} if operator == "AvgPool-1" else {})
