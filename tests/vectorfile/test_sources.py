"""Which vectors of a source are run, and in which parts."""

import numpy as np
import pytest
from support.fakes import vector

from conformance.vectorfile.sources import InMemory, chosen


@pytest.mark.parametrize("count", [2, 3, 8, 40])
def test_shards_share_what_is_called_again(count):
    """However many there are, some as many vectors of a file are called again as without."""
    source = InMemory("AvgPool-1", [vector(id=str(number)) for number in range(400)])
    (whole,) = chosen([source], None, None, "standard")
    shards = [
        chosen([source], None, None, "standard", f"{number}/{count}")[0]
        for number in range(1, count + 1)
    ]
    assert sorted(np.concatenate([shard.numbers for shard in shards])) == whole.numbers.tolist()
    for name in ("again", "varied"):
        most = len(getattr(whole, name))
        assert most / 2 <= sum(len(getattr(shard, name)) for shard in shards) <= most + count
    failing = sum(shard.failing_again for shard in shards)
    assert whole.failing_again <= failing < whole.failing_again + count
