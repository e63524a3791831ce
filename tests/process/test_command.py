"""Commands that are run to their end."""

import signal
import sys

import pytest
from support.processes import wait_for_end

from conformance.errors import UsageError
from conformance.process import Launch, run_command, transport
from conformance.process.transport import watchdog


def shell(line, **options):
    """Run a line in a shell."""
    return run_command(Launch(("/bin/sh", "-c", line), **options))


def test_it_has_no_input_and_returns_what_it_wrote_and_how_it_ended():
    ending = shell("cat; echo out; echo err >&2; exit 3")

    assert (ending.status, ending.output, ending.errors) == (3, b"out\n", b"err\n")


def test_a_signal_is_told_as_a_negative_number():
    assert shell("kill -9 $$").status == -signal.SIGKILL


def test_of_much_output_the_last_is_returned():
    script = "import sys; sys.stdout.write('x' * (1 << 22) + 'end')"
    ending = run_command(Launch((sys.executable, "-c", script)))

    assert (ending.status, ending.output[-4:]) == (0, b"xend")
    assert len(ending.output) <= 1 << 20


def test_what_it_has_started_is_ended_with_it():
    ending = shell("sleep 600 & echo $!")

    wait_for_end(int(ending.output))


def test_it_has_variables_besides_those_of_this_process():
    assert shell("echo $MORE-$HOME", environment={"MORE": "1"}).output.startswith(b"1-/")


def test_what_cannot_be_started_is_said():
    with pytest.raises(UsageError, match="cannot start /no/such: No such file"):
        run_command(Launch(("/no/such",)))


def test_an_interrupt_while_it_is_started_leaves_nothing_of_it(monkeypatch):
    started = []

    def interrupted(group):
        started.append(group)
        signal.raise_signal(signal.SIGINT)
        return watchdog(group)

    monkeypatch.setattr(transport, "watchdog", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell("sleep 600")

    wait_for_end(*started)
