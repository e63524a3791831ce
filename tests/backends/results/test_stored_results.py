"""Stored results: what is found, and what is refused with one clear line."""

import os
import shutil
import signal

import h5py
import ml_dtypes
import numpy as np
import pytest
from support.stored_outputs import LAYOUTS, answered, as_file, as_folder, looked_up
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
from conformance.backends.results import hdf5_results
from conformance.backends.results.stored_results import StoredResults
from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.errors import ResultFileError, Unsupported, UsageError
from conformance.record.why import Raised

F32 = np.dtype(np.float32)
BF16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(params=list(LAYOUTS))
def layout(request):
    """Return the name of a layout."""
    return request.param


@pytest.fixture
def store(layout, tmp_path):
    """Return what writes answers in a layout and opens them."""
    return lambda answers: StoredResults(LAYOUTS[layout](tmp_path / "results", answers))


def crash(_path):
    """End as a bug in C does."""
    os.kill(os.getpid(), signal.SIGSEGV)


def found(stored, vector_id="v", of=F32):
    """Return the output stored for a vector as an array."""
    (output,) = stored.find(vector_id, of).outputs
    return np.frombuffer(output.data, dtype_of(output.dtype)).reshape(output.shape)


def refusal(look):
    """Return the line of the error that a function raises."""
    with pytest.raises(ResultFileError) as caught:
        look()
    line = str(caught.value)
    assert "\n" not in line
    return line


class TestFind:
    """What is stored comes back."""

    @pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
    def test_an_output_is_found_bit_for_bit(self, store, name):
        """Of every element type, those of bfloat16 as the bits they were stored as."""
        output = np.arange(6).reshape(1, 2, 3).astype(dtype_of(name))
        with store({"v": output}) as stored:
            back = found(stored, of=output.dtype)
        assert (back.dtype, back.tolist()) == (output.dtype, output.tolist())

    def test_uint16_is_bfloat16_only_where_the_data_are(self, store):
        """The bits of a bfloat16 and a number of type uint16 look alike in a file."""
        with store({"v": np.array([16256], np.uint16)}) as stored:
            assert found(stored).tolist() == [16256]
            assert found(stored, of=BF16).tolist() == [1.0]

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1, 1, 1, 1)], ids=str)
    def test_shapes_come_back(self, store, shape):
        """Scalars and arrays without elements too."""
        with store({"v": np.ones(shape, np.float32)}) as stored:
            assert stored.find("v", F32).outputs == (
                Returned("float32", shape, np.ones(shape, np.float32).tobytes()),
            )

    def test_elements_are_left_out_above_a_limit(self, store):
        """Nothing large is read that no vector expects."""
        with store({"v": np.ones(9, np.float32)}) as stored:
            assert stored.find("v", F32, most=8).outputs == (Returned("float32", (9,)),)

    def test_big_endian_outputs_are_the_same(self, store):
        """The order of bytes is the file's affair."""
        with store({"v": np.array([1.5, 2.0], ">f4")}) as stored:
            assert found(stored).tolist() == [1.5, 2.0]

    def test_an_element_type_the_suite_lacks_has_its_name_and_no_elements(self, store):
        """It is a mismatch, not a broken file."""
        with store({"v": np.array([True])}) as stored:
            assert stored.find("v", F32).outputs == (Returned("bool", (1,)),)

    def test_what_raised_or_is_unsupported_says_why(self, store):
        with store({"a": ValueError("no\nkernel"), "b": NotImplementedError("3-D")}) as stored:
            assert stored.find("a", F32) == Answer(RAISED, why=Raised("ValueError", "no kernel"))
            assert stored.find("b", F32) == Answer(
                UNSUPPORTED, why=Raised("NotImplementedError", "3-D")
            )

    def test_what_is_not_stored_is_missing(self, store):
        """And no error: the checker says what is missing."""
        with store({"v": np.ones(1)}) as stored:
            assert stored.find("w", F32) == Answer(MISSING)

    def test_what_belongs_to_no_vector_is_named(self, store):
        """In order, refusals too."""
        answers = {"b/%2F": np.ones(1), "a": ValueError("x"), "c": np.ones(1)}
        with store(answers) as stored:
            assert stored.unused(["c", "d"]) == ("a", "b/%2F")

    def test_a_fortran_array_is_read_in_c_order(self, tmp_path):
        """MATLAB and others store .npy files like that."""
        as_folder(tmp_path / "r", {"v": np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])})
        assert found(StoredResults(tmp_path / "r")).tolist() == [[1.0, 2.0], [3.0, 4.0]]

    def test_bfloat16_may_be_stored_as_it_is(self, tmp_path):
        """Both numpy and h5py make two bytes without a meaning of it."""
        (tmp_path / "v").mkdir()
        np.save(tmp_path / "v" / "output.npy", np.array([1.0, 2.0], BF16))
        assert found(StoredResults(tmp_path), of=BF16).tolist() == [1.0, 2.0]
        with h5py.File(tmp_path / "r.h5", "w") as file:
            file.attrs["format"] = np.bytes_("pooling-conformance results 1")
            file["outputs/v"] = np.array([1.0, 2.0], BF16)
        with StoredResults(tmp_path / "r.h5") as stored:
            assert found(stored, of=BF16).tolist() == [1.0, 2.0]


