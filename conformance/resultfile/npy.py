"""One .npy file of a stranger: no pickles, and nothing allocated before sizes are checked."""

from __future__ import annotations

import os
import stat
import warnings
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from conformance.dtypes import FLOATS, INTEGERS
from conformance.resultfile.entry import Unsound, shape_of, type_name
from conformance.workers.answer import Returned

_KNOWN = frozenset((*FLOATS, *INTEGERS))
_HEAD = 1 << 16  # longer than any header that numpy reads
_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
# Neither a link that was put there since the folder was looked at, nor a pipe to wait for.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


def read_npy(path: Path, most: int) -> Returned:
    """Return the array in a file, without its elements if there are more than `most`.

    Raises OSError or Unsound if the file cannot be read or is not sound.
    """
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unsound("not a regular file")
        head = BytesIO(file.read(_HEAD))
        given, fortran, dtype = _header(head)
        if dtype.hasobject:
            raise Unsound("it holds Python objects, which are never read")
        shape = shape_of(given)
        held, claimed = status.st_size - head.tell(), prod(shape) * dtype.itemsize
        if held != claimed:
            raise Unsound(f"it holds {held} bytes of elements and not {claimed}")
        name = type_name(dtype)
        if name not in _KNOWN or prod(shape) > most:
            return Returned(name, shape)
        file.seek(head.tell())
        array = np.frombuffer(file.read(claimed), dtype)
    if fortran:
        array = array.reshape(shape, order="F")
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return Returned(name, shape, array.tobytes())


def _header(head: BytesIO) -> tuple[Any, bool, np.dtype[Any]]:
    """Return shape, Fortran order and type; `head` is left where the elements begin."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's parser has views on what it is given
            version = np.lib.format.read_magic(head)
            found: tuple[Any, bool, np.dtype[Any]] = _reader(version)(head)
    except Exception as error:
        reason = " ".join(str(error).split())[:120]
        raise Unsound(f"not a sound .npy file ({reason})") from error
    return found


def _reader(version: tuple[int, int]) -> Any:
    if version not in _HEADERS:
        raise Unsound(f"version {version[0]}.{version[1]} of the format")
    return _HEADERS[version]
