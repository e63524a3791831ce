"""Files from strangers: damaged, crafted or of another kind, each refused with one clear line."""

import contextlib
import json
import os
import random
import signal
import tracemalloc
import zlib
from hashlib import sha256

import h5py
import numpy as np
import pytest
from support.arbitrary_vectors import OPERATOR, plain, small_vectors
from support.effort import one_in

from conformance.errors import VectorFileError
from conformance.process import call_separately
from conformance.vectorfile import (
    VectorFile,
    VectorWriter,
    layout,
    open_vectors,
    suite,
    vector_file,
)

_LARGEST = 8 << 20  # bytes: what opening a small file may allocate at any moment


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Return a small sound file."""
    path = tmp_path_factory.mktemp("sound") / "sound.h5"
    with VectorWriter(path, OPERATOR, header={"seed": 1}) as file:
        for vector in small_vectors(3):
            file.add(vector)
    return path


@pytest.fixture
def path(tmp_path, sound):
    """Return a copy of the sound file to spoil."""
    copy = tmp_path / "spoilt.h5"
    copy.write_bytes(sound.read_bytes())
    return copy


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Let files be read whole, and again as large ones are, piece by piece."""
    if request.param == "large":
        monkeypatch.setattr(vector_file, "_DECODED_ONCE", -1)


@contextlib.contextmanager
def little_memory():
    """Fail if the block allocates more than a small file needs."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < _LARGEST
    finally:
        tracemalloc.stop()


def read(path):
    """Check a file, then read all of its vectors."""
    with VectorFile(path) as file:
        file.check()
        list(file)


def refusal(path):
    """Return the error of opening and reading a file; it is one line and names the file."""
    with little_memory(), pytest.raises(VectorFileError) as caught:
        read(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    assert len(text) < len(str(path)) + 300
    return text


def crash_on_spoilt(paths):
    """End this process as a bug of HDF5 does."""
    if any(path.name == "spoilt.h5" for path in paths):
        os.kill(os.getpid(), signal.SIGSEGV)
    return suite.examine(paths)


def put(file, name, data, **options):
    """Replace a column."""
    data = np.asarray(data, layout.COLUMNS[name].dtype if name in layout.COLUMNS else None)
    if name in file:
        del file[name]
    options = {"chunks": True, "compression": "gzip", "shuffle": True} | options
    file.create_dataset(name, data=data, **(options if data.size else {}))


def seal(file, operator=OPERATOR):
    """Store the digest that is right for the columns as they are."""
    columns = {}
    for name in layout.COLUMNS:
        if name in file:
            data = file[name][...]
            columns[name] = (data.size, sha256(np.ascontiguousarray(data)).hexdigest())
    file.attrs["digest"] = np.bytes_(layout.digest_of(operator, columns))


def with_number(name, index, value):
    """Return a change of one number of a column."""

    def change(file):
        data = file[name][...]
        data[index] = value
        put(file, name, data)

    return change


def with_text(number_column, content):
    """Return a change of the first vector's text in a column."""

    def change(file):
        text = int(file[number_column][0])
        offsets = file["text/offset"][...]
        old = file["text/bytes"][...].tobytes()
        start, stop = offsets[text : text + 2]
        offsets[text + 1 :] += len(content) - (stop - start)
        put(file, "text/bytes", np.frombuffer(old[:start] + content + old[stop:], np.uint8))
        put(file, "text/offset", offsets)

    return change


def test_the_tools_of_these_tests_keep_a_file_sound(path):
    """A column put back as it was, and a digest computed here, make a file that opens."""
    with h5py.File(path, "r+") as file:
        for name in layout.REQUIRED:
            put(file, name, file[name][...])
        with_text("vectors/pattern", b"another pattern")(file)
        seal(file)
    with little_memory(), VectorFile(path) as vectors:
        assert [vector.case.pattern for vector in vectors] == ["another pattern"] * 3


