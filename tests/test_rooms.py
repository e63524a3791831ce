"""The rooms of the package: each imports only from rooms below it, as their table has them."""

import ast
import re
from pathlib import Path

import pytest
from support.paths import ROOT

PACKAGE = ROOT / "conformance"
_PAGE = ROOT / "docs" / "development" / "README.md"
_TABLE = _PAGE.read_text().partition("## Rooms")[2].partition("\n## ")[0]
LEVELS = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in re.findall(r"(?m)^\| `.*", _TABLE)]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
TOGETHER = {("pytest_plugin", "testing"), ("cli", "site"), ("cli", "history"), ("__main__", "cli")}
"""Rooms that stand side by side, of which the first uses the second."""


def modules():
    """Return the files of each room, or the one file that it is."""
    rooms: dict[str, list[Path]] = {}
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).with_suffix("").parts[0]
        rooms.setdefault(room, []).append(file)
    del rooms["__init__"]  # the public names, wherever they are at home
    return rooms


def imported(file):
    """Yield the rooms that a file imports from, those within functions too."""
    for node in ast.walk(ast.parse(file.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "conformance":
            names = [f"conformance.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("conformance."))


def test_every_room_is_listed():
    """And nothing else is."""
    assert set(modules()) == set(LEVEL)


@pytest.mark.parametrize("room", sorted(modules()))
def test_a_room_imports_only_from_those_below_it(room):
    """So there is no circle, and who reads on goes down."""
    for file in modules()[room]:
        for other in set(imported(file)) - {room}:
            below = LEVEL[other] > LEVEL[room] or (room, other) in TOGETHER
            assert below, f"{file.relative_to(ROOT)} imports from {other}"
