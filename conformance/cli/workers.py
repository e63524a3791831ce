"""How backends are called: in workers or in this process. Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from conformance.cli.sizes import size
from conformance.errors import UsageError

_TIMEOUT = 60.0


def worker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --in-process, --jobs, --timeout and --memory; the command gets them as `workers`.

    These are the arguments isolate, jobs, timeout and memory of `conformance.check`.
    """

    @wraps(command)
    def with_workers(
        *,
        in_process: bool,
        jobs: int | None,
        timeout: float | None,
        memory: int | None,
        **given: Any,
    ) -> Any:
        if in_process and (jobs, timeout, memory) != (None, None, None):
            raise UsageError(
                "--jobs, --timeout and --memory are for workers: not with --in-process"
            )
        workers = {
            "isolate": not in_process,
            "jobs": jobs or 1,
            "timeout": None if in_process else timeout or _TIMEOUT,
            "memory": memory,
        }
        return command(**given, workers=workers)

    decorated: Callable[..., Any] = with_workers
    for option in (
        click.option(
            "--memory", metavar="SIZE", callback=size, help="Address space of a worker: 2G, 500M."
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help=f"How long one vector may take.  [default: {_TIMEOUT:.0f}]",
        ),
        click.option(
            "--jobs", type=click.IntRange(min=1), help="Workers that run it.  [default: 1]"
        ),
        click.option(
            "--in-process", is_flag=True, help="Call the backend in this process, to debug it."
        ),
    ):
        decorated = option(decorated)
    return decorated
