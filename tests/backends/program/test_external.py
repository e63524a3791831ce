"""A program as a backend: called directly, and run by the checker with every fault of a gallery."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.fake_program import ANSWERS, ENDS, HELLOS
from support.paths import EXAMPLES
from support.programs import WHOLE, command, data, vectors

from conformance.api.check import run
from conformance.backends import load_backend
from conformance.backends.program.external import External
from conformance.backends.program.isolated import Isolated
from conformance.backends.program.program import Program
from conformance.errors import Unsupported, UsageError

EXAMPLE = EXAMPLES / "exec_backend.py"
HANG = 1.0
# What the checker says of the vector on which the fault shows; the others conform.
GALLERY = {
    "garbage": ("crashed", "protocol: not an answer but 'Segmentation fault (core dumped)'"),
    "prints": ("crashed", "debug: kernel 2x2"),
    "cut-off-line": ("crashed", "exit status 0"),
    "endless-line": ("crashed", "protocol: a line of more than 1048576 bytes"),
    "wrong-number": ("crashed", 'protocol: "call" is'),
    "cut-off-bytes": ("crashed", "exit status 0"),
    "too-few-bytes": ("timed-out", "no answer within 1 s"),
    "negative-shape": ("crashed", "protocol: an output of shape"),
    "huge-shape": ("mismatch", "shape (4611686018427387904, 4611686018427387904)"),
    "terabyte-shape": ("mismatch", "shape (1024, 1073741824)"),
    "empty-huge-shape": ("mismatch", "shape (0, 4611686018427387904)"),
    "too-large-in-full": ("mismatch", "shape (1024, 1024)"),
    "unknown-dtype": ("crashed", "float128"),
    "neither": ("crashed", "protocol: one of"),
    "killed": ("crashed", "signal SIGSEGV (11)"),
    "exits": ("crashed", "exit status 0"),
    "exits-3": ("crashed", "exit status 3"),
    "closes-stdout": ("crashed", "protocol: it closed its standard input or output"),
    "hangs": ("timed-out", "no answer within 1 s"),
    "hangs-in-bytes": ("timed-out", "no answer within 1 s"),
    "hangs-in-line": ("timed-out", "no answer within 1 s"),
}
# Other messages that break the protocol: test_protocol.py has what is said of them.
MESSAGES = {"text-number", "no-number", "fractional-shape", "true-shape", "text-shape"}
MESSAGES |= {"deep-shape", "dtype-is-a-number", "output-and-error", "error-is-a-number", "nan"}
MESSAGES |= {"deeply-nested", "not-utf-8", "duplicate-keys", "huge-number"}
# What may come so late that it meets the next call.
LATE = {"prints-afterwards", "too-many-bytes", "answers-twice"}
# These spoil the handshake.
REFUSED = {
    "no-hello": "no answer to the handshake within 1 s: is the output flushed? conformance probe",
    "wrong-version": "version 2 of the protocol; this is 1",
    "greets-a-person": "Loading weights...",
    "hello-is-a-list": "the first line must be",
    "hello-has-no-version": "the first line must be",
    "hello-is-cut-off": "exit status 0",
    "hello-never-ends": "a line of more than 1048576 bytes",
    "supports-is-a-list": '"supports" must be an object',
    "hangs-before-hello": "no answer to the handshake within 1 s",
    "dies-before-hello": "exit status 3; the last line it printed: no licence",
    "endless-stdout": "a line of more than 1048576 bytes",
}
# These break rules of which a run of three good calls sees nothing.
HARMLESS = (
    "",
    "echoed-version",
    *ENDS,
    "endless-stderr",
    "refuses-unknown-keys",
    "accepts-anything",
)
HARMLESS += ("refuses-unknown-operators", "dies-of-errors", "no-empty-input", "only-one")


def checked(fault, *, timeout=60.0):
    """Return the report of the checker on the fake program with a fault."""
    with Isolated(External(command(fault)).launch, timeout=timeout) as runner:
        return run(runner, vectors(), name="fake")


def verdicts(report):
    """Return the verdict of each vector by the last part of its id."""
    return {each.id.partition("/")[2]: each.verdict for each in report.results}


class TestChecked:
    """Run by the checker: each fault has its verdict, and no other vector is touched."""

    @pytest.mark.parametrize("fault", GALLERY)
    def test_a_fault_is_one_vectors_verdict(self, fault):
        """With a line that says what came, and a fresh program afterwards."""
        verdict, detail = GALLERY[fault]
        report = checked(fault, timeout=HANG if verdict == "timed-out" else 60.0)
        assert verdicts(report) == {"before": "conforms", "faulty": verdict, "after": "conforms"}
        (found,) = [each for each in report.results if each.verdict == verdict]
        assert detail in found.detail
        assert found.detail.isprintable()

    @pytest.mark.parametrize("fault", sorted(LATE))
    def test_what_is_too_much_is_a_crash_of_this_vector_or_the_next(self, fault):
        """It depends on when it comes; the run is not ok in any case."""
        report = checked(fault)
        assert not report.ok
        assert set(verdicts(report).values()) == {"conforms", "crashed"}

    @pytest.mark.parametrize("fault", REFUSED)
    def test_a_spoilt_handshake_ends_the_run_with_one_line(self, fault, monkeypatch):
        """It names the command and says what came instead."""
        monkeypatch.setattr("conformance.backends.program.launch.PROGRAM_START_LIMIT", HANG)
        with pytest.raises(UsageError) as caught:
            checked(fault, timeout=HANG)
        assert str(caught.value).startswith(f"exec:{command(fault)}: ")
        assert REFUSED[fault] in str(caught.value)
        assert str(caught.value).isprintable()

    @pytest.mark.parametrize(
        ("timeout", "seconds"), [(None, 10), (2.0, 10), (60.0, 10), (61.0, 61), (30.0, 30)]
    )
    def test_the_handshake_has_ten_seconds_or_a_longer_timeout(self, timeout, seconds, monkeypatch):
        """Unless a user asks for more, a program that says nothing is soon called that."""
        allowed = []
        program = Program(External(command()).launch)
        monkeypatch.setattr(program, "allow", allowed.append)
        program.greet(timeout)
        program.kill()
        assert allowed == [seconds]

    @pytest.mark.parametrize("fault", HARMLESS)
    def test_other_manners_cost_no_vector(self, fault):
        """Bad manners at the end, with unknown keys or on standard error are no verdict."""
        assert set(verdicts(checked(fault)).values()) == {"conforms"}

    def test_every_fault_of_an_answer_is_looked_at(self):
        """One that is added to the program must be added here."""
        assert set(GALLERY) | MESSAGES | LATE == set(ANSWERS)
        assert set(REFUSED) | {"echoed-version"} == set(HELLOS)

    def test_standard_error_is_shown_beside_its_vector(self):
        """What the program said when it failed."""
        printed = {each.verdict: each.printed for each in checked("exits-3").results}
        assert printed == {"conforms": "", "crashed": "out of memory\n"}


class TestCalled:
    """Called as a function, in this process."""

    @pytest.fixture
    def backend(self):
        """Return the fake program as a backend."""
        backend = load_backend(f"exec:{command()}")
        yield backend
        backend.close()

    def test_it_computes(self, backend):
        """Its answer is an array of its own."""
        for first in (1, 5):
            got = backend("AvgPool-1", [data(first)], WHOLE)
            assert got.tolist() == [[[[(first + 9) / 4]]]]
            assert (got.dtype, got.flags.writeable) == (np.float32, True)

    def test_what_it_does_not_do_is_unsupported(self, backend):
        """In the program's words."""
        with pytest.raises(Unsupported, match="no MaxPool-1 of float32"):
            backend("MaxPool-1", [data(1)], WHOLE)

    def test_a_refusal_is_an_exception_with_its_words(self, backend):
        """The program goes on."""
        with pytest.raises(RuntimeError, match=r"kernel \[0, 0\]"):
            backend("AvgPool-1", [data(1)], WHOLE | {"kernel": [0, 0]})
        assert backend("AvgPool-1", [data(3)], WHOLE).item() == 3.0

    def test_after_a_crash_a_fresh_program_answers(self):
        """The crash is an exception that says how it ended."""
        backend = External(command("killed"))
        with pytest.raises(RuntimeError, match=r"signal SIGSEGV \(11\)"):
            backend("AvgPool-1", [data(13)], WHOLE)
        assert backend("AvgPool-1", [data(3)], WHOLE).item() == 3.0
        backend.close()
        backend.close()

    def test_what_supports_leaves_out_is_not_asked(self):
        """Neither is an element type that no program knows."""
        backend = External(f"{sys.executable} {EXAMPLE}")
        for dtype in ("float16", "complex64"):
            with pytest.raises(Unsupported, match=f"AvgPool-1 of {dtype}"):
                backend("AvgPool-1", [data(1).astype(dtype)], WHOLE)
        backend.close()

    def test_threads_wait_for_each_other(self, backend):
        """One conversation at a time."""

        def call(first):
            return backend("AvgPool-1", [data(first)], WHOLE).item()

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(call, range(40))) == [(n + 9) / 4 for n in range(40)]

    def test_the_program_ends_with_the_backend(self):
        """Nobody has to close it: no process is left, and no warning."""
        backend = External(command())
        backend("AvgPool-1", [data(1)], WHOLE)
        program = backend._program
        del backend
        assert not program.alive


