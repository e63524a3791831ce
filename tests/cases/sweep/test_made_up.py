"""Cases follow from roles and traits: those of operators that nobody has thought of."""

from collections import Counter

import numpy as np
import pytest
from support.made_up import MADE_UP, UNUSUAL_DEFAULTS, registered

from conformance.cases.sweep import arrays_of, collect, smoke_choice
from conformance.cases.sweep.exhaustive import case_specs, exhaustive, parts
from conformance.cases.sweep.rules import broken
from conformance.cases.sweep.special_cases import specials
from conformance.dtypes import name_of
from conformance.errors import InvalidCase
from conformance.operators import vector_of

NAMES = list(MADE_UP)
ATTRIBUTES = [(name, each) for name, operator in MADE_UP.items() for each in operator.attributes]


@pytest.fixture(autouse=True, scope="module")
def _known():
    with registered():
        yield


@pytest.fixture(scope="module")
def standard():
    """Return the cases of the standard tier, by operator, of covering arrays of strength 2."""
    return {name: list(collect(name, tier="standard", strength=2, seed=0).cases) for name in NAMES}


def is_refused(case):
    """Say whether the document does not allow a case."""
    try:
        MADE_UP[case.operator].validate(case.inputs, case.attributes)
    except InvalidCase:
        return True
    return False


@pytest.mark.parametrize("name", NAMES)
def test_cases_are_valid_unless_they_are_meant_not_to_be(name, standard):
    """And all ids differ."""
    cases = standard[name]
    assert [case.id for case in cases if is_refused(case) != ("invalid" in case.tags)] == []
    assert len({case.id for case in cases}) == len(cases) > 80


@pytest.mark.parametrize("name", NAMES)
def test_cases_have_vectors(name):
    """Expected values of every kind of case, or the exception where a rule is broken."""
    cases = list(collect(name, tier="smoke", strength=2, seed=0).cases)
    kinds = {case.id: vector_of(case).outcomes[0].kind for case in cases}
    assert {kinds[case.id] == "raises" for case in cases if "invalid" in case.tags} == {True}
    assert {kinds[case.id] for case in cases if "invalid" not in case.tags} == {"values"}


@pytest.mark.parametrize("name", NAMES)
def test_the_smoke_tier_is_about_eighty(name, standard):
    """Rows fill it up where the operator does not say how many; large cases are few."""
    smoke = [case for case in standard[name] if case.tier == "smoke"]
    assert 70 <= len(smoke) <= 90
    assert sum(case.inputs[0].size > 4096 for case in smoke) <= 4
    tagged = Counter("invalid" in case.tags for case in smoke)
    assert tagged[False] > tagged[True] > 0


def test_rows_of_the_smoke_tier_can_be_chosen(monkeypatch):
    """An array that is not mentioned has none."""
    monkeypatch.setitem(smoke_choice.ROWS, "UnusualDefaults", (5,))
    cases = list(collect("UnusualDefaults", tier="smoke", strength=2, seed=0).cases)
    assert sum(not case.tags for case in cases) == 5


@pytest.mark.parametrize("name", NAMES)
def test_every_feasible_interaction_is_covered(name):
    """Whatever factors an operator has."""
    for array in arrays_of(name, 2, 0):
        assert array.coverage.covered == array.coverage.feasible > 0


@pytest.mark.parametrize("name", NAMES)
def test_every_element_type_is_one_of_the_operator(name, standard):
    """The plain ones among them all occur."""
    operator = MADE_UP[name]
    types = {name_of(case.inputs[0].dtype) for case in standard[name] if not is_refused(case)}
    assert types <= set(operator.dtypes)
    swept = {"float16", "float32", "bfloat16", "float64", "int8"} & set(operator.dtypes)
    assert swept <= types


@pytest.mark.parametrize(("name", "attribute"), ATTRIBUTES)
def test_every_value_of_an_attribute_occurs(name, attribute, standard):
    """And that it is left out, where it may be: also if its default is an unusual number."""
    cases = [case for case in standard[name] if not is_refused(case)]
    absent = [case for case in cases if attribute.key not in case.attributes]
    assert bool(absent) is not attribute.required
    values = [case.attributes.get(attribute.key) for case in cases]
    assert all(choice in values for choice in attribute.choices)
    if attribute.is_list:
        assert len({str(value) for value in values}) > 20


@pytest.mark.parametrize(("name", "attribute"), ATTRIBUTES)
def test_every_rule_of_an_attribute_is_broken(name, attribute, standard):
    """By a number or a word that is not allowed, and by its absence if it is required."""
    whys = {case.tags[1] for case in standard[name] if "invalid" in case.tags}
    about = {why.partition(": ")[2] for why in whys if why.startswith(f"{attribute.key}: ")}
    assert ("left out though required" in about) == attribute.required
    if attribute.is_list:
        assert {"one entry too few", f"{attribute.least - 1} on the last axis"} <= about
    elif not isinstance(attribute.choices[0], bool):
        assert "not a value of the document" in about


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_broken_in_the_number_of_axes(name, standard):
    """One below the fewest and, where the document says how many at most, one above."""
    operator = MADE_UP[name]
    fewest, most = operator.axes
    found = {
        case.inputs[0].ndim - 2
        for case in standard[name]
        if "invalid" in case.tags and "dimensions" in case.tags[1] and "size" not in case.tags[1]
    }
    assert found == {fewest - 1, *(() if most is None else (most + 1,))}


