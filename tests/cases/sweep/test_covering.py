"""Covering arrays against full enumeration of small models."""

import itertools
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.cases.sweep.covering import Constraint, Coverage, Model, constraint, covering_array


@st.composite
def models(draw):
    """Models of 1 to 5 factors; each constraint forbids some combinations, perhaps all of them."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    factors = {f"f{i}": [f"{i}{level}" for level in range(size)] for i, size in enumerate(sizes)}
    constraints = []
    for number in range(draw(st.integers(0, 6))):
        names = draw(st.lists(st.sampled_from(list(factors)), min_size=1, max_size=4, unique=True))
        choices = list(itertools.product(*(factors[name] for name in names)))
        forbidden = draw(st.sets(st.sampled_from(choices), max_size=max(1, len(choices) // 2)))
        constraints.append(
            Constraint(
                tuple(names), lambda *levels, bad=forbidden: levels not in bad, f"rule {number}"
            )
        )
    return Model(factors, constraints)


def valid_rows(model):
    """Every row that satisfies every constraint, by enumeration."""
    rows = [
        dict(zip(model.factors, levels, strict=True))
        for levels in itertools.product(*model.factors.values())
    ]
    return [
        row
        for row in rows
        if all(rule.predicate(*(row[name] for name in rule.names)) for rule in model.constraints)
    ]


def tuples(rows, strength):
    """Every tuple some row holds, as a set of (factor, level) pairs."""
    return {
        pairs for row in rows for pairs in itertools.combinations(sorted(row.items()), strength)
    }


def counted(model, rows, strength):
    """Return what rows cover, by enumeration."""
    feasible = tuples(valid_rows(model), strength)
    every = tuples(valid_rows(Model(model.factors)), strength)
    held = tuples(rows, strength) & feasible
    return Coverage(len(feasible), len(held), len(every - feasible))


CHAIN = Model(
    {"a": [0, 1, 2], "b": [0, 1, 2], "c": [0, 1, 2], "d": "xyz"},
    [
        Constraint(("a", "b"), lambda a, b: b >= a, "b is at least a"),
        Constraint(("b", "c"), lambda b, c: c > b, "c is more than b"),
    ],
)


@given(models(), st.integers(1, 4), st.integers(0, 3))
def test_every_feasible_tuple_is_covered_and_every_row_is_valid(model, strength, seed):
    """The rows are among the enumerated valid rows and hold exactly the tuples those hold."""
    strength = min(strength, len(model.factors))
    valid = valid_rows(model)
    if not valid:
        with pytest.raises(ValueError, match="no row satisfies all constraints"):
            covering_array(model, strength=strength, seed=seed)
        return
    rows, covered = covering_array(model, strength=strength, seed=seed)
    assert [row for row in rows if row not in valid] == []
    assert tuples(valid, strength) == tuples(rows, strength)
    assert covered == counted(model, rows, strength)


def test_strength_of_all_factors_lists_every_valid_row_once():
    """At full strength the array is the set of all valid rows."""
    rows = covering_array(CHAIN, strength=4).rows
    assert sorted(map(str, valid_rows(CHAIN))) == sorted(map(str, rows))


def test_a_dead_end_that_only_a_search_sees_is_avoided():
    """Levels that each pair up but leave three factors two levels to differ in are never joined."""
    rules = [
        Constraint(("a", "b", *pair), lambda a, b, x, y: a + b < 2 or x != y, f"{pair} differ")
        for pair in itertools.combinations("xyz", 2)
    ]
    model = Model({name: [0, 1] for name in "abxyz"}, rules)
    for strength, seed in itertools.product((1, 2, 3), range(5)):
        rows = covering_array(model, strength=strength, seed=seed).rows
        assert not any(row["a"] + row["b"] == 2 for row in rows)
        assert tuples(valid_rows(model), strength) == tuples(rows, strength)


def test_contradictory_constraints_are_named():
    """The error lists the constraints that contradict each other, and no others."""
    rules = [
        Constraint(("a", "b"), lambda a, b: a != b, "a differs from b"),
        Constraint(("b", "c"), lambda b, c: b != c, "b differs from c"),
        Constraint(("c", "d"), lambda c, d: c != d, "c differs from d"),
        Constraint(("a", "c"), lambda a, c: a != c, "a differs from c"),
    ]
    model = Model({name: [0, 1] for name in "abcd"}, rules)
    message = (
        "no row satisfies all constraints; together impossible: "
        "a differs from b (a, b); b differs from c (b, c); a differs from c (a, c)"
    )
    with pytest.raises(ValueError, match="no row satisfies") as caught:
        covering_array(model, strength=2)
    assert message == str(caught.value)


def test_a_mid_size_array_stays_near_the_lower_bound():
    """Ten factors of four levels at strength 3 take at most 180 rows; no array has less than 64."""
    model = Model({f"f{i}": range(4) for i in range(10)})
    rows = covering_array(model, strength=3).rows
    assert len(tuples(rows, 3)) == 120 * 4**3
    assert 64 <= len(rows) <= 180


def test_unequal_level_counts_stay_near_the_largest_product():
    """Where three factors outweigh the others, few rows go beyond the product of their levels."""
    model = Model({f"f{i}": range(n) for i, n in enumerate([3, 9, 2, 4, 8, 3, 7])})
    assert 9 * 8 * 7 <= len(covering_array(model, strength=3).rows) <= 1.1 * 9 * 8 * 7


def test_same_arguments_give_the_same_rows_whatever_the_hash_seed():
    """Rows do not depend on the order of sets of strings, which differs between processes."""
    program = (
        "from conformance.cases.sweep.covering import *\n"
        "model = Model({n: [n + str(i) for i in range(4)] for n in 'abcdef'},\n"
        "    [Constraint(('a', 'f'), lambda a, f: a[1] <= f[1], 'f is at least a')])\n"
        "print(covering_array(model, strength=2, seed=7).rows)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_the_rows_of_a_seed_are_pinned():
    """Rows of a fixed seed never change: shipped vectors are made from them."""
    model = Model({"a": "xy", "b": "xyz", "c": [1, 2]})
    rows = covering_array(model, strength=2, seed=3).rows
    expected = ["yx2", "xz2", "yz1", "xy1", "yy2", "xx1"]
    assert expected == ["".join(map(str, row.values())) for row in rows]


def test_progress_rises_to_the_number_of_feasible_tuples():
    """Progress comes once per row with rising counts and ends complete."""
    seen = []
    rows = covering_array(CHAIN, strength=2, progress=lambda _, *counts: seen.append(counts)).rows
    feasible = len(tuples(valid_rows(CHAIN), 2))
    covered = [count for count, _ in seen]
    assert {feasible} == {total for _, total in seen}
    assert (len(rows), feasible) == (len(seen), covered[-1])
    assert sorted(set(covered)) == covered


@pytest.mark.parametrize("strength", [0, 5])
def test_a_strength_that_does_not_fit_is_refused(strength):
    """Strength lies between one and the number of factors."""
    with pytest.raises(ValueError, match="between 1 and the number of factors, 4"):
        covering_array(CHAIN, strength=strength)


def test_a_table_too_large_for_memory_is_refused():
    """A strength whose table of tuples would not fit in memory is an error, not a crash."""
    model = Model({f"f{i}": range(20) for i in range(8)})
    with pytest.raises(ValueError, match="strength 5 is too high for 160 levels"):
        covering_array(model, strength=5)


@pytest.mark.parametrize(
    ("factors", "names", "message"),
    [
        ({}, None, "at least one factor"),
        ({"a": []}, None, "'a' has no levels"),
        ({"a": [1, 2, 1]}, None, "'a' has equal levels"),
        ({"a": [1]}, ("a", "b"), r"names unknown factors: \['b'\]"),
        ({"a": [1]}, ("a", "a"), "must name distinct factors"),
        ({"a": [1]}, (), "must name distinct factors"),
    ],
)
def test_a_broken_model_is_refused(factors, names, message):
    """A model says what is wrong with it when it is made."""
    with pytest.raises(ValueError, match=message):
        Model(factors, [] if names is None else [Constraint(names, lambda *_: True, "rule")])


def test_a_constraint_is_on_the_factors_that_its_rule_takes():
    """By the names of its parameters, in their order."""
    rule = constraint("b is at least a", lambda b, a: b >= a)
    assert (rule.names, rule.reason) == (("b", "a"), "b is at least a")
    assert rule.predicate(2, 1)
