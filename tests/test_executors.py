"""Executors: the same vectors and the same report as one process, whoever dies."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest
from support.paths import EXAMPLES, ROOT
from support.processes import wait_for_end

from conformance import UsageError, check, generate, open_vectors
from conformance.cases.sweep import exhaustive
from conformance.errors import ConformanceError
from conformance.executors import completed, executor_named
from conformance.judging import distributed as distributed_check

distributed = pytest.importorskip("distributed", reason="the extra [dask] is not installed")


@pytest.fixture(scope="module")
def scheduler():
    """Return the address of a scheduler with two worker processes on this machine."""
    # Port 0: any free one. Without an address it takes 8787, which another test's may have.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module", params=["process", "dask"])
def machines(request):
    """Return what opens an executor of two processes, of each kind."""
    if request.param == "process":
        return executor_named("process", 2)
    return executor_named(f"dask:{request.getfixturevalue('scheduler')}")


dask_with_all = pytest.mark.parametrize(
    "machines",
    [
        "process",
        pytest.param("dask", marks=pytest.mark.slow("Dask does the tasks of other tests here")),
    ],
    indirect=True,
)


def square(number):
    return number * number


def dies_once(folder, number):
    """Kill this process the first time that number 3 is asked for."""
    mark = Path(folder, "died")
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def dies(number):
    os.kill(os.getpid(), signal.SIGKILL)


def raises(number):
    raise ValueError(f"not {number}")


class TestCompleted:
    def test_every_task_comes_with_its_result(self, machines):
        """In whatever order they are finished."""
        assert sorted(completed(machines, square, range(100))) == [(n, n * n) for n in range(100)]

    def test_no_tasks_start_nothing(self):
        @contextmanager
        def refuse():
            raise AssertionError
            yield

        assert list(completed(refuse, square, [])) == []

    @dask_with_all
    def test_a_killed_worker_loses_nothing(self, machines, tmp_path):
        """Its tasks are done by another."""
        found = sorted(completed(machines, partial(dies_once, str(tmp_path)), range(8)))
        assert found == [(n, n * n) for n in range(8)]

    def test_an_exception_of_a_task_passes(self, machines):
        """It is raised here."""
        with pytest.raises(ValueError, match="not 5"):
            list(completed(machines, raises, [5]))

    def test_tasks_that_kill_every_worker_end(self):
        """It is said, and not tried for ever."""
        with pytest.raises(ConformanceError, match="workers died 3 times in a row; 2 tasks"):
            list(completed(executor_named("process", 1), dies, [1, 2]))


def _hangs(task):
    """Open a pipe for writing, which waits for its reader, and hang."""
    with Path(task).open("w"):
        threading.Event().wait()


def test_an_interrupt_waits_for_no_task(tmp_path):
    """Neither for those that run nor for those that are handed over; no process is left."""
    others = set(active_children())
    pipes = [tmp_path / str(number) for number in range(6)]
    for pipe in pipes:
        os.mkfifo(pipe)
    with pytest.raises(KeyboardInterrupt), executor_named("process", 1)() as executor:  # noqa: PT012
        for pipe in pipes:
            executor.submit(_hangs, pipe)
        with pipes[0].open() as running:  # which waits until the task runs
            raise KeyboardInterrupt
    assert running.closed
    wait_for_end(*(process.pid for process in set(active_children()) - others))


_POOL = """
import time
from multiprocessing import active_children
from conformance.executors import executor_named
with executor_named("process", 3)() as executor:
    if {begun}:
        executor.submit(time.sleep, 0).result()
    for _ in range(6):
        executor.submit(time.sleep, 1000)
    print(*(process.pid for process in active_children()), flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_their_parent(begun, number):
    """Nobody has time to end them: neither while they start nor while they work."""
    with subprocess.Popen(
        [sys.executable, "-c", _POOL.format(begun=begun)], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        pids = list(map(int, process.stdout.readline().split()))
        process.send_signal(number)
    assert len(pids) == 3
    wait_for_end(*pids)


def test_a_process_that_starts_hears_no_ctrl_c():
    """The terminal sends it to all of them; it is for the parent alone."""
    with executor_named("process", 1)() as executor:
        task = executor.submit(square, 3)
        for process in active_children():
            os.kill(process.pid, signal.SIGINT)
        assert task.result() == 9


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("threads", "no executor 'threads'; there are process and dask:ADDRESS"),
        ("dask", "no executor 'dask'"),
        ("dask:", "name its scheduler, dask:tcp://HOST:PORT"),
    ],
)
def test_an_unknown_executor_is_refused(name, message):
    """The error says what there is."""
    with pytest.raises(UsageError, match=message):
        executor_named(name)


def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch):
    """Nothing waits for it long."""
    monkeypatch.setattr("conformance.executors._SECONDS", 0.2)
    with pytest.raises(UsageError, match="no scheduler answers there"):
        executor_named("dask:tcp://127.0.0.1:9")().__enter__()


def digests(folder):
    with open_vectors(folder) as vectors:
        return {file.path.name: file.digest for file in vectors}


