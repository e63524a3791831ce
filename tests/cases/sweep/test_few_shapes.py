"""Few shapes with many values."""

from itertools import groupby

import pytest
from support.made_up import registered

from conformance import UsageError, check, generate, open_vectors
from conformance.cases.sweep import collect
from conformance.operators import OPERATORS


def graph(case):
    """Return what an engine would compile for."""
    inputs = [(array.shape, str(array.dtype)) for array in case.inputs]
    sizes = [array.tolist() for array in case.inputs[1:]]
    return repr((sorted(case.attributes.items()), inputs, sizes))


def few(name, shapes):
    """Return the cases of so many shapes."""
    return list(collect(name, tier="standard", strength=2, seed=0, max_shapes=shapes).cases)


@pytest.mark.parametrize("name", ["MaxPool-14", "AdaptiveAvgPool-8"])
def test_each_shape_has_many_values_in_turn(name):
    """The same ones each time, and more where more are asked for."""
    cases = few(name, 4)
    runs = [len(list(group)) for _, group in groupby(cases, graph)]
    assert len(runs) == len({graph(case) for case in cases}) == 4
    assert min(runs) >= 5
    assert [case.id for case in few(name, 5)][: len(cases)] == [case.id for case in cases]
    assert len({case.id for case in cases}) == len(cases)


def test_operators_of_packages_have_them_too():
    """All follows from roles and traits."""
    with registered():
        others = [name for name in OPERATORS if name not in {"AvgPool-1", "MaxPool-1"}][:2]
        for name in others:
            assert len({graph(case) for case in few(name, 2)}) == 2


def test_files_of_few_shapes(tmp_path):
    """They are vector files like others, and --resume tells them from whole ones."""
    made = {"operators": ["AdaptiveAvgPool-8"], "strength": 2, "resume": True}
    generate(tmp_path, max_shapes=3, **made)
    with open_vectors(tmp_path) as files:
        count = len(files[0])
        digest = files[0].digest
        assert files[0].header["max_shapes"] == 3
    report = check("numpy", tmp_path)
    assert report.ok
    assert len(report.results) == count
    generate(tmp_path, max_shapes=3, **made)
    with open_vectors(tmp_path) as files:
        assert files[0].digest == digest
    generate(tmp_path, tier="smoke", **made)
    with open_vectors(tmp_path) as files:
        assert "max_shapes" not in files[0].header


@pytest.mark.parametrize("wrong", [{"max_shapes": 0}, {"max_shapes": 2, "tier": "exhaustive"}])
def test_wrong_arguments(wrong, tmp_path):
    """One line, and nothing is written."""
    with pytest.raises(UsageError, match="max_shapes"):
        generate(tmp_path / "v", **wrong)
    assert not (tmp_path / "v").exists()