class TestSeveralOutputs:
    """Outputs after the first have places of their own."""

    def test_all_outputs_come_back_in_their_order(self, store):
        """As many as are stored."""
        answers = {"v": (np.float32([1, 2]), np.int64([3]), np.int8([4])), "w": np.float32([5])}
        with store(answers) as stored:
            assert [arrays_of((each,)).tolist() for each in stored.find("v", F32).outputs] == [
                [1, 2],
                [3],
                [4],
            ]
            assert len(stored.find("w", F32).outputs) == 1
            assert set(stored.ids) == {"v", "w"}

    def test_the_limit_is_that_of_all_outputs(self, store):
        """The first that is beyond it comes without its elements, and all after it."""
        with store({"v": (np.zeros(3, np.int8),) * 3}) as stored:
            kept = [output.data is not None for output in stored.find("v", F32, most=6).outputs]
        assert kept == [True, True, False]

    def test_uint16_is_no_bfloat16_where_an_output_has_a_type_of_its_own(self, store):
        """Of data of bfloat16, only outputs of the type of the data are."""
        bits = np.array([16256], np.uint16)
        with store({"v": (bits, bits)}) as stored:
            answer = stored.find("v", BF16, own=((), ("uint16",)))
        assert [output.dtype for output in answer.outputs] == ["bfloat16", "uint16"]

    def test_an_output_without_those_before_it_is_refused(self, store, layout):
        """In a file when it is opened, and in a folder."""
        answers = {"v": (np.zeros(1),) * 3}
        stored = store(answers)
        stored.close()
        if layout == "file":
            with h5py.File(stored.path, "r+") as file:
                del file["outputs.1/v"]
            line = "v is in outputs.2 and not in outputs.1"
        else:
            (stored.path / "v" / "output.1.npy").unlink()
            line = "output.2.npy: there is no output.1.npy beside it"
        assert line in refusal(lambda: StoredResults(stored.path))

    def test_an_output_beside_an_exception_is_refused(self, tmp_path):
        """A vector has one result."""
        path = as_file(tmp_path / "r.h5", {"v": ValueError("no")})
        with h5py.File(path, "r+") as file:
            file["outputs.1/v"] = np.zeros(1)
        assert "v is in outputs.1 and not in outputs" in refusal(lambda: StoredResults(path))

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
            shutil.rmtree(stored.path) if stored.path.is_dir() else stored.path.unlink()


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
        """results:PATH, for either layout."""
        path = as_file(tmp_path / "a:b.h5", {"v": np.ones(1)})
        assert list(load_backend(f"results:{path}").ids) == ["v"]

    def test_a_path_that_does_not_exist_is_wrong_usage(self, tmp_path):
        """One line that says what would do."""
        with pytest.raises(UsageError, match="no such file or folder; give"):
            load_backend(f"results:{tmp_path / 'nothing'}")


