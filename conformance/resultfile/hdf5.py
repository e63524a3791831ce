"""Results as an HDF5 file: a dataset per vector in `outputs`, `raised` or `unsupported`.

Other outputs of a vector than its first are in groups `outputs.1`, `outputs.2` and so on.

Nothing in the file is believed: only plain datasets are read, of sizes that were looked at.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.errors import ResultFileError
from conformance.resultfile.entry import (
    Found,
    Refusal,
    Unsound,
    line_of,
    shape_of,
    type_name,
)
from conformance.resultfile.names import id_of
from conformance.workers.answer import MAX_OUTPUTS, Returned

FORMAT = "pooling-conformance results 1"
OUTPUTS = ("outputs", *(f"outputs.{number}" for number in range(1, MAX_OUTPUTS)))
"""The groups of first, second, ... outputs."""
GROUPS = ("outputs", "raised", "unsupported")
_KNOWN = frozenset((*FLOATS, *INTEGERS))
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_MEMBERS = 1 << 24
_MAX_TEXT = 1 << 16
_PLAIN = (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)


class ResultFile:
    """The results in an HDF5 file, which stays open.

    Raises ResultFileError, one line that names the file, for whatever is not sound; a dataset is
    looked at when it is asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, tuple[str, str]] = {}
        self._further: dict[str, dict[str, str]] = {}  # by group: by vector, the dataset
        self._groups: dict[str, Any] = {}
        self._file: Any = None
        with self._guard():
            self._size = self._check_signature()
            self._file = h5py.File(path, "r", locking="best-effort")
            try:
                self._check_format()
                for name in self._file:
                    self._find(name)
                self._check_further()
            except BaseException:
                self.close()
                raise

    @property
    def ids(self) -> Collection[str]:
        """The ids of all vectors that something is stored for."""
        return self._places.keys()

    def find(self, vector_id: str, most: int) -> Found | None:
        """Return what is stored for a vector, without the elements if there are more than `most`.

        None if nothing is stored.
        """
        place = self._places.get(vector_id)
        if place is None:
            return None
        group, name = place
        with self._guard(vector_id):
            dataset = self._dataset(group, name)
            if group != "outputs":
                return Refusal(group == "unsupported", line_of(_text(dataset)))
            outputs = [_output(dataset, most, self._size)]
            for other in OUTPUTS[1:]:
                if vector_id not in self._further.get(other, ()):
                    break
                most -= prod(outputs[-1].shape)
                dataset = self._dataset(other, self._further[other][vector_id])
                outputs.append(_output(dataset, most, self._size))
            return tuple(outputs)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with self._guard():
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
        attribute = h5py.h5a.open(root, b"format")
        kind = attribute.get_type()
        _check_text(kind)
        if attribute.get_space().get_simple_extent_npoints() != 1:
            raise Unsound("attribute format is not one text")
        text = np.empty(attribute.shape, dtype=f"S{kind.get_size()}")
        attribute.read(text)
        found = bytes(text.reshape(-1)[0]).decode()
        if found != FORMAT:
            raise Unsound(f"attribute format is {found[:60]!r} and not {FORMAT!r}")

    def _find(self, name: str) -> None:
        """Note what a member of the root holds."""
        if name not in {*GROUPS, *OUTPUTS}:
            raise Unsound(f"{name[:60]!r} is not one of {', '.join(GROUPS)}")
        if not _is_hard(self._file, name) or not isinstance(self._file[name], h5py.Group):
            raise Unsound(f"{name!r} is not a group")
        self._groups[name] = group = self._file[name]
        if len(group) > _MAX_MEMBERS:
            raise Unsound(f"{name!r} has more than {_MAX_MEMBERS} members")
        for member in group:
            vector_id = id_of(member)
            if not _is_hard(group, member):
                raise Unsound(f"{name}/{member} is a link to somewhere else")
            if vector_id in (self._places if name in GROUPS else self._further.get(name, ())):
                raise Unsound(f"there are two results of {vector_id[:200]}")
            if name in GROUPS:
                self._places[vector_id] = name, member
            else:
                self._further.setdefault(name, {})[vector_id] = member

    def _check_further(self) -> None:
        """Check that whatever has a further output has those before it."""
        for before, name in pairwise(OUTPUTS):
            for vector_id in self._further.get(name, ()):
                first = self._places.get(vector_id, ("", ""))[0] == before
                if not first and vector_id not in self._further.get(before, ()):
                    raise Unsound(f"{vector_id[:200]} is in {name} and not in {before}")

    def _dataset(self, group: str, name: str) -> Any:
        found = self._groups[group][name]
        if not isinstance(found, h5py.Dataset):
            raise Unsound("not a dataset")
        return found

    @contextmanager
    def _guard(self, vector_id: str = "") -> Iterator[None]:
        """Turn what goes wrong inside into a ResultFileError of one line that names the file."""
        try:
            yield
        except Exception as error:  # h5py raises most types there are when a file is damaged
            reason = str(error.args[0]) if isinstance(error, KeyError) else str(error)
            what = line_of(reason.partition("\n")[0])
            if not isinstance(error, Unsound):
                what = f"damaged ({what})"
            where = f"{vector_id[:200]}: " if vector_id else ""
            raise ResultFileError(f"{self.path}: {where}{what}") from error


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
    # A type that h5py takes for one of ours may differ in some bit from it.
    if name in _KNOWN and dtype.kind != "V" and kind != h5py.h5t.py_create(dtype):
        name = "unknown"
    if name not in _KNOWN or prod(shape) > most:
        return Returned(name, shape)
    nbytes = prod(shape) * dtype.itemsize
    if nbytes > size:
        raise Unsound(f"it claims {nbytes} bytes, more than the file has")
    _check_plain(identity, nbytes)
    array = np.empty(shape, dtype)
    if array.size:
        identity.read(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)
    native = array.view(dtype_of(name)) if dtype.kind == "V" else array
    if not dtype.isnative:
        native = array.astype(dtype.newbyteorder("="))
    return Returned(name, shape, native.tobytes())


def _text(dataset: Any) -> str:
    kind = dataset.id.get_type()
    _check_text(kind)
    if dataset.id.get_space().get_simple_extent_npoints() != 1:
        raise Unsound("it is not one text")
    _check_plain(dataset.id, kind.get_size())
    text = np.empty(dataset.shape, f"S{kind.get_size()}")
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, text, kind)
    return bytes(text.reshape(-1)[0]).decode(errors="replace")


def _check_text(kind: Any) -> None:
    if not isinstance(kind, h5py.h5t.TypeStringID) or kind.is_variable_str():
        raise Unsound("a text is not a string of fixed length, numpy.bytes_ in Python")
    if kind.get_size() > _MAX_TEXT:
        raise Unsound(f"a text of more than {_MAX_TEXT} bytes")


def _check_plain(identity: Any, nbytes: int) -> None:
    """Raise Unsound unless `nbytes` lie in the file, as they are."""
    creation = identity.get_create_plist()
    if creation.get_layout() not in _PLAIN or creation.get_nfilters():
        raise Unsound("it is chunked or compressed, or in another file")
    if creation.get_external_count():
        raise Unsound("it is stored in another file")
    if identity.get_storage_size() != nbytes:
        raise Unsound(f"{identity.get_storage_size()} bytes are stored and not {nbytes}")
