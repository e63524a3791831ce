"""Facts in words: the one place where a sentence is made of why a vector has its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from conformance.process import status_in_words
from conformance.record.why import (
    AcceptedInvalid,
    BrokeProtocol,
    Exited,
    NoLonger,
    NotArrays,
    NotCalled,
    NotRequired,
    NotStored,
    Raised,
    TimedOut,
    Told,
    Why,
    WrongCount,
    WrongElements,
    WrongShape,
    WrongType,
    distinct,
)

HOW_CALLED = {
    "again": "again",
    "twice": "twice in a row",
    "rewritten": "with inputs that replace others in the same memory",
    "after-other-shapes": "after calls with other shapes",
    "offset": "with inputs at an offset in their memory",
    "slice": "with inputs that are slices of larger arrays",
    "channels-last": "with inputs whose channels lie last",
    "one-channel-last": "with inputs of one channel, which lies last",
    "fortran": "with inputs in Fortran order",
    "negative-strides": "with inputs of negative strides",
    "broadcast": "with inputs that are broadcast along an axis",
    "read-only": "with inputs that are read-only",
    "unaligned": "with inputs that are not aligned",
    "threads-2": "from 2 threads at once",
    "threads-8": "from 8 threads at once",
    "unbatched": "without a batch",
}
"""How a backend is called in each variation of a call, to be put after "called"."""


def in_words(why: Why | None) -> str:
    """Return a fact as one line, "" if there is none."""
    if isinstance(why, WrongElements):
        return "; ".join(
            f"{_of(differing.output)}{differing.wrong} of {differing.total} elements differ"
            for differing in why.outputs
        )
    if isinstance(why, Raised):
        return raised_in_words(why) + _only_under(why)
    return _in_words(why)


def _in_words(why: Why | None) -> str:  # noqa: C901, PLR0911, PLR0912 - a case for each fact
    match why:
        case None:
            return ""
        case NotCalled(how, text):
            return f"not called {how}: {text}"
        case Exited(status, unfinished):
            where = f" in an unfinished answer, {unfinished}" if unfinished else ""
            return f"{status_in_words(status)}{where}"
        case BrokeProtocol(what):
            return f"protocol: {what}"
        case TimedOut(seconds):
            return f"no answer within {seconds:g} s"
        case NotStored():
            return "no output stored"
        case NotArrays(returned):
            return f"returned {returned} instead of numpy.ndarray"
        case WrongCount(got, expected):
            return f"returned {got} arrays instead of {expected}"
        case WrongShape(got, expected, output):
            return f"{_of(output)}shape {got} instead of {either(map(str, expected))}"
        case WrongType(got, expected, output):
            return f"{_of(output)}dtype {got} instead of {either(expected)}"
        case AcceptedInvalid(rule):
            return f"accepted an invalid case: {rule}"
        case NotRequired(readings):
            return "; ".join(
                f"follows {of.clause}={either(of.followed)}, {of.required} is required"
                for of in readings
            )
        case NoLonger():
            return "no longer conforms"
        case Told(text):
            return text
    raise TypeError(f"{why!r} is no fact")


def raised_in_words(raised: Raised) -> str:
    """Return type and text of an exception."""
    return ": ".join(filter(None, [raised.type, raised.text]))


def _only_under(raised: Raised) -> str:
    only = [f"{of.clause}={either(of.readings)}" for of in raised.only_under]
    return f" (an exception is right only under {', '.join(only)})" if only else ""


def of_call(variations: Sequence[str], *, only_again: bool) -> str:
    """Return which of several calls a fact is of, to be put before it; "" for a plain one."""
    if variations:
        return f"conforms at first, but not when called {how_called(variations[0])}: "
    return "conforms when called again, but not at first: " if only_again else ""


def how_called(variation: str) -> str:
    """Return how a backend is called in a variation of a call, to be put after "called"."""
    return HOW_CALLED.get(variation, f"as in {variation}")


def attribute_in_words(name: str, value: Any) -> str:
    """Return an attribute as `kernel=[2,2]` or `auto_pad=same_upper`."""
    return f"{name}={value_in_words(value)}"


def value_in_words(value: Any) -> str:
    """Return an attribute's value without quotes and spaces."""
    if isinstance(value, list | tuple):
        return f"[{','.join(value_in_words(item) for item in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def either(texts: Iterable[str]) -> str:
    """Return `a or b`, each text once."""
    return " or ".join(distinct(texts))


def _of(output: str) -> str:
    return f"{output}: " if output else ""
