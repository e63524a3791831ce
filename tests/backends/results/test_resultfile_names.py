"""Names of what belongs to a vector."""

from hypothesis import given
from hypothesis import strategies as st

from conformance.backends.results import id_of, path_of

IDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("./%~ ["), min_size=1
)


@given(IDS)
def test_a_path_stands_for_its_id(vector_id):
    """Decoding undoes encoding."""
    assert id_of(path_of(vector_id)) == vector_id


@given(IDS)
def test_a_path_stays_in_its_folder(vector_id):
    """No part is empty, the folder itself or the one above, and every character is plain."""
    path = path_of(vector_id)
    assert {"", ".", ".."}.isdisjoint(path.split("/"))
    assert path.isascii()
    assert "\\" not in path


def test_an_id_of_the_suite_stays_readable():
    """Letters, digits, points and slashes are what they were."""
    assert path_of("AvgPool-1/float32/k[2, 0]-x") == "AvgPool-1/float32/k%5B2%2C%200%5D-x"
