"""Several vector files together: a file, a directory of them, or the suite this package ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, overload

from conformance.errors import VectorFileError
from conformance.vectorfile import layout
from conformance.vectorfile.reader import VectorFile

if TYPE_CHECKING:
    import os
    from types import TracebackType


class VectorSet(Sequence[VectorFile]):
    """Vector files, one per operator, in the order of the suite; a context manager."""

    def __init__(self, files: Sequence[VectorFile]) -> None:
        order = layout.operators()
        self.files = tuple(sorted(files, key=lambda file: order.index(file.operator)))
        for one, other in zip(self.files, self.files[1:], strict=False):
            if one.operator == other.operator:
                raise VectorFileError(
                    f"{other.path}: operator {other.operator} is also in {one.path.name}"
                )

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, index: int) -> VectorFile: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[VectorFile, ...]: ...

    def __getitem__(self, index: int | slice) -> VectorFile | tuple[VectorFile, ...]:
        return self.files[index]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def operators(self) -> tuple[str, ...]:
        """The operator of each file."""
        return tuple(file.operator for file in self.files)

    def close(self) -> None:
        """Close every file."""
        for file in self.files:
            file.close()


def open_vectors(path: str | os.PathLike[str] | None = None) -> VectorSet:
    """Open a vector file, the *.h5 files of a directory, or (None) the shipped suite.

    Raises VectorFileError, naming the file, if there is none or one of them is not sound.
    """
    where = shipped_suite() if path is None else Path(path)
    if where.is_dir():
        paths = sorted(where.glob(f"*{layout.SUFFIX}"))
        if not paths:
            raise VectorFileError(f"{where}: no vector files (*{layout.SUFFIX}) in this directory")
    else:
        paths = [where]
    files: list[VectorFile] = []
    try:
        files.extend(VectorFile(each) for each in paths)
        return VectorSet(files)
    except BaseException:
        for file in files:
            file.close()
        raise


def shipped_suite() -> Path:
    """Return the directory of the suite: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_vectors"
    return installed if installed.is_dir() else package.parent / "vectors"
