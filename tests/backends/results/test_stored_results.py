"""Stored results: what is found, and what is refused with one clear line."""

import json
import os
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save_file
from support.stored_outputs import answered, as_file, looked_up
from support.two_outputs import both, first_only, minimum_vectors, miscounting

from conformance import as_called, load_backend, open_vectors
from conformance.backends.answer import (
    MISSING,
    RAISED,
    UNSUPPORTED,
    Answer,
    Returned,
    arrays_of,
)
from conformance.backends.results import result_file
from conformance.backends.results.stored_results import StoredResults
from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.errors import ResultFileError, Unsupported
from conformance.record.why import Raised

KEY = "pooling-conformance results"


@pytest.fixture
def store(tmp_path):
    """Return what writes answers and opens them."""
    return lambda answers: StoredResults(as_file(tmp_path / "r.safetensors", answers))


def found(stored, vector_id="v"):
    """Return the output stored for a vector as an array."""
    (output,) = stored.find(vector_id).outputs
    return np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)


class TestFind:
    """What is stored comes back."""

    @pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
    def test_an_output_is_found_bit_for_bit(self, store, name):
        """Of every element type."""
        output = np.arange(6).reshape(1, 2, 3).astype(dtype_of(name))
        with store({"v": output}) as stored:
            back = found(stored)
        assert (back.dtype, back.tolist()) == (output.dtype, output.tolist())

    def test_elements_are_left_out_above_a_limit(self, store):
        """Nothing large is read that no vector expects."""
        with store({"v": np.ones(9, np.float32)}) as stored:
            assert stored.find("v", most=8).outputs == (Returned("float32", (9,)),)

    def test_what_raised_or_is_unsupported_says_why(self, store):
        with store({"a": ValueError("no\nkernel"), "b": NotImplementedError("3-D")}) as stored:
            assert stored.find("a") == Answer(RAISED, why=Raised("ValueError", "no kernel"))
            assert stored.find("b") == Answer(UNSUPPORTED, why=Raised("NotImplementedError", "3-D"))

    def test_what_is_not_stored_is_missing(self, store):
        """And no error: the checker says what is missing."""
        with store({"v": np.ones(1)}) as stored:
            assert stored.find("w") == Answer(MISSING)

    def test_what_belongs_to_no_vector_is_named(self, store):
        """In order, refusals too."""
        answers = {"b/%2F": np.ones(1), "a": ValueError("x"), "c": np.ones(1)}
        with store(answers) as stored:
            assert stored.unused(["c", "d"]) == ("a", "b/%2F")


class TestSeveralOutputs:
    """Outputs after the first have places of their own."""

    def test_all_outputs_come_back_in_their_order(self, store):
        """As many as are stored."""
        answers = {"v": (np.float32([1, 2]), np.int64([3]), np.int8([4])), "w": np.float32([5])}
        with store(answers) as stored:
            assert [arrays_of((each,)).tolist() for each in stored.find("v").outputs] == [
                [1, 2],
                [3],
                [4],
            ]
            assert len(stored.find("w").outputs) == 1
            assert set(stored.ids) == {"v", "w"}

    def test_the_limit_is_that_of_all_outputs(self, store):
        """The first that is beyond it comes without its elements, and all after it."""
        with store({"v": (np.zeros(3, np.int8),) * 3}) as stored:
            kept = [output.data is not None for output in stored.find("v", most=6).outputs]
        assert kept == [True, True, False]

    def test_results_are_judged_by_all_their_outputs(self, store, minimum_pool):
        """What is not stored was not computed."""
        vectors = minimum_vectors()
        for backend, verdict, computed in (
            (both, "conforms", 4),
            (miscounting, "mismatch", 4),
            (first_only, "conforms", 0),
        ):
            with store(answered(backend, vectors)) as stored:
                report = looked_up(stored, vectors)
            assert {each.verdict for each in report.results[:-1]} == {verdict}
            assert report.outputs[1].computed == computed