class TestNumbers:
    """Offsets, rows, codes, extents and lengths."""

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (with_number("text/offset", -1, 10**15), "text/offset is not 0 to"),
            (with_number("text/offset", 1, -5), "text/offset is not 0 to"),
            (with_number("text/offset", 3, 0), "text/offset has a step"),
            (with_number("text/offset", 0, 1), "text/offset does not go from 0"),
            (with_number("vectors/id", 0, 10**6), "vectors/id is not 0 to"),
            (with_number("vectors/id", 0, -1), "vectors/id is not 0 to"),
            (with_number("vectors/first_input", 1, 0), "first_input has a step"),
            (with_number("vectors/first_input", 1, -(2**63)), "first_input is not 0 to 6"),
            (with_number("vectors/first_outcome", 1, 2**62), "first_outcome is not 0 to 6"),
            (with_number("vectors/first_expected", 3, 2), "first_expected does not go"),
            (with_number("input_arrays/dtype", 0, 14), "unknown element type 14"),
            (with_number("input_arrays/dtype", 0, 0), "an array does not start where"),
            (with_number("input_arrays/rank", 0, 0), "rank is not 1 to 8"),
            (with_number("input_arrays/rank", 0, 9), "rank is not 1 to 8"),
            (with_number("input_arrays/rank", 0, 3), "beyond the rank is not 0"),
            (with_number("input_arrays/shape", 0, -1), "input_arrays/shape is not 0 to"),
            (with_number("input_arrays/shape", 0, 2**40), "input_arrays/shape is not 0 to"),
            (with_number("input_arrays/shape", slice(0, 4), 2**30), "array has more than"),
            (with_number("input_arrays/shape", slice(0, 4), [2**31 - 1] * 3 + [0]), "more than"),
            (with_number("input_arrays/shape", 0, 2), "an array does not start where"),
            (with_number("expected_arrays/shape", 16, 2), "does not have the 16 elements"),
            (with_number("input_arrays/start", 2, 5), "an array does not start where"),
            (with_number("input_arrays/start", 2, 2**63 - 1), "an array does not start where"),
            (with_number("expected_arrays/start", 0, -4), "an array does not start where"),
            (with_number("outcomes/kind", 0, 3), "outcomes/kind is not 0 to 2"),
            (with_number("outcomes/kind", 0, 1), "not one of its vector's"),
            (with_number("outcomes/expected", 0, 1), "not one of its vector's"),
            (with_number("outcomes/expected", 0, -2), "not one of its vector's"),
            (with_number("outcomes/expected", 1, 0), "not one of its vector's"),
            (with_number("outcomes/element_type", 0, 4), "element_type is not 0 to 3"),
            (with_number("outcomes/readings", 0, 999), "outcomes/readings is not 0 to"),
            (with_number("expected/float32/addends", 0, -3), "addends is not -2 to"),
            (with_number("expected/float32/divisor", 0, -(2**31)), "divisor is not -2147483647 to"),
            (with_number("expected/float32/magnitude", 0, -1.0), "magnitude is not 0.0 to"),
            (with_number("expected/float32/magnitude", 0, np.inf), "magnitude is not 0.0 to"),
            (with_number("expected/float32/magnitude", 0, np.nan), "magnitude is not 0.0 to"),
        ],
    )
    @pytest.mark.usefixtures("size")
    def test_a_number_that_leads_outside_is_refused(self, path, change, what):
        """Whatever the number, and with a right digest, nothing is read or allocated on it."""
        with h5py.File(path, "r+") as file:
            change(file)
            seal(file)
        assert what in refusal(path)

    @pytest.mark.parametrize("count", [-1, 2, 4, 2**24, 2**62])
    def test_a_wrong_count_of_vectors_is_refused(self, path, count):
        """The count is that of the columns."""
        with h5py.File(path, "r+") as file:
            file.attrs["vectors"] = np.int64(count)
        assert "vectors" in refusal(path)

    @pytest.mark.parametrize("name", layout.REQUIRED)
    def test_a_column_cut_short_is_refused(self, path, name):
        """Columns of one table are of one length, and offsets end where the content does."""
        with h5py.File(path, "r+") as file:
            put(file, name, file[name][:-1])
            seal(file)
        refusal(path)

    @pytest.mark.parametrize("name", layout.element_columns("float32"))
    def test_elements_cut_short_are_refused(self, path, name):
        """Every expected element has all its columns."""
        with h5py.File(path, "r+") as file:
            put(file, name, file[name][:-1])
            seal(file)
        refusal(path)


