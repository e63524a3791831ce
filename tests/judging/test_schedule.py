"""The order in which vectors are run, and a word where that takes long."""

import sys

import numpy as np
import pytest
from support.fakes import altered

from conformance import check, load_backend, open_vectors
from conformance.judging.schedule import Forecast, cheap_first, steps_of
from conformance.vectorfile.sources import chosen

OPERATORS = ("AvgPool-1", "MaxPool-1")


@pytest.fixture(scope="module")
def files():
    """Return shipped vectors of two operators."""
    with open_vectors(None, OPERATORS) as opened:
        yield [file for file in opened.files if file.operator in OPERATORS]


@pytest.fixture(scope="module")
def standard(files):
    """Return the standard tier of two operators."""
    return chosen(files, None, None, "standard")


@pytest.mark.slow("they come last of one operator")
def test_the_expensive_vectors_come_last_of_all_operators(standard):
    """Those of the first operator after the cheap ones of the last."""
    parts, steps = cheap_first(standard)
    assert [part.source.operator for part in parts] == [*OPERATORS, *OPERATORS]
    most = max(of_part.max() for of_part in steps[:2])
    assert most < min(of_part.min() for of_part in steps[2:])


def test_of_very_many_vectors_none_is_read_twice(standard, monkeypatch):
    """They keep the order that they have, and nothing is foretold of them."""
    monkeypatch.setattr(sys.modules[cheap_first.__module__], "_MANY", 1000)
    parts, steps = cheap_first(standard)
    assert parts == standard
    assert not any(of_part.any() for of_part in steps)


def test_every_vector_is_run_once(standard):
    """Whatever it costs; the sample that is called again is the same."""
    parts, steps = cheap_first(standard)
    assert [len(part.numbers) for part in parts] == list(map(len, steps))
    for whole in standard:
        of_source = [part for part in parts if part.source is whole.source]
        numbers = np.concatenate([part.numbers for part in of_source])
        assert sorted(numbers.tolist()) == whole.numbers.tolist()
        assert all(part.again is whole.again for part in of_source)


def test_steps_are_the_elements_and_the_cells_of_all_windows(files):
    """As a plain loop would take them."""
    number = next(i for i, name in enumerate(files[0].ids) if "/1x1x65801/k3-s1" in name)
    (batch,) = files[0].batches([number])
    (steps,) = steps_of(batch)
    assert steps == 65_801 + 65_801 // 1 * 3 - 3 * (65_801 - batch.expected_size.max())


def test_a_backend_is_called_in_that_order(files):
    """Also where its vectors are selected; results stay in the order of the files."""
    called = []
    right = load_backend("numpy")

    def backend(operator, inputs, attributes):
        called.append((operator, sum(array.size for array in inputs)))
        return right(operator, inputs, attributes)

    report = check(backend, files, select="impulses", variations=[])
    sizes = [size for _, size in called]
    assert sizes.index(max(sizes)) > len(called) * 0.9
    ids = [name for file in files for name in file.ids if "impulses" in name]
    assert [result.id for result in report.results] == ids
    assert [report.results[number].id for number in range(0, len(ids), 50)] == ids[::50]


def test_what_is_called_again_is_a_sample_of_the_source():
    """Though it comes in two parts: 32 failures of it, and not 64."""
    wrong = altered(lambda output: output + 1)
    report = check(wrong, operators=["MaxPool-1"], diagnose=False)
    assert 32 < report.repeated.sampled <= 64


class Clock:
    """Time that passes as it is told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        """Return the time."""
        return self.now


def said_at(steps, seconds_of):
    """Return the vector after which a forecast speaks, and what it says."""
    clock, said = Clock(), []
    forecast = Forecast([np.array(steps)], "Quicker: x.", say=said.append, clock=clock)
    when = None
    for done, each in enumerate(steps, 1):
        clock.now += seconds_of(each)
        forecast.tick(done)
        if said and when is None:
            when = clock.now
    return when, said


def test_a_long_run_is_told_after_seconds_and_once():
    """From what the cheap vectors took: the expensive ones are still to come."""
    steps = [*range(100, 5100, 5)] * 2 + [10_000_000] * 10
    when, said = said_at(steps, lambda each: 0.001 + 2e-6 * each)
    assert when == pytest.approx(5, abs=1)
    assert said == ["About 3 min left. Quicker: x."]


def test_a_run_that_is_not_long_says_nothing():
    """Where a call takes the same time whatever its size, too."""
    steps = [*range(100, 5100, 5)] * 2 + [10_000_000] * 10
    assert said_at(steps, lambda _: 0.02) == (None, [])


def test_a_start_that_is_slow_foretells_no_long_run():
    """The first call imports an engine, and others wait for a busy machine now and then."""
    steps = [*range(100, 5100, 5)] * 2 + [10_000_000] * 10
    slow = np.random.default_rng(0).exponential(0.02, len(steps))
    slow[0] = 4
    times = iter(slow)
    assert said_at(steps, lambda _: next(times)) == (None, [])
