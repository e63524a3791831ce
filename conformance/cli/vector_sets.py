"""The vectors that a command is given, as a file or a directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.errors import UsageError

if TYPE_CHECKING:
    from conformance.vectorfile import VectorSet


@contextmanager
def opened(
    path: Path | None, operators: Sequence[str] = (), *, unchecked: bool = False
) -> Iterator[VectorSet]:
    """Open vector files to read the vectors of some operators, of all if none is named.

    None is the shipped suite. A path that does not exist is wrong usage. Content that is left
    `unchecked` is checked before its first use.
    """
    from conformance.vectorfile import open_vectors

    if path is not None and not path.exists():
        raise UsageError(f"{path}: no such file or directory; give a vector file or a directory")
    with open_vectors(path, operators or None, unchecked=unchecked) as files:
        yield files
