"""Ctrl-C, a cancelled job and a closed terminal: whenever they come, one line and exit code 130.

Imports next to nothing: until it is loaded, Ctrl-C is a traceback of Python.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False  # as in typing, which takes long to load
if TYPE_CHECKING:
    from typing import NoReturn

EXIT_CODE = 130
"""128 + SIGINT, as shells say it."""
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
"""What ends a command from outside; not every system has all of them."""
_SOON = 0.01
"""Seconds after which a lost interrupt is repeated."""
_state = {"came": False, "said": False}


def came() -> bool:
    """Say whether a command was interrupted in `raised`."""
    return _state["came"]


def announced() -> None:
    """Note that the user is told: another interrupt ends this process without a word."""
    _state["said"] = True


def leave_at_once() -> None:
    """Let an interrupt end this process at once, but for `raised`: nothing is in the making.

    For a process that is a command and nothing else. An exception would be lost in the middle of
    an import, or come out as another one.
    """
    _handle(_leave, {signal.SIG_DFL, signal.default_int_handler})
    sys.unraisablehook = _interrupt_again
    # Registered first, so called last: the work is done, and Python forgets all handlers next.
    atexit.register(_handle, signal.SIG_IGN, {_leave})


class raised:  # noqa: N801 - used like a function, without what contextlib loads
    """Within the block an interrupt is a KeyboardInterrupt: programs are ended, reports written."""

    def __init__(self) -> None:
        self._before: dict[int, object] = {}

    def __enter__(self) -> None:
        _state.update(came=False, said=False)
        ours = {signal.SIG_DFL, signal.default_int_handler, _leave}
        self._before = _handle(_raise, ours)

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]


class held:  # noqa: N801 - likewise
    """Within the block an interrupt waits; it comes when the block ends."""

    def __init__(self) -> None:
        self._before: dict[int, object] = {}
        self._came: list[int] = []

    def __enter__(self) -> None:
        ours = {signal.SIG_DFL, signal.default_int_handler, _leave, _raise}
        self._before = _handle(lambda number, _: self._came.append(number), ours)

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        for number in self._came[:1]:
            signal.raise_signal(number)


def _handle(handler: object, replaced: set[object]) -> dict[int, object]:
    """Set a handler for each signal that has a replaced one; return those.

    Under nohup, in another thread or in an embedding program, they have another meaning.
    """
    before: dict[int, object] = {}
    for number in (getattr(signal, name, None) for name in _NAMES):
        if number is not None and (current := signal.getsignal(number)) in replaced:
            try:
                signal.signal(number, handler)  # type: ignore[arg-type]
            except ValueError:  # not the main thread
                break
            before[number] = current
    return before


def _raise(*_: object) -> NoReturn:
    _state["came"] = True
    raise KeyboardInterrupt


def _leave(*_: object) -> NoReturn:
    if not _state["said"]:
        try:  # noqa: SIM105 - contextlib takes long to load
            os.write(2, b"error: interrupted\n")
        except OSError:  # closed
            pass
    os._exit(EXIT_CODE)


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where nothing can be raised, as in a finalizer."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        from threading import Timer, main_thread  # noqa: PLC0415 - takes long to load

        # When this has returned; to the main thread, whose sleep no other one's signal ends.
        Timer(_SOON, signal.pthread_kill, [main_thread().ident, signal.SIGINT]).start()
    else:
        sys.__unraisablehook__(lost)
