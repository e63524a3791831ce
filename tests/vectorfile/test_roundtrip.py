"""Vector files written and read back: contents, batches, digest and atomic writing."""

import signal
import subprocess
import sys
import textwrap
from dataclasses import fields, replace

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.arbitrary_vectors import OPERATOR, plain, renamed, small_vectors, vector_lists
from support.effort import examples

from conformance.api.check import check
from conformance.batch import batch_of
from conformance.errors import UsageError, VectorFileError
from conformance.operators import vector_of
from conformance.vector import Arithmetic, Case, Expected, Values, Vector
from conformance.vectorfile import (
    VectorFile,
    VectorWriter,
    layout,
    open_vectors,
    vector_file,
    writer,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return one folder for all examples of a property."""
    return tmp_path_factory.mktemp("vectors")


def write(path, vectors, **header):
    """Write vectors and return the path."""
    with VectorWriter(path, OPERATOR, header=header) as file:
        for vector in vectors:
            file.add(vector)
    return path


def tiny(number):
    """Return the smallest vector there is, with a distinct id and value."""
    expected = Expected(
        np.array([number], np.float32),
        np.ones(1, np.int32),
        np.ones(1, np.int32),
        np.array([float(number)]),
    )
    case = Case(f"case/{number}", OPERATOR, {"kernel": [number % 7]}, (np.arange(number % 4),))
    return Vector(case, (Values((expected,)),))


def columns_of(batch):
    """Return a batch as nested tuples; the elements as expected arrays, one by one."""
    whole = {name: plain(getattr(batch, name)) for name in batch.__slots__ if name != "columns"}
    whole["columns"] = {
        name: tuple(plain(getattr(columns, each.name)) for each in fields(columns))
        for name, columns in batch.columns.items()
    }
    return whole


@pytest.fixture
def streamed(monkeypatch):
    """Make every file count as a large one, which is read piece by piece."""
    monkeypatch.setattr(vector_file, "_DECODED_ONCE", -1)
    monkeypatch.setattr(vector_file, "_STEP", 2)


class TestRoundTrip:
    """What goes in comes out."""

    @examples(0.5)
    @given(vectors=vector_lists(), header=st.dictionaries(st.text(), st.integers(), max_size=2))
    def test_what_is_written_is_read(self, folder, vectors, header):
        """Any vectors come back bit by bit, one at a time and in a batch."""
        path = folder / "any.h5"
        with VectorWriter(path, OPERATOR, header=header) as file:
            for vector in vectors:
                file.add(vector)
        with VectorFile(path) as file:
            assert (file.operator, file.header, len(file)) == (OPERATOR, header, len(vectors))
            assert file.ids == [vector.case.id for vector in vectors]
            assert file.tiers == [vector.case.tier for vector in vectors]
            assert plain([file.vector(number) for number in range(len(file))]) == plain(vectors)
            batches = list(file.batches())
        assert [columns_of(each) for each in batches] == (
            [columns_of(batch_of(vectors))] if vectors else []
        )

    @examples(0.3)
    @given(vectors=vector_lists())
    def test_a_large_file_reads_like_a_small_one(self, folder, vectors):
        """Reading piece by piece gives the same vectors, ids and digest."""
        path = write(folder / "large.h5", vectors)
        with VectorFile(path) as file, pytest.MonkeyPatch.context() as patch:
            patch.setattr(vector_file, "_DECODED_ONCE", -1)
            patch.setattr(vector_file, "_STEP", 2)
            with VectorFile(path) as large:
                assert (large.ids, large.digest) == (file.ids, file.digest)
                assert plain([large.vector(i) for i in range(len(large))]) == plain(vectors)

    @examples(0.3)
    @given(vectors=vector_lists(), data=st.data())
    def test_a_selection_gives_the_selected_vectors(self, folder, vectors, data):
        """Any ascending selection, in batches of any size, equals the batch of these vectors."""
        chosen = [number for number in range(len(vectors)) if data.draw(st.booleans())]
        limit = data.draw(st.integers(0, 20_000))
        with VectorFile(write(folder / "select.h5", vectors)) as file:
            batches = list(file.batches(chosen, max_bytes=limit))
        assert [number for batch in batches for number in batch.numbers.tolist()] == chosen
        for batch in batches:
            same = batch_of([vectors[number] for number in batch.numbers])
            assert columns_of(replace(batch, numbers=same.numbers)) == columns_of(same)

    def test_a_file_of_many_chunks_reads_back(self, tmp_path, streamed, monkeypatch):
        """Columns that do not fit in one chunk are joined again, whole and in part."""
        monkeypatch.setattr(writer, "_KNOWN_TEXTS", 100)  # the rest is forgotten now and then
        monkeypatch.setattr(writer, "_CHUNK", 1 << 11)
        count = 1200
        path = write(tmp_path / "many.h5", map(tiny, range(count)))
        with h5py.File(path) as raw:
            chunked = raw["input_arrays/shape"]
            assert chunked.size > 5 * chunked.chunks[0]
        with VectorFile(path) as file:
            (batch,) = file.batches(max_bytes=1 << 40)
            assert batch.columns["float32"].values.tolist() == list(range(count))
            assert batch.ids[::100] == [f"case/{number}" for number in range(0, count, 100)]
            assert plain(file.vector(1111)) == plain(tiny(1111))
            (part,) = file.batches(range(5, count, 97))
            assert part.columns["float32"].values.tolist() == list(range(5, count, 97))

    def test_a_vector_has_its_own_attributes(self, tmp_path):
        """Changing the attributes of one vector changes nobody else's."""
        one, other = small_vectors(2)
        other = renamed(replace(one), "other")
        with VectorFile(write(tmp_path / "a.h5", [one, other])) as file:
            file.vector(0).case.attributes["kernel"].append(9)
            assert file.vector(0).case.attributes["kernel"] == [1, 2]
            assert file.vector(1).case.attributes["kernel"] == [1, 2]

    def test_arrays_are_read_only(self, tmp_path):
        """Nothing a caller does reaches another reader of the same columns."""
        with VectorFile(write(tmp_path / "a.h5", small_vectors(1))) as file:
            vector = file.vector(0)
        arrays = [
            *vector.case.inputs,
            vector.outcomes[0].outputs[0].values,
            vector.outcomes[0].outputs[0].magnitude,
        ]
        assert [array.flags.writeable for array in arrays] == [False] * 4

    def test_index_of_finds_a_vector_by_id(self, tmp_path):
        """Ids lead back to numbers; an unknown one is a KeyError."""
        with VectorFile(write(tmp_path / "a.h5", small_vectors(3))) as file:
            assert file.index_of("AvgPool-1/case/002") == 2
            with pytest.raises(KeyError):
                file.index_of("AvgPool-1/case")

    @pytest.mark.parametrize("select", [[1, 0], [0, 0], [-1], [3]])
    def test_a_selection_out_of_order_or_range_is_refused(self, tmp_path, select):
        """Numbers ascend and exist."""
        with (
            VectorFile(write(tmp_path / "a.h5", small_vectors(3))) as file,
            pytest.raises(ValueError, match="ascending and within 0 to 2"),
        ):
            file.batches(select)


class TestDigest:
    """The digest is of the content and of nothing else."""

    def test_same_vectors_same_bytes(self, tmp_path):
        """The file itself depends on nothing but its vectors and header."""
        one = write(tmp_path / "one.h5", small_vectors(), seed=1)
        other = write(tmp_path / "other.h5", small_vectors(), seed=1)
        assert one.read_bytes() == other.read_bytes()

    def test_the_digest_does_not_depend_on_chunks(self, tmp_path, monkeypatch):
        """Chunk sizes and moments of writing are not content."""
        vectors = [tiny(number) for number in range(300)]
        with VectorFile(write(tmp_path / "one.h5", vectors)) as file:
            usual = file.digest
        monkeypatch.setattr(writer, "_CHUNK", 64)
        monkeypatch.setattr(writer, "_SPILL", 200)
        path = write(tmp_path / "other.h5", vectors)
        with VectorFile(path) as file, h5py.File(path) as raw:
            assert raw["text/bytes"].chunks == (64,)
            assert file.digest == usual
            assert plain(list(file)) == plain(vectors)

    def test_the_digest_does_not_depend_on_the_header(self, tmp_path):
        """Two versions of the package that make the same vectors make the same digest."""
        one = VectorFile(write(tmp_path / "one.h5", small_vectors(), version="1"))
        other = VectorFile(write(tmp_path / "other.h5", small_vectors(), version="2"))
        assert one.digest == other.digest

    def test_the_digest_depends_on_every_bit(self, tmp_path):
        """The sign of a zero in an input is content."""
        (vector,) = small_vectors(1)
        changed = vector.case.inputs[0].copy()
        changed[0, 0, 0, 0] = -0.0
        other = replace(vector, case=replace(vector.case, inputs=(changed, vector.case.inputs[1])))
        digests = {
            VectorFile(write(tmp_path / f"{index}.h5", [each])).digest
            for index, each in enumerate((vector, other))
        }
        assert len(digests) == 2


class TestAtomicity:
    """A whole file or none."""

    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
    def test_an_exception_leaves_nothing(self, tmp_path, error):
        """Neither the file nor a temporary one stays, and the exception goes on."""

        def stop_halfway():
            yield small_vectors(1)[0]
            raise error

        with pytest.raises(error):
            write(tmp_path / "a.h5", stop_halfway())
        assert list(tmp_path.iterdir()) == []

    def test_an_exception_leaves_the_old_file_as_it_was(self, tmp_path):
        """A file is replaced whole or not touched."""
        path = write(tmp_path / "a.h5", small_vectors(2))
        before = path.read_bytes()
        with pytest.raises(RuntimeError), VectorWriter(path, OPERATOR, header={}):
            raise RuntimeError
        assert [path.read_bytes()] == [before]
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
    def test_a_killed_writer_leaves_nothing_that_opens(self, tmp_path):
        """What is left has a temporary name, is ignored, and is refused if opened by name."""
        script = """
            import sys
            sys.path[:0] = sys.argv[2:]
            from test_roundtrip import OPERATOR, tiny
            from conformance.vectorfile import VectorWriter
            with VectorWriter(sys.argv[1], OPERATOR, header={}) as file:
                number = 0
                while True:
                    file.add(tiny(number))
                    number += 1
                    if number == 3000:
                        print("writing", flush=True)
        """
        command = [sys.executable, "-c", textwrap.dedent(script), tmp_path / "a.h5", *sys.path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "writing\n"
            process.kill()
        (left,) = tmp_path.iterdir()
        with pytest.raises(UsageError, match="no vector files"):
            open_vectors(tmp_path)
        with pytest.raises(VectorFileError):
            VectorFile(left)

    def test_a_failed_add_spoils_the_file_even_when_it_is_caught(self, tmp_path, monkeypatch):
        """No file has a part of a vector."""

        def full(*_arguments):
            raise MemoryError

        file = VectorWriter(tmp_path / "a.h5", OPERATOR, header={}).__enter__()
        monkeypatch.setattr(file, "_append_table", full)
        with pytest.raises(MemoryError):
            file.add(small_vectors(1)[0])
        with pytest.raises(MemoryError):
            file.__exit__(None, None, None)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_does_not_exist_is_one_clear_line(self, tmp_path):
        """The error names the file that was asked for."""
        path = tmp_path / "none" / "a.h5"
        with pytest.raises(UsageError, match=r"a\.h5: cannot be written: No such file or dir"):
            write(path, [])


class TestWriterRefuses:
    """Nothing is written that the reader would refuse."""

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"attributes": {"kernel": [[1]]}}, "case/001: attributes: Expected .* got `array`"),
            ({"attributes": {"kernel": float("nan")}}, "JSON"),
            ({"attributes": {"kernel": np.int64(1)}}, "JSON"),
            ({"attributes": {1: 2}}, "does not survive"),
            ({"pattern": "\ud800"}, "surrogates"),
            ({"id": "two\nlines"}, "printable"),
            ({"id": ""}, "printable"),
            ({"tier": "huge"}, "tier"),
            ({"provenance": "guessed"}, "provenance"),
            ({"inputs": ()}, "0 inputs"),
            ({"source": "x" * (1 << 20 | 1)}, "bytes"),
            ({"operator": "MaxPool-1"}, "operator MaxPool-1"),
        ],
    )
    def test_a_vector_that_could_not_be_read_back(self, tmp_path, change, what):
        """ValueError at once, and the vectors before it are still good."""
        one, other = small_vectors(2)
        with VectorWriter(tmp_path / "a.h5", OPERATOR, header={}) as file:
            file.add(one)
            with pytest.raises(ValueError, match=what):
                file.add(replace(other, case=replace(other.case, **change)))
        with VectorFile(tmp_path / "a.h5") as file:
            assert plain(list(file)) == plain([one])

    def test_equal_ids(self, tmp_path):
        """An id names one vector: the file is refused as a whole."""
        (vector,) = small_vectors(1)
        with pytest.raises(ValueError, match="two vectors have the id AvgPool-1/case/000"):
            write(tmp_path / "a.h5", [vector, vector])
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("header", [{"a": (1,)}, {"a": float("inf")}, {"a": "x" * 70_000}])
    def test_a_header_that_does_not_fit(self, tmp_path, header):
        """ValueError before anything is written."""
        with pytest.raises(ValueError, match=r"header|JSON"):
            VectorWriter(tmp_path / "a.h5", OPERATOR, header=header)

    def test_more_rows_than_a_table_may_have(self, tmp_path, monkeypatch):
        """ValueError before a table is too long for the reader."""
        monkeypatch.setattr(layout, "MAX_ROWS", 2 * layout.MAX_OUTCOMES + 20)
        with (
            VectorWriter(tmp_path / "a.h5", OPERATOR, header={}) as file,
            pytest.raises(ValueError, match="the file is full"),
        ):
            list(map(file.add, small_vectors(30)))
        assert 1 < len(VectorFile(tmp_path / "a.h5")) < 30

    def test_an_unknown_operator(self, tmp_path):
        """ValueError before anything is written."""
        with pytest.raises(ValueError, match="unknown operator"):
            VectorWriter(tmp_path / "a.h5", "AvgPool-99", header={})


