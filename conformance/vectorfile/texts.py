"""The texts of a vector file: each distinct one decoded and parsed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.vectorfile import layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.vector import Array
    from conformance.vectorfile.hdf5 import ColumnFile

_GAP = 64  # texts read in vain rather than in another piece
_MAX_BYTES = 1 << 28


class Texts:
    """Texts by number, and the values parsed from them; VectorFileError for a wrong one.

    `numbers` are the texts wanted, ascending; None is all.
    """

    def __init__(self, columns: ColumnFile, numbers: Array | None = None) -> None:
        self._columns = columns
        self._parsed: dict[str, dict[int, Any]] = {name: {} for name in layout.PARSERS}
        self._texts: Sequence[str] | Mapping[int, str]
        if numbers is None:
            offsets = columns.read("text/offset")
            self._texts = [text for _, text in self._decode(0, offsets)]
        else:
            runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > _GAP) + 1)
            parts = [
                (int(run[0]), columns.read("text/offset", int(run[0]), int(run[-1]) + 2))
                for run in runs
                if run.size
            ]
            if sum(int(offsets[-1] - offsets[0]) for _, offsets in parts) > _MAX_BYTES:
                raise columns.fail(f"a batch has more than {_MAX_BYTES} bytes of text")
            self._texts = {
                number: text for first, part in parts for number, text in self._decode(first, part)
            }

    def column(self, name: str, numbers: Array) -> list[Any]:
        """Return the values of a text column, given the numbers of its texts."""
        known, parse = self._parsed[name], layout.PARSERS[name]
        wanted = numbers.tolist()
        for number in set(wanted) - known.keys():
            try:
                known[number] = parse(self._texts[number])
            except ValueError as error:
                raise self._columns.fail(f"text {number} ({name}): {error}") from error
        return [known[number] for number in wanted]

    def check(self) -> None:
        """Parse the texts of every column."""
        for name in layout.PARSERS:
            table = "outcomes" if name == "readings" else "vectors"
            self.column(name, self._columns.read(f"{table}/{name}"))

    def _decode(self, first: int, offsets: Array) -> Iterator[tuple[int, str]]:
        """Yield the numbered texts that lie between consecutive offsets."""
        ends = offsets.tolist()
        base = ends[0]
        content = self._columns.read("text/bytes", base, ends[-1]).tobytes()
        number = first
        try:
            for number, start in enumerate(ends[:-1], first):
                yield number, content[start - base : ends[number - first + 1] - base].decode()
        except UnicodeDecodeError as error:
            raise self._columns.fail(f"text {number} is not UTF-8") from error
