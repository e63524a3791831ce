"""What happens when a command ends: one line for each thing that can go wrong, and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from conformance.cli.common import printable
from conformance.errors import ConformanceError

_BROKEN = 3
_INTERRUPTED = 130  # 128 + SIGINT, as shells say it
_PIPE_CLOSED = 141  # 128 + SIGPIPE


class OneLineErrors(click.Group):
    """A group of commands that return their exit code, None for 0.

    A failure is one line on standard error and an exit code: that of a ConformanceError, 2 for
    wrong usage, 130 for an interrupt. An error nobody foresaw shows its traceback and exits 3,
    since 1 means that a backend does not conform. A reader that closes the pipe ends it quietly.
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
        for stream in (sys.stdout, sys.stderr):
            if reconfigure := getattr(stream, "reconfigure", None):
                reconfigure(errors="replace")  # a terminal without a glyph shows "?" for it
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            code = _complain(_with_hint(error), error.exit_code)
        except click.Abort:
            code = _complain("interrupted", _INTERRUPTED)
        except ConformanceError as error:
            code = _complain(str(error), error.exit_code)
        except BrokenPipeError:
            code = _stop_writing()
        except Exception:  # noqa: BLE001 - the last resort, which says so
            traceback.print_exc()
            code = _complain("this is a bug in conformance, not in your backend", _BROKEN)
        sys.exit(code or 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order they are used in, not of the alphabet."""
        del ctx
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error names those there are."""
        if not args[0].startswith("-") and args[0] not in self.commands:
            names = ", ".join(self.commands)
            raise click.UsageError(f"no command {args[0]!r}; there are {names}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click itself would exit 1 when the reader closes the pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return _stop_writing()


def _complain(what: str, code: int) -> int:
    click.echo(f"error: {printable(' '.join(what.split()))}", err=True)
    return code


def _with_hint(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{text.rstrip('.')}; see {error.ctx.command_path} --help"
    return text


def _stop_writing() -> int:
    # Python flushes once more at exit and would complain about the pipe again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _PIPE_CLOSED
