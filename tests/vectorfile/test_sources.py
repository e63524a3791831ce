"""Which vectors of a source are run, and in which parts."""

import numpy as np
import pytest
from support.fakes import vector

from conformance.vectorfile.sources import InMemory, Selected


@pytest.mark.parametrize("size", [1, 3, 7, 40, 99])
def test_parts_share_what_is_called_again(size):
    """However many there are, as many vectors of a file are called again as without."""
    source = InMemory("AvgPool-1", [vector(id=str(number)) for number in range(40)])
    whole = Selected.of(source, np.arange(40))
    parts = whole.split(size)
    assert sum(part.failing_again for part in parts) == whole.failing_again
    for name in ("numbers", "again", "varied"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert joined.tolist() == getattr(whole, name).tolist()