class TestCalled:
    """As a backend like any other: a case finds its vector."""

    def test_each_vector_of_the_suite_is_found_by_its_case(self, store):
        """An output is the one stored, what raised raises."""
        with open_vectors() as files:
            cases = [file[n].case for file in files for n in range(0, len(file), 397)]
        answers = {case.id: np.full(1, n, np.float32) for n, case in enumerate(cases)}
        with store(answers) as stored:
            calls = [stored(case.operator, *as_called(case)) for case in cases]
        assert [int(each[0]) for each in calls] == list(range(len(cases)))

    def test_what_the_backend_did_is_done_again(self, store):
        """Unsupported stays Unsupported."""
        with open_vectors() as files:
            one, other = files[0][0].case, files[0][1].case
        with store({one.id: NotImplementedError("no"), other.id: KeyError("k")}) as stored:
            with pytest.raises(Unsupported, match="no"):
                stored(one.operator, one.inputs, one.attributes)
            with pytest.raises(RuntimeError, match="KeyError: 'k'"):
                stored(other.operator, other.inputs, other.attributes)

    @pytest.mark.parametrize("attributes", [{}, {"kernel": {1}}], ids=str)
    def test_a_case_that_is_not_stored_is_an_error(self, store, attributes):
        """Whatever it looks like."""
        with store({"v": np.ones(1)}) as stored, pytest.raises(LookupError, match="no "):
            stored("MaxPool-1", [np.ones((1, 1, 2), np.float32)], attributes)

    def test_a_name_loads_it(self, tmp_path):
        """results:PATH, whatever its ending."""
        path = as_file(tmp_path / "a:b", {"v": np.ones(1)})
        assert list(load_backend(f"results:{path}").ids) == ["v"]