@pytest.fixture(scope="module")
def small():
    """Make the product small: two parts of a few cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive, "_LONG", range(1, 5))
        patch.setattr(exhaustive, "_LONG_STEP", 2)
        yield


class TestGenerate:
    @dask_with_all
    def test_the_files_are_those_of_one_process(self, machines, tmp_path):
        """Same names, same digests."""
        options = {"operators": ["MaxPool-1"], "tier": "smoke", "strength": 1}
        generate(tmp_path / "one", **options)
        generate(tmp_path / "many", **options, executor=machines)
        assert digests(tmp_path / "one") == digests(tmp_path / "many")


_EXHAUSTIVE = {"operators": ["AdaptiveAvgPool-8"], "tier": "exhaustive", "strength": 1}


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    """Return a folder with an exhaustive tier, made in one go."""
    folder = tmp_path_factory.mktemp("whole")
    generate(folder, **_EXHAUSTIVE)
    return folder


@pytest.mark.usefixtures("small")
class TestResume:
    """`generate(resume=True)`."""

    def test_the_product_is_in_files_of_its_own(self, whole):
        """Beside the file of the smaller tiers, which is that of the standard tier."""
        assert sorted(path.name for path in whole.iterdir()) == [
            "AdaptiveAvgPool-8.exhaustive-1-of-2.h5",
            "AdaptiveAvgPool-8.exhaustive-2-of-2.h5",
            "AdaptiveAvgPool-8.h5",
        ]
        with open_vectors(whole) as vectors:
            tiers = [set(file.tiers) for file in vectors]
        assert tiers == [{"exhaustive"}, {"exhaustive"}, {"smoke", "standard"}]

    def test_what_is_finished_is_kept(self, whole):
        """A second run writes nothing."""
        before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
        generate(whole, **_EXHAUSTIVE, resume=True)
        assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before

    def test_what_is_missing_or_broken_is_made(self, whole, tmp_path):
        """And nothing else: the result is that of one go."""
        for path in whole.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        kept = tmp_path / "AdaptiveAvgPool-8.exhaustive-1-of-2.h5"
        before = kept.stat().st_mtime_ns
        (tmp_path / "AdaptiveAvgPool-8.h5").unlink()
        broken = tmp_path / "AdaptiveAvgPool-8.exhaustive-2-of-2.h5"
        broken.write_bytes(broken.read_bytes()[:-100])
        generate(tmp_path, **_EXHAUSTIVE, resume=True)
        assert (digests(tmp_path), kept.stat().st_mtime_ns) == (digests(whole), before)

    def test_files_of_other_arguments_are_made_anew(self, whole, tmp_path):
        """Another seed makes other files."""
        for path in whole.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        generate(tmp_path, **_EXHAUSTIVE, seed=1, resume=True)
        assert not set(digests(tmp_path).items()) & set(digests(whole).items())


_VERSIONED = """
engine_version = "7.1"

def backend(operator, inputs, attributes):
    raise NotImplementedError
"""


class TestCheck:
    @dask_with_all
    @pytest.mark.parametrize(
        "backend",
        [pytest.param("numpy", marks=pytest.mark.slow("a faulty one shows more")), "faulty"],
    )
    def test_the_report_is_that_of_one_process(self, machines, backend, monkeypatch):
        """Counts, results, readings, accuracy: all but times."""
        if backend == "faulty":
            backend = f"{EXAMPLES / 'backend_faulty.py'}:backend"
        monkeypatch.setattr(distributed_check, "_VECTORS", 40)
        options = {"tier": "smoke", "operators": ["MaxPool-1", "AvgPool-1"], "diagnose": False}
        one, many = check(backend, **options), check(backend, **options, executor=machines)
        assert [each.id for each in one.results] == [each.id for each in many.results]
        for name in ("counts", "counts_by_operator", "readings", "undefined", "accuracy"):
            assert getattr(many, name) == getattr(one, name)
        for name in ("vectors", "versions", "repeated", "problems", "not_run", "complete"):
            assert getattr(many, name) == getattr(one, name)
        for left, right in zip(one.results, many.results, strict=True):
            assert (left.verdict, left.detail) == (right.verdict, right.detail)
            assert str(left.worst) == str(right.worst)  # NaN is not NaN

    @dask_with_all
    def test_the_engine_is_the_one_that_the_machines_have(self, machines, tmp_path):
        """What their worker says when it starts."""
        path = tmp_path / "mine.py"
        path.write_text(_VERSIONED)
        report = check(f"{path}:backend", tier="smoke", operators="MaxPool-1", executor=machines)
        assert report.versions["engine"] == "7.1"

    def test_a_file_is_read_when_its_task_leaves(self, tmp_path):
        """Files of tasks that wait take no memory; one that has arrived needs no disk."""
        path = tmp_path / "file"
        path.write_bytes(b"old")
        waiting = distributed_check.FileContent(path)
        path.write_bytes(b"new")
        arrived = pickle.loads(pickle.dumps(waiting))
        path.unlink()
        assert arrived.read() == b"new"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"backend": square}, "an executor is for backends named by a text"),
            ({"max_failures": 3}, "leave out max_failures"),
            ({"backend": "results:here"}, "not for stored results"),
        ],
    )
    def test_what_it_cannot_do_is_refused(self, options, message):
        """One line says what it is for."""
        given = {"backend": "numpy", "tier": "smoke"} | options
        with pytest.raises(UsageError, match=message):
            check(**given, executor=executor_named("process", 2))
