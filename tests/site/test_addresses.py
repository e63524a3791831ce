"""Names of files and addresses of pages, whatever the names of engines and vectors."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.site.addresses import INDEX, Addresses, file_name


@given(st.text())
def test_every_text_is_a_safe_name(text):
    """It is one name in a folder, without signs that mean something anywhere."""
    assert re.fullmatch(r"[a-z0-9][a-z0-9._+-]*", file_name(text))
    assert len(file_name(text)) <= 100


@pytest.mark.parametrize("name", ["torch", "2.13.0+cpu", "nan-in-maximum"])
def test_a_safe_name_stays(name):
    """Addresses of engines and clauses can be guessed."""
    assert file_name(name) == name


@pytest.mark.parametrize(
    ("one", "other"), [("torch", "Torch"), ("a/b", "a:b"), ("a" * 99, "a" * 98), ("..", "")]
)
def test_other_texts_have_other_names(one, other):
    """Also where the same is left of them, or a file system takes them for the same."""
    assert file_name(one) != file_name(other)


def test_an_address_is_relative_to_the_page_that_has_the_link():
    """A page in a folder goes up first; a page has no address of its own."""
    addresses = Addresses()
    page = addresses.add("engines", "torch", of=["torch 2.13.0"])
    assert addresses.seen_from(INDEX)["torch 2.13.0"] == "engines/torch.html"
    assert addresses.seen_from("clauses/a.html")["torch"] == "../engines/torch.html"
    assert addresses.seen_from(page)[INDEX] == f"../{INDEX}"
    assert "torch" not in addresses.seen_from(page)


def test_a_path_leads_to_its_page_whatever_else_has_that_name():
    """An engine called index.html takes no link from the first page."""
    addresses = Addresses()
    addresses.add("engines", INDEX)
    assert addresses.seen_from("clauses/a.html")[INDEX] == f"../{INDEX}"
