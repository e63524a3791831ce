"""`conformance reveal`: the arithmetic of a backend."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.lazy_group import command
from conformance.cli.options import FLOAT_TYPES, setting_options, vectors_argument, worker_options
from conformance.cli.outputs import Outputs, reveal_options
from conformance.cli.terminal import progress_bar, show
from conformance.cli.vector_sets import opened
from conformance.errors import UsageError
from conformance.files import write_text

if TYPE_CHECKING:
    from conformance.reveal import Revealed
    from conformance.reveal.values import Window

_WINDOW = re.compile(r"(\d{1,4}(?:x\d{1,4})*)(?::(\d{1,4}))?", re.ASCII)
_MOST_CELLS = 256


@command("reveal")
@click.argument("backend")
@vectors_argument
@setting_options("operators")
@click.option(
    "--type",
    "dtypes",
    multiple=True,
    type=click.Choice(FLOAT_TYPES),
    help="Only this element type; repeatable.",
)
@click.option(
    "--window",
    "windows",
    multiple=True,
    metavar="KxK[:CHANNELS]",
    help="Reveal the order in these windows, not in those of 7 to 37 cells; repeatable.",
)
@setting_options(tier="The largest tier to predict.")
@click.option("--no-predict", "predict", flag_value=False, default=True, help="Use no vectors.")
@worker_options("call", 60.0, several=False)
@reveal_options
def reveal_command(
    backend: str,
    vectors: Path | None,
    *,
    operators: tuple[str, ...],
    dtypes: tuple[str, ...],
    windows: tuple[str, ...],
    tier: Any,
    predict: bool,
    workers: dict[str, Any],
    outputs: Outputs,
) -> None:
    """Say how a backend computes: the order of its sums, and every rounding.

    BACKEND is as for check, but for results:PATH. The order in which a window is summed follows
    from outputs alone, as a tree; so do the formats, the division, subnormals, and which of equal
    maxima wins. The model that this makes is held against VECTORS, a file or a directory, the
    shipped suite by default. Exits 0 whatever is revealed.
    """
    from conformance.backends import parse_backend
    from conformance.dtypes import WIDE_FLOATS
    from conformance.reveal import reveal
    from conformance.reveal.averages import WINDOWS

    chosen = tuple(window for text in windows for window in _windows(text)) or WINDOWS
    with opened(vectors, unchecked=not predict) as files, progress_bar() as progress:
        read = chain((str(file.path) for file in files), parse_backend(backend).paths)
        outputs.check(read)
        revealed = reveal(
            backend,
            files if predict else [],
            operators=operators or None,
            dtypes=dtypes or WIDE_FLOATS,
            windows=chosen,
            tier=tier,
            progress=progress,
            **workers,
        )
    _show(revealed, outputs)


def _show(revealed: Revealed, outputs: Outputs) -> None:
    from conformance.record.json_values import json_bytes, json_values
    from conformance.report import html, markdown, reveal_report

    document = reveal_report.describe(revealed)
    if not outputs.to_stdout:
        show(document)
    values = json_bytes(json_values(revealed), indent=1).decode()
    outputs.write(
        {
            "json": lambda file: write_text(values, file),
            "markdown": lambda file: write_text(markdown.render(document), file),
            "html": lambda file: write_text(html.render(document), file),
        }
    )


def _windows(text: str) -> tuple[Window, Window]:
    """Return windows as a text such as 3x3:16 says, alone in a plane and two of them."""
    from conformance.reveal.values import Window

    match = _WINDOW.fullmatch(text)
    kernel = tuple(map(int, match[1].split("x"))) if match else (0,)
    cells = 1
    for size in kernel:
        cells *= size
    channels = int(match[2] or 1) if match else 0
    if not (1 < cells <= _MOST_CELLS and channels):
        raise UsageError(f"window {text!r} is none: 3x3, or 3x3:16 for 16 channels; 2 to 256 cells")
    return Window(kernel, channels), Window(kernel, channels, 2)
