"""Arguments and options that several commands share, and how their texts are parsed.

Imports nothing heavier than click: `--help` needs this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from conformance.errors import UsageError
from conformance.settings import LARGE, TIERS, options, readings_of

PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
"""Types of arguments and options."""

FLOAT_TYPES = ("float16", "bfloat16", "float32", "float64")
"""As WIDE_FLOATS in conformance.dtypes, which imports numpy."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

vectors_argument = click.argument("vectors", required=False, type=PATH)
max_shown_option = click.option(
    "--max-shown",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Groups of failures to show with an example.",
)
verbose_option = click.option(
    "--verbose", is_flag=True, help="Show all that the report has, not what most look for."
)


class _Tier(click.Choice[str]):
    """One of the tiers that a command takes; says where the tier without files belongs."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == LARGE and LARGE not in self.choices:
            self.fail("tier large is in no file: check makes it as it runs", param, ctx)
        return super().convert(value, param, ctx)


def setting_options(*names: str, **texts: str) -> Callable[[Any], Any]:
    """Add the options of some settings; of those by keyword, with a help text of their own.

    The command gets each as an argument of the same name.
    """

    def decorate(command: Any) -> Any:
        for name in reversed((*names, *texts)):
            command = setting_option(name, texts.get(name))(command)
        return command

    return decorate


def setting_option(name: str, text: str | None = None) -> Callable[[Any], Any]:
    """Return the option of a setting, with a help text of its own if there is one."""
    option = options()[name]
    how = {"help": text or option.help, "metavar": option.metavar, **_KINDS[option.kind]}
    if name == "tier":
        # Only where the setting's own words are meant, the tier without files is, too.
        how |= {"type": _Tier(option.choices if text is None else TIERS), "metavar": None}
    elif option.kind == "choice":
        how["type"] = click.Choice(option.choices)
    if option.kind == "choice":
        how |= {"default": option.default, "show_default": True}
    elif isinstance(option.default, str):
        how["default"] = option.default
    return click.option(f"--{option.flag}", name, **how)


def readings_option(flag: str, name: str, text: str) -> Callable[[Any], Any]:
    """Return a repeatable option CLAUSE=READING whose value is a dict from clause to reading."""
    return click.option(flag, name, metavar="CLAUSE=READING", help=text, **_KINDS["readings"])


def _readings(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    try:
        return readings_of(values)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


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


_KINDS: dict[str, dict[str, Any]] = {
    "text": {},
    "texts": {"multiple": True},
    "flag": {"is_flag": True},
    "choice": {},
    "path": {"type": PATH},
    "count": {"type": COUNT},
    "seconds": {"type": SECONDS},
    "size": {"callback": size},
    "readings": {"multiple": True, "callback": _readings},
}
"""What click is told of each kind of setting."""


def processes_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --jobs: of the suite's own processes, which do `what`."""
    help_ = f"Processes that {what}.  [default: one for each CPU]"
    return click.option("--jobs", type=COUNT, help=help_)


def worker_options(
    what: str, seconds: float, *, several: bool = True, memory: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --in-process, --timeout and --memory, and --jobs if there can be `several` workers.

    `what` is what a worker runs at a time, by default for so many seconds at most, and `memory`
    more to say of that option. The command gets as `workers` the arguments isolate, timeout, memory
    and jobs of `conformance.check`.
    """
    added = [
        click.option(
            "--in-process", is_flag=True, help="Call the backend in this process, to debug it."
        ),
        setting_option("jobs", f"{options()['jobs'].help}  [default: 1]"),
        setting_option("timeout", f"How long one {what} may take.  [default: {seconds:.0f}]"),
        setting_option("memory", f"{options()['memory'].help}{memory}"),
    ]
    names = ["jobs", "timeout", "memory"]
    if not several:
        del added[1], names[0]
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
        for option in reversed(added):
            decorated = option(decorated)
        return decorated

    return decorate
