"""The sweep reaches every kind of number that makes bugs visible."""

from functools import cache
from math import prod

import numpy as np
import pytest
from support.effort import one_in
from support.random_cases import EVERY

from conformance.cases.sweep import arrays_of, collect
from conformance.cases.sweep.exhaustive import exhaustive, parts
from conformance.cases.sweep.invalid_cases import invalid
from conformance.cases.sweep.one_off import one_off
from conformance.cases.sweep.special_cases import special
from conformance.cases.sweep.sweep_model import ABSENT, cases_of
from conformance.cases.sweep.worked_examples import examples
from conformance.dtypes import FLOATS, name_of
from conformance.operators import OPERATORS
from conformance.reference.bound import is_meaningful

WINDOWED = ("AvgPool-1", "MaxPool-1", "nGraph-AvgPool")
SWEPT = [name for name in EVERY if OPERATORS[name].levels != "least"]
SEVERAL = [name for name in EVERY if OPERATORS[name].has_windows or OPERATORS[name].is_adaptive]
"""Operators that may have several windows."""
ALL_LEVELS = [name for name, operator in OPERATORS.items() if operator.levels == "all"]


@cache
def cases(operator, tier="standard"):
    return list(collect(operator, tier=tier, strength=2, seed=0).cases)


def axes_of(case):
    """Yield (d, k, s, begin, end) per axis of a windowed case."""
    a = case.attributes
    kernel = a.get("kernel") or a["window_shape"]
    ones, zeros = [1] * len(kernel), [0] * len(kernel)
    return list(
        zip(
            case.inputs[0].shape[2:],
            kernel,
            a.get("strides") or a.get("window_movement_strides", ones),
            a.get("pads_begin") or a.get("padding_below", zeros),
            a.get("pads_end") or a.get("padding_above", zeros),
            strict=True,
        )
    )


@cache
def valid(operator):
    return [case for case in cases(operator) if "invalid" not in case.tags]


@pytest.mark.parametrize("operator", EVERY)
@pytest.mark.parametrize("strength", one_in(2, [2, 3]))
def test_every_feasible_interaction_is_covered(operator, strength):
    """The covering array of each operator misses no feasible combination of levels."""
    for array in arrays_of(operator, strength, 0):
        more = 0 if OPERATORS[operator].rank else array.name == "geometry"
        less = OPERATORS[operator].levels == "least"
        assert array.strength == strength + more - less
        assert array.coverage.feasible > 0
        assert array.coverage.covered == array.coverage.feasible


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_ids_are_unique_and_stable(operator):
    """The same arguments give the same ids, each once."""
    ids = [case.id for case in cases(operator)]
    again = [case.id for case in collect(operator, tier="standard", strength=2, seed=0).cases]
    assert len(set(ids)) == len(ids)
    assert again == ids


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_an_id_names_operator_type_and_shape(operator):
    """Ids are readable: operator, element type, shape, attributes, pattern."""
    for case in cases(operator):
        shape = "x".join(map(str, case.inputs[0].shape))
        name = name_of(case.inputs[0].dtype)
        assert case.id.startswith(f"{operator}/{name}/{shape}/")
        assert case.pattern in case.id


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_smoke_is_inside_standard_and_small(operator):
    """The smoke tier is a prefix of the standard tier's cases."""
    smoke = [case.id for case in cases(operator, "smoke")]
    standard = [case.id for case in cases(operator) if case.tier == "smoke"]
    assert smoke == standard
    large = [case for case in cases(operator, "smoke") if case.inputs[0].size > 4096]
    assert len(large) <= 3


@pytest.mark.parametrize("operator", one_in(6, [n for n in EVERY if n not in ALL_LEVELS]))
def test_smoke_is_small(operator):
    """About 80 vectors, at most 95."""
    assert len(cases(operator, "smoke")) <= 95


def test_smoke_is_not_much_larger_for_operators_with_all_levels():
    """At most 480 vectors together."""
    assert 300 <= sum(len(cases(name, "smoke")) for name in ALL_LEVELS) <= 480


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_neighbours_differ_in_one_thing(operator):
    """From some case before them: attributes, shape, output size, types. A base may be one too."""

    def things(case):
        given = {name: str(value) for name, value in case.attributes.items()}
        arrays = dict(enumerate(case.inputs[0].shape)) | {"types": [a.dtype for a in case.inputs]}
        return given | arrays | {"size": [a.tolist() for a in case.inputs[1:]]}

    seen, differences = [], []
    for case in cases_of(one_off(OPERATORS[operator])):
        found = things(case)
        apart = (sum(found.get(n) != other.get(n) for n in {*found, *other}) for other in seen)
        differences.append(min(apart, default=0))
        seen.append(found)
    assert set(differences) == {0, 1}
    inputs_or_attributes = len(OPERATORS[operator].attributes) + len(seen[0]["size"])
    assert differences.count(1) >= (8 if operator in SEVERAL and inputs_or_attributes > 1 else 5)


@pytest.mark.parametrize("operator", ["AvgPool-1", "MaxPool-1", "nGraph-AvgPool"])
def test_every_optional_attribute_is_absent_somewhere(operator):
    """Defaults are tested: each optional attribute is left out of some case."""
    optional = [a.key for a in OPERATORS[operator].attributes if not a.required]
    for key in optional:
        assert any(key not in case.attributes for case in valid(operator)), key
    assert ABSENT not in {v for c in valid(operator) for v in map(str, c.attributes.values())}


@pytest.mark.parametrize("operator", one_in(4, SWEPT))
def test_every_element_type_occurs(operator):
    """All floating-point types that it has; for MaxPool-1 integers of both signs too."""
    names = {name_of(case.inputs[0].dtype) for case in valid(operator)}
    assert {*FLOATS} & {*OPERATORS[operator].dtypes} <= names
    if operator == "MaxPool-1":
        assert {"int8", "uint8", "int32", "int64"} <= names


@pytest.mark.parametrize("operator", WINDOWED)
def test_bounds_of_half_types_say_something(operator):
    """No half-type case has so many addends that an element-type sum could be anything."""
    for case in valid(operator):
        data = case.inputs[0]
        name = name_of(data.dtype)
        if operator != "MaxPool-1" and name in FLOATS[:2]:
            windows = prod(min(k, d) for d, k, *_ in axes_of(case))
            planes = data.astype(np.float32).reshape(-1, prod(data.shape[2:]))
            filled = int(np.count_nonzero(planes, axis=1).max(initial=0))
            assert is_meaningful(min(windows, filled), data.ndim - 2, name), case.id


def test_worked_examples_are_all_there():
    """As many of each operator as its document has, with the shape rules for MaxPool-14."""
    cases = [case for operator in OPERATORS.values() for case in cases_of(examples(operator))]
    found = [case.operator for case in cases]
    assert {name: found.count(name) for name in found} == {
        "AvgPool-1": 5,
        "MaxPool-1": 1,
        "AdaptiveAvgPool-8": 1,
        "nGraph-AvgPool": 2,
        "AvgPool-14": 5,
        "AvgPool-16": 6,
        "MaxPool-8": 10,
        "MaxPool-14": 11,
        "AdaptiveMaxPool-8": 1,
        "ONNX-MaxUnpool-22": 2,
        "PyTorch-avg_pool1d": 1,
        "PyTorch-max_unpool1d": 2,
        "PyTorch-max_unpool2d": 2,
        "WebNN-averagePool2d": 4,
        "WebNN-l2Pool2d": 2,
        "WebNN-maxPool2d": 3,
        "LiteRT-AVERAGE_POOL_2D": 3,
    }
    assert {case.provenance for case in cases} == {"printed"}


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_invalid_cases_break_exactly_one_rule(operator):
    """Each names the rule it breaks, and no two are the same; where all is one window, few can."""
    reasons = [spec.tags[1] for spec in invalid(OPERATORS[operator])]
    assert len(reasons) == len(set(reasons)) >= (7 if operator in SEVERAL else 1)


@pytest.mark.parametrize("operator", EVERY)
def test_special_cases_say_what_they_are_for(operator):
    """Every special case carries a tag."""
    assert all(spec.tags for spec in special(OPERATORS[operator]))


@pytest.mark.slow("it counts millions of cases")
def test_the_exhaustive_tier_is_about_a_million():
    """The full product on one axis for each element type, over all operators."""
    attributes = {"AvgPool-1": 4 * 2 * 2, "MaxPool-1": 4 * 2, "nGraph-AvgPool": 2}
    for operator, modes in attributes.items():
        assert parts(operator) == 12 * 6
        assert sum(1 for _ in exhaustive(operator, 0, 5)) == 5 * 25 * modes * 4
    assert parts("AdaptiveAvgPool-8") == 8
    assert sum(1 for _ in exhaustive("AdaptiveAvgPool-8", 0, 3)) == 8 * 64 * 3 * 4
    assert 72 * 5 * 25 * 4 * sum(attributes.values()) + 64 * 64 * 3 * 4 > 950_000


@pytest.mark.parametrize("operator", one_in(12, EVERY))
def test_no_case_of_the_product_is_in_a_smaller_tier(operator):
    """Ids are unique over the files of the exhaustive tier."""
    smaller = collect(operator, tier="standard", strength=1, seed=0).cases
    ids = [case.id for part in (1, 2) for case in exhaustive(operator, 0, part)]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {case.id for case in smaller}


@pytest.mark.parametrize("operator", one_in(4, EVERY))
def test_the_smaller_tiers_leave_four_channels_to_the_product(operator):
    """So no seed and no strength can make a case of the product twice."""
    smaller = collect(operator, tier="standard", strength=2, seed=3).cases
    shapes = [case.inputs[0].shape for case in smaller if case.inputs[0].ndim == 3]
    assert not [shape for shape in shapes if shape[:2] == (1, 4)]


@pytest.mark.parametrize("operator", ["MaxPool-8", "MaxPool-14"])
def test_indices_of_a_plane_come_without_what_engines_lack(operator):
    """As int32, with pads alike at both ends and no dilations, of one axis to three."""
    params = [
        OPERATORS[operator].validate(case.inputs, case.attributes)
        for case in cases_of(special(OPERATORS[operator]))
    ]
    axes = {
        len(each.kernel)
        for each in params
        if (each.index_type, each.index_axis) == ("int32", 2)
        and each.pads_begin == each.pads_end != (0,) * len(each.kernel)
        and set(each.dilations) == {1}
    }
    assert axes == {1, 2, 3}
