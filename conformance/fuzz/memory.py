"""What was found before, kept as vector files, so that it is tried first next time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.errors import UsageError
from conformance.fuzz.saving import held, write
from conformance.vector import Case, Vector


class Memory:
    """A directory of vector files, one per operator; None remembers nothing.

    Cases are kept, not Hypothesis' own records of them: those mean something else as soon as the
    strategies change, and are of no use to `check`.
    """

    def __init__(self, directory: Path | None) -> None:
        if directory is not None and directory.exists() and not directory.is_dir():
            raise UsageError(f"{directory}: not a directory; failures are kept in one")
        self._directory = directory

    def cases(self, operator: str) -> list[Case]:
        """Return the cases of an operator that failed before."""
        if self._directory is None:
            return []
        return [vector.case for vector in held(self._path(operator), operator)]

    def keep(self, operator: str, vectors: Sequence[Vector], *, whole: bool) -> None:
        """Keep what fails; forget what does no more, unless the search was cut off."""
        if self._directory is None:
            return
        path = self._path(operator)
        before = [] if whole else held(path, operator)
        every = {vector.case.id: vector for vector in (*vectors, *before)}
        if every:
            self._make()
            write(path, operator, list(every.values()))
        else:
            path.unlink(missing_ok=True)

    def _path(self, operator: str) -> Path:
        assert self._directory is not None
        return self._directory / f"{operator}.h5"

    def _make(self) -> None:
        assert self._directory is not None
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write to {self._directory}: {error.strerror}") from error
