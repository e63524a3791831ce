"""Where the pages of a site are, by the names of what they are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

INDEX, VECTORS = "index.html", "vectors.html"
_LONGEST = 80
_UNSAFE = re.compile(r"[^a-z0-9._+]+")


def file_name(text: str) -> str:
    """Return a name for a file that is about something called `text`, whoever called it so.

    It has small letters, digits, `.`, `_`, `+` and `-` alone and begins with neither sign. Other
    texts get other names: a digest follows where signs were replaced.
    """
    safe = _UNSAFE.sub("-", text.lower())[:_LONGEST].strip("-._+")
    if safe and safe == text:
        return safe
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{safe}-{digest}".lstrip("-")


class Addresses:
    """The pages and files of a site: a path inside it for each name."""

    def __init__(self) -> None:
        self._of_name: dict[str, str] = {}
        self._paths = [INDEX, VECTORS]

    def add(self, folder: str, name: str, suffix: str = ".html", *, of: Sequence[str] = ()) -> str:
        """Return the path of a file about `name`; to a page, this name and those in `of` lead."""
        path = f"{folder}/{file_name(name)}{suffix}"
        if suffix == ".html":
            self._of_name |= dict.fromkeys((name, *of), path)
        self._paths.append(path)
        return path

    def seen_from(self, page: str) -> Mapping[str, str]:
        """Return the relative address of every other page, by its names and by its path."""
        up = "../" * page.count("/")
        # A path is always itself, though an engine may have its name.
        paths = self._of_name | {path: path for path in self._paths}
        return {name: up + path for name, path in paths.items() if path != page}