class TestTexts:
    """UTF-8 and JSON."""

    @pytest.mark.parametrize(
        ("column", "content", "what"),
        [
            ("vectors/attributes", b"{", "(attributes)"),
            ("vectors/attributes", b"", "(attributes)"),
            ("vectors/attributes", b"[1]", "Expected `object`"),
            ("vectors/attributes", b'{"kernel":{}}', "got `object` - at"),
            ("vectors/attributes", b'{"kernel":[[1]]}', "got `array` - at"),
            ("vectors/attributes", b'{"kernel":NaN}', "JSON is malformed"),
            ("vectors/attributes", b'{"kernel":1e999}', "Number out of range"),
            ("vectors/attributes", b'{"kernel":"\\ud800"}', "(attributes)"),
            ("vectors/attributes", b'{"kernel":' + b"9" * 9999 + b"}", "(attributes)"),
            ("vectors/attributes", b'{"a":' + b"[" * 100_000, "got `array`"),
            ("vectors/attributes", b'{"a":"\xff"}', "is not UTF-8"),
            ("vectors/clauses", b"[]", "Expected `object`"),
            ("vectors/clauses", b'{"ceil-window":[1]}', "Expected `str`"),
            ("vectors/tags", b'{"a":1}', "Expected `array`"),
            ("vectors/tier", b"enormous", "tier 'enormous'"),
            ("vectors/provenance", b"guessed", "provenance 'guessed'"),
            ("vectors/id", b"two\nlines", "not printable"),
            ("vectors/id", b"", "empty"),
            ("vectors/id", b"AvgPool-1/case/001", "two vectors have the id"),
            ("outcomes/readings", b"[]", "length >= 1"),
            ("outcomes/readings", b'[{"ceil-window":1}]', "Expected `str`"),
        ],
    )
    @pytest.mark.usefixtures("size")
    def test_a_text_of_the_wrong_form_is_refused(self, path, column, content, what):
        """Bad UTF-8, bad JSON, and JSON that is not what the column holds."""
        with h5py.File(path, "r+") as file:
            with_text(column, content)(file)
            seal(file)
        assert what in refusal(path)

    def test_a_text_above_the_limit_is_refused(self, path):
        """One text is a megabyte at most."""
        with h5py.File(path, "r+") as file:
            with_text("vectors/source", b"x" * (layout.MAX_TEXT + 1))(file)
            seal(file)
        assert "text/offset has a step" in refusal(path)

    @pytest.mark.parametrize(
        ("header", "what"), [(b"{", "damaged"), (b"[]", "header"), (b"\xff", "utf-8")]
    )
    def test_a_header_of_the_wrong_form_is_refused(self, path, header, what):
        """The header is a JSON object."""
        with h5py.File(path, "r+") as file:
            file.attrs["header"] = np.bytes_(header)
        assert what in refusal(path)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("package", 1),
            ("tier", ["smoke"]),
            ("seed", "0"),
            ("strength", -1),
            ("max_shapes", None),
            ("part", 1.5),
            ("like", "model.onnx"),
            ("coverage", [1]),
            ("coverage", {"all": 1}),
            ("coverage", {"all": {"strength": 2, "feasible": 9}}),
            ("coverage", {"all": {"strength": "2", "feasible": 9, "covered": 9}}),
        ],
    )
    def test_a_field_of_the_header_that_is_not_of_its_type_is_refused(self, path, field, value):
        """Whoever reads it relies on its type; the line names the field."""
        with h5py.File(path, "r+") as file:
            header = json.dumps({field: value})
            file.attrs["header"] = np.bytes_(header.encode())
            file.attrs["header_digest"] = np.bytes_(layout.header_digest_of(OPERATOR, header))
        assert f"$.{field}" in refusal(path)

    def test_a_header_may_have_other_fields(self, path):
        """They say what made the file, in the words of whoever made it."""
        with h5py.File(path, "r+") as file:
            del file.attrs["header_digest"]
            file.attrs["header"] = np.bytes_(b'{"made_on":[1,{}],"tier":"smoke"}')
        with VectorFile(path) as file:
            assert file.header == {"made_on": [1, {}], "tier": "smoke"}


