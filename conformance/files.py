"""Files and folders that are complete or absent, and what is closed after use."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path, PurePath
from typing import BinaryIO, Self

from conformance import interrupts
from conformance.errors import UsageError

try:
    import fcntl
except ImportError:  # not every system has locks that end with a process
    fcntl = None  # type: ignore[assignment]

Target = str | os.PathLike[str] | BinaryIO
_NAME = 32
"""Characters of a name that its part keeps: any system has room for them beside the rest."""
_OURS = ".conformance-"
"""In the name of every part: no other program's files are taken for one."""
_LONGEST_LIST = 1 << 26
"""Bytes of a list of files that is read."""


class Closable(ABC):
    """What is closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; OSError for a pipe or a device, which would never end.

    It is opened once, so that what was looked at is what is read.
    """

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", name)

    return open(path, "rb", opener=opener)


def size_of(path: str | os.PathLike[str]) -> int:
    """Return the bytes of a regular file, 0 for anything else: whoever opens it says what it is."""
    return os.path.getsize(path) if os.path.isfile(path) else 0  # noqa: PTH113, PTH202 - no error


class _Unfinished:
    """A file or folder in the making: at `part`, beside the `path` that it gets when it is whole.

    As a context manager it makes an empty one and yields its path; where the block ends without an
    exception it is finished, and removed otherwise; an interrupt waits until that is done. Those
    that killed processes left in the same folder are removed first.
    """

    def __init__(self, path: Path, make: Callable[[Path], object]) -> None:
        self.path = path
        self.part = path.with_name(f".{path.name[:_NAME]}{_OURS}{secrets.token_hex(4)}.part")
        self._make = make
        self._lock: int | None = None

    def __enter__(self) -> Path:
        _remove_abandoned(self.path.parent)
        try:
            while not self.part.exists():  # it may be taken for abandoned before it has its lock
                self._unlock()
                self._make(self.part)
                self._lock = _locked(self.part)
        except BaseException:
            self.remove()
            raise
        return self.part

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        with interrupts.held():
            try:
                if kind is None:
                    self._finish()
            finally:
                self.remove()

    def _finish(self) -> None:
        """Give it its name, in place of a file or an empty folder. A file is then on the disk."""
        if self.part.is_dir():
            if self.path.exists():
                self.path.rmdir()  # not every system replaces an empty folder
            self.part.rename(self.path)
            return
        _sync(self.part)
        self.part.replace(self.path)
        with suppress(OSError):  # not every system opens folders
            _sync(self.path.parent)

    def remove(self) -> None:
        """Leave nothing of what was not finished."""
        _remove(self.part)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class _Renewal(_Unfinished):
    """Files in the making, in the `folder` where they replace the files that a list there names.

    The list is a file, `name`, with `about` beside the names. Files that it does not name stay. A
    process that is killed in the midst of replacing leaves whole files, each of which finds those
    that it refers to: files of a new name come first, and what is out of date goes last.
    """

    def __init__(
        self, folder: Path, name: str, about: Mapping[str, object], listed: frozenset[str]
    ) -> None:
        super().__init__(folder / name, Path.mkdir)
        self.folder, self.about, self.listed = folder, about, listed

    def _finish(self) -> None:
        new = _files_in(self.part)
        self._check(new)
        # Until all is done both are listed: whatever stops this, the next one knows them as its.
        _write_list(self.path, self.about, self.listed | new)
        for name in sorted(new, key=lambda name: (name in self.listed, -name.count("/"), name)):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.part / name).replace(target)
        for name in self.listed - new:
            target = self.folder / name
            target.unlink(missing_ok=True)
            with suppress(OSError):  # it holds something
                target.parent.rmdir()
        _write_list(self.path, self.about, new)

    def _check(self, new: frozenset[str]) -> None:
        """Raise UsageError, before anything changes, for what is in the way of files."""
        names = self.listed | new
        folders = {parent for name in names for parent in PurePath(name).parents} - {PurePath()}
        for at in (self.folder / folder for folder in sorted(folders)):
            if at.is_symlink() or (at.exists() and not at.is_dir()):
                raise UsageError(f"{at}: not a folder, as it has to be: move it elsewhere")
            if at.exists() and not os.access(at, os.W_OK):
                raise UsageError(f"cannot write to {at}: {os.strerror(errno.EACCES)}")
        for name in sorted(names):
            at = self.folder / name
            own = name not in self.listed and os.path.lexists(at)
            if own or (at.is_dir() and not at.is_symlink()):
                raise UsageError(f"{at}: in the way of a new file of this name: move it elsewhere")


def _files_in(folder: Path) -> frozenset[str]:
    """Return the files in a folder and those in it, as paths from there with `/`."""
    paths = folder.rglob("*")
    return frozenset(path.relative_to(folder).as_posix() for path in paths if not path.is_dir())


