"""A stranger's HDF5 file as plain columns: everything is checked before it is allocated.

libhdf5 is asked for structure only, once: which columns there are and where their chunks lie. The
chunks are read and inflated here, with a limit, because its filter pipeline grows a buffer for as
long as a chunk goes on; and because it keeps more than a megabyte for each file that is open.
"""

from __future__ import annotations

import os
import stat
import weakref
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from conformance.errors import UsageError, VectorFileError
from conformance.vectorfile import layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conformance.dtypes import DType
    from conformance.vector import Array

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_CHUNK = 1 << 20
_MAX_RATIO = 1100  # deflate shrinks by 1032 at best
_SHUFFLE, _DEFLATE = h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE
_PIPELINES = ((), (_SHUFFLE,), (_DEFLATE,), (_SHUFFLE, _DEFLATE))
_STRINGS = ("format", "operator", "header", "digest")
_INTEGERS = ("format_version", "vectors", "complete")


@contextmanager
def _guard(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong inside into a VectorFileError of one line that names the file."""
    try:
        yield
    except (UsageError, VectorFileError):  # the first is about a package that adds operators
        raise
    except FileNotFoundError as error:
        raise VectorFileError(f"{path}: no such file") from error
    except Exception as error:  # h5py raises most types there are when a file is damaged
        text = str(error.args[0]) if error.args else type(error).__name__
        reason = text.partition("\n")[0][:200]
        raise VectorFileError(f"{path}: damaged or not a vector file ({reason})") from error


@dataclass(slots=True)
class _Column:
    """One dataset that was found sound, and its last decoded chunk.

    `places` are the offset in the file and the size of each chunk, in bytes; `seen` is a hash of
    each chunk that was read, by number.
    """

    dtype: DType
    length: int
    chunk: int = 0
    places: tuple[tuple[int, int], ...] = ()
    shuffled: bool = False
    deflated: bool = False
    number: int = -1
    block: Array | None = None
    seen: dict[int, int] = field(default_factory=dict)


class ColumnFile:
    """The attributes and columns of one file; every method raises only VectorFileError.

    `attributes` are the root attributes (strings and integers), `lengths` the columns there are
    with their number of elements, `size` the bytes all of them take in memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._resident: dict[str, Array] = {}
        self._columns: dict[str, _Column] = {}
        with _guard(path):
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise self.fail("not a regular file")
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            self._closing = weakref.finalize(self, os.close, self._descriptor)
            try:
                self._check_signature()
                with h5py.File(path, "r", locking="best-effort") as file:
                    self.attributes = self._read_attributes(file.id)
                    self._find_columns(file, status.st_size)
            except BaseException:
                self.close()
                raise
        self.lengths = {name: column.length for name, column in self._columns.items()}
        self.size = sum(c.length * c.dtype.itemsize for c in self._columns.values())

    @property
    def readable(self) -> bool:
        """Whether columns can be read."""
        return self._closing.alive or bool(self._resident)

    def close(self) -> None:
        """Close the file; columns that were loaded stay readable."""
        self._closing()

    def fail(self, what: str) -> VectorFileError:
        """Return an error that names the file."""
        return VectorFileError(f"{self.path}: {what}")

    def guard(self) -> AbstractContextManager[None]:
        """Turn whatever goes wrong inside into a VectorFileError that names the file."""
        return _guard(self.path)

    def load(self) -> None:
        """Read every column into memory and close the file. The caller has looked at `size`."""
        for name in self.lengths:
            self._resident[name] = self.read(name)
        self.forget()
        self.close()

    def forget(self) -> None:
        """Free the last decoded chunks: of many open files they are most of the memory."""
        for column in self._columns.values():
            column.number, column.block = -1, None

    def read(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """Return elements start to stop of a column, read-only, as stored; absent means empty."""
        if name in self._resident:
            return self._resident[name][start:stop]
        column = self._columns.get(name)
        if column is None:
            return np.empty(0, dtype=layout.COLUMNS[name])
        stop = column.length if stop is None else min(stop, column.length)
        out = np.empty(max(stop - start, 0), dtype=column.dtype)
        done = start
        while done < stop:
            number, skip = divmod(done, column.chunk)
            part = self._decode(name, column, number)[skip : skip + stop - done]
            out[done - start : done - start + len(part)] = part
            done += len(part)
        out.flags.writeable = False
        return out

    def blocks(self, name: str) -> Iterator[Array]:
        """Yield a column in parts of bounded size."""
        if name in self._resident:
            yield self._resident[name]
            return
        column = self._columns[name]
        for start in range(0, column.length, column.chunk or 1):
            yield self.read(name, start, start + column.chunk)

    def digest(self) -> str:
        """Return the digest of the columns as they are."""
        columns = {}
        for name, length in self.lengths.items():
            content = sha256()
            for block in self.blocks(name):
                content.update(block.data)
            columns[name] = (length, content.hexdigest())
        return layout.digest_of(self.attributes["operator"], columns)

    def _decode(self, name: str, column: _Column, number: int) -> Array:
        if column.number == number and column.block is not None:
            return column.block
        nbytes = column.chunk * column.dtype.itemsize
        with self.guard():
            raw = self._stored(*column.places[number])
            # What was checked once is what is read again: nobody writes to the file meanwhile.
            if column.seen.setdefault(number, hash(raw)) != hash(raw):
                raise self.fail(f"{name}: the file was changed while it was open")
            if column.deflated:
                inflate = zlib.decompressobj()
                raw = inflate.decompress(raw, nbytes + 1)
                if not inflate.eof:
                    raise self.fail(f"{name}: a chunk is cut short or longer than declared")
            if len(raw) != nbytes:
                raise self.fail(f"{name}: a chunk has {len(raw)} bytes and not {nbytes}")
        if column.shuffled and column.dtype.itemsize > 1:
            planes = np.frombuffer(raw, np.uint8).reshape(column.dtype.itemsize, column.chunk)
            joined = np.empty((column.chunk, column.dtype.itemsize), np.uint8)
            for byte, plane in enumerate(planes):
                joined[:, byte] = plane
            column.block = joined.reshape(-1).view(column.dtype)
        else:
            column.block = np.frombuffer(raw, column.dtype)
        column.number = number
        last = column.length - number * column.chunk
        column.block = column.block[:last]
        return column.block

    def _stored(self, offset: int, size: int) -> bytes:
        """Return bytes of the file."""
        if not self._closing.alive:
            raise self.fail("it is closed")
        if hasattr(os, "pread"):  # a process forked from this one has the same place in the file
            return os.pread(self._descriptor, size, offset)
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        return os.read(self._descriptor, size)

    def _check_signature(self) -> None:
        if self._stored(0, len(_SIGNATURE)) != _SIGNATURE:
            raise self.fail("not an HDF5 file")

    def _read_attributes(self, root: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in (*_STRINGS, *_INTEGERS):
            key = name.encode()
            if not h5py.h5a.exists(root, key):
                raise self.fail(f"attribute {name} is missing: not a finished vector file")
            found[name] = self._read_attribute(name, h5py.h5a.open(root, key))
        if found["format"] != layout.FORMAT:
            raise self.fail("not a file of pooling-conformance vectors")
        if found["format_version"] != layout.VERSION:
            version = found["format_version"]
            raise self.fail(f"format version {version}; this reader knows {layout.VERSION}")
        if found["complete"] != 1:
            raise self.fail("the file was not finished")
        if h5py.h5a.get_num_attrs(root) != len(found):
            raise self.fail("unexpected attributes")
        if found["operator"] not in layout.operators():
            raise self.fail(f"unknown operator {found['operator'][:40]!r}")
        return found

    def _read_attribute(self, name: str, attribute: Any) -> Any:
        kind = attribute.get_type()
        if attribute.get_space().get_simple_extent_type() != h5py.h5s.SCALAR:
            raise self.fail(f"attribute {name} is not a scalar")
        if name in _INTEGERS:
            if kind != h5py.h5t.STD_I64LE:
                raise self.fail(f"attribute {name} is not a 64-bit integer")
            value = np.empty((), dtype="<i8")
            attribute.read(value)
            return int(value)
        if (
            not isinstance(kind, h5py.h5t.TypeStringID)
            or kind.is_variable_str()
            or kind.get_size() > layout.MAX_HEADER
        ):
            raise self.fail(f"attribute {name} is not a string of fixed length")
        text = np.empty((), dtype=f"S{kind.get_size()}")
        attribute.read(text)
        return bytes(text[()]).decode()

    def _find_columns(self, file: Any, stored: int) -> None:
        chunks = layout.MAX_CHUNKS
        for name, dataset in self._walk(file, ""):
            if name not in layout.COLUMNS:
                raise self.fail(f"unexpected dataset {name!r}")
            column = self._check_column(name, dataset, stored, chunks)
            self._columns[name] = column
            stored -= sum(size for _, size in column.places)
            chunks -= len(column.places)
        if missing := layout.REQUIRED.keys() - self._columns.keys():
            raise self.fail(f"column {min(missing)} is missing")

    def _walk(self, group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        if len(group) > len(layout.COLUMNS):
            raise self.fail(f"group {prefix or '/'} has {len(group)} members")
        for name in group:
            path = f"{prefix}{name}"
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise self.fail(f"{path!r} is a link, not a column")
            item = group[name]
            if isinstance(item, h5py.Dataset):
                yield path, item
            elif isinstance(item, h5py.Group) and path in layout.GROUPS:
                yield from self._walk(item, f"{path}/")
            else:
                raise self.fail(f"unexpected object {path!r}")

    def _check_column(self, name: str, dataset: Any, stored: int, chunks: int) -> _Column:
        """Return a column fit to be read, of up to `stored` bytes of the file and `chunks`."""
        dtype, identity = layout.COLUMNS[name], dataset.id
        if identity.get_type() != h5py.h5t.py_create(dtype):
            raise self.fail(f"{name} is not of type {dtype.name}")
        space, creation = identity.get_space(), identity.get_create_plist()
        if (
            space.get_simple_extent_type() != h5py.h5s.SIMPLE
            or space.get_simple_extent_ndims() != 1
        ):
            raise self.fail(f"{name} has not one axis")
        length = int(space.get_simple_extent_dims()[0])
        chunked = creation.get_layout() == h5py.h5d.CHUNKED
        if creation.get_external_count() or creation.get_layout() == h5py.h5d.VIRTUAL:
            raise self.fail(f"{name} is stored in another file")
        if length == 0:
            return _Column(dtype, 0)
        if not chunked:
            raise self.fail(f"{name} is not stored in chunks")
        if length * dtype.itemsize > _MAX_RATIO * stored:
            raise self.fail(f"{name} claims {length} elements, more than the file can hold")
        chunk = int(creation.get_chunk()[0])
        if chunk * dtype.itemsize > _MAX_CHUNK:
            raise self.fail(f"{name} has chunks above {_MAX_CHUNK} bytes")
        needed = -(-length // chunk)
        if needed > chunks:  # a chunk that was never written may take no room in the file
            raise self.fail(f"more than {layout.MAX_CHUNKS} chunks, with those of {name}")
        count = min(creation.get_nfilters(), 3)
        filters = tuple(creation.get_filter(index)[0] for index in range(count))
        if filters not in _PIPELINES:
            raise self.fail(f"{name} has filters other than shuffle and deflate")
        places = self._check_chunks(name, identity, needed, chunk)
        self._check_sizes(name, [size for _, size in places], chunk * dtype.itemsize, stored)
        return _Column(dtype, length, chunk, places, _SHUFFLE in filters, _DEFLATE in filters)

    def _check_sizes(self, name: str, sizes: Sequence[int], nbytes: int, stored: int) -> None:
        """Check the stored sizes of chunks of `nbytes` each, of which the file has `stored`."""
        if max(sizes) > nbytes + nbytes // 64 + 64:
            raise self.fail(f"{name} has a chunk of {max(sizes)} bytes for {nbytes}")
        if sum(sizes) > stored:
            raise self.fail(f"{name} claims more bytes than the file has")

    def _check_chunks(
        self, name: str, identity: Any, count: int, chunk: int
    ) -> tuple[tuple[int, int], ...]:
        """Return where chunks lie and their sizes; each must be there, with all its filters."""
        if identity.get_num_chunks() != count:
            raise self.fail(f"{name} lacks chunks")
        found: dict[int, tuple[int, int]] = {}
        masks = 0

        def note(info: Any) -> None:
            nonlocal masks
            masks |= info.filter_mask
            found[info.chunk_offset[0] // chunk] = (info.byte_offset, info.size)

        identity.chunk_iter(note)
        if masks:
            raise self.fail(f"{name}: a chunk skips a filter")
        if found.keys() != set(range(count)):
            raise self.fail(f"{name} lacks chunks")
        return tuple(found[number] for number in range(count))