@pytest.mark.parametrize("name", NAMES)
def test_every_way_to_break_a_rule_breaks_one(name, standard):
    """Also those that are drawn only."""
    operator = MADE_UP[name]
    for case in [case for case in standard[name] if not is_refused(case)][::40]:
        if 0 in case.inputs[0].shape:
            continue
        for way in broken(operator, case.attributes, case.inputs):
            with pytest.raises(InvalidCase):
                operator.validate(way.inputs, way.attributes)


def test_words_look_alike_in_the_ids_of_all_documents():
    """Numbers by their letters; rounding up is `ceil` however a document spells it."""
    ids = [case.id for case in collect("AllRequired", tier="smoke", strength=1, seed=0).cases]
    words = {part for each in ids for part in each.split("/")[3].split("-") if part.isalpha()}
    assert words >= {"floor", "ceil", "include", "exclude"}
    assert not words & {"DOWN", "UP"}
    assert any("/k2x3-s2x1-p1x0x0x1-" in each for each in ids)


def test_reductions_have_the_data_that_show_their_faults(standard):
    """Sums have cancellation and narrow bounds; what chooses a cell has the lowest numbers."""
    patterns = {name: {case.pattern for case in standard[name]} for name in NAMES}
    for name, operator in MADE_UP.items():
        floating = "float32" in operator.dtypes
        assert ("cancellation" in patterns[name]) == operator.reduction.sums
        assert ("lowest" in patterns[name]) != operator.reduction.sums
        assert ("impulses" in patterns[name]) >= operator.reduction.sums
        assert ("nan" in patterns[name]) >= floating


@pytest.mark.parametrize("name", ["MinimumPool-1", "AdaptiveMaximum", "WholeMaximum"])
def test_integers_have_their_ends(name, standard):
    """Every integer type, where cells are chosen and not summed."""
    types = {name_of(case.inputs[0].dtype) for case in standard[name] if case.pattern == "extremes"}
    assert {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"} <= types


def test_averages_of_integers_are_special_cases(standard):
    """The document must allow integers at all."""
    tags = {name: {tag for case in standard[name] for tag in case.tags} for name in NAMES}
    assert [name for name in NAMES if "integer average" in tags[name]] == ["AllRequired"]


@pytest.mark.parametrize("name", NAMES)
def test_special_cases_say_no_more_than_the_attributes_can(name):
    """No tag speaks of pads or strides that the operator does not have."""
    operator = MADE_UP[name]
    tags = {tag for each in specials(operator) for tag in each.tags}
    pads = {"pads_begin", "pads_end"} <= operator.roles
    assert ("pads above the kernel on both ends" in tags) == pads
    assert ("halving" in tags) == ("strides" in operator.roles)


def test_special_cases_have_as_many_axes_as_there_must_be():
    """Those of fewer have one cell on the others; those of too many are left out."""
    plans = {each.tags[0]: each for each in specials(UNUSUAL_DEFAULTS)}
    assert plans["more than 255 cells in a window"].shape == (1, 2, 1, 20, 21)
    assert plans["more than 255 cells in a window"].attributes["k"] == [1, 17, 16]
    planes = [each.shape for each in specials(MADE_UP["PlanesOfIntegers"])]
    assert {len(shape) for shape in planes} == {4}


@pytest.mark.parametrize("name", NAMES)
def test_a_part_of_the_product_is_valid_and_new(name, standard):
    """The ids of the exhaustive tier are unique over all files."""
    cases = list(exhaustive(name, 0, parts(name)))[:500]
    assert [case.id for case in cases if is_refused(case)] == []
    assert len({case.id for case in cases}) == len(cases) > 0
    assert not {case.id for case in cases} & {case.id for case in standard[name]}
    assert {plan.shape[1] for plan in case_specs(name, 1)} == {4}


@pytest.mark.parametrize("name", ["WholeAverage", "WholeMaximum"])
def test_planes_are_pooled_whole_in_every_size(name, standard):
    """Of one cell, of more than a vector register, of more than 65,536."""
    sizes = {int(np.prod(case.inputs[0].shape[2:])) for case in standard[name]}
    assert {1, 2, 3, 16, 35} <= sizes
    assert max(sizes) > 65536
    axes = {case.inputs[0].ndim - 2 for case in standard[name] if "invalid" not in case.tags}
    assert {1, 2, 3} <= axes
