"""Results as an HDF5 file: a dataset per vector in `outputs`, `raised` or `unsupported`.

Other outputs of a vector than its first are in groups `outputs.1`, `outputs.2` and so on.

The file is not trusted: only plain datasets are read, after their sizes are checked.
"""

from __future__ import annotations

import os
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import h5py
import numpy as np

from conformance.backends.answer import (
    MAX_OUTPUTS,
    SUITE_TYPES,
    Answer,
    Returned,
    native_bytes,
)
from conformance.backends.results import id_of
from conformance.backends.results.stored_values import (
    REFUSALS,
    Layout,
    Unsound,
    guarded,
    is_read,
    refusal,
    shape_of,
    type_name,
)
from conformance.errors import ResultFileError
from conformance.files import open_regular
from conformance.process import ProcessFailed, call_separately, seconds_to_read

FORMAT = "pooling-conformance results 1"
OUTPUTS = ("outputs", *(f"outputs.{number}" for number in range(1, MAX_OUTPUTS)))
"""The groups of first, second, ... outputs."""
_GROUPS = (OUTPUTS[0], *REFUSALS, *OUTPUTS[1:])
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_MEMBERS = 1 << 24
_MAX_STRING = 1 << 16
_PLAIN = (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)


class Stored(NamedTuple):
    """An output in the file: its element type by name and for numpy, its shape, and its elements.

    `elements` are where these begin in the file or, of a small output, their bytes; or else why
    they cannot be read.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    elements: int | bytes | ResultFileError


Place = Stored | Answer | ResultFileError


class ResultFile(Layout[Place]):
    """The results in an HDF5 file; see `Layout`.

    A crafted file can crash HDF5, so another process asks it where everything is. What is read
    here is bytes at some place.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with guarded(path), open_regular(path) as stream:
            self._state = _state(stream)
            if stream.read(len(_SIGNATURE)) != _SIGNATURE:
                raise Unsound("neither an HDF5 file nor a folder")
            try:
                self.places = call_separately(places_in, path, seconds=seconds_to_read([path]))
            except ProcessFailed as failure:
                raise Unsound(f"damaged (the HDF5 library {failure} on it)") from None

    def read(self, place: Place, most: int) -> Returned | Answer:
        """See `Layout.read`."""
        if isinstance(place, Answer):
            return place
        if isinstance(place, ResultFileError):
            raise place
        if not is_read(place.name, place.shape, most):
            return Returned(place.name, place.shape)
        elements = place.elements
        if isinstance(elements, ResultFileError):
            raise elements
        if isinstance(elements, int):
            with open_regular(self.path) as stream:
                if _state(stream) != self._state:
                    raise Unsound("the file was changed during the run")
                stream.seek(elements)
                elements = stream.read(prod(place.shape) * place.dtype.itemsize)
        array = np.frombuffer(elements, place.dtype).reshape(place.shape)
        return Returned(place.name, place.shape, native_bytes(array))

    def close(self) -> None:
        """Nothing is open."""


