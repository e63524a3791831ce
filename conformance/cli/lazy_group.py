"""A group whose commands are loaded when they are called, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

from conformance import interrupts
from conformance.cli.group import OneLineErrors


class LazyGroup(OneLineErrors):
    """Commands in the order they are used in, of which each is loaded when it is called.

    `listed` has the first line of the help of each, by name. The command is NAME_command in a
    module of this package with the same name, unless that is in `shared`.
    """

    def __init__(
        self, *args: Any, listed: Mapping[str, str], shared: Mapping[str, str], **others: Any
    ) -> None:
        super().__init__(*args, **others)
        self.listed, self.shared = listed, shared

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the list and not of the alphabet."""
        del ctx
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None if there is none of this name."""
        del ctx
        if cmd_name not in self.listed:
            return None
        own = f"{cmd_name}_command"
        module = import_module(f"conformance.cli.{self.shared.get(cmd_name, own)}")
        loaded: click.Command = getattr(module, own)
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each command, as click does, without loading it."""
        del ctx
        room = formatter.width - 6 - max(map(len, self.listed))
        lines = [
            (name, click.Command(name, help=line).get_short_help_str(room))
            for name, line in self.listed.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(lines)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error names those there are."""
        if not args[0].startswith("-") and args[0] not in self.listed:
            names = ", ".join(self.listed)
            raise click.UsageError(f"no command {args[0]!r}; there are {names}", ctx)
        return super().resolve_command(ctx, args)


class LazyCommand(click.Command):
    """A command that imports what it needs when it runs, so that its help is quick.

    None runs where an installed package adds a broken operator. An interrupt raises meanwhile.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        len(import_module("conformance.operators").OPERATORS)  # loads those of packages
        with interrupts.raised():
            return super().invoke(ctx)


def command(name: str) -> Callable[[Callable[..., Any]], LazyCommand]:
    """Return a decorator that makes a function with its options a command."""
    return click.command(name, cls=LazyCommand)
