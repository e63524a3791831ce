"""Many workers, their limits, and their end: nothing is left behind, whatever happens."""

import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support.fakes import pool, ramp, vector
from support.hostile import GALLERY
from support.paths import TESTS
from support.processes import wait_for_end
from support.programs import words
from support.provoked import FINE, friendly, provoking, verdicts

from conformance.backends.answer import ARRAY, CRASHED, NOT_RUN, arrays_of
from conformance.backends.engines.numpy_backend import backend as right
from conformance.backends.program import Launch, python_worker
from conformance.backends.program.isolated import Isolated
from conformance.backends.runner import Answers, Stopped
from conformance.batch import batch_of
from conformance.errors import UsageError

WHOLE = vector(attributes=pool(kernel=[6]))
WHOLE_13 = vector(ramp(1, 1, 6) + np.float32(12), pool(kernel=[6]))


def pids_in(folder):
    """Return the numbers of the processes that left a file there."""
    return [int(each.name) for each in folder.iterdir()]


def leaving_its_number(folder, backend=right):
    """Return a backend that leaves a file called as its process."""
    folder = str(folder)

    def leaves(*case):
        open(f"{folder}/{os.getpid()}", "w").close()  # noqa: PTH123
        return backend(*case)

    return leaves


class TestJobs:
    """Several workers share a batch."""

    def test_answers_are_in_the_order_of_the_batch(self):
        """Each vector has its own answer, whoever computed it."""

        def uneven(operator, inputs, attributes):
            time.sleep(float(inputs[0].flat[0]) % 3 / 1000)
            return right(operator, inputs, attributes)

        vectors = [vector(ramp(1, 1, 6) + np.float32(shift)) for shift in range(40)]
        with Isolated(python_worker(uneven), jobs=3) as runner:
            found, _ = verdicts(runner, vectors)
        assert found == [FINE] * 40

    def test_every_worker_works(self, tmp_path):
        """With two jobs two processes are called, and they are the same for every batch."""
        folder = str(tmp_path)

        def waits_for_the_other(*case):
            while len(os.listdir(folder)) < 2:  # noqa: PTH208 - in a worker
                time.sleep(0.01)
            return right(*case)

        backend = leaving_its_number(tmp_path, waits_for_the_other)
        with Isolated(python_worker(backend), jobs=2, timeout=60) as runner:
            for _ in range(2):
                assert verdicts(runner, [friendly()] * 20)[0] == [FINE] * 20
        assert len(pids_in(tmp_path)) == 2

    def test_a_crash_in_one_worker_is_not_the_others(self):
        """Crashes among many vectors are the verdicts of those vectors."""
        vectors = [friendly(), *[friendly(), provoking(), friendly()] * 4]
        with Isolated(python_worker(GALLERY["exit_three"]), jobs=2) as runner:
            found, _ = verdicts(runner, vectors)
        assert found == [FINE, *[FINE, ("crashed", "exit status 3"), FINE] * 4]

    def test_an_order_is_kept(self):
        """Only the vectors that are asked for are run, in the order that is asked for."""
        seen = []

        def counting(operator, inputs, attributes):
            seen.append(float(inputs[0].flat[0]))
            return np.full((1, 1, 3), seen, np.float32) if len(seen) == 3 else inputs[0]

        batch = batch_of([vector(ramp(1, 1, 6) + np.float32(shift)) for shift in range(5)])
        answers = Answers.none_yet(5)
        with Isolated(python_worker(counting)) as runner:
            runner.run(batch, answers, lambda done: None, order=[4, 0, 2])
        assert [kind == NOT_RUN for kind in answers.kind] == [False, True, False, True, False]
        assert arrays_of(answers.outputs[2]).ravel().tolist() == [5, 1, 3]


