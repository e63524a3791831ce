"""The table of names: a row names a fault by its words, and says which operators have it."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from support.fakes import pool, ramp

from conformance.faults import CATALOGUE, Fault, catalogue, conditions, faulty
from conformance.faults.atoms import by_words
from conformance.faults.catalogue import table
from conformance.faults.known_bugs import KNOWN_BUGS
from conformance.operators import OPERATORS
from conformance.operators.needs import MAXIMUM, has, meets, takes

SHORT = "every kernel size taken as one less"


@pytest.fixture
def named(monkeypatch, tmp_path):
    """Return a function that returns the faults of a table of the given rows, by name."""
    monkeypatch.setattr(table, "__file__", str(tmp_path / "table.py"))

    def of_rows(*rows, by_hand=None):
        (tmp_path / "names.txt").write_text("\n".join(rows), "utf-8")
        return dict(table.named(by_hand or {}))

    return of_rows


def test_a_row_names_the_fault_of_its_words(named):
    fault = named(f"kernel-short | {SHORT}")["kernel-short"]
    assert (fault.summary, fault.replaces) == (SHORT, by_words()[SHORT].replaces)
    assert fault.operators == by_words()[SHORT].operators


@pytest.mark.parametrize("where", ["", ", where a stride is above 1"])
def test_the_fault_may_be_written_by_hand(named, where):
    """Then the row of its name has the words for it, and perhaps a condition."""
    by_hand = {"harmless": Fault.of(resolve=lambda resolve: resolve)}
    fault = named(f"harmless | nothing{where} | maximum", by_hand=by_hand)["harmless"]
    needs = (*MAXIMUM, has("strides")) if where else MAXIMUM
    assert (fault.summary, {*fault.needs}) == (f"nothing{where}", {*needs})
    assert (fault.replaces == by_hand["harmless"].replaces) == (not where)


def test_a_condition_after_the_words_restricts_the_fault(named):
    """Four cells: windows of two side by side, and windows of one where the stride is 2."""
    fault = named(f"strided-short | {SHORT}, where a stride is above 1")["strided-short"]
    assert fault.summary == f"{SHORT}, where a stride is above 1"
    assert all({"kernel", "strides"} <= {*OPERATORS[name].roles} for name in fault.operators)
    for stride, expected in ((1, [2, 3, 4]), (2, [1, 3])):
        given = pool("MaxPool-1", kernel=[2], strides=[stride], pads_begin=[0], pads_end=[0])
        got = faulty(fault)("MaxPool-1", [ramp(1, 1, 4)], given)
        assert got.ravel().tolist() == expected


def test_a_name_stands_for_the_words_of_its_fault(named):
    found = named(
        f"kernel-short | {SHORT}",
        "again-short | kernel-short",
        "strided-short | kernel-short, where a stride is above 1",
    )
    assert found["again-short"].summary == SHORT
    assert found["strided-short"].summary == f"{SHORT}, where a stride is above 1"


def test_needs_restrict_the_operators(named):
    """They are names of `concerns`, roles and element types, all of which an operator has."""
    fault = named(f"kernel-short | {SHORT} | maximum auto_pad float64")["kernel-short"]
    needs = (*MAXIMUM, has("auto_pad"), takes("float64"))
    every = by_words()[SHORT].operators
    assert fault.operators == tuple(name for name in every if meets(OPERATORS[name], needs))
    assert 0 < len(fault.operators) < len(every)


def test_a_row_names_the_reported_behaviour(named):
    """A fault that is made from one that was reported was not."""
    found = named(f"kernel-short | {SHORT} | | strides_swapped", "again-short | kernel-short")
    assert found["kernel-short"].threads == KNOWN_BUGS["strides_swapped"]
    assert found["again-short"].threads == ()


def test_a_row_without_words_is_the_fault_of_gradients_that_its_name_says(named):
    found = named(f"kernel-short | {SHORT}", "backward-kernel-short")
    forward, backward = found["kernel-short"], found["backward-kernel-short"]
    assert backward.summary == f"in the gradient, {SHORT}"
    assert backward.replaces == forward.replaces
    assert set(backward.operators) == {
        name
        for name, each in OPERATORS.items()
        if each.forward and each.forward.name in forward.operators
    }


@pytest.mark.parametrize(
    ("where", "trait"), [("in the gradient", "is_gradient"), ("in an unpooling", "scatters")]
)
def test_words_may_be_those_of_operators_with_code_of_their_own(named, where, trait):
    """With a condition, too."""
    words = f"{where}, {SHORT}, where a stride is above 1"
    fault = named(f"other-short | {words}")["other-short"]
    assert fault.summary == words
    assert fault.operators
    assert all(getattr(OPERATORS[name], trait) for name in fault.operators)


@pytest.mark.parametrize("words", ["every kernel size taken as one les", "kernel-shor"])
def test_unknown_words_are_refused_with_those_that_may_be_meant(named, words):
    meant = SHORT if " " in words else "kernel-short"
    with pytest.raises(KeyError, match=rf"no fault '{words}' \(did you mean {meant}\?\)"):
        named(f"kernel-short | {SHORT}", f"wrong | {words}")


def test_comments_and_empty_lines_name_nothing(named):
    assert named("# kernel-short | words", "") == {}


def rows():
    """Yield the names and the words of the rows of the table."""
    for line in Path(table.__file__).with_name("names.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, words, *_ = [*map(str.strip, line.split("|")), ""]
            yield name, words


def written_by_hand():
    """Return the names of faults that topics of the catalogue have."""
    names = [f"{catalogue.__name__}.{module.name}" for module in iter_modules(catalogue.__path__)]
    topics = map(import_module, names)
    return [name for topic in topics for name in getattr(topic, "FAULTS", ())]


def test_no_name_is_given_twice():
    """Each is that of one fault of the catalogue, and of one that is written by hand at most."""
    assert [name for name, _ in rows()] == [fault.name for fault in CATALOGUE]
    assert len({*written_by_hand()}) == len(written_by_hand())


def test_what_atoms_make_is_not_written_by_hand():
    """Their words are other ones, before a condition too; but two are of dilated axes alone."""
    words, ends = dict(rows()), ["", *(condition.words for condition in conditions.CONDITIONS)]
    said_by_atoms = [
        name
        for name in written_by_hand()
        if any(words[name].removesuffix(end) in by_words() for end in ends)
    ]
    assert said_by_atoms == ["dilated-start-clamped", "dilated-one-late"]


def test_every_fault_that_is_written_by_hand_is_in_the_table():
    """It has no words elsewhere."""
    assert {*written_by_hand()} <= dict(rows()).keys()
