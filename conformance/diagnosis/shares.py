"""How much work each part of a search for causes may be, in the steps of `conformance.budget`."""

from __future__ import annotations

SEARCH = 200_000
"""For faults of the catalogue that reproduce failures of one operator."""
STATE = 300_000
"""For failures that depend on earlier calls: a hundred fresh starts, of which few have none."""
AGAIN = 20_000
"""For calling failures again."""
EXPERIMENTS = 240_000
"""For all experiments on causes of one operator, at most."""
_AT_LEAST, _A_FAILURE = 40_000, 4_000
"""For experiments on one failure, and for each further one."""
OF_A_CASE = 60_000
"""The same, where each failing case of many is looked into: in fuzzing."""
CAUSE = 50_000
"""Of these, for one supposed cause."""
FRUITLESS = 15_000
"""Of these, until it shows on some case."""
INSTEAD = 40_000
"""For what comes instead of right values, in failures of a rule."""
LEFT = 60_000
"""For faults that reproduce what refuted causes leave over."""
SMALLEST = 20_000
"""For a small case that shows a cause."""


def of_experiments(failures: int) -> int:
    """Return the work of experiments on so many failures of one operator."""
    return _AT_LEAST + _A_FAILURE * failures