class TestDoesNotWork:
    """A backend or a program that cannot work at all is one clear line."""

    @pytest.mark.parametrize(
        ("launch", "message"),
        [
            (python_worker("nothing-like-it"), "no backend 'nothing-like-it'; built-in names: .*"),
            (python_worker("no.such:backend"), "backend 'no.such:backend': no module 'no.such' .*"),
            (Launch(("/no/such/program",)), "cannot start /no/such/program: No such file.*"),
            (Launch(()), "no command to start"),
            (Launch(("/",)), "cannot start /: Permission denied"),
            (Launch(("true",)), "true: exit status 0"),
            (Launch(("cat",)), 'cat: the first line has no "name", a string'),
        ],
    )
    def test_it_is_said_once(self, launch, message):
        """The error names the program, what was wrong, and what it last printed."""
        runner = Isolated(launch)
        with runner, pytest.raises(UsageError, match=f"^{message}$"):
            verdicts(runner, [friendly()])

    def test_a_crash_of_the_import(self, tmp_path):
        """A module that ends its process when it is imported is named with its signal."""
        path = tmp_path / "kernel.py"
        path.write_text("import os\nprint('loading', flush=True)\nos.abort()\n")
        message = r"backend '.*kernel.py:f': signal SIGABRT \(6\); the last line .*: loading"
        with (
            Isolated(python_worker(f"{path}:f")) as runner,
            pytest.raises(UsageError, match=message),
        ):
            verdicts(runner, [friendly()])

    @pytest.mark.parametrize("exception", ["KeyboardInterrupt", "SystemExit", "ValueError"])
    def test_an_exception_of_the_import(self, tmp_path, exception):
        """A module that raises when it is imported is named with its exception."""
        path = tmp_path / "kernel.py"
        path.write_text(f"raise {exception}('no engine')\n")
        with (
            Isolated(python_worker(f"{path}:f")) as runner,
            pytest.raises(UsageError, match=f"kernel.py.* raised {exception}: no engine$"),
        ):
            verdicts(runner, [friendly()])

    def test_ten_starts_in_vain(self):
        """A program that never once answers is not started for every vector."""
        message = (
            r"^.*fake_program.py exits-3 always: 10 starts in a row without one answer, the last "
            r"with exit status 3; the last line it printed: out of memory$"
        )
        with (
            Isolated(Launch(words("exits-3", always=True))) as runner,
            pytest.raises(UsageError, match=message),
        ):
            verdicts(runner, [WHOLE] * 20)

    def test_it_cannot_be_started_again(self, tmp_path):
        """A program that works once and then no more ends the run, which keeps what was done."""
        first = tmp_path / "first"
        script = f"test ! -e {first} || exit 9; touch {first}; exec {shlex.join(words('exits-3'))}"
        batch = batch_of([WHOLE, WHOLE_13, WHOLE])
        answers = Answers.none_yet(3)
        with (
            Isolated(Launch(("sh", "-c", script))) as runner,
            pytest.raises(Stopped, match=r"exit status 9$"),
        ):
            runner.run(batch, answers, lambda done: None)
        assert answers.kind == [ARRAY, CRASHED, NOT_RUN]

    @pytest.mark.parametrize(
        ("limits", "message"),
        [
            ({"jobs": 0}, "jobs is 0: from 1 to 256"),
            ({"jobs": 1000}, "jobs is 1000: from 1 to 256"),
            ({"timeout": 0}, "timeout is 0 s: above 0, or None for no limit"),
            ({"timeout": float("nan")}, "timeout is nan s: above 0, or None for no limit"),
            ({"memory": 0}, "memory is 0 bytes: at least 1, or None for no limit"),
        ],
    )
    def test_wrong_limits(self, limits, message):
        """A limit that makes no sense is refused before anything is started."""
        with pytest.raises(UsageError, match=f"^{message}$"):
            Isolated(python_worker("numpy"), **limits)

    def test_too_little_memory_to_start(self):
        """A worker that has no room to start says so."""
        with (
            Isolated(python_worker("numpy"), memory=1 << 26) as runner,
            pytest.raises(UsageError, match=r"^backend 'numpy': "),
        ):
            verdicts(runner, [friendly()])


class TestEnd:
    """No process outlives its use."""

    def test_children_of_a_backend(self, tmp_path):
        """What a backend starts and forgets ends with its worker."""
        forgets = GALLERY["leaves_a_child"]

        def backend(*case):
            output = forgets(*case)
            children = open(f"/proc/self/task/{os.getpid()}/children").read()  # noqa: PTH123, SIM115
            for child in children.split():
                open(f"{folder}/{child}", "w").close()  # noqa: PTH123
            return output

        folder = str(tmp_path)
        with Isolated(python_worker(backend)) as runner:
            assert verdicts(runner, [provoking()])[0] == [FINE]
        (child,) = pids_in(tmp_path)
        wait_for_end(child)

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_an_interrupt(self, tmp_path, jobs):
        """Ctrl-C leaves the vectors in work unanswered, and kills the workers, which hang."""
        backend = leaving_its_number(tmp_path, GALLERY["hangs_in_c"])
        batch = batch_of([friendly(), *[provoking()] * 3])
        answers = Answers.none_yet(4)

        def tick(done):
            if len(pids_in(tmp_path)) == jobs:
                raise KeyboardInterrupt

        with Isolated(python_worker(backend), jobs=jobs) as runner:
            with pytest.raises(KeyboardInterrupt):
                runner.run(batch, answers, tick)
            wait_for_end(*pids_in(tmp_path))
            assert NOT_RUN in answers.kind
            assert verdicts(runner, [friendly()])[0] == [FINE]

    def test_the_end_of_the_harness(self, tmp_path):
        """Workers in a call that hangs in C end when the harness is killed."""
        script = f"""
            import sys
            sys.path[:0] = [{str(TESTS)!r}, {str(TESTS / "backends" / "program")!r}]
            from support.hostile import GALLERY
            from support.provoked import provoking, verdicts
            from test_isolated import leaving_its_number
            from conformance.backends.program.isolated import Isolated
            from conformance.backends.program import python_worker
            backend = leaving_its_number({str(tmp_path)!r}, GALLERY["hangs_in_c"])
            verdicts(Isolated(python_worker(backend), jobs=2), [provoking()] * 4)
        """
        harness = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
        try:
            while len(pids_in(tmp_path)) < 2:
                assert harness.poll() is None
                time.sleep(0.02)
        finally:
            harness.send_signal(signal.SIGKILL)
            harness.wait()
        wait_for_end(*pids_in(tmp_path))


def test_progress_is_told_while_a_call_lasts(tmp_path):
    """The number of vectors done is told now and then, also while nothing is done."""
    folder, calls = str(tmp_path), []

    def lasts_until_told(*case):
        while not os.path.exists(f"{folder}/{len(calls)}"):  # noqa: PTH110 - in a worker
            time.sleep(0.01)
        calls.append(case)
        return right(*case)

    with Isolated(python_worker(lasts_until_told), timeout=60) as runner:
        found, _ = verdicts(
            runner, [friendly()] * 2, tick=lambda done: (tmp_path / f"{done}").touch()
        )
    assert found == [FINE] * 2


def test_the_program_is_asked_for_what_it_supports_alone(tmp_path):
    """What a program does not list is unsupported without a call."""
    path = tmp_path / "program.sh"
    path.write_text(
        'read hello\necho \'{"version": 1, "name": "x", "supports": {"MaxPool-1": ["*"]}}\'\n'
        "read call\nexit 7\n"
    )
    with Isolated(Launch(("sh", str(path)))) as runner:
        found, _ = verdicts(runner, [friendly()])
    assert found == [("unsupported", "the program does not list AvgPool-1 of float32")]