class TestOpenVectors:
    """Files, directories and the operators in them."""

    def test_a_directory_opens_its_files_in_the_order_of_the_suite(self, tmp_path):
        """One file per operator, whatever the files are called."""
        for name, operator in (("a", "MaxPool-1"), ("b", "AvgPool-1")):
            with VectorWriter(tmp_path / f"{name}.h5", operator, header={}):
                pass
        (tmp_path / "README.md").write_text("not vectors")
        with open_vectors(tmp_path) as vectors:
            assert vectors.operators == ("AvgPool-1", "MaxPool-1")
            assert [file.path.name for file in vectors] == ["b.h5", "a.h5"]
            assert len(vectors) == len(vectors.files) == 2

    @pytest.mark.parametrize("unchecked", [False, True])
    def test_a_selection_holds_the_operators_that_were_asked_for(self, tmp_path, unchecked):
        """Its first file is of the first of them; nothing else is in it."""
        for name, operator in (("a", "MaxPool-1"), ("b", "AvgPool-1"), ("c", "MaxPool-8")):
            with VectorWriter(tmp_path / f"{name}.h5", operator, header={}):
                pass
        for asked, held in (
            (["MaxPool-8"], ["MaxPool-8"]),
            ("MaxPool-*", ["MaxPool-1", "MaxPool-8"]),
        ):
            with open_vectors(tmp_path, asked, unchecked=unchecked) as vectors:
                assert vectors[0].operator == held[0]
                assert [file.operator for file in vectors] == held
                assert (len(vectors), vectors.operators) == (len(held), tuple(held))

    def test_a_file_opens_as_a_set_of_one(self, tmp_path):
        """A path to a file is as good as a directory."""
        with open_vectors(write(tmp_path / "a.h5", small_vectors())) as vectors:
            assert [len(file) for file in vectors] == [3]

    def test_an_operator_may_be_in_several_files(self, tmp_path):
        """They come in the order of their names, and each vector is found in its own."""
        write(tmp_path / "b.h5", small_vectors()[:1])
        write(tmp_path / "a.h5", small_vectors()[1:])
        with open_vectors(tmp_path) as vectors:
            assert [file.path.name for file in vectors] == ["a.h5", "b.h5"]
            assert vectors.operators == (OPERATOR,)
            found = small_vectors()[0].case.id
            file, vector = vectors.vector(OPERATOR, found)
            assert (file.path.name, vector.case.id) == ("b.h5", found)
            with pytest.raises(KeyError):
                vectors.vector(OPERATOR, "no such vector")

    def test_a_vector_in_two_files_is_refused(self, tmp_path):
        """Its results would count twice."""
        write(tmp_path / "a.h5", small_vectors())
        write(tmp_path / "b.h5", small_vectors()[1:])
        with pytest.raises(VectorFileError, match=r"b\.h5: vector .* is also in a\.h5"):
            open_vectors(tmp_path)

    def test_a_missing_path_is_one_clear_line(self, tmp_path):
        with pytest.raises(VectorFileError, match=r"none\.h5: no such file"):
            open_vectors(tmp_path / "none.h5")