class TestNamed:
    """What exec: takes."""

    def test_words_are_split_as_a_shell_does(self, tmp_path):
        """Quotes keep a path with a space together; nothing else of a shell is there."""
        program = tmp_path / "my engine.sh"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        backend = load_backend(f"exec:'{program}' --fast '$HOME' *")
        assert backend.launch.command == (str(program), "--fast", "$HOME", "*")
        assert repr(backend) == f"External({backend.command!r})"

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("", "exec:: name a program, with its arguments if it has any: exec:COMMAND"),
            ("''", "name a program"),
            ("no-such-program --x", "exec:no-such-program --x: no such program on the PATH"),
            ("./no-such-program", "no file {folder}/no-such-program"),
            ("plain.txt", "on the PATH; for the one in this directory write ./plain.txt"),
            ("./plain.txt", "{folder}/plain.txt is not executable"),
            ("./folder", "{folder}/folder is not executable"),
            ("a 'b", "exec:a 'b: No closing quotation"),
            ("a\0b", "a command has no zero bytes"),
        ],
    )
    def test_what_is_no_program_is_one_line(self, given, message, tmp_path, monkeypatch):
        """It says what was looked for, and where."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "plain.txt").write_text("")
        (tmp_path / "folder").mkdir()
        with pytest.raises(UsageError) as caught:
            load_backend(f"exec:{given}")
        assert message.format(folder=tmp_path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_file_that_is_no_program_is_found_out_at_the_start(self, tmp_path):
        """It may be executed, but the system cannot."""
        program = tmp_path / "program"
        program.write_bytes(b"\x7fELF nothing")
        program.chmod(0o755)
        backend = load_backend(f"exec:{program}")
        with pytest.raises(UsageError, match=r"cannot start exec:.*: Exec format error"):
            backend("AvgPool-1", [data(1)], WHOLE)
