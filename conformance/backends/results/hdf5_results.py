"""Results as an HDF5 file: a dataset per vector in `outputs`, `raised` or `unsupported`.

Other outputs of a vector than its first are in groups `outputs.1`, `outputs.2` and so on.

The file is not trusted: only plain datasets are read, after their sizes are checked.
"""

from __future__ import annotations

import stat
from math import prod
from pathlib import Path
from typing import Any

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

FORMAT = "pooling-conformance results 1"
OUTPUTS = ("outputs", *(f"outputs.{number}" for number in range(1, MAX_OUTPUTS)))
"""The groups of first, second, ... outputs."""
_GROUPS = (OUTPUTS[0], *REFUSALS, *OUTPUTS[1:])
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_MEMBERS = 1 << 24
_MAX_STRING = 1 << 16
_PLAIN = (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)


class ResultFile(Layout[tuple[str, str]]):
    """The results in an HDF5 file, which stays open: groups and names of datasets; see `Layout`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._groups: dict[str, Any] = {}
        self._file: Any = None
        with guarded(path):
            self._size = self._check_signature()
            self._file = h5py.File(path, "r", locking="best-effort")
            try:
                self._check_format()
                self._index()
            except BaseException:
                self.close()
                raise

    def read(self, place: tuple[str, str], most: int) -> Returned | Answer:
        """See `Layout.read`."""
        group, name = place
        dataset = self._groups[group][name]
        if not isinstance(dataset, h5py.Dataset):
            raise Unsound("not a dataset")
        if group in REFUSALS:
            return refusal(group, _text(dataset.id))
        return _output(dataset, most, self._size)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with guarded(self.path):
                self._file.close()
            self._file = None

    def _check_signature(self) -> int:
        """Return the size of the file in bytes if it starts like HDF5."""
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unsound("not a regular file")
        with self.path.open("rb") as file:
            if file.read(len(_SIGNATURE)) != _SIGNATURE:
                raise Unsound("neither an HDF5 file nor a folder")
        return status.st_size

    def _check_format(self) -> None:
        root = self._file.id
        if not h5py.h5a.exists(root, b"format"):
            raise Unsound(f"attribute format is missing: it is to be {FORMAT!r}")
        value = _text(h5py.h5a.open(root, b"format"), "attribute format")
        if value != FORMAT:
            raise Unsound(f"attribute format is {value[:60]!r} and not {FORMAT!r}")

    def _index(self) -> None:
        """Note what the groups hold, the first outputs before the others."""
        members = set(self._file)
        unknown = sorted(members.difference(_GROUPS))
        if unknown:
            raise Unsound(f"{unknown[0][:60]!r} is not one of {', '.join(_GROUPS[:3])}")
        for name in _GROUPS:
            if name in members:
                self._index_group(name)

    def _index_group(self, name: str) -> None:
        if not _is_hard(self._file, name) or not isinstance(self._file[name], h5py.Group):
            raise Unsound(f"{name!r} is not a group")
        self._groups[name] = group = self._file[name]
        if len(group) > _MAX_MEMBERS:
            raise Unsound(f"{name!r} has more than {_MAX_MEMBERS} members")
        number = OUTPUTS.index(name) if name in OUTPUTS else 0
        for member in group:
            vector_id = id_of(member)
            if not _is_hard(group, member):
                raise Unsound(f"{name}/{member} is a link to somewhere else")
            places = self.places.setdefault(vector_id, [])
            if len(places) > number:
                raise Unsound(f"there are two results of {vector_id[:200]}")
            if [group for group, _ in places] != list(OUTPUTS[:number]):
                raise Unsound(f"{vector_id[:200]} is in {name} and not in {OUTPUTS[number - 1]}")
            places.append((name, member))


def _is_hard(group: Any, name: str) -> bool:
    return isinstance(group.get(name, getlink=True), h5py.HardLink)


def _output(dataset: Any, most: int, size: int) -> Returned:
    """Return an output from a file of `size` bytes."""
    identity = dataset.id
    if identity.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        raise Unsound("it has no shape")
    shape = shape_of(dataset.shape)
    kind = identity.get_type()
    dtype = dataset.dtype
    name = type_name(dtype)
    # A type that h5py takes for one of numpy's may differ in some bit from it.
    if name in SUITE_TYPES and dtype.kind != "V" and kind != h5py.h5t.py_create(dtype):
        name = "unknown"
    if not is_read(name, shape, most):
        return Returned(name, shape)
    nbytes = prod(shape) * dtype.itemsize
    if nbytes > size:
        raise Unsound(f"it claims {nbytes} bytes, more than the file has")
    _check_plain(identity, nbytes)
    array = np.empty(shape, dtype)
    if array.size:
        identity.read(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)
    return Returned(name, shape, native_bytes(array))


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
