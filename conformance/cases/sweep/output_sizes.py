"""Cases of windows whose number a caller says, though it follows: `outputSizes` of WebNN.

Each number is smaller than the stride, but for one row: whether others are valid is in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.sweep import suited
from conformance.cases.sweep.layouts import Row
from conformance.cases.sweep.rules import NO_WINDOWS
from conformance.cases.sweep.sweep_model import build, case_of, case_of_axes
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.vector import Case

_DOWN = Axis(9, 3, 4, 1, 0, fixed_output=2)
_UP = _DOWN._replace(fixed_output=3)
_EXACT = Axis(10, 2, 4, fixed_output=3)
_PADDED = Axis(5, 2, 4, 1, 0, fixed_output=2)  # rounded up where no padding counts
_DILATED = Axis(9, 2, 6, 0, 1, dilations=2, fixed_output=2)
_DENSE = Axis(4, 2, 1, fixed_output=3)  # not smaller than the stride
_ROWS = (
    Row((1, 1), (_DOWN, _EXACT), ceil=True),
    Row((1, 1), (_UP, _UP)),
    Row((1, 2), (_EXACT, _UP), channels_last=True),
    Row((1, 1), (_EXACT, _EXACT._replace(size=6, fixed_output=2))),
    Row((1, 1), (_DILATED, _PADDED)),
    Row((1, 1), (_DENSE, _DENSE)),
    Row((1, 1), (_DOWN, _DOWN), ceil=True),
)


def output_sizes(operator: Operator, seed: int) -> Iterator[Case]:
    """Yield the cases, of an operator with windows whose caller may say their number."""
    attribute = operator.attribute("fixed_output")
    if attribute is None or not operator.has_windows:
        return
    for turn, row in enumerate(_ROWS):
        dtype = operator.dtypes[turn % len(operator.dtypes)]
        pattern = suited.pattern_for(("index", "normals")[turn // 2 % 2], dtype)
        spec = case_of_axes(
            operator, row.planes, row.axes, row.words, dtype, pattern, tags=("output sizes",)
        )
        # The first tells whether padding counts.
        yield (case := build(spec, seed=seed, tier="standard" if turn else "smoke"))
    yield case_of(
        operator.name,
        {**case.attributes, attribute.key: [_DOWN.fixed_output, _UP.fixed_output]},
        case.inputs,
        pattern="invalid",
        source=f"{operator.document}, {attribute.section}",
        tags=("invalid", f"{attribute.key}: {NO_WINDOWS}"),
    )
