"""Pooling layers of an OpenVINO IR (.xml), or of bare `<layer>` elements as the documents print.

The file may be a stranger's. It is read by a hardened parser as a stream: no DTD, no entities,
nothing external, and no more is kept than the pooling layer being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from conformance.cases.from_model.layer import (
    Extent,
    Layer,
    Model,
    NotExpressible,
    integers,
    printable,
    within,
)
from conformance.errors import UsageError
from conformance.operators import OPERATORS
from conformance.operators.attributes import NUMBERS
from conformance.operators.operator import Operator

_DEEPEST = 100
_MOST_BYTES = 1 << 28
_MOST_OF_A_PAGE = 1 << 20
_MOST_OF_A_TAG = 1 << 20
_MOST_IN_A_LAYER = 1 << 17
_MOST_ELEMENTS = 2_000_000
_TYPES = {
    "FP16": "float16",
    "BF16": "bfloat16",
    "FP32": "float32",
    "FP64": "float64",
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_OPERATORS = {
    "AvgPool": {1: "AvgPool-1", 14: "AvgPool-14", 16: "AvgPool-16"},
    "MaxPool": {1: "MaxPool-1", 8: "MaxPool-8", 14: "MaxPool-14"},
    "AdaptiveAvgPool": {8: "AdaptiveAvgPool-8"},
    "AdaptiveMaxPool": {8: "AdaptiveMaxPool-8"},
}
"""Operators by the types of layers, and by the first opset that has them.

Attributes of a layer have the names of the document.
"""


def read_ir(path: Path) -> Model:
    """Return the pooling layers of a file; UsageError if it cannot be read as XML."""
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError(f"{path}: above {_MOST_BYTES >> 20} MiB, too large for the XML of a model")
    try:
        with path.open("rb") as stream:
            return _model(path, stream)
    except ParseError as error:
        page = _layers_of_page(path)
        if page is None:
            raise UsageError(f"{path}: no model: broken XML, {error}") from None
    try:
        return _model(path, page)
    except ParseError as error:
        raise UsageError(f"{path}: its <layer> elements are broken XML: {error}") from None


def _model(path: Path, stream: BinaryIO) -> Model:
    model = Model(path)
    try:
        for element in _layer_elements(path, stream):
            kind = element.get("type", "")
            if "Pool" in kind:
                model.add(
                    element.get("name", ""), kind, partial(_layer, element=element, kind=kind)
                )
    except DefusedXmlException as error:
        what = type(error).__name__.removesuffix("Forbidden").lower()
        raise UsageError(f"{path}: refused, a model has no {what} declarations") from None
    except (LookupError, ValueError) as error:  # an encoding that Python lacks, or that is none
        if isinstance(error, UnicodeError | LookupError) or "encoding" in str(error):
            raise UsageError(f"{path}: no model: XML in an encoding that cannot be read") from None
        raise
    return model


def _layer_elements(path: Path, stream: BinaryIO) -> Iterator[Element]:
    """Yield each `<layer>` when it is complete, and forget it and all else afterwards."""
    parents: list[tuple[Element, int]] = []  # with the number of elements kept before it
    in_memory = total = 0
    for event, element in iterparse(_Tags(path, stream), ("start", "end"), forbid_dtd=True):
        if event == "start":
            parents.append((element, in_memory))
            in_memory, total = in_memory + 1, total + 1
            if len(parents) > _DEEPEST:
                raise UsageError(f"{path}: elements nested more than {_DEEPEST} deep")
            if in_memory > _MOST_IN_A_LAYER:
                raise UsageError(f"{path}: more than {_MOST_IN_A_LAYER:,} elements in a layer")
            if total > _MOST_ELEMENTS:
                raise UsageError(f"{path}: more than {_MOST_ELEMENTS:,} elements")
            continue
        _, before = parents.pop()
        if element.tag == "layer":
            yield element
        inside = any(parent.tag == "layer" for parent, _ in parents)
        if parents and (element.tag == "layer" or not inside):
            parents[-1][0].remove(element)
            in_memory = before


class _Tags:
    """Reads a file for a parser that would take a time that is the square of a tag's length."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._stream = path, stream
        self._open = 0

    def read(self, size: int) -> bytes:
        """Read on; UsageError in the middle of a tag that is too long."""
        chunk = self._stream.read(size)
        last = chunk.rfind(b">")
        self._open = self._open + len(chunk) if last < 0 else len(chunk) - 1 - last
        if self._open > _MOST_OF_A_TAG:
            raise UsageError(f"{self._path}: no tag ends for {_MOST_OF_A_TAG >> 20} MiB")
        return chunk


