"""Scripts that show a failure again."""

import contextlib
import io

import pytest
from support.fakes import check
from support.random_cases import noise
from support.report_samples import PLAIN, case, write

from conformance.operators import vector_of
from conformance.report.repro import script
from conformance.vector import Case

BACKEND = """
from conformance.backends import load_backend
reference = load_backend("numpy")
def doubled(operator, inputs, attributes):
    return reference(operator, inputs, attributes) * 2
def cropped(operator, inputs, attributes):
    return reference(operator, inputs, attributes)[..., :1]
def narrowed(operator, inputs, attributes):
    return reference(operator, inputs, attributes).astype("float16")
def refusing(operator, inputs, attributes):
    raise IndexError("out of range")
"""


@pytest.fixture
def backend(tmp_path):
    """Return a function from a name in the backend file above to its specification."""
    path = tmp_path / "broken.py"
    path.write_text(BACKEND)
    return lambda name: f"{path}:{name}"


def failing(spec, vector):
    """Return the result of the one vector, which the backend fails."""
    from conformance.backends import load_backend  # noqa: PLC0415 - the test's subject comes first

    (result,) = check(load_backend(spec), [vector]).results
    assert result.verdict in {"mismatch", "error"}
    return result


def said(result):
    """Return what the script of a doubled output prints."""
    return f"{result.worst.got} instead of {result.worst.expected}\n"


def run(text):
    """Run a script and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "script", "exec"), {})
    return printed.getvalue()


def test_a_wrong_type_is_shown_by_a_call_of_one_cell_with_the_same_words(backend):
    vector = vector_of(case("a", PLAIN | {"auto_pad": "same_lower"}, 1, 1, 4, 4))
    spec = backend("narrowed")
    text = script(vector.case, failing(spec, vector), backend=spec)
    assert "data = np.array([[[0]]], np.float32)" in text
    assert '"auto_pad": "same_lower"' in text
    assert run(text) == "float16 (1, 1, 1)\n"
    assert len(text.splitlines()) <= 12


def test_a_small_case_is_written_out(backend):
    """The script needs no vector file and prints what came instead of what."""
    vector = vector_of(case("a", PLAIN, 1, 1, 4, 4))
    spec = backend("doubled")
    result = failing(spec, vector)
    text = script(vector.case, result, backend=spec, path="never-read.h5")
    assert "open_vectors" not in text
    assert run(text) == said(result)


def test_a_large_case_is_read_from_its_file(backend, tmp_path):
    """More than 200 elements are not written out."""
    vector = vector_of(case("a", PLAIN, 1, 1, 20, 20))
    path = write(tmp_path / "AvgPool-1.h5", [vector])
    spec = backend("doubled")
    result = failing(spec, vector)
    text = script(vector.case, result, backend=spec, path=str(path))
    assert len(text.splitlines()) < 12
    assert run(text) == said(result)


def test_a_large_case_in_memory_is_written_out_all_the_same(backend):
    """Without a file there is no other way."""
    vector = vector_of(case("a", PLAIN, 1, 1, 20, 20))
    spec = backend("doubled")
    result = failing(spec, vector)
    assert run(script(vector.case, result, backend=spec)) == said(result)


def test_a_wrong_shape_is_printed(backend):
    """The script prints the shape that came and says which one should."""
    vector = vector_of(case("a", PLAIN, 1, 1, 4, 4))
    spec = backend("cropped")
    text = script(vector.case, failing(spec, vector), backend=spec)
    assert text.endswith("# shape (1, 1, 2, 1) instead of (1, 1, 2, 2)")
    assert run(text) == "float32 (1, 1, 2, 1)\n"


def test_an_error_is_raised_again(backend):
    """The script ends in the exception the checker saw."""
    vector = vector_of(case("a", PLAIN, 1, 1, 4, 4))
    spec = backend("refusing")
    text = script(vector.case, failing(spec, vector), backend=spec)
    with pytest.raises(IndexError, match="out of range"):
        run(text)


def test_lines_fit_a_terminal():
    """Numbers and attributes are folded before column 80."""
    data = noise((1, 1, 10, 10), "float64", 0)
    attributes = {f"attribute_{i}": list(range(12)) for i in range(5)}
    vector = vector_of(Case("a", "AvgPool-1", attributes, (data,)))
    result = check(lambda *_: data, [vector]).results[0]
    text = script(vector.case, result, backend="numpy")
    assert max(len(line) for line in text.splitlines() if not line.startswith("#")) < 80
