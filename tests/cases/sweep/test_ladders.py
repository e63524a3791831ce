"""Cases in which one dimension is large are small in all others."""

import pytest
from support.made_up import MADE_UP, registered

from conformance.cases.sweep.ladders import ladders


@pytest.mark.parametrize("name", MADE_UP)
def test_operators_of_packages_have_ladders_of_what_they_have(name):
    """All follows from roles and traits; half types have windows whose bound says something."""
    with registered():
        found = list(ladders(MADE_UP[name]))
    assert {spec.dtype for spec in found} <= set(MADE_UP[name].dtypes)
    assert len({spec.tags for spec in found}) > 40
