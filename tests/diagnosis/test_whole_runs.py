"""What users did and what they are told, over several operators, live and from stored results."""

import numpy as np
import pytest
from support.fault_probes import light_probes
from support.stored_outputs import answered, as_file

from conformance import check, evaluate
from conformance.backends.results.stored_results import StoredResults
from conformance.faults import fault_named, faulty
from conformance.faults.atoms import by_words


def floats_as_float32(operator, inputs, attributes):
    """Return float64 as float32."""
    outputs = evaluate(operator, inputs, attributes)
    parts = outputs if isinstance(outputs, tuple) else (outputs,)
    with np.errstate(over="ignore"):
        parts = tuple(a.astype(np.float32) if a.dtype == np.float64 else a for a in parts)
    return parts if isinstance(outputs, tuple) else parts[0]


def whole_tiles(operator, inputs, attributes):
    """Leave the columns beyond the last whole tile of 4 unwritten."""
    output = np.array(evaluate(operator, inputs, attributes))
    output[..., output.shape[-1] // 4 * 4 :] = 0
    return output


def no_list_of_one(operator, inputs, attributes):
    """Refuse a kernel that one number stands for."""
    size = attributes["kernel_size"]
    if isinstance(size, list) and len(size) == 1:
        raise ValueError("kernel_size")
    return evaluate(operator, inputs, attributes)


def short_pads(operator, inputs, attributes):
    """Take pads that are left out at the end of a list as zeros."""
    axes = inputs[0].ndim - 2
    pads = {key: attributes[key] + [0] * axes for key in ("pads_begin", "pads_end")}
    changed = {k: v[:axes] for k, v in pads.items() if len(attributes[k]) < axes}
    return evaluate(operator, inputs, attributes | changed)


UNENFORCED = (
    "a call accepted that breaks the rule that the stride divides what the first window can slide"
)
TOO_FEW = "a list of more or fewer pads than spatial axes accepted"
AXIS_BEFORE = (
    "the divisor of a window made from its cells in the input, that of the axis before in place of "
    "that of the last"
)
ROWS = {
    "float64-as-float32": (
        floats_as_float32,
        ("AvgPool-1", "MaxPool-1"),
        "the output returned as float32, where the type is float64",
    ),
    "tiles-of-4": (
        whole_tiles,
        ("MaxPool-1", "AvgPool-1"),
        "columns beyond the last whole group of 4 left unwritten",
    ),
    "kernel-of-one-number": (
        no_list_of_one,
        ("PyTorch-max_pool2d", "PyTorch-avg_pool2d"),
        "a call refused where a kernel size is a list of one number",
    ),
    "pads-too-short": (
        short_pads,
        ("AvgPool-1", "MaxPool-8"),
        f"{TOO_FEW}, where what is wrong with it is one entry too few",
    ),
    "strides-swapped": (
        faulty(fault_named("strides-reversed")),
        ("MaxPool-1", "PyTorch-max_pool2d", "TOSA-MAX_POOL2D"),
        "every stride taken as that of the axis in reverse order",
    ),
    "sums-in-their-own-type": (
        faulty(fault_named("integers-summed-in-own-type")),
        ("TOSA-AVG_POOL2D", "LiteRT-AVERAGE_POOL_2D"),
        "sums of integers kept in their own type",
    ),
    "an-axis-twice-in-the-divisor": (
        faulty(by_words()[AXIS_BEFORE]),
        ("AvgPool-1", "PyTorch-avg_pool3d"),
        AXIS_BEFORE,
    ),
    "a-rule-that-is-not-enforced": (
        faulty(by_words()[UNENFORCED]),
        ("TOSA-MAX_POOL2D", "TOSA-AVG_POOL2D"),
        UNENFORCED,
    ),
}
SOME_SLOW = [
    pytest.param(*row, id=name)
    if number < 2
    else pytest.param(*row, id=name, marks=pytest.mark.slow("so are other rows"))
    for number, (name, row) in enumerate(sorted(ROWS.items()))
]


@pytest.mark.parametrize(("backend", "operators", "words"), SOME_SLOW)
def test_one_mistake_is_one_cause_of_several_operators(backend, operators, words):
    """It explains every failure, and held-out cases of all of the operators confirm it."""
    report = check(backend, operators=operators, tier="smoke", variations="none")
    (cause,) = report.diagnoses
    assert f"by: {words}" in cause.summary
    assert cause.explained == cause.total
    assert not cause.proof.missing


def volume_within_input(operator, inputs, attributes):
    """Refuse averages of volumes where the kernel is larger than the input, as torch does."""
    sizes = inputs[-1].shape[2:]
    kernel = attributes.get("kernel") or attributes.get("window_shape")
    if len(sizes) > 2 and any(k > size for k, size in zip(kernel, sizes, strict=True)):
        raise RuntimeError("input image smaller than kernel size")
    return evaluate(operator, inputs, attributes)


def test_one_refusal_is_one_rule_of_several_operators():
    """With the same condition in each, which what others refuse of their own does not change."""
    operators = ("AvgPool-1", "nGraph-AvgPool")
    report = check(volume_within_input, operators=operators, tier="smoke", variations="none")
    (cause,) = report.diagnoses
    assert cause.behaviour == (
        "an exception where the number of spatial axes is at least 3 and the kernel is above the "
        "input size on some axis"
    )
    assert {*cause.operators} >= {*operators}
    assert not cause.proof.missing


@pytest.mark.slow("so is the condition of several operators")
def test_what_the_failures_happen_to_share_is_no_condition():
    """Both have small planes and a kernel above the size of the same axis."""
    report = check(volume_within_input, operators="AvgPool-16", tier="smoke", variations="none")
    (cause,) = report.diagnoses
    assert cause.behaviour.endswith(
        "the number of spatial axes is at least 3 and the kernel is above the input size on some "
        "axis"
    )
    assert cause.explained == cause.total == 2


def test_stored_results_have_the_same_cause(tmp_path):
    """The last dilation ignored: nothing can be called, and nothing need be."""
    backend = faulty(fault_named("dilations-last-ignored"))
    vectors = light_probes("MaxPool-8")[::4]
    stored = StoredResults(as_file(tmp_path / "results.safetensors", answered(backend, vectors)))
    (cause,) = check(stored, vectors).diagnoses
    assert cause.faults == ("dilations-last-ignored",)
    assert cause.explained == cause.total > 2