def _external(file):
    del file["vectors/id"]
    file.create_dataset("vectors/id", (3,), "<i4", external=[("/etc/passwd", 0, 12)])


def _virtual(file):
    source = h5py.VirtualSource("other.h5", "vectors/id", shape=(3,))
    virtual = h5py.VirtualLayout(shape=(3,), dtype="<i4")
    virtual[:] = source
    del file["vectors/id"]
    file.create_virtual_dataset("vectors/id", virtual)


def _link(link):
    def change(file):
        del file["vectors/id"]
        file["vectors/id"] = link

    return change


def _bomb_chunk(file):
    """Store a chunk that inflates to a thousand times what it declares."""
    del file["text/bytes"]
    column = file.create_dataset(
        "text/bytes", (1 << 17,), "u1", chunks=(1 << 17,), compression="gzip", shuffle=True
    )
    column.id.write_direct_chunk((0,), zlib.compress(bytes(100 << 20), 9))


def _short_chunk(file):
    """Store a chunk that inflates to less than it declares."""
    column = file["text/bytes"]
    column.id.write_direct_chunk((0,), zlib.compress(b"short"))


def _unfiltered_chunk(file):
    column = file["text/bytes"]
    column.id.write_direct_chunk((0,), bytes(column.chunks[0]), filter_mask=3)


def _claim(name, length, **options):
    """Return a change that declares a column with nothing stored."""

    def change(file):
        del file[name]
        file.create_dataset(name, (length,), layout.COLUMNS[name].dtype, **options)

    return change


def _typed(name, data, **options):
    def change(file):
        del file[name]
        file.create_dataset(name, data=data, **options)

    return change


