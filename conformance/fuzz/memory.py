"""Failures kept between searches, so that what was found before is tried first."""

from __future__ import annotations

from pathlib import Path

from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    InMemoryExampleDatabase,
)

from conformance.errors import UsageError


class Memory:
    """Failures of earlier searches, and those of this one to be kept.

    Hypothesis forgets an example that is not interesting any more. One that a known cause
    explains is not, in a later round of the same search: so each round works on a copy.
    """

    def __init__(self, directory: Path | None) -> None:
        self._kept = _opened(directory)
        self._found: dict[bytes, set[bytes]] = {}

    def round(self, operator: str) -> tuple[ExampleDatabase, bytes]:
        """Return a database for one round, and the key to use."""
        key = _key(operator)
        copy = InMemoryExampleDatabase()
        for example in self._kept.fetch(key):
            copy.save(key, example)
        return copy, key

    def found(self, operator: str, database: ExampleDatabase) -> None:
        """Keep what a round that found something has left in its database."""
        key = _key(operator)
        self._found.setdefault(key, set()).update(database.fetch(key))

    def save(self, operator: str, *, whole: bool) -> None:
        """Store what was found; forget what fails no more, unless the search was cut off."""
        key, found = _key(operator), self._found.get(_key(operator), set())
        before = set(self._kept.fetch(key))
        for example in found - before:
            self._kept.save(key, example)
        for example in before - found if whole else ():
            self._kept.delete(key, example)


def _key(operator: str) -> bytes:
    return f"conformance fuzz {operator}".encode()


def _opened(directory: Path | None) -> ExampleDatabase:
    if directory is None:
        return InMemoryExampleDatabase()
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory}: not a directory; failures are kept in one")
    return DirectoryBasedExampleDatabase(directory)
