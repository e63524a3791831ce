"""Indices for an unpooling, and the cases that are made of one."""

import numpy as np
import pytest

from conformance.cases.minimize import polished
from conformance.cases.perturb import near
from conformance.cases.pooled_indices import pooled_indices
from conformance.cases.sweep import collect
from conformance.cases.sweep.sweep_model import CaseSpec, build
from conformance.operators import OPERATORS, vector_of
from conformance.vector import Values

ONNX, TORCH = OPERATORS["ONNX-MaxUnpool-22"], OPERATORS["PyTorch-max_unpool2d"]
PADDED = {"kernel_size": [3, 2], "stride": [2, 3], "padding": [1, 0]}
CASE = build(CaseSpec(TORCH.name, PADDED, (2, 3, 4, 5), "float32", "index"), seed=0)


def test_each_index_is_of_a_cell_of_its_window():
    indices = pooled_indices(TORCH, (2, 3, 4, 5), PADDED)
    rows, columns = np.divmod(indices, 14)  # 4 windows 3 apart of 2 cells, and one
    i, j = np.ogrid[:4, :5]
    assert ((rows >= np.maximum(2 * i - 1, 0)) & (rows <= 2 * i + 1)).all()
    assert ((columns >= 3 * j) & (columns <= 3 * j + 1)).all()
    assert len(np.unique(rows - 2 * i)) == 3
    assert len(np.unique(columns - 3 * j)) == 2


def test_they_count_planes_where_the_document_does():
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    indices = pooled_indices(ONNX, (2, 3, 2, 2), attributes)
    assert (indices // 16 == np.arange(6).reshape(2, 3, 1, 1)).all()


def test_they_are_the_same_each_time_and_do_not_repeat_where_windows_touch():
    attributes = {"kernel_shape": [3], "strides": [3]}
    one, other = (pooled_indices(ONNX, (2, 2, 9), attributes) for _ in range(2))
    assert one.tolist() == other.tolist()
    assert len(np.unique(one)) == one.size


@pytest.mark.parametrize("size", [[6, 13], [8, 15]])
def test_they_lie_in_an_output_of_the_size_that_is_given(size):
    indices = pooled_indices(TORCH, (1, 1, 4, 5), {**PADDED, "output_size": size})
    assert 0 <= indices.min() <= indices.max() < size[0] * size[1]


def test_cases_near_one_are_unpoolings_with_indices_of_their_own():
    rng = np.random.default_rng(0)
    found = [case for _ in range(100) if (case := near(CASE, rng)) is not None]
    assert len(found) > 90
    defined = [case for case in found if isinstance(vector_of(case).outcomes[0], Values)]
    assert len(defined) > 80
    for case in defined:
        expected = pooled_indices(TORCH, case.data.shape, case.attributes)
        assert case.inputs[1].tolist() == expected.tolist()


def test_a_failure_is_minimised_to_what_it_needs():
    """Here, two columns of data with a stride above the kernel."""

    def fails(case):
        params = TORCH.validate(case.inputs, case.attributes)
        return case.data.shape[3] > 1 and params.strides[1] > params.kernel[1]

    small = polished(CASE, fails)
    assert small.data.shape == (1, 1, 1, 2)
    assert small.attributes == {"kernel_size": [1, 1], "stride": [1, 2]}


@pytest.mark.parametrize("name", ["ONNX-MaxUnpool-22", "PyTorch-max_unpool2d"])
def test_cases_are_of_every_kind(name):
    cases = [*collect(name, tier="standard", strength=3, seed=0).cases]
    assert {tag for case in cases for tag in case.tags[:1]} >= {
        *("geometry", "output size", "indices of another size", "kind of number", "long"),
        *("indices anywhere", "repeated index", "index outside of the output", "empty", "invalid"),
    }
    assert len({case.id for case in cases}) == len(cases)