def _filtered(*filters):
    """Return a change that gives a column filters, each as the methods of HDF5 take it."""

    def change(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((3,))
        for code, values in filters:
            creation.set_filter(code, h5py.h5z.FLAG_OPTIONAL, values)
        del file["vectors/id"]
        space = h5py.h5s.create_simple((3,))
        h5py.h5d.create(file["vectors"].id, b"id", h5py.h5t.STD_I32LE, space, creation)

    return change


def _deep(file):
    group = file["expected"]
    for _ in range(2000):
        group = group.create_group("g")


_UNKNOWN_FILTER, _DEFLATE = (32001, (1, 2, 3)), (h5py.h5z.FILTER_DEFLATE, (9,))
_CHUNKED = {"chunks": (1 << 14,), "compression": "gzip"}


class TestStructure:
    """What kinds of HDF5 objects there are, and how they are stored."""

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (_external, "stored in another file"),
            (_virtual, "stored in another file"),
            (_link(h5py.SoftLink("/vectors/source")), "is a link"),
            (_link(h5py.ExternalLink("other.h5", "/vectors/id")), "is a link"),
            (_bomb_chunk, "text/bytes: a chunk is cut short or longer than declared"),
            (_short_chunk, "text/bytes: a chunk has 5 bytes"),
            (_unfiltered_chunk, "text/bytes: a chunk skips a filter"),
            (_claim("text/bytes", 10**12, **_CHUNKED), "more than the file can hold"),
            (_claim("text/bytes", 10**6, **_CHUNKED), "lacks chunks"),
            (_claim("text/bytes", 2**63 - 1, **_CHUNKED), "more than the file can hold"),
            (_claim("text/bytes", 10**12), "not stored in chunks"),
            (_claim("text/bytes", 10, chunks=(2 << 20,), maxshape=(None,)), "has chunks above"),
            (_typed("vectors/id", [0, 1, 2]), "vectors/id is not of type int32"),
            (_typed("vectors/id", np.zeros(3, ">i4")), "vectors/id is not of type int32"),
            (_typed("vectors/id", ["a", "b", "c"]), "vectors/id is not of type int32"),
            (_typed("vectors/id", np.zeros(3, "i4,f8")), "vectors/id is not of type int32"),
            (_typed("vectors/id", np.zeros(3, "V4000")), "vectors/id is not of type int32"),
            (_typed("vectors/id", None, shape=3, dtype=h5py.ref_dtype), "is not of type int32"),
            (_typed("vectors/id", None, shape=3, dtype=h5py.regionref_dtype), "not of type int32"),
            (_typed("vectors/id", None, shape=3, dtype=h5py.vlen_dtype("<i4")), "not of type"),
            (_typed("vectors/id", np.zeros((3, 1), "<i4")), "has not one axis"),
            (_typed("vectors/id", h5py.Empty("<i4")), "has not one axis"),
            (_filtered(_UNKNOWN_FILTER), "filters other than"),
            (_filtered(*[_DEFLATE] * 30), "filters other than"),
            (_typed("vectors/id", np.int32(3)), "has not one axis"),
            (_typed("vectors/id", np.zeros(3, "<i4"), fletcher32=True), "filters other than"),
            (_typed("vectors/id", np.zeros(3, "<i4"), compression="lzf"), "filters other than"),
            (lambda file: file.__delitem__("vectors/tier"), "column vectors/tier is missing"),
            (lambda file: file.__delitem__("expected"), "expected/float32/values does not have"),
            (lambda file: file.__delitem__("expected/float32/divisor"), "divisor is missing"),
            (lambda file: file.__setitem__("extra", [1]), "unexpected dataset 'extra'"),
            (lambda file: file.create_group("a\nb"), r"unexpected object 'a\nb'"),
            (lambda file: file.create_group("inputs/complex64"), "unexpected object"),
            (lambda file: file.__setitem__("vectors/vectors", file), "unexpected object"),
            (lambda file: file.__setitem__("kind", np.dtype("i4")), "unexpected object 'kind'"),
            (lambda file: file.move("inputs", "x" * 60_000), "unexpected object 'xxxx"),
            (lambda file: file.__setitem__("x" * 60_000, [1]), "unexpected dataset 'xxxx"),
            (lambda file: file.__setitem__("x" * 60_000, h5py.SoftLink("/x")), "is a link"),
            (lambda file: file.__setitem__("g", h5py.SoftLink("/g")), "'g' is a link"),
            (_deep, "unexpected object 'expected/g'"),
            (lambda file: [file.create_group(f"g{i}") for i in range(200)], "members"),
        ],
    )
    def test_an_unexpected_structure_is_refused(self, path, change, what):
        """Nothing leads out of the file, hides, or takes memory for what is not there."""
        with h5py.File(path, "r+") as file:
            change(file)
        assert what in refusal(path)

    @pytest.mark.parametrize(
        ("name", "value", "what"),
        [
            ("format", np.bytes_("something else"), "not a file of pooling-conformance vectors"),
            ("format", "text of variable length", "attribute format is not a string of fixed"),
            ("format", np.int64(1), "attribute format is not a string of fixed"),
            ("format", h5py.Empty("S8"), "attribute format is not a scalar"),
            ("header", np.bytes_(b" " * 64_000), "attribute header is not a string of fixed"),
            ("header", np.bytes_(b" " * 10**6), "attribute header is not a string of fixed"),
            ("format_version", np.int64(2), "format version 2; this reader knows 1"),
            ("format_version", np.int32(1), "format_version is not a 64-bit integer"),
            ("format_version", np.ones(2, np.int64), "format_version is not a scalar"),
            ("operator", np.bytes_("AvgPool-99"), "unknown operator 'AvgPool-99'"),
            ("complete", np.int64(0), "was not finished"),
            ("extra", np.int64(0), "unexpected attributes"),
            ("digest", np.bytes_("0" * 64), "digest does not match"),
        ],
    )
    def test_a_wrong_attribute_is_refused(self, path, name, value, what):
        """The root says what the file is, and only that."""
        with h5py.File(path, "r+", libver="latest") as file:
            file.attrs[name] = value
        assert what in refusal(path)

    def test_any_number_of_attributes_is_refused(self, path):
        """None but those that are known is looked at."""
        with h5py.File(path, "r+", libver="latest") as file:
            for number in range(2000):
                file.attrs[f"a{number}"] = file["vectors"].ref
        assert "unexpected attributes" in refusal(path)

    def test_a_reference_for_a_text_is_refused(self, path):
        """Nothing is followed."""
        with h5py.File(path, "r+") as file:
            file.attrs.create("header", file["vectors"].ref, dtype=h5py.ref_dtype)
        assert "attribute header is not a string of fixed length" in refusal(path)

    @pytest.mark.parametrize("name", ["format", "complete", "digest", "vectors"])
    def test_a_missing_attribute_is_refused(self, path, name):
        """A file that was cut off before its last line is not a vector file."""
        with h5py.File(path, "r+") as file:
            del file.attrs[name]
        assert f"attribute {name} is missing" in refusal(path)

    @pytest.mark.usefixtures("size")
    def test_a_changed_header_is_refused(self, path):
        """It has a digest of its own; files of before have none, and are read."""
        with h5py.File(path, "r+") as file:
            file.attrs["header"] = np.bytes_(b'{"seed":2}')
        assert "the digest does not match the header" in refusal(path)
        with h5py.File(path, "r+") as file:
            del file.attrs["header_digest"]
        with VectorFile(path) as file:
            assert file.header == {"seed": 2}

    def test_changed_content_is_refused(self, path):
        """A value other than the one that was written does not match the digest."""
        with h5py.File(path, "r+") as file:
            with_number("inputs/float32", 0, 5)(file)
        assert "digest does not match" in refusal(path)


