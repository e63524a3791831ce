"""A few lines of Python that show a failure again: for pasting, without this package's files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from conformance.check.report import Result
from conformance.dtypes import name_of
from conformance.report import values as words
from conformance.vector import Array, Case

_WIDTH = 76
_SMALL = 200  # elements of an input that is written out


def script(case: Case, result: Result, *, backend: str, path: str = "") -> str:
    """Return a script that computes `case` with a backend and prints what is wrong.

    `backend` is a name as load_backend takes it. Small inputs are written out; larger ones are
    read from the vector file at `path` unless that is empty.
    """
    lines: list[str] = []
    if not path or all(array.size <= _SMALL for array in case.inputs):
        inputs = [_literal(array) for array in case.inputs]
        names = ["data", "output_size", *(f"input_{i}" for i in range(2, len(inputs)))]
        lines += _imports(inputs)
        lines += ["from conformance import load_backend", ""]
        lines += [f"{name} = {text}" for name, text in zip(names, inputs, strict=False)]
        arguments = f"[{', '.join(names[: len(inputs)])}]"
        attributes = _attributes(case)
    else:
        lines += ["from conformance import load_backend, open_vectors", ""]
        lines.append(f"file = open_vectors({path!r})[0]")
        lines.append(f"case = file.vector(file.index_of({case.id!r})).case")
        arguments = "[array.copy() for array in case.inputs]"
        attributes = "case.attributes"
    lines.append(f"attributes = {attributes}")
    lines.append(f"backend = load_backend({backend!r})")
    lines.append(f"got = backend({case.operator!r}, {arguments}, attributes)")
    lines += _evidence(result)
    return "\n".join(lines)


def _imports(literals: list[str]) -> Iterator[str]:
    text = " ".join(literals)
    if "ml_dtypes" in text:
        yield "import ml_dtypes"
    yield "import numpy as np"
    special = [word for word in ("inf", "nan") if word in text]
    if special:
        yield f"from numpy import {', '.join(special)}"


def _attributes(case: Case) -> str:
    plain = dict(case.attributes)
    text = repr(plain)
    if len(text) <= _WIDTH - len("attributes = "):
        return text
    items = [f"{name!r}: {value!r}" for name, value in plain.items()]
    filled = textwrap.fill(
        ", ".join(items), _WIDTH - 4, break_long_words=False, break_on_hyphens=False
    )
    return "{\n" + textwrap.indent(filled, "    ") + "\n}"


def _evidence(result: Result) -> Iterator[str]:
    if result.worst is not None:
        worst = result.worst
        expected = words.exact(worst.expected, result.dtype)
        index = ", ".join(map(str, worst.index))
        yield f'print(got[{index}], "instead of {expected}")'
    elif result.verdict == "mismatch":
        yield f"# {result.detail}"
        yield "print(got.dtype, got.shape)"
    else:
        yield f"# the call above: {result.verdict}: {result.detail}"


def _literal(array: Array) -> str:
    """Return an expression that makes an array, bit for bit but for the payload of a NaN."""
    name = name_of(array.dtype)
    dtype = "ml_dtypes.bfloat16" if name == "bfloat16" else f"np.{name}"
    texts = [words.exact(value, name) for value in array.ravel()]
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"np.full({tuple(array.shape)}, {texts[0]}, {dtype})"
    shape = ", ".join(map(str, array.shape))
    reshape = f".reshape({shape})" if array.ndim > 1 else ""
    body = ", ".join(texts)
    line = f"np.array([{body}], {dtype}){reshape}"
    if len(line) <= _WIDTH - len("data = "):
        return line
    filled = textwrap.fill(body, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return f"np.array([\n{textwrap.indent(filled, '    ')}\n], {dtype}){reshape}"
