"""What happens when a command ends: one line for each thing that can go wrong, and exit codes."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from conformance import interrupts
from conformance.errors import ConformanceError
from conformance.text import masked

_WRONG_USAGE = 2
_BROKEN = 3
_PIPE_CLOSED = 141  # 128 + SIGPIPE
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of a disk, and of a terminal that is gone, that nobody turned into a sentence."""
_NAMES = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EACCES}
"""Errors of a name that nobody turned into a sentence."""


class OneLineErrors(click.Group):
    """A group of commands that return their exit code, None for 0.

    A failure is one line on standard error and an exit code: that of a ConformanceError, 2 for
    wrong usage, 130 for an interrupt, a cancelled job and a closed terminal. An error nobody
    foresaw shows its traceback and exits 3, since 1 means that a backend does not conform. A
    reader that closes the pipe ends it quietly.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,
    ) -> NoReturn:
        """Run a command and exit."""
        del standalone_mode
        _make_streams_writable()
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            code = _complain(_with_hint(error), error.exit_code)
        except (click.Abort, KeyboardInterrupt):  # the second comes from a second Ctrl-C
            code = _complain_of_interrupt()
        except ConformanceError as error:
            code = _complain(str(error), error.exit_code)
        except BrokenPipeError:
            code = _stop_writing()
        except Exception as error:  # noqa: BLE001 - the last resort, which says so
            code = _complain_of_unforeseen(error)
        sys.exit(code or 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click itself would exit 1 when the reader closes the pipe.

        It would also print an empty line before that of an interrupt.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return _stop_writing()
        except KeyboardInterrupt:
            raise click.Abort from None


def _make_streams_writable() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before the start
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the exit
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")  # a terminal without a glyph shows "?" for it


def _complain_of_unforeseen(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in _FULL:
        _stop_writing()
        return _complain(f"the output cannot be written: {error.strerror}", _WRONG_USAGE)
    if isinstance(error, OSError) and error.errno in _NAMES and error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror}", _WRONG_USAGE)
    if interrupts.came():  # it came out of an import as another exception, say
        return _complain_of_interrupt()
    with suppress(OSError):
        traceback.print_exception(error)
    return _complain("this is a bug in conformance, not in your backend", _BROKEN)


def _complain_of_interrupt() -> int:
    interrupts.announced()
    return _complain("interrupted", interrupts.EXIT_CODE)


def _complain(what: str, code: int) -> int:
    try:
        click.echo(f"error: {masked(' '.join(what.split()))}", err=True)
    except OSError:  # a full disk, a terminal that is gone: the exit code says it
        _discard(sys.stderr)
    return code


def _with_hint(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text = text if text.endswith("?") else f"{text.rstrip('.')};"
        return f"{text} see {error.ctx.command_path} --help"
    return text


def _stop_writing() -> int:
    _discard(sys.stdout)
    return _PIPE_CLOSED


def _discard(stream: TextIO) -> None:
    """Let a stream go nowhere: Python flushes it at exit, and that would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