def _write_list(path: Path, about: Mapping[str, object], files: Iterable[str]) -> None:
    write_text(json.dumps({**about, "files": sorted(files)}) + "\n", path)


def _listed(path: Path, about: Mapping[str, object]) -> frozenset[str] | None:
    """Return the files that `_write_list` listed, all inside the folder; None if it did not."""
    if not 0 < size_of(path) <= _LONGEST_LIST:
        return None
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    files = content.pop("files", None) if isinstance(content, dict) else None
    if not isinstance(files, list) or content != about or not all(map(_is_inside, files)):
        return None
    return frozenset(files)


def _is_inside(name: object) -> bool:
    """Say whether a name is that of a file in the folder that it is seen from."""
    if not isinstance(name, str) or "\0" in name:
        return False
    path = PurePath(name)
    return path.name != "" and not path.is_absolute() and not path.drive and ".." not in path.parts


def _remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed left unfinished: nobody holds its lock."""
    if fcntl is None:
        return
    with suppress(OSError):  # whether the folder can be written to is said by what comes next
        for part in folder.glob(f".*{_OURS}*.part"):
            lock = _locked(part, fcntl.LOCK_NB)
            if lock is not None:
                _remove(part)
                os.close(lock)


def _locked(part: Path, flags: int = 0) -> int | None:
    """Return a descriptor with a lock that ends with this process; None if it cannot be had.

    A process number would not do: it may be used again, or be that of another machine.
    """
    if fcntl is None:
        return None
    try:
        descriptor = os.open(part, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | flags)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)


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
        in_place = path.exists() and not path.is_file()
        place = nullcontext(path) if in_place else _Unfinished(path, Path.touch)
        with place as part, part.open("wb") as stream:
            yield stream
    except OSError as error:  # a full disk, a name that is too long, a directory that is gone
        reason = error.strerror or error
        raise UsageError(f"{os.fspath(target)}: cannot be written: {reason}") from None


@contextmanager
def new_folder(path: Path, wanted: str = "a new or an empty folder") -> Iterator[Path]:
    """Yield a new folder that gets the name `path` when the block ends without an exception.

    Nothing is left of it otherwise. Raises UsageError, which says what is `wanted`, if there is
    something at `path` other than an empty folder, or nothing can be written there.
    """
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise UsageError(f"{path}: there is something already; give {wanted}")
        whole = path.absolute()
        with folder_for(whole.parent), _Unfinished(whole, Path.mkdir) as folder:
            yield folder
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}") from error


@contextmanager
def renewed_folder(path: Path, name: str, about: Mapping[str, object], kind: str) -> Iterator[Path]:
    """Yield a new folder whose files replace those that were made so before in `path`.

    They do when the block ends without an exception; until then `path` is as it was, and no other
    file in it ever changes. It is new, empty, or of a `kind` whose folders have a file called
    `name`, which says what they are `about` and lists their files. Raises UsageError if it is
    something else, a file that was not made so has the name of a new one, or nothing can be
    written there.
    """
    try:
        if path.is_dir():
            _remove_abandoned(path)
        listed = _listed(path / name, about)
        if listed is None and path.is_dir() and not any(path.iterdir()):
            listed = frozenset()
        if listed is None:
            with new_folder(path, f"a new folder, an empty one or {kind}") as folder:
                yield folder
                _write_list(folder / name, about, _files_in(folder))
        else:
            with _Renewal(path.absolute(), name, about, listed) as folder:
                yield folder
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}") from error


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Yield a new folder beside a path, which is gone when the block ends.

    Those that killed processes left there are removed first.
    """
    folder = _Unfinished(beside.absolute(), Path.mkdir)
    try:
        yield folder.__enter__()  # it is never finished
    finally:
        folder.remove()


def place(parts: Mapping[Path, Path]) -> None:
    """Give whole files, by their new paths, these names: all or none, and none over what is there.

    The parts are on the disk of their paths. Raises UsageError if they cannot get their names.
    """
    placed: list[Path] = []
    path = Path()
    try:
        for path, part in parts.items():
            _sync(part)
            try:
                path.hardlink_to(part)
            except FileExistsError:
                raise
            except OSError:  # not every file system has links
                if os.path.lexists(path):
                    raise
                part.rename(path)
            placed.append(path)
    except BaseException as error:
        for done in placed:
            done.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
        raise


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
            made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise UsageError(f"cannot write to {folder}: it is not a directory") from None
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
        yield folder
    except BaseException:
        with suppress(OSError):  # it holds something, or was never made
            for parent in made:
                parent.rmdir()
        raise


def write_text(text: str, target: Target) -> None:
    """Write text as UTF-8, with "?" for what has no UTF-8 form; see `writing`."""
    with writing(target) as stream:
        stream.write(text.encode("utf-8", "replace"))


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
