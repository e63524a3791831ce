"""A watch over a program, so that it ends with this process, however this process ends.

A program that hangs does not see that its input has ended, and what kills a process with SIGKILL
leaves it no time to kill others. A shell that waits at a pipe sees to it: it costs a millisecond
for each program, needs nothing of the program, and ends all of its process group.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress

_SHELL = ("/bin/sh", "-c", 'trap "" HUP INT TERM; read -r line || kill -s KILL -- "-$1"', "watch")


class Watch:
    """Kills a process group when this process is gone, unless `end` was called before.

    A system without a shell has programs without a watch.
    """

    def __init__(self, group: int) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - our own words and a number
                [*_SHELL, str(group)],
                stdin=subprocess.PIPE,  # nobody writes to it: its end is that of this process
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )

    def end(self) -> None:
        """Stop watching: the group is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
