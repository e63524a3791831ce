"""Results that a backend computed elsewhere, as an HDF5 file or a folder (docs/results.md).

What files, folders and datasets that belong to a vector are called: its id, percent-encoded.
"""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes


def path_of(vector_id: str) -> str:
    """Return the relative path of the folder of a vector, with `/` between its parts.

    As in URLs, letters, digits and `_.-~/` stay, and each other byte of the UTF-8 is `%` and two
    hexadecimal digits. No part is empty, `.` or `..`: where one would be, the dots and slashes of
    the id are encoded too.
    """
    path = quote(vector_id)
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return quote(vector_id, safe="").replace(".", "%2E")
    return path


def id_of(name: str) -> str:
    """Return the id that a percent-encoded name stands for; ValueError if it is not UTF-8."""
    return unquote_to_bytes(name).decode()
