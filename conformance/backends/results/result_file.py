"""A file of safetensors with results: a tensor for each output, and JSON for what has none.

The file is not trusted: the library checks its header, sizes and offsets against its length.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec
from safetensors import SafetensorError, deserialize

from conformance.backends.answer import (
    ARRAY,
    MAX_OUTPUTS,
    MAX_TEXT,
    MISSING,
    NO_REASON,
    RAISED,
    SUITE_TYPES,
    UNSUPPORTED,
    Answer,
    Returned,
)
from conformance.errors import ResultFileError
from conformance.files import open_regular
from conformance.record.why import Raised
from conformance.text import cut, one_line
from conformance.vectorfile.layout import MAX_EXTENT

KEY: Final = "pooling-conformance results"
"""The key of the header's `__metadata__` whose text is the JSON of `About`."""
VERSION: Final = 1
_LARGEST = 1 << 32
"""Bytes of a file: it is read as a whole."""
_MOST_TENSORS = 1 << 19
"""Tensors of a file: ten times what all vectors of the standard tier need."""
_MAX_RANK = 32
_FURTHER = re.compile(r"(.+):([1-9]\d?)", re.DOTALL | re.ASCII)
"""The name of an output after the first: the id of its vector, and its number."""
_TYPES = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"} | {
    f"{kind[0].upper()}{bits}": f"{kind}{bits}"
    for kind in ("float", "int", "uint")
    for bits in (8, 16, 32, 64)
    if f"{kind}{bits}" in SUITE_TYPES
}
"""The suite's names of element types by those of safetensors."""


class Unsound(ValueError):  # noqa: N818 - a state of the file, not of the program
    """Something stored is not what it has to be; the text says what."""


class About(msgspec.Struct, forbid_unknown_fields=True):
    """What a file says besides outputs.

    `ids` are those of all vectors that the backend was asked for, None if that is not known;
    `raised` and `unsupported` say by id why a vector has no output.
    """

    version: int
    ids: list[str] | None = None
    raised: dict[str, str] = {}
    unsupported: dict[str, str] = {}


class ResultFile:
    """Stored answers by the ids of vectors, and the ids that were asked for, None if not known.

    Raises ResultFileError, one line that names the file, if anything in it is not sound.
    """

    def __init__(self, path: Path) -> None:
        try:
            tensors, about = _read(path)
            self.answers = _answers(tensors, about)
        except Exception as error:  # whatever is wrong: memory, recursion, the system
            what = one_line(str(error).partition("\n")[0], MAX_TEXT)
            if isinstance(error, OSError) and error.strerror:
                what = error.strerror
            elif not isinstance(error, Unsound):
                what = f"damaged ({what or type(error).__name__})"
            raise ResultFileError(f"{path}: {what}") from error
        self.asked = None if about.ids is None else frozenset(about.ids)

    def find(self, vector_id: str, most: int) -> Answer:
        """Return the answer that is stored for a vector, MISSING if none is.

        Elements are left out from the output on with which there are more than `most`.
        """
        answer = self.answers.get(vector_id, Answer(MISSING))
        outputs = []
        for output in answer.outputs:
            most -= prod(output.shape)
            outputs.append(output if most >= 0 else output._replace(data=None))
        return answer._replace(outputs=tuple(outputs))


def _read(path: Path) -> tuple[Sequence[tuple[str, dict[str, Any]]], About]:
    """Return the tensors of a file, and what it says besides."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > _LARGEST:
            raise Unsound(f"more than {_LARGEST} bytes")
        length = int.from_bytes(stream.read(8), "little")
        if length > size - 8:
            raise Unsound("not a sound file of safetensors (its header is longer than the file)")
        if stream.read(length).count(b'"data_offsets"') > _MOST_TENSORS:
            raise Unsound(f"more than {_MOST_TENSORS} tensors")
        stream.seek(0)
        content = stream.read(_LARGEST + 1)
    try:
        tensors = deserialize(content)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        reason = one_line(str(error).removeprefix("Error while deserializing: "), MAX_TEXT)
        raise Unsound(f"not a sound file of safetensors ({reason})") from None
    header = content[8 : 8 + int.from_bytes(content[:8], "little")]
    texts = _json(header, "its header").get("__metadata__") or {}
    if KEY not in texts:
        raise Unsound(f"its __metadata__ has no key {KEY!r}")
    about = _json(texts[KEY], repr(KEY))
    version = about.get("version") if isinstance(about, dict) else None
    if version != VERSION:
        raise Unsound(f"{KEY!r} has version {cut(repr(version), 60)} and not {VERSION}")
    try:
        return tensors, msgspec.convert(about, About)
    except msgspec.ValidationError as error:
        raise Unsound(f"{KEY!r}: {error}") from None


def _json(text: bytes | str, what: str) -> Any:
    """Return the value of JSON; Unsound for one that has a key twice, or a NaN."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
            raise Unsound(f"{what} has {cut(repr(twice), 200)} twice")
        return value

    def refuse(constant: str) -> NoReturn:
        raise Unsound(f"{what} has {constant}, which is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise Unsound(f"{what} is not JSON ({error})") from None


def _answers(tensors: Sequence[tuple[str, dict[str, Any]]], about: About) -> dict[str, Answer]:
    """Return the answers by the ids of vectors."""
    outputs: dict[str, dict[int, Returned]] = {}
    for name, tensor in tensors:
        further = _FURTHER.fullmatch(name)
        vector_id, number = (further[1], int(further[2])) if further else (name, 0)
        outputs.setdefault(vector_id, {})[number] = _output(name, tensor)
    answers = {}
    for vector_id, stored in outputs.items():
        if len(stored) > MAX_OUTPUTS:
            raise Unsound(f"{cut(vector_id, 200)} has more than {MAX_OUTPUTS} outputs")
        if missing := {*range(max(stored))}.difference(stored):
            raise Unsound(f"{cut(vector_id, 200)} has no output {min(missing)}, but {max(stored)}")
        answers[vector_id] = Answer(ARRAY, tuple(stored[number] for number in sorted(stored)))
    for kind, texts in ((RAISED, about.raised), (UNSUPPORTED, about.unsupported)):
        for vector_id, text in texts.items():
            if vector_id in answers:
                raise Unsound(f"there are two results of {cut(vector_id, 200)}")
            why = Raised.parse(one_line(text, MAX_TEXT) or NO_REASON)
            answers[vector_id] = Answer(kind, why=why)
    return answers


def _output(name: str, tensor: Mapping[str, Any]) -> Returned:
    """Return an output; without elements if the suite lacks its type."""
    shape = tuple(tensor["shape"])
    if len(shape) > _MAX_RANK or prod(max(extent, 1) for extent in shape) > MAX_EXTENT:
        raise Unsound(
            f"{cut(name, 200)} has a shape of more than {_MAX_RANK} axes or {MAX_EXTENT} elements"
        )
    dtype = _TYPES.get(tensor["dtype"])
    if dtype is None:
        return Returned(tensor["dtype"], shape)
    return Returned(dtype, shape, bytes(tensor["data"]))