class TestFolder:
    """A stranger's folder."""

    def _spoilt(self, tmp_path, content):
        (tmp_path / "v").mkdir()
        (tmp_path / "v" / "output.npy").write_bytes(content)
        return refusal(lambda: StoredResults(tmp_path).find("v", F32))

    def _npy(self, header, payload=b""):
        text = header.encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + payload

    def test_pickles_are_refused(self, tmp_path):
        """Nothing in a file is ever executed."""
        np.save(tmp_path / "x.npy", np.array([{}], object), allow_pickle=True)
        content = (tmp_path / "x.npy").read_bytes()
        assert "Python objects" in self._spoilt(tmp_path, content)

    @pytest.mark.parametrize(
        ("header", "message"),
        [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999,)}", "elements"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9999999999)}", "elements"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (99,)}", "holds 8 bytes"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "holds 8 bytes"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "integers from 0"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (True, 2)}", "integers from 0"),
            ("{'descr': '<f4', 'fortran_order': False}", "not a sound .npy file"),
            ("{'descr': '<q9', 'fortran_order': False, 'shape': (2,)}", "not a sound .npy file"),
            ("__import__('os').abort()", "not a sound .npy file"),
            ("((((((((((((((((((((((((((((((", "not a sound .npy file"),
        ],
    )
    def test_a_header_is_not_believed(self, tmp_path, header, message):
        """Types, shapes and sizes are checked before anything is allocated."""
        assert message in self._spoilt(tmp_path, self._npy(header, bytes(8)))

    @pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x03\x00\x00\x00", b"text"])
    def test_what_is_no_npy_file_is_refused(self, tmp_path, content):
        assert "not a sound .npy file" in self._spoilt(tmp_path, content)

    @pytest.mark.parametrize("place", ["v/output.npy", "w", "status.tsv"])
    def test_links_are_not_followed(self, tmp_path, place):
        """Neither to a file nor to a folder, wherever they lead."""
        (tmp_path / "elsewhere").mkdir()
        np.save(tmp_path / "elsewhere" / "output.npy", np.ones(1))
        root = as_folder(tmp_path / "r", {"u": np.ones(1)})
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).unlink(missing_ok=True)
        target = "elsewhere" if place == "w" else "elsewhere/output.npy"
        (root / place).symlink_to(tmp_path / target)
        assert place in refusal(lambda: StoredResults(root))

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
    @pytest.mark.parametrize("place", ["v/output.npy", "status.tsv"])
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path, place):
        """Only regular files are opened."""
        (tmp_path / place).parent.mkdir(exist_ok=True)
        os.mkfifo(tmp_path / place)
        assert "not a regular file" in refusal(lambda: StoredResults(tmp_path).find("v", F32))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("fine\tv\n", "line 1 is not 'raised' or 'unsupported'"),
            ("raised\tw\n\nraised\n", "line 3 is not"),
            ("raised\tv\tx", "another result of v"),
            ("raised\tw\t1\nunsupported\tw\t2\n", "line 2: there is another result of w"),
            ("raised\tw\t\udcff", "utf-8"),
        ],
    )
    def test_a_status_that_is_not_clear_is_refused(self, tmp_path, text, message):
        """With the number of its line."""
        root = as_folder(tmp_path / "r", {"v": np.ones(1)})
        (root / "status.tsv").write_bytes(text.encode("utf-8", "surrogateescape"))
        assert message in refusal(lambda: StoredResults(root))

    def test_a_status_may_come_from_windows_and_without_a_reason(self, tmp_path):
        """Carriage returns and a mark of the byte order are no part of it."""
        (tmp_path / "status.tsv").write_bytes(b"\xef\xbb\xbfraised\tv\r\nunsupported\tw\tno\r\n")
        stored = StoredResults(tmp_path)
        assert [stored.find(each, F32) for each in "vw"] == [
            Answer(RAISED, why=Raised(text="no reason given")),
            Answer(UNSUPPORTED, why=Raised(text="no")),
        ]

    def test_two_folders_of_one_vector_are_refused(self, tmp_path):
        """Their names decode to the same id."""
        for name in ("v%31", "v1"):
            (tmp_path / name).mkdir()
            np.save(tmp_path / name / "output.npy", np.ones(1))
        assert "output of the same vector" in refusal(lambda: StoredResults(tmp_path))

    def test_a_folder_without_results_is_refused(self, tmp_path):
        """It is most likely the wrong one."""
        assert "no output.npy in a folder in it" in refusal(lambda: StoredResults(tmp_path))