class TestOtherFiles:
    """Files that are not vector files at all."""

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"\0" * 4096])
    def test_a_file_that_is_not_hdf5_is_refused(self, tmp_path, content):
        path = tmp_path / "a.h5"
        path.write_bytes(content)
        refusal(path)

    def test_a_file_that_starts_with_something_else_is_refused(self, path):
        """HDF5 would look for a file behind it."""
        path.write_bytes(bytes(512) + path.read_bytes())
        assert "not an HDF5 file" in refusal(path)

    def test_another_hdf5_file_is_refused(self, tmp_path):
        """One of somebody else's."""
        path = tmp_path / "a.h5"
        with h5py.File(path, "w") as file:
            file["weights"] = np.zeros(4)
        assert "attribute format is missing" in refusal(path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path):
        """Only regular files are opened."""
        path = tmp_path / "a.h5"
        os.mkfifo(path)
        assert "not a regular file" in refusal(path)

    def test_a_directory_is_refused(self, tmp_path):
        """VectorFile opens one file."""
        assert "not a regular file" in refusal(tmp_path)


class TestCrash:
    """Files that end the process in which HDF5 reads them."""

    def test_another_process_reads_first(self, path, monkeypatch):
        """A crash there is one line that names the file; sound files beside it make none."""
        path.with_name("sound.h5").write_bytes(path.read_bytes())
        monkeypatch.setattr(suite, "examine", crash_on_spoilt)
        with pytest.raises(VectorFileError) as caught:
            open_vectors(path.parent)
        assert str(caught.value).startswith(f"{path}: damaged")
        assert "crashed with signal SIGSEGV (11)" in str(caught.value)

    def test_what_it_refuses_is_refused(self, path):
        """Its error is the one of a reader here."""
        path.write_bytes(b"")
        with pytest.raises(VectorFileError, match="not an HDF5 file"):
            open_vectors(path)

    def test_shipped_files_are_known(self, monkeypatch):
        """No process is started for them."""
        monkeypatch.setattr(suite, "call_separately", None)
        assert len(open_vectors()) > 0


class TestSwap:
    """Files that are replaced after the other process has looked at them."""

    @pytest.fixture
    def swap(self, path, monkeypatch):
        """Return a function after which files are opened, each changed before it is read here.

        HDF5 is asked nothing here.
        """

        def opened(change):
            def then_changed(*arguments, **options):
                files = call_separately(*arguments, **options)
                monkeypatch.setattr(h5py, "File", lambda *_, **__: pytest.fail("HDF5 is asked"))
                change(path)
                return files

            monkeypatch.setattr(suite, "call_separately", then_changed)
            with little_memory(), open_vectors(path) as files:
                return plain(list(files[0]))

        return opened

    def test_hdf5_is_asked_by_the_other_process_alone(self, swap):
        """So whatever a file becomes, no bug of HDF5 is met here."""
        assert swap(lambda path: None) == plain(small_vectors(3))

    @pytest.mark.parametrize(
        "change",
        [
            lambda path: path.write_bytes(bytes(path.stat().st_size)),
            lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" * (path.stat().st_size // 8)),
            lambda path: path.write_bytes(random.Random(0).randbytes(path.stat().st_size)),
            lambda path: os.truncate(path, 5000),
            lambda path: path.unlink(),
            lambda path: (path.unlink(), path.mkdir()),
            lambda path: (path.unlink(), os.mkfifo(path)),
            lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
        ],
    )
    def test_what_is_there_then_is_refused(self, swap, path, change):
        """With one line, as anything else."""
        with pytest.raises(VectorFileError) as caught:
            swap(change)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)

    def test_a_sound_file_is_refused_too(self, swap, tmp_path):
        """It is not the one that was looked at."""
        other = tmp_path / "other"
        with VectorWriter(other, OPERATOR, header={"seed": 1}) as file:
            file.extend(small_vectors(4)[1:])
        with pytest.raises(VectorFileError):
            swap(other.replace)


