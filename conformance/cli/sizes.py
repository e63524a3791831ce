"""Sizes on the command line: 2G, 500M, 4096."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return the bytes that a text stands for: a callback of an option."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,15})([KMGT]?)(?:I?B)?", value.upper())
    number = int(found[1]) * _UNITS[found[2]] if found else 0
    if not number:
        raise click.BadParameter(f"{value!r} is no size: a number of bytes, 500M, 2G", ctx, param)
    return number
