"""What went wrong in a vector, in two or three words."""

from __future__ import annotations

import re

from conformance.judging.explanations import EXCUSED_ONLY, without_calls
from conformance.operators import OPERATORS
from conformance.record.report import Result

_KINDS = {
    "shape": "wrong shape",
    "dtype": "wrong dtype",
    "accepted": "no exception",
    "returned": "no array",
    "no": "no output stored",
}
"""The kind of a mismatch, by the first word of a result's detail."""


_VARIES = re.compile(
    r"""0x[0-9a-fA-F]+ | (?<![\w.])[-+]?\d+(\.\d+)?(e[-+]?\d+)?(?!\w) | '[^'\s]*' | "[^"\s]*\"""",
    re.VERBOSE,
)
"""Numbers and quoted words in the message of an exception."""
_SEVERAL = re.compile(r"…(,?\s*…)+")


def exception_of(result: Result) -> str:
    """Return type and message of an exception, first line; what varies in it is written as …."""
    return _SEVERAL.sub("…", _VARIES.sub("…", _raised(result).partition("\n")[0]))


def _raised(result: Result) -> str:
    """Return type and message of an exception, without what the checker says of it."""
    return without_calls(result.detail).partition(EXCUSED_ONLY)[0]


def kind_of(result: Result) -> str:
    """Return the kind of a failure, such as "wrong values" or "raised ValueError"."""
    detail = without_calls(result.detail)
    if result.verdict == "error":
        return f"raised {_raised(result).partition(':')[0][:40]}"
    if result.verdict != "mismatch":
        return result.verdict
    if result.worst is not None:
        kind, output = "wrong values", result.worst.output
    elif detail.startswith("follows "):
        return detail.partition(",")[0]
    else:
        # Of several outputs, the detail begins with the name of one.
        outputs = OPERATORS[result.operator].outputs if result.operator in OPERATORS else ()
        names = [output.name for output in outputs if len(outputs) > 1]
        output = next((name for name in names if detail.startswith(f"{name}: ")), "")
        first, second, *_ = (*detail.removeprefix(f"{output}: ").split(maxsplit=2), "", "")
        counted = first == "returned" and second.isdecimal()
        kind = "wrong number of arrays" if counted else _KINDS.get(first, "mismatch")
    return f"{kind} of {output}" if output else kind
