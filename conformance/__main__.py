"""The program: `conformance`, also `python -m conformance`."""

from __future__ import annotations

import os

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    try:
        from conformance import interrupts  # noqa: PLC0415 - nothing is loaded before it

        interrupts.leave_at_once()
    except KeyboardInterrupt:
        os.write(2, b"error: interrupted\n")
        os._exit(_INTERRUPTED)

    from conformance.cli import main as command  # noqa: PLC0415 - loads much

    command(prog_name="conformance")


if __name__ == "__main__":
    main()