def _state(stream: BinaryIO) -> tuple[int, ...]:
    """Return what tells an open file from another, and from itself after a change."""
    status = os.fstat(stream.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def places_in(path: Path) -> dict[str, list[Place]]:
    """Return what a file holds, by the ids of vectors."""
    with guarded(path), h5py.File(path, "r", locking="best-effort") as file:
        _check_format(file.id)
        members = _members(file)
        groups = {name: file[name].id for name in _GROUPS if name in file}
        size = path.stat().st_size
        return {
            vector_id: [
                _place(path, vector_id, group, groups[group], name, size) for group, name in places
            ]
            for vector_id, places in members.items()
        }


def _check_format(root: Any) -> None:
    if not h5py.h5a.exists(root, b"format"):
        raise Unsound(f"attribute format is missing: it is to be {FORMAT!r}")
    value = _text(h5py.h5a.open(root, b"format"), "attribute format")
    if value != FORMAT:
        raise Unsound(f"attribute format is {value[:60]!r} and not {FORMAT!r}")


def _members(file: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the groups and names of datasets of each vector, first outputs before the others."""
    unknown = sorted(set(file).difference(_GROUPS))
    if unknown:
        raise Unsound(f"{unknown[0][:60]!r} is not one of {', '.join(_GROUPS[:3])}")
    members: dict[str, list[tuple[str, str]]] = {}
    for name in _GROUPS:
        if name in file:
            _add_members(file, name, members)
    return members


def _add_members(file: Any, name: str, members: dict[str, list[tuple[str, str]]]) -> None:
    """Note what a group holds."""
    if not _is_hard(file, name) or not isinstance(file[name], h5py.Group):
        raise Unsound(f"{name!r} is not a group")
    group = file[name]
    if len(group) > _MAX_MEMBERS:
        raise Unsound(f"{name!r} has more than {_MAX_MEMBERS} members")
    number = OUTPUTS.index(name) if name in OUTPUTS else 0
    for member in group:
        vector_id = id_of(member)
        if not _is_hard(group, member):
            raise Unsound(f"{name}/{member} is a link to somewhere else")
        of_vector = members.setdefault(vector_id, [])
        if len(of_vector) > number:
            raise Unsound(f"there are two results of {vector_id[:200]}")
        if [group for group, _ in of_vector] != list(OUTPUTS[:number]):
            raise Unsound(f"{vector_id[:200]} is in {name} and not in {OUTPUTS[number - 1]}")
        of_vector.append((name, member))


def _is_hard(group: Any, name: str) -> bool:
    return isinstance(group.get(name, getlink=True), h5py.HardLink)


def _place(path: Path, vector_id: str, group: str, group_id: Any, name: str, size: int) -> Place:
    """Return what is stored in a dataset of a file of `size` bytes, or why that is not sound."""
    try:
        with guarded(path, vector_id):
            dataset = h5py.h5o.open(group_id, name.encode())
            if not isinstance(dataset, h5py.h5d.DatasetID):
                raise Unsound("not a dataset")
            if group in REFUSALS:
                return refusal(group, _text(dataset))
            return _output(path, vector_id, dataset, size)
    except ResultFileError as error:
        return error


def _output(path: Path, vector_id: str, dataset: Any, size: int) -> Stored:
    """Return where an output is."""
    if dataset.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        raise Unsound("it has no shape")
    shape = shape_of(dataset.shape)
    kind = dataset.get_type()
    dtype = dataset.dtype
    name = type_name(dtype)
    # A type that h5py takes for one of numpy's may differ in some bit from it.
    if name in SUITE_TYPES and dtype.kind != "V" and kind != h5py.h5t.py_create(dtype):
        name = "unknown"
    elements: int | bytes | ResultFileError = b""
    if name in SUITE_TYPES:
        try:
            with guarded(path, vector_id):
                elements = _elements(dataset, prod(shape) * dtype.itemsize, size)
        except ResultFileError as error:
            elements = error
    return Stored(name, dtype, shape, elements)


def _elements(dataset: Any, nbytes: int, size: int) -> int | bytes:
    """Return where `nbytes` of elements begin, or these bytes where HDF5 alone can find them."""
    if nbytes > size:
        raise Unsound(f"it claims {nbytes} bytes, more than the file has")
    _check_plain(dataset, nbytes)
    offset: int | None = dataset.get_offset()
    if offset is not None or not nbytes:
        return offset or b""
    array = np.empty(dataset.shape, dataset.dtype)
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, array, dataset.get_type())
    return array.tobytes()


def _text(stored: Any, what: str = "it") -> str:
    """Return the text in an attribute or a dataset."""
    kind = stored.get_type()
    if not isinstance(kind, h5py.h5t.TypeStringID) or kind.is_variable_str():
        raise Unsound("a text is not a string of fixed length, numpy.bytes_ in Python")
    if kind.get_size() > _MAX_STRING:
        raise Unsound(f"a text of more than {_MAX_STRING} bytes")
    if stored.get_space().get_simple_extent_npoints() != 1:
        raise Unsound(f"{what} is not one text")
    text = np.empty(stored.shape, f"S{kind.get_size()}")
    if isinstance(stored, h5py.h5a.AttrID):
        stored.read(text)
    else:
        _check_plain(stored, kind.get_size())
        stored.read(h5py.h5s.ALL, h5py.h5s.ALL, text, kind)
    return bytes(text.reshape(-1)[0]).decode(errors="replace")


def _check_plain(identity: Any, nbytes: int) -> None:
    """Raise Unsound unless `nbytes` lie in the file, as they are."""
    creation = identity.get_create_plist()
    if creation.get_layout() not in _PLAIN or creation.get_nfilters():
        raise Unsound("it is chunked or compressed, or in another file")
    if creation.get_external_count():
        raise Unsound("it is stored in another file")
    if identity.get_storage_size() != nbytes:
        raise Unsound(f"{identity.get_storage_size()} bytes are stored and not {nbytes}")
