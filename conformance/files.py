"""Files that are complete or absent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from conformance.errors import UsageError

Target = str | os.PathLike[str] | BinaryIO


@contextmanager
def writing(target: Target) -> Iterator[BinaryIO]:
    """Yield a stream; a file appears under its name when all of it was written, or not at all.

    `target` is a path or a stream of bytes, which stays open. Raises UsageError, naming the path,
    if it cannot be written.
    """
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    try:
        path = Path(os.path.realpath(target))
        # A pipe or a device has no half-written state, and must not be replaced by a file.
        regular = path.is_file() or not path.exists()
    except OSError as error:  # a name that is too long, a directory that is gone
        raise _failure(target, error) from None
    # As much of the name as any system has room for beside the rest.
    part = path.with_name(f".{path.name[:32]}.{os.getpid()}.part") if regular else path
    try:
        with part.open("wb") as stream:
            yield stream
        if regular:
            part.replace(path)
    except OSError as error:
        raise _failure(target, error) from None
    finally:
        if regular:
            part.unlink(missing_ok=True)


@contextmanager
def folder_for(directory: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a directory for files, made if it is not there.

    If the block fails, what was made goes again, as far as it is empty: nobody finds a directory
    without the files it was for. Raises UsageError, naming it, if it cannot be made.
    """
    folder = Path(directory)
    made: list[Path] = []
    try:
        try:
            made = [each for each in (folder, *folder.parents) if not each.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise UsageError(f"cannot write to {folder}: it is not a directory") from None
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
        yield folder
    except BaseException:
        with suppress(OSError):  # it holds something, or was never made
            for each in made:
                each.rmdir()
        raise


def _failure(target: str | os.PathLike[str], error: OSError) -> UsageError:
    return UsageError(f"{os.fspath(target)}: cannot be written: {error.strerror}")


def write_text(text: str, target: Target) -> None:
    """Write text as UTF-8, with "?" for what has no UTF-8 form; see `writing`."""
    with writing(target) as stream:
        stream.write(text.encode("utf-8", "replace"))
