"""A model held against what a backend returns for vectors."""

import numpy as np
import pytest
from support import sound
from support.fakes import pool, vector
from support.planted_sums import folded, lanes_joined, running, summing
from support.stored_outputs import as_file

from conformance.errors import Unsupported, UsageError
from conformance.reveal import reveal
from conformance.reveal.values import Window

WINDOWS = (Window((2, 3), per_plane=2), Window((21,), per_plane=2))


def data(*shape):
    """Return numbers of many digits."""
    return np.random.default_rng(3).standard_normal(shape).astype("float32")


VECTORS = [
    vector(data(2, 3, 40), pool(kernel=[kernel], pads_begin=[pad], exclude_pad=exclude), id=name)
    for name, kernel, pad, exclude in [
        ("plain", 9, 0, True),
        ("padded", 9, 4, True),
        ("padding counts", 9, 4, False),
    ]
]


def predicted(backend, vectors=VECTORS, windows=WINDOWS):
    """Return how well the model of a backend predicts its averages."""
    found = reveal(backend, vectors, operators=["AvgPool-1"], dtypes=["float32"], windows=windows)
    return found.averages[0].prediction


@pytest.mark.parametrize("order", [sound.backwards, sound.sequential])
def test_every_average_is_predicted(order):
    found = predicted(summing(order))
    assert (found.vectors, found.other_averages, found.exceptions) == (3, 0, ())
    assert found.averages == 2 * 3 * (16 + 18 + 18)


def test_exceptions_are_named_with_what_they_share():
    def backend(operator, inputs, attributes):
        order = sound.backwards if any(attributes["pads_begin"]) else sound.sequential
        return summing(order)(operator, inputs, attributes)

    found = predicted(backend)
    assert found.exceptions == ("padded", "padding counts")
    assert 0 < found.other_averages < found.averages
    assert "pad" in found.shared


def test_another_reading_is_no_exception():
    case = pool(kernel=[9], pads_end=[4], strides=[4], rounding_type="ceil", exclude_pad=False)
    vectors = [vector(data(1, 1, 40), case)]
    backend = summing(sound.sequential, readings={"overhang-divisor": "whole-kernel"})
    assert predicted(backend, vectors).other_averages == 0


def test_without_a_rule_only_known_windows_are_predicted():
    def backend(operator, inputs, attributes):
        order = sound.backwards if inputs[0].ndim > 3 else lanes_joined(4, folded)
        return summing(order)(operator, inputs, attributes)

    kernels = [vector(data(1, 1, 42), pool(kernel=[n], strides=[n]), id=str(n)) for n in (21, 14)]
    found = predicted(backend, kernels)
    assert (found.vectors, found.left_out, found.other_averages) == (1, 1, 0)


def test_vectors_without_a_result_of_a_right_shape_are_counted():
    """Each vector is either compared, or left out for a reason that is counted."""

    def backend(operator, inputs, attributes):
        if any(attributes["pads_begin"]) and not attributes["exclude_pad"]:
            raise NotImplementedError
        result = summing(sound.sequential)(operator, inputs, attributes)
        return result[..., 1:] if any(attributes["pads_begin"]) else result

    found = predicted(backend)
    assert (found.vectors, found.left_out, found.without_result) == (1, 0, 2)


def test_without_a_model_nothing_is_predicted():
    assert predicted(summing(running)) is None


def test_elements_that_a_document_leaves_undefined_are_not_compared():
    case = pool(kernel=[2], pads_begin=[2], exclude_pad=True)
    found = predicted(summing(sound.sequential), [vector(data(1, 1, 6), case)])
    assert (found.averages, found.other_averages) == (3, 0)


def test_stored_results_are_refused(tmp_path):
    stored = as_file(tmp_path / "stored.safetensors", {"some/id": Unsupported("no such call")})
    with pytest.raises(UsageError, match="stored results"):
        reveal(f"results:{stored}", [])


def test_norms_are_refused():
    with pytest.raises(UsageError, match="not for norms"):
        reveal("numpy", [], operators=["ONNX-LpPool-22"])
