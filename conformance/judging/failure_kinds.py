"""What went wrong in a vector, in two or three words."""

from __future__ import annotations

import re

from conformance.record.report import Result
from conformance.record.why import (
    NotArrays,
    NotRequired,
    NotStored,
    Raised,
    Why,
    WrongCount,
    WrongElements,
    WrongShape,
    WrongType,
)
from conformance.record.words import either, raised_in_words

_VARIES = re.compile(
    r"""0x[0-9a-fA-F]+ | (?<![\w.])[-+]?\d+(\.\d+)?(e[-+]?\d+)?(?!\w) | '[^'\s]*' | "[^"\s]*\"""",
    re.VERBOSE,
)
"""Numbers and quoted words in the message of an exception."""
_SEVERAL = re.compile(r"…(,?\s*…)+")


def exception_of(result: Result) -> str:
    """Return type and message of an exception, first line; what varies in it is written as …."""
    text = raised_in_words(result.why) if isinstance(result.why, Raised) else result.detail
    return _SEVERAL.sub("…", _VARIES.sub("…", text.partition("\n")[0]))


def kind_of(result: Result) -> str:
    """Return the kind of a failure, such as "wrong values" or "raised ValueError"."""
    why = result.why
    if result.verdict == "error":
        return f"raised {why.type[:40] if isinstance(why, Raised) and why.type else 'an exception'}"
    return _kind_of_mismatch(why) if result.verdict == "mismatch" else result.verdict


def _kind_of_mismatch(why: Why | None) -> str:  # noqa: PLR0911 - a case for each fact
    match why:
        case WrongElements((first, *_)):
            return _of("wrong values", first.output)
        case WrongShape(output=output):
            return _of("wrong shape", output)
        case WrongType(output=output):
            return _of("wrong dtype", output)
        case WrongCount():
            return "wrong number of arrays"
        case NotArrays():
            return "no array"
        case NotStored():
            return "no output stored"
        case NotRequired((first, *_)):
            return f"follows {first.clause}={either(first.followed)}"
    return "mismatch"


def _of(kind: str, output: str) -> str:
    return f"{kind} of {output}" if output else kind
