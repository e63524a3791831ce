"""Where failures came and went."""

from collections import Counter

from support.releases import history_of, not_run, release


def findings(*releases):
    return history_of(*releases).findings


def test_a_failure_of_every_release_has_no_change():
    (found,) = findings(release("1", wrong="ab"), release("2", wrong="ab"))
    assert found.failing == (2, 2)
    assert found.changes == ()


def test_a_failure_that_came_says_where_from():
    """What became of its vectors in the release before: they may have been unsupported."""
    first = release("1", conforms="a", unsupported="b")
    (found,) = findings(first, release("2", wrong="abc"))
    (change,) = found.changes
    assert (change.version, change.before, change.came) == ("2", "1", True)
    assert change.ids == ("a", "b", "c")
    assert change.others == Counter({"conforms": 1, "unsupported": 1, "not run": 1})


def test_a_failure_that_went_says_what_it_is_now():
    (found,) = findings(release("1", wrong="ab"), release("2", conforms="a", wrong="b"))
    (change,) = found.changes
    assert (change.version, change.came, change.ids) == ("2", False, ("a",))
    assert change.others == Counter(conforms=1)


def test_releases_that_were_not_run_are_passed_over():
    (found,) = findings(release("1", conforms="a"), not_run("2"), release("4", wrong="a"))
    assert found.failing == (0, 1)
    assert found.changes[0].before == "1"


def test_a_vector_is_in_the_group_of_the_newest_release_that_fails_it():
    """The cause that the report of a release finds may have another name in the next."""
    old = release("1", sums="ab", other="c", conforms="d")
    new, gone = findings(old, release("2", divisor="abd", conforms="c"))
    assert (new.group.title, new.group.ids, new.failing) == ("divisor", ("a", "b", "d"), (2, 3))
    assert (gone.group.title, gone.failing) == ("other", (1, 0))
    assert [change.ids for change in (*new.changes, *gone.changes)] == [("d",), ("c",)]