def test_a_file_of_before_sums_that_overflow_were_told_apart(tmp_path):
    """Its sums in the element type may overflow: it is judged as it was when it was written."""
    made = vector_of(Case("AvgPool-1/a", "AvgPool-1", *large_halves()))
    of_old = [
        replace(outcome, readings=({"accumulator": reading},))
        for outcome in made.values
        for reading, arithmetic in {
            "wider": Arithmetic(0),
            "element-type": Arithmetic.ELEMENT_TYPE | Arithmetic.OVERFLOWS,
        }.items()
        if outcome.arithmetic == arithmetic
    ]
    clauses = {"accumulator": made.clauses["accumulator"]}
    path = write(tmp_path / "old.h5", [replace(made, outcomes=tuple(of_old), clauses=clauses)])
    with h5py.File(path) as file:
        assert file["outcomes/element_type"][...].tolist() == [0, 1]
    with open_vectors(path) as vectors:
        for answer, reading in ((60000, "wider"), (np.inf, "element-type")):
            returned = np.full((1, 1, 2), answer, np.float16)
            report = check(lambda *_, returned=returned: returned, vectors)
            assert report.ok
            assert {each.clause: each.followed for each in report.readings} == {
                "accumulator": reading
            }


def large_halves():
    """Return attributes and inputs of averages of which no float16 holds the sums."""
    attributes = {"kernel": [2], "strides": [2], "pads_begin": [0], "pads_end": [0]}
    return attributes | {"exclude_pad": True}, (np.full((1, 1, 4), 60000, np.float16),)


def test_a_vector_is_found_by_a_part_of_its_id():
    """One is returned; none or several are one line that says how many."""
    with open_vectors() as files:
        one = files.files[0].ids[0]
        assert files.find(one).case.id == one
        assert files.find(one.rpartition("/")[2]).case.id == one
        with pytest.raises(UsageError, match=r"'no such id' matches 0 vectors$"):
            files.find("no such id")
        with pytest.raises(UsageError, match=r"'AvgPool' matches [\d,]+ vectors, \S+ for one"):
            files.find("AvgPool")
