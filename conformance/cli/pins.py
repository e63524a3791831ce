"""Options that name readings: CLAUSE=READING."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def readings_option(flag: str, name: str, text: str) -> Callable[[Any], Any]:
    """Return a repeatable option whose value is a dict from clause to reading."""
    return click.option(
        flag, name, multiple=True, metavar="CLAUSE=READING", callback=_parse, help=text
    )


def _parse(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pins: dict[str, str] = {}
    for value in values:
        clause, equals, reading = value.partition("=")
        if not (clause and equals and reading):
            raise click.BadParameter(f"{value!r} is not CLAUSE=READING")
        if pins.setdefault(clause, reading) != reading:
            raise click.BadParameter(f"{clause} is asked to be both {pins[clause]} and {reading}")
    return pins
