"""A few lines of Python that show a failure again, for pasting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from conformance.cases.minimize import polished
from conformance.dtypes import name_of
from conformance.literals import array_expression, exact
from conformance.operators import OPERATORS, as_called
from conformance.record.report import RETURNED, Result
from conformance.record.why import WrongType
from conformance.vector import Case, own_inputs

_WIDTH = 79
_FIRST = "got[0] if isinstance(got, tuple) else got"
_ALL = "got if isinstance(got, tuple) else [got]"
_SMALL = 200  # elements of an input that is written out


def script(case: Case, result: Result, *, backend: str, path: str = "") -> str:
    """Return a script that computes `case` with a backend and prints what is wrong.

    `backend` is a name as load_backend takes it. Small inputs are written out; larger ones are
    read from the vector file at `path` unless that is empty. Where the type of an output is wrong,
    the call is one of as few cells as the operator takes, with the same words and flags.
    """
    if isinstance(result.why, WrongType):
        case = _smallest(_Typed(case.operator, name_of(case.data.dtype), _words(case), case))
    if path and any(array.size > _SMALL for array in case.inputs):
        lines = [*_from_file(case, path)]
        inputs = "[array.copy() for array in inputs]"
    else:
        lines = [*_written_out(case)]
        inputs = f"[{', '.join(_names(case))}]"
    lines.append(f"backend = load_backend({_code(backend)})")
    lines.append(f"got = backend({_code(case.operator)}, {inputs}, attributes)")
    return "\n".join([*lines, *_evidence(result)])


def large_script(result: Result, *, backend: str) -> str:
    """Return a script that makes the case of a result of tier large, and else as `script`."""
    lines = [
        "from conformance import load_backend",
        "from conformance.cases.large import recipe_named",
        "",
        f"recipe = recipe_named({_code(result.id)})",
        f"backend = load_backend({_code(backend)})",
        f"got = backend({_code(result.operator)}, recipe.inputs(), recipe.case.attributes)",
    ]
    return "\n".join([*lines, *_evidence(result)])


@dataclass(frozen=True, slots=True)
class _Typed:
    """What the type of an output may depend on, and a `case` with it."""

    operator: str
    dtype: str
    words: tuple[tuple[str, Any], ...]
    case: Case = field(compare=False)


def _words(case: Case) -> tuple[tuple[str, Any], ...]:
    """Return the attributes that are no lists of numbers."""
    return tuple((key, n) for key, n in case.attributes.items() if not isinstance(n, list))


@lru_cache(maxsize=256)
def _smallest(typed: _Typed) -> Case:
    """Return a case of one cell, or as few as there may be, in which the type is the same."""

    def is_like(other: Case) -> bool:
        return name_of(other.data.dtype) == typed.dtype and _words(other) == typed.words

    return polished(typed.case, is_like)


def _from_file(case: Case, path: str) -> Iterator[str]:
    yield "from conformance import as_called, load_backend, open_vectors"
    yield ""
    yield f"file = open_vectors({_code(path)})[0]"
    yield f"name = {_code(case.id)}"
    yield "case = file.vector(file.index_of(name)).case"
    yield "inputs, attributes = as_called(case)"


def _written_out(case: Case) -> Iterator[str]:
    inputs, attributes = as_called(case)
    literals = [_wrapped(*array_expression(array)) for array in inputs]
    if any("ml_dtypes" in literal for literal in literals):
        yield "import ml_dtypes"
    yield "import numpy as np"
    yield "from conformance import load_backend"
    yield ""
    for name, literal in zip(_names(case), literals, strict=True):
        yield f"{name} = {literal}"
    items = [f"{_code(key)}: {_code(value)}" for key, value in attributes.items()]
    yield f"attributes = {_wrapped('{', items, '}')}"


def _names(case: Case) -> list[str]:
    """Return a name for each input that a backend gets for a case."""
    operator = OPERATORS[case.operator]
    _, *others = own_inputs(operator.name, operator.input_names)
    own = ["data", *others, *operator.convention.numbers, operator.convention.size_input]
    inputs, _ = as_called(case)
    return [*(["gradient"] if case.gradient is not None else []), *own][: len(inputs)]


def _evidence(result: Result) -> Iterator[str]:
    worst = result.worst
    if worst is not None:
        place = "got"
        if worst.output:
            if worst.number == 0:  # which a backend may have returned alone
                yield f"first = {_FIRST}"
            place = f"got[{worst.number}]" if worst.number else "first"
        place_given = OPERATORS[result.operator].convention_of(result.attributes).place_given
        index = ", ".join(map(str, place_given(worst.index)))
        expected = exact(worst.expected, result.worst_dtype)
        yield f'print({place}[{index}], "instead of {expected}")'
    elif result.verdict in RETURNED:
        if _has_several(result.operator):
            yield f"for output in {_ALL}:"
            yield "    print(output.dtype, output.shape)"
        else:
            yield "print(got.dtype, got.shape)"
        yield f"# {result.detail}"
    else:
        yield f"# {result.verdict}: {result.detail}"


def _has_several(operator: str) -> bool:
    return operator in OPERATORS and len(OPERATORS[operator].outputs) > 1


def _wrapped(begin: str, items: Sequence[str], end: str) -> str:
    """Return items between begin and end, on several lines where one is too long."""
    whole = f"{begin}{', '.join(items)}{end}"
    if not items or len(whole) <= _WIDTH - len("output_size = "):
        return whole
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "\n".join([begin, *lines, line, end])


def _code(value: Any) -> str:
    """Return Python for plain attribute values, strings in double quotes."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_code(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