class TestContentUnread:
    """Files of operators that nobody asked for."""

    @pytest.fixture
    def other(self, path):
        """Return the operator of a sound file beside one whose digest is wrong."""
        with h5py.File(path, "r+") as file:
            file.attrs["digest"] = np.bytes_("0" * 64)
        name = "ONNX-GlobalMaxPool-22"
        shipped = suite.shipped_suite() / f"{name}.h5"
        path.with_name("sound.h5").write_bytes(shipped.read_bytes())
        return name

    def test_nothing_is_refused_that_is_not_read(self, path, other):
        """The vectors asked for are there, and the others are counted."""
        with open_vectors(path.parent, unchecked=True) as files:
            (sound,) = (file for file in files if file.operator == other)
            assert len(list(sound)) == len(sound)
            assert sum(map(len, files)) == len(sound) + 3

    @pytest.mark.parametrize("count", [-1, 2, 2**24, 2**62])
    @pytest.mark.usefixtures("other")
    def test_a_count_of_vectors_is_right_before(self, path, count):
        """Whoever makes room for them does not ask for their content."""
        with h5py.File(path, "r+") as file:
            file.attrs["vectors"] = np.int64(count)
        with little_memory(), pytest.raises(VectorFileError, match="vectors, which have 3 ids"):
            open_vectors(path.parent, unchecked=True)

    @pytest.mark.parametrize("use", [list, lambda file: file.ids, lambda file: file.id_hashes])
    def test_the_content_is_checked_before_its_first_use(self, path, other, use):
        """And before each later one, for as long as it is refused."""
        with open_vectors(path.parent, unchecked=True) as files:
            (spoilt,) = (file for file in files if file.operator != other)
            for _ in range(2):
                with pytest.raises(VectorFileError, match=r"spoilt.*digest does not match"):
                    use(spoilt)


class TestDamage:
    """Sound files after an accident."""

    def _opens_equal_or_not(self, path, content, vectors):
        path.write_bytes(content)
        try:
            with VectorFile(path) as file:
                assert plain(list(file)) == vectors
        except VectorFileError:
            return False
        return True

    def test_a_file_cut_off_anywhere_is_refused(self, tmp_path, sound):
        """No truncation reads as a complete file."""
        whole = sound.read_bytes()
        vectors = plain(small_vectors(3))
        lengths = random.Random(0).sample(range(len(whole)), 300)
        opened = [
            length
            for length in lengths
            if self._opens_equal_or_not(tmp_path / "a.h5", whole[:length], vectors)
        ]
        assert opened == []

    @pytest.mark.parametrize("seed", one_in(3, range(3)))
    def test_damage_is_found_or_harmless(self, tmp_path, sound, seed):
        """Flipped bits and overwritten stretches give a clear error or the same vectors."""
        draw = random.Random(seed)
        vectors = plain(small_vectors(3))
        refused = 0
        for _ in range(350):
            content = bytearray(sound.read_bytes())
            place = draw.randrange(len(content))
            if draw.random() < 0.5:
                content[place] ^= 1 << draw.randrange(8)
            else:
                length = draw.randrange(1, 64)
                content[place : place + length] = draw.choice(
                    [draw.randbytes(length), bytes(length), b"\xff" * length]
                )
            refused += not self._opens_equal_or_not(tmp_path / "a.h5", content, vectors)
        assert refused > 175
