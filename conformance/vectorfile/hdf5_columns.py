"""An untrusted HDF5 file as plain columns: everything is checked before it is allocated.

HDF5 is asked once, for the structure and where the chunks lie, by another process where crafted
bytes may crash it. Chunks are read and inflated here, with a limit: the filters of libhdf5 grow a
buffer for as long as a chunk goes on, and go on reading behind one that is too short. Each chunk
that is read again has to be what it was, so what was checked once stays true.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from conformance.errors import UsageError, VectorFileError
from conformance.files import Closable, open_regular
from conformance.vector import Array
from conformance.vectorfile import layout

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_CHUNK = 1 << 20
_MAX_RATIO = 1100  # deflate shrinks by 1032 at best
_LONGEST_NAME = 100  # bytes of a name in an error: no column has as many
_SHUFFLE, _DEFLATE = h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE
_PIPELINES = ((), (_SHUFFLE,), (_DEFLATE,), (_SHUFFLE, _DEFLATE))
_ATTRIBUTES = {
    **dict.fromkeys(("format", "operator", "header", "digest"), str),
    **dict.fromkeys(("format_version", "vectors", "complete"), int),
}
_OPTIONAL = {"header_digest": str}  # files of before have none


@dataclass(slots=True)
class _Column:
    """One dataset that passed all checks: `places` are the first byte and the bytes of each chunk.

    It keeps a hash of each chunk that was read.
    """

    path: str
    length: int
    chunk: int = 0
    filters: tuple[int, ...] = ()
    places: list[tuple[int, int]] = field(default_factory=list)
    hashes: dict[int, int] = field(default_factory=dict)


class ColumnFile(Closable):
    """The attributes and columns of one file; every method raises only VectorFileError.

    `attributes` are the root attributes (strings and integers). A file that was closed is opened
    again where it is read; while it is open the last chunk of each column is kept. What HDF5 was
    asked goes to another process with it, if it is closed then: that one asks HDF5 nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: BinaryIO | None = None
        self._loaded: dict[str, Array] = {}
        self._kept: dict[str, tuple[int, Array]] = {}
        self._size = self._chunks = 0
        with self._hdf5() as file:
            self.attributes = self._read_attributes(file)

    @cached_property
    def _columns(self) -> dict[str, _Column]:
        """The columns, which are looked at once they are asked for: that takes a while."""
        with self._hdf5() as file:
            return self._find_columns(h5py.h5g.open(file.id, b"/"))

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The number of elements of each column that there is."""
        return {name: column.length for name, column in self._columns.items()}

    @property
    def size(self) -> int:
        """The bytes that all columns take in memory."""
        return sum(n * layout.COLUMNS[name].dtype.itemsize for name, n in self.lengths.items())

    @contextmanager
    def _hdf5(self) -> Iterator[Any]:
        """Open the file with h5py; it is closed where anything goes wrong."""
        try:
            with self.guard(), h5py.File(self._opened(), "r") as file:
                yield file
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file and free what was decoded."""
        self._loaded.clear()
        self._kept.clear()
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def fail(self, what: str) -> VectorFileError:
        """Return an error that names the file."""
        return VectorFileError(f"{self.path}: {what}")

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn whatever goes wrong inside into a VectorFileError that names the file."""
        try:
            yield
        except (UsageError, VectorFileError):  # the first is about a package that adds operators
            raise
        except FileNotFoundError as error:
            raise self.fail("no such file") from error
        except Exception as error:  # h5py raises most types there are when a file is damaged
            reason = str(error).partition("\n")[0][:200] or type(error).__name__
            raise self.fail(f"damaged or not a vector file ({reason})") from error

    def load(self) -> None:
        """Read every column into memory, until this is closed. The caller has looked at `size`."""
        for name in self.lengths:
            self._loaded[name] = self.read(name)
            self._kept.clear()

    def read(self, name: str, start: int = 0, stop: int | None = None) -> Array:
        """Return elements start to stop of a column, read-only, as stored; absent means empty."""
        if name in self._loaded:
            return self._loaded[name][start:stop]
        dtype = layout.COLUMNS[name].dtype
        column = self._columns.get(name)
        if column is None:
            return np.empty(0, dtype)
        stop = column.length if stop is None else min(stop, column.length)
        out = np.empty(max(stop - start, 0), dtype)
        done = start
        while done < stop:
            number, skip = divmod(done, column.chunk)
            kept, block = self._kept.get(name, (-1, out))
            if kept != number:
                with self.guard():
                    block = self._decode(column, number)
                self._kept[name] = number, block
            part = block[skip : skip + stop - done]
            out[done - start : done - start + len(part)] = part
            done += len(part)
        out.flags.writeable = False
        return out

    def blocks(self, name: str) -> Iterator[Array]:
        """Yield a column in parts of bounded size."""
        step = self._columns[name].chunk or 1
        for start in range(0, self.lengths[name], step):
            yield self.read(name, start, start + step)

    def digest(self) -> str:
        """Return the digest of the columns as they are."""
        columns = {}
        for name, length in self.lengths.items():
            content = sha256()
            for block in self.blocks(name):
                content.update(block.data)
            columns[name] = (length, content.hexdigest())
        return layout.digest_of(self.attributes["operator"], columns)

    def _opened(self) -> BinaryIO:
        """Return the file: what was looked at is what is read."""
        if self._stream is None:
            try:
                stream = open_regular(self.path)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise self.fail(error.strerror or "cannot be read") from None
            if stream.read(len(_SIGNATURE)) != _SIGNATURE:
                stream.close()
                raise self.fail("not an HDF5 file")
            self._stream = stream
        return self._stream

    def _stored(self, column: _Column, number: int) -> bytes:
        """Return a chunk as it is in the file."""
        first, nbytes = column.places[number]
        stream = self._opened()
        stream.seek(first)
        content = stream.read(nbytes)
        if column.hashes.setdefault(number, hash(content)) != hash(content):
            raise self.fail(f"{column.path}: the file was changed while it was open")
        return content

    def _decode(self, column: _Column, number: int) -> Array:
        """Return a chunk; nothing is allocated beyond the size that was checked."""
        path, dtype = column.path, layout.COLUMNS[column.path].dtype
        nbytes = column.chunk * dtype.itemsize
        content = self._stored(column, number)
        if _DEFLATE in column.filters:
            inflate = zlib.decompressobj()
            content = inflate.decompress(content, nbytes + 1)
            if not inflate.eof:
                raise self.fail(f"{path}: a chunk is cut short or longer than declared")
        if len(content) != nbytes:
            raise self.fail(f"{path}: a chunk has {len(content)} bytes and not {nbytes}")
        elements = np.frombuffer(content, np.uint8)
        if _SHUFFLE in column.filters:
            planes = elements.reshape(dtype.itemsize, column.chunk)
            elements = np.empty(planes.shape[::-1], np.uint8)
            for byte, plane in enumerate(planes):  # several times as fast as a transposed copy
                elements[:, byte] = plane
        return elements.reshape(-1).view(dtype)[: column.length - number * column.chunk]

    def _read_attributes(self, file: Any) -> dict[str, Any]:
        for name in _ATTRIBUTES:
            if name not in file.attrs:
                raise self.fail(f"attribute {name} is missing: not a finished vector file")
        kinds = _ATTRIBUTES | {name: kind for name, kind in _OPTIONAL.items() if name in file.attrs}
        attributes = {
            name: self._read_attribute(name, file.attrs.get_id(name), is_text=kind is str)
            for name, kind in kinds.items()
        }
        version = attributes["format_version"]
        if attributes["format"] != layout.FORMAT:
            raise self.fail("not a file of pooling-conformance vectors")
        if version != layout.VERSION:
            raise self.fail(f"format version {version}; this reader knows {layout.VERSION}")
        if attributes["complete"] != 1:
            raise self.fail("the file was not finished")
        if len(file.attrs) != len(attributes):
            raise self.fail("unexpected attributes")
        return attributes

    def _read_attribute(self, name: str, attribute: Any, *, is_text: bool) -> Any:
        kind = attribute.get_type()
        if attribute.get_space().get_simple_extent_type() != h5py.h5s.SCALAR:
            raise self.fail(f"attribute {name} is not a scalar")
        if not is_text and kind != h5py.h5t.STD_I64LE:
            raise self.fail(f"attribute {name} is not a 64-bit integer")
        if is_text and (
            not isinstance(kind, h5py.h5t.TypeStringID)
            or kind.is_variable_str()
            or kind.get_size() > layout.MAX_HEADER
        ):
            raise self.fail(f"attribute {name} is not a string of fixed length")
        value = np.empty((), f"S{kind.get_size()}" if is_text else "<i8")
        attribute.read(value)
        return bytes(value[()]).decode() if is_text else int(value)

    def _find_columns(self, root: Any) -> dict[str, _Column]:
        """Return the columns in a file, all of them checked."""
        self._size = self._chunks = 0
        columns = {}
        for name, dataset in self._walk(root, ""):
            if name not in layout.COLUMNS:
                raise self.fail(f"unexpected dataset {name!r}")
            columns[name] = self._check_column(name, dataset)
        for name in layout.REQUIRED:
            if name not in columns:
                raise self.fail(f"column {name} is missing")
        count, ids = self.attributes["vectors"], columns["vectors/id"].length
        if count != ids:
            raise self.fail(f"{count} vectors, which have {ids} ids")
        return columns

    # The functions of HDF5 itself: h5py's objects for them take twice as long.
    def _walk(self, group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        if (members := group.get_num_objs()) > len(layout.COLUMNS):
            raise self.fail(f"group {prefix or '/'} has {members} members")
        for name in group:
            path = f"{prefix}{name[:_LONGEST_NAME].decode(errors='replace')}"
            if group.links.get_info(name).type != h5py.h5l.TYPE_HARD:
                raise self.fail(f"{path!r} is a link, not a column")
            item = h5py.h5o.open(group, name)
            if isinstance(item, h5py.h5d.DatasetID):
                yield path, item
            elif isinstance(item, h5py.h5g.GroupID) and path in layout.GROUPS:
                yield from self._walk(item, f"{path}/")
            else:
                raise self.fail(f"unexpected object {path!r}")

    def _check_column(self, name: str, dataset: Any) -> _Column:
        """Return a column fit to be read; all columns together fit into the file."""
        dtype = layout.COLUMNS[name].dtype
        if dataset.get_type() != _type_of(dtype):
            raise self.fail(f"{name} is not of type {dtype.name}")
        space = dataset.get_space()
        if space.get_simple_extent_ndims() != 1:
            raise self.fail(f"{name} has not one axis")
        (length,) = space.get_simple_extent_dims()
        creation = dataset.get_create_plist()
        if creation.get_external_count() or creation.get_layout() == h5py.h5d.VIRTUAL:
            raise self.fail(f"{name} is stored in another file")
        if length == 0:
            return _Column(name, 0)
        if creation.get_layout() != h5py.h5d.CHUNKED:
            raise self.fail(f"{name} is not stored in chunks")
        self._size += length * dtype.itemsize
        if self._size > _MAX_RATIO * os.fstat(self._opened().fileno()).st_size:
            raise self.fail(f"{name} claims {length} elements, more than the file can hold")
        (chunk,) = creation.get_chunk()
        if chunk * dtype.itemsize > _MAX_CHUNK:
            raise self.fail(f"{name} has chunks above {_MAX_CHUNK} bytes")
        count = min(creation.get_nfilters(), 3)
        filters = tuple(creation.get_filter(index)[0] for index in range(count))
        if filters not in _PIPELINES:
            raise self.fail(f"{name} has filters other than shuffle and deflate")
        starts = range(0, length, chunk)
        self._chunks += len(starts)
        if self._chunks > layout.MAX_CHUNKS:
            raise self.fail(f"more than {layout.MAX_CHUNKS} chunks, with those of {name}")
        places = [self._place(name, dataset, start, chunk * dtype.itemsize) for start in starts]
        return _Column(name, length, chunk, filters, places)

    def _place(self, name: str, dataset: Any, start: int, nbytes: int) -> tuple[int, int]:
        """Return where a chunk of `nbytes`, decoded, lies in the file, and its bytes there."""
        stored = dataset.get_chunk_info_by_coord((start,))
        if stored.byte_offset is None:
            raise self.fail(f"{name} lacks chunks")
        if stored.filter_mask:
            raise self.fail(f"{name}: a chunk skips a filter")
        if stored.size > nbytes + nbytes // 64 + 64:  # what deflate may make of it at worst
            raise self.fail(f"{name}: a chunk takes {stored.size} bytes")
        return stored.byte_offset, stored.size


@cache
def _type_of(dtype: np.dtype[Any]) -> Any:
    return h5py.h5t.py_create(dtype)