def _layer(name: str, kind: str, element: Element) -> Layer:
    data = element.find("data")
    given: dict[str, str] = dict(data.attrib) if data is not None else {}
    inputs, outputs = _ports(element, "input"), _ports(element, "output")
    shape, dtype = inputs[0] if inputs else (None, None)
    if dtype is None:  # older files say the type of outputs alone, which is that of the input
        dtype = outputs[0][1] if outputs else None
    if kind not in _OPERATORS:
        raise NotExpressible("none of the documents defines it")
    operator = OPERATORS[_versioned(kind, element.get("version", ""))]
    dilations = integers("dilations", given.get("dilations", "1"))
    if operator.attribute("dilations") is None and any(value != 1 for value in dilations):
        raise NotExpressible(f"dilations: {operator.name} has none")
    size = None
    if operator.takes_output_size and outputs and outputs[0][0] is not None:
        size = outputs[0][0][2:]
    attributes = dict(_attributes(operator, given))
    return Layer(name, operator.name, attributes, shape, dtype or "float32", size)


def _versioned(kind: str, version: str) -> str:
    """Return the operator that a layer of a version is, the oldest where it says none."""
    opset = re.fullmatch(r"opset(\d{1,4})", version)
    known = _OPERATORS[kind]
    since = [first for first in known if opset and first <= int(opset[1])]
    return known[max(since, default=min(known))]


def _attributes(operator: Operator, given: dict[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a layer that a document has: lists, then integers and words."""
    lists = operator.of_roles(NUMBERS).values()
    for attribute in (*lists, *(a for a in operator.attributes if a.choices or a.is_scalar)):
        key, name = attribute.key, attribute.key.replace("_", "-")
        text = given.get(name, given.get(key))
        if attribute.is_list and text is not None:
            yield key, integers(key, text)
        elif attribute.is_scalar:
            if text is not None:
                numbers = integers(key, text)
                yield key, numbers[0] if len(numbers) == 1 else numbers
        elif isinstance(next(iter(attribute.choices), None), bool):
            if text is not None or attribute.required:
                yield key, _boolean(name, text or "")
        elif text is not None:
            yield key, printable(text.lower())


def _ports(element: Element, side: str) -> list[tuple[tuple[Extent, ...] | None, str | None]]:
    ports = []
    for port in element.findall(f"{side}/port"):
        texts = [(dim.text or "").strip() for dim in port.findall("dim")]
        shape = tuple(_extent(text) for text in texts) if texts else None
        precision = port.get("precision")
        if precision is not None and precision.upper() not in _TYPES:
            raise NotExpressible(f"precision {printable(precision)}")
        ports.append((shape, _TYPES[precision.upper()] if precision else None))
    return ports


def _extent(text: str) -> Extent:
    """Read an extent: "?", "1..8" and -1 are open."""
    if text == "?" or ".." in text[:40]:
        return None
    (value,) = within("dim", integers("dim", text))
    return None if value < 0 else value


def _boolean(name: str, text: str) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in words:
        raise NotExpressible(f"{name}={printable(text)!r} is neither true nor false")
    return words[text.lower()]


def _layers_of_page(path: Path) -> BinaryIO | None:
    """Return the `<layer>` elements that a page shows, in one root; None if it shows none.

    The documents write "..." for what they leave out. A model that was cut off is no page.
    """
    if path.stat().st_size > _MOST_OF_A_PAGE:
        return None
    text = path.read_bytes().decode("utf-8", "replace")
    if "<net" in text:
        return None
    layers, at = [], text.find("<layer")
    while at >= 0:
        end = text.find("</layer>", at)
        if end < 0:
            return None
        layers.append(text[at:end].replace("...", "") + "</layer>")
        at = text.find("<layer", end)
    return BytesIO(f"<page>{''.join(layers)}</page>".encode()) if layers else None
