"""A folder that is complete or absent."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.errors import UsageError
from conformance.files import folder_for


@contextmanager
def finished(path: Path) -> Iterator[Path]:
    """Yield a new folder that gets the name `path` when the block ends without an exception.

    Nothing is left of it otherwise. Raises UsageError if there is something at `path` other than
    an empty folder, or nothing can be written there.
    """
    whole = path.absolute()
    part = whole.with_name(f".{whole.name}.{secrets.token_hex(4)}.part")
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise UsageError(f"{path}: there is something already; give a new or an empty folder")
        with folder_for(whole.parent):
            try:
                part.mkdir()
                yield part
                if whole.exists():
                    whole.rmdir()  # not every system replaces an empty folder
                part.rename(whole)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}") from error