class TestFile:
    """A stranger's HDF5 file."""

    @pytest.fixture
    def file(self, tmp_path):
        """Yield a sound file, open to be spoilt, and a function that says how it is refused."""
        path = as_file(tmp_path / "r.h5", {"v": np.ones(3, np.float32), "r": ValueError("x")})
        file = h5py.File(path, "r+")

        def refused(vector_id="v"):
            file.close()
            return refusal(lambda: StoredResults(path).find(vector_id, F32))

        yield file, refused
        file.close()

    def test_links_are_refused(self, file):
        """A file never makes the reader open another one."""
        root, refused = file
        root["outputs/w"] = h5py.ExternalLink("other.h5", "/x")
        assert "outputs/w is a link to somewhere else" in refused()

    def test_data_in_other_files_are_refused(self, file, tmp_path):
        """Neither external storage nor virtual datasets are read."""
        root, refused = file
        (tmp_path / "data").write_bytes(bytes(12))
        del root["outputs/v"]
        external = [(str(tmp_path / "data"), 0, 12)]
        root.create_dataset("outputs/v", (3,), "f4", external=external)
        assert "another file" in refused()

    @pytest.mark.parametrize(
        ("size", "message"), [(8, "chunked or compressed"), (1 << 20, "more than the file has")]
    )
    def test_chunks_are_refused(self, file, size, message):
        """A compressed dataset may be small in the file and large in memory."""
        root, refused = file
        del root["outputs/v"]
        root.create_dataset("outputs/v", (size,), "f4", chunks=(8,), compression="gzip")
        assert message in refused()

    def test_a_dataset_that_was_never_written_is_refused(self, file):
        """Its elements would be zeros out of nowhere."""
        root, refused = file
        del root["outputs/v"]
        root.create_dataset("outputs/v", (3,), "f4")
        assert "0 bytes are stored and not 12" in refused()

    def test_texts_of_variable_length_are_refused(self, file):
        """With the type that would do."""
        root, refused = file
        root["raised/v2"] = "text"
        assert "numpy.bytes_" in refused("v2")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("more", "'more' is not one of outputs, raised, unsupported"),
            ("outputs/v/w", "v: not a"),
        ],
    )
    def test_what_the_layout_does_not_have_is_refused(self, file, name, message):
        """There are three groups of datasets, nothing else."""
        root, refused = file
        del root["outputs/v"]
        root.create_group(name)
        assert message in refused()

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (None, "attribute format is missing: it is to be 'pooling-conformance results 1'"),
            (np.bytes_("results 2"), "attribute format is 'results 2' and not 'pooling-"),
            (1, "a text is not a string of fixed length, numpy.bytes_"),
            ("results", "a text is not a string of fixed length, numpy.bytes_"),
        ],
    )
    def test_another_format_is_refused(self, file, value, message):
        """The attribute says what it is to be."""
        root, refused = file
        del root.attrs["format"]
        if value is not None:
            root.attrs["format"] = value
        assert message in refused()

    def test_one_id_twice_is_refused(self, file):
        """An output and an exception, say."""
        root, refused = file
        root["raised/%76"] = np.bytes_("x")
        assert "two results of v" in refused()

    def test_a_crash_of_hdf5_is_one_line(self, file, monkeypatch):
        """Another process than the user's asks HDF5 where everything is."""
        _, refused = file
        monkeypatch.setattr(hdf5_results, "places_in", crash)
        assert refused().endswith(
            "r.h5: damaged (the HDF5 library crashed with signal SIGSEGV (11) on it)"
        )

    def test_a_file_that_changes_meanwhile_is_refused(self, file, tmp_path):
        """Elsewhere in it may be something else by now."""
        root, _ = file
        root.close()
        stored = StoredResults(tmp_path / "r.h5")
        as_file(tmp_path / "r.h5", {"v": np.zeros(3, np.float32)})
        assert "v: the file was changed" in refusal(lambda: stored.find("v", F32))

    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        """Only regular files are opened."""
        os.mkfifo(tmp_path / "r.h5")
        assert "not a regular file" in refusal(lambda: StoredResults(tmp_path / "r.h5"))

    def test_another_file_is_refused(self, tmp_path):
        (tmp_path / "r.h5").write_text("text")
        assert "neither an HDF5 file nor a folder" in refusal(
            lambda: StoredResults(tmp_path / "r.h5")
        )
