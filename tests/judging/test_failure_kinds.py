"""Failures named in two or three words."""

import pytest
from support.arbitrary_reports import result

from conformance.judging.failure_kinds import exception_of, kind_of
from conformance.record.why import (
    AcceptedInvalid,
    Differing,
    Exited,
    NotArrays,
    NotRequired,
    NotStored,
    OnlyUnder,
    OtherReading,
    Raised,
    TimedOut,
    Told,
    WrongCount,
    WrongElements,
    WrongShape,
    WrongType,
)


@pytest.mark.parametrize(
    ("verdict", "why", "kind"),
    [
        ("mismatch", WrongElements((Differing(1, 4),)), "wrong values"),
        ("mismatch", WrongElements((Differing(1, 4, "indices"),)), "wrong values of indices"),
        ("mismatch", WrongShape((1,), ((2,),)), "wrong shape"),
        ("mismatch", WrongType("float64", ("float32",), "output"), "wrong dtype of output"),
        ("mismatch", WrongCount(3, 2), "wrong number of arrays"),
        ("mismatch", NotArrays("list"), "no array"),
        ("mismatch", NotStored(), "no output stored"),
        ("mismatch", NotRequired((OtherReading("a", ("x", "z"), "y"),)), "follows a=x or z"),
        ("mismatch", Told("odd"), "mismatch"),
        ("error", Raised("IndexError", "3"), "raised IndexError"),
        ("error", Raised(text="out of range"), "raised an exception"),
        ("accepted-invalid", AcceptedInvalid("strides=[0]"), "accepted-invalid"),
        ("crashed", Exited(-11), "crashed"),
        ("timed-out", TimedOut(5.0), "timed-out"),
    ],
)
def test_kind_says_what_happened(verdict, why, kind):
    """The kind comes from the verdict and the fact, whatever its words are."""
    assert kind_of(result("a", verdict, why=why)) == kind


def test_an_exception_is_told_without_what_varies():
    """Numbers and quoted words may differ from vector to vector."""
    why = Raised(
        "ValueError", "axis 3 of 'x' at 0x7f00\nand more", (OnlyUnder("clause", ("reading",)),)
    )
    assert exception_of(result("a", "error", why=why)) == "ValueError: axis … of … at …"
