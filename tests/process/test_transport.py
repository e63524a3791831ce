"""A process and its pipes: bytes pass both ways, and nothing is left when it ends."""

from contextlib import contextmanager

import pytest
from support.processes import wait_for_end

from conformance.backends.program import Launch
from conformance.process.transport import Ended, Silent, Transport, status_in_words


@contextmanager
def started(*command):
    """Yield a program with 30 seconds to write, killed in the end."""
    transport = Transport(Launch(command))
    transport.allow(30)
    try:
        yield transport
    finally:
        transport.kill()


class TestBytes:
    """What is sent and what is read."""

    def test_large_messages_pass_both_ways_at_once(self):
        """Neither side waits for the other to read: `cat` writes while it is written to."""
        message = bytes(range(256)) * (1 << 14)
        with started("cat") as transport:
            transport.send_bytes(message)
            assert transport.take(len(message)) == message
            assert transport.finish(30) == 0

    def test_a_line_of_bounded_length(self):
        """With its line feed if it comes soon enough; a longer one is cut off."""
        with started("cat") as transport:
            transport.send_bytes(b"abc\ndefg\nrest")
            assert [transport.line(4), transport.line(4), transport.line(9)] == [
                b"abc\n",
                b"defg",
                b"\n",
            ]
            assert transport.take(4) == b"rest"

    def test_what_was_written_before_the_input_was_closed_is_read(self):
        """A program that does not read what is sent may have answered all the same."""
        with started("sh", "-c", "exec <&-; printf 'ready\\ndone\\n'; sleep 600") as transport:
            assert transport.line(10) == b"ready\n"
            transport.send_bytes(b"a call")
            with pytest.raises(Ended, match="it closed its standard input or output"):
                transport.take(10)
            assert transport.received == b"done\n"

    def test_the_deadline_is_for_all_that_is_read(self):
        """A byte now and then does not put it off."""
        with started("sh", "-c", "while echo; do sleep 0.05; done") as transport:
            transport.allow(0.3)
            with pytest.raises(Silent, match=r"no answer within 0\.3 s"):
                transport.take(1 << 20)


class TestEnd:
    def test_its_process_group_is_killed(self):
        """A child that outlives its parent does not outlive the transport."""
        with started("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!") as transport:
            child = int(transport.line(100))
            transport.finish(30)
        wait_for_end(child)

    def test_output_that_a_child_holds_open_is_told(self):
        """The program itself has ended."""
        with started("sh", "-c", "sleep 600 &") as transport:
            assert transport.finish(30) == 0
            assert transport.output_is_open

    def test_a_program_that_runs_on_is_silent(self):
        """It has some seconds after its output has ended."""
        with started("sh", "-c", "exec >&-; sleep 600") as transport, pytest.raises(Silent):
            transport.finish(0.1)

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (0, "exit status 0"),
            (3, "exit status 3"),
            (-9, "signal SIGKILL (9)"),
            (-40, "signal 40"),
            (None, "it closed its standard input or output"),
        ],
    )
    def test_in_words(self, status, words):
        """A signal by its name, where it has one."""
        assert status_in_words(status) == words