def file_with(path, header, data=b""):
    """Write a file of safetensors with some header: a value of JSON, or its bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def header(about=None, **tensors):
    """Return a header with what a file says besides its tensors."""
    text = about if isinstance(about, str) else json.dumps({"version": 1, **(about or {})})
    return {"__metadata__": {KEY: text}, **tensors}


def entry(begin=0, end=4, dtype="F32", shape=(1,)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def refusal(path):
    """Return the line of the error that opening a file raises, less the name of the file."""
    with pytest.raises(ResultFileError) as caught:
        StoredResults(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    return line.removeprefix(f"{path}: ")


class TestStrangersFile:
    """A header is not believed, and nothing large is allocated on its word."""

    @pytest.mark.parametrize(
        ("tensors", "data", "reason"),
        [
            ({"a": entry(), "b": entry()}, 4, "invalid offset"),
            ({"a": entry(0, 8, shape=(2,)), "b": entry(4, 12, shape=(2,))}, 12, "invalid offset"),
            ({"a": entry(4, 8)}, 8, "invalid offset"),
            ({"a": entry()}, 2, "not fully covered"),
            ({"a": entry()}, 6, "not fully covered"),
            ({"a": entry(shape=(2,))}, 4, ""),
            ({"a": entry(0, 1 << 40, shape=(1 << 38,))}, 4, "not fully covered"),
            ({"a": entry(0, 0, shape=(1 << 40, 1 << 40))}, 0, "overflow"),
            ({"a": entry(-4, 0)}, 0, "expected usize"),
            ({"a": entry(dtype="Q9")}, 4, "unknown variant"),
            ({"a": {"dtype": "F32", "shape": [1]}}, 4, "missing field"),
        ],
    )
    def test_offsets_and_sizes_are_compared_with_the_file(self, tmp_path, tensors, data, reason):
        """Overlaps, holes, what is cut off and what is too much."""
        line = refusal(file_with(tmp_path / "r", header(**tensors), bytes(data)))
        assert line.startswith("not a sound file of safetensors (")
        assert reason in line

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"1234567",
            b"\x89HDF\r\n\x1a\n" + bytes(99),
            (1 << 63).to_bytes(8, "little") + b"{}",
            (99_000_000).to_bytes(8, "little") + b"{}",
            (2).to_bytes(8, "little") + b"[]",
            (1).to_bytes(8, "little") + b"{",
            (100_000).to_bytes(8, "little") + b'{"a":' + b"[" * 99_995,
            (6).to_bytes(8, "little") + b'{"\xff"}',
        ],
        ids=range(9),
    )
    def test_what_is_no_header_is_refused(self, tmp_path, content):
        """Lengths that are not those of the file, other files, JSON that is none."""
        (tmp_path / "r").write_bytes(content)
        assert refusal(tmp_path / "r").startswith("not a sound file of safetensors (")

    def test_a_header_that_does_not_fit_is_refused_before_elements_are_read(self, tmp_path):
        """However large the file is."""
        path = tmp_path / "r"
        with path.open("wb") as stream:
            stream.write((1 << 40).to_bytes(8, "little"))
            stream.truncate(1 << 31)
        tracemalloc.start()
        line = refusal(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert line == "not a sound file of safetensors (its header is longer than the file)"
        assert peak < 1 << 20

    def test_more_tensors_than_a_run_has_are_refused_at_once(self, tmp_path, monkeypatch):
        monkeypatch.setattr(result_file, "_MOST_TENSORS", 2)
        tensors = {name: entry(0, 0, shape=(0,)) for name in "abc"}
        assert refusal(file_with(tmp_path / "r", header(**tensors))) == "more than 2 tensors"
        del tensors["c"]
        StoredResults(file_with(tmp_path / "r", header(**tensors)))

    @pytest.mark.parametrize(
        ("about", "line"),
        [
            ("{", f"{KEY!r} is not JSON ("),
            ("7", f"{KEY!r} has version None and not 1"),
            ({"version": 2}, f"{KEY!r} has version 2 and not 1"),
            ({"version": "x" * 999}, f"{KEY!r} has version 'xxx"),
            ({"version": True}, f"{KEY!r}: Expected `int`, got `bool`"),
            ('{"version": NaN}', f"{KEY!r} has NaN, which is not JSON"),
            ('{"version": 1, "version": 1}', f"{KEY!r} has 'version' twice"),
            ('{"version": 1, "raised": {"v": "", "v": ""}}', f"{KEY!r} has 'v' twice"),
            ({"ids": "v"}, f"{KEY!r}: Expected `array | null`, got `str` - at `$.ids`"),
            ({"raised": ["v"]}, f"{KEY!r}: Expected `object`, got `array` - at `$.raised`"),
            ({"raised": {"v": 1}}, f"{KEY!r}: Expected `str`, got `int` - at `$.raised[...]`"),
            ({"more": 1}, f"{KEY!r}: Object contains unknown field `more`"),
            ({"raised": {"v": ""}, "unsupported": {"v": ""}}, "there are two results of v"),
            ("[" * 100_000, "damaged ("),
        ],
    )
    def test_what_the_json_may_not_be_is_refused(self, tmp_path, about, line):
        """With the place."""
        assert refusal(file_with(tmp_path / "r", header(about))).startswith(line)

    def test_a_tensor_that_is_there_twice_is_refused(self, tmp_path):
        """A parser would take either."""
        twice = (
            json.dumps(header(v=entry()))
            .replace('"v":', '"v": {}, "v":')
            .replace("{}", json.dumps(entry(0, 4, "I32")))
        )
        path = file_with(tmp_path / "r", twice.encode(), bytes(4))
        assert refusal(path) == "its header has 'v' twice"

    @pytest.mark.parametrize(
        ("tensors", "about", "line"),
        [
            ({"v": entry()}, {"raised": {"v": ""}}, "there are two results of v"),
            ({"v:1": entry()}, {}, "v has no output 0, but 1"),
            ({"v": entry(), "v:2": entry(4, 8)}, {}, "v has no output 1, but 2"),
            ({"v": entry(), "v:99": entry(4, 8)}, {}, "v has no output 1, but 99"),
            ({"v": entry(0, 4, "F32", [1] * 33)}, {}, "v has a shape of more than 32 axes or"),
            ({"v": entry(0, 0, "F32", [0, 1 << 60])}, {}, "v has a shape of more than 32 axes"),
        ],
    )
    def test_outputs_that_no_backend_has_are_refused(self, tmp_path, tensors, about, line):
        """Gaps, shapes that no output has, an output beside an exception."""
        length = max(each["data_offsets"][1] for each in tensors.values())
        path = file_with(tmp_path / "r", header(about, **tensors), bytes(length))
        assert refusal(path).startswith(line)

    @pytest.mark.parametrize("metadata", [None, {}, {"format": "pt"}])
    def test_another_file_of_safetensors_is_refused(self, tmp_path, metadata):
        """The line says what it lacks."""
        save_file({"v": np.zeros(1)}, tmp_path / "r", metadata)
        assert refusal(tmp_path / "r") == f"its __metadata__ has no key {KEY!r}"

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        """Only regular files are opened."""
        os.mkfifo(tmp_path / "r")
        assert refusal(tmp_path / "r") == "not a regular file"
