"""Arguments and options that several commands share, and how their texts are parsed.

Imports nothing heavier than click: `--help` needs this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from conformance.errors import UsageError

PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
"""Types of arguments and options."""

TIERS = ("smoke", "standard", "exhaustive")
LARGE = "large"
"""As in conformance.vector, which imports numpy."""
FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")
"""As FLOATS in conformance.dtypes, likewise."""
DIAGNOSING = ("none", "seen", "proven")
"""As in conformance.api.check."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

vectors_argument = click.argument("vectors", required=False, type=PATH)
operator_option = click.option(
    "--operator",
    "operators",
    multiple=True,
    metavar="NAME",
    help="Only this operator, a glob as 'ONNX-*', or a family: openvino, onnx, ngraph. Repeatable.",
)
select_option = click.option(
    "--select",
    metavar="GLOB",
    help="Only vectors whose id holds this text, or matches it if it has a * or ?.",
)
executor_option = click.option(
    "--executor",
    metavar="NAME",
    help="Where work runs: process, with --jobs of them, or dask:ADDRESS, a cluster.",
)
extensions_option = click.option(
    "--allow-extensions",
    is_flag=True,
    help="Count what is accepted though a document excludes it apart, and as no failure.",
)
variations_option = click.option(
    "--variations",
    metavar="all|none|NAME,...",
    default="sample",
    help="Call every vector in these variations, too; by default, a few of each file in all.",
)
diagnose_option = click.option(
    "--diagnose",
    type=click.Choice(DIAGNOSING),
    default="proven",
    show_default=True,
    help="Causes of failures: not searched, those that fit, or those that fresh cases confirm.",
)
max_shown_option = click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Groups of failures to show with an example.",
)


class _Tier(click.Choice[str]):
    """One of the tiers that a command takes; says where the tier without files belongs."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == LARGE and LARGE not in self.choices:
            self.fail("tier large is in no file: check makes it as it runs", param, ctx)
        return super().convert(value, param, ctx)


def tier_option(text: str, tiers: Sequence[str] = TIERS) -> Callable[[Any], Any]:
    """Return the option --tier with a help text."""
    return click.option(
        "--tier", type=_Tier(tiers), default="standard", show_default=True, help=text
    )


def readings_option(flag: str, name: str, text: str) -> Callable[[Any], Any]:
    """Return a repeatable option CLAUSE=READING whose value is a dict from clause to reading."""
    return click.option(
        flag, name, multiple=True, metavar="CLAUSE=READING", callback=_readings, help=text
    )


def _readings(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    readings: dict[str, str] = {}
    for value in values:
        clause, equals, reading = value.partition("=")
        if not (clause and equals and reading):
            raise click.BadParameter(f"{value!r} is not CLAUSE=READING")
        if readings.setdefault(clause, reading) != reading:
            raise click.BadParameter(
                f"{clause} is asked to be both {readings[clause]} and {reading}"
            )
    return readings


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Return the bytes that a text such as 2G, 500M or 4096 stands for: a callback."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,15})([KMGT]?)(?:I?B)?", value.upper())
    number = int(match[1]) * _UNITS[match[2]] if match else 0
    if not number:
        raise click.BadParameter(f"{value!r} is no size: a number of bytes, 500M, 2G", ctx, param)
    return number


def integers(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Return the integers of a text such as 0,2: a callback."""
    try:
        return tuple(int(item) for item in value.split(",")) if value else ()
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of integers like 0,2") from None


def worker_options(
    what: str, seconds: float, *, several: bool = True, memory: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --in-process, --timeout and --memory, and --jobs if there can be `several` workers.

    `what` is what a worker runs at a time, by default for so many seconds at most, and `memory`
    more to say of that option. The command gets as `workers` the arguments isolate, timeout, memory
    and jobs of `conformance.check`.
    """
    options = [
        click.option(
            "--in-process", is_flag=True, help="Call the backend in this process, to debug it."
        ),
        click.option("--jobs", type=COUNT, help="Workers that run it.  [default: 1]"),
        click.option(
            "--timeout",
            type=SECONDS,
            metavar="SECONDS",
            help=f"How long one {what} may take.  [default: {seconds:.0f}]",
        ),
        click.option(
            "--memory",
            metavar="SIZE",
            callback=size,
            help=f"Address space of {'a' if several else 'the'} worker: 2G, 500M.{memory}",
        ),
    ]
    names = ["jobs", "timeout", "memory"]
    if not several:
        del options[1], names[0]
    *first, last = (f"--{name}" for name in names)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_workers(*, in_process: bool, **others: Any) -> Any:
            workers = {name: others.pop(name) for name in names}
            if in_process and any(value is not None for value in workers.values()):
                flags = f"{', '.join(first)} and {last}"
                raise UsageError(f"{flags} are for workers: not with --in-process")
            workers["isolate"] = not in_process
            workers["timeout"] = None if in_process else workers["timeout"] or seconds
            if several:
                workers["jobs"] = workers["jobs"] or 1
            return command(**others, workers=workers)

        decorated: Callable[..., Any] = with_workers
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate
