"""What suits an operator, asked by roles and traits: types, patterns, words, numbers of axes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import product
from typing import Any

from conformance.cases.sweep.covering import Level, Row, constraint
from conformance.cases.sweep.patterns import (
    AVERAGE_PATTERNS,
    INTEGER_PATTERNS,
    MAXIMUM_PATTERNS,
    NORM_PATTERNS,
    OF_INTEGERS,
)
from conformance.cases.sweep.sweep_model import (
    ABSENT,
    CaseSpec,
    case_of_axes,
    required_words,
)
from conformance.dtypes import FLOATS, FLOATS8, INTEGERS, WIDE_FLOATS, float_format
from conformance.operators.attributes import (
    MEANINGS,
    SCALARS,
    SCALES,
    WORDS,
    ZERO_POINTS,
    Attribute,
    Role,
)
from conformance.operators.axis import Axis
from conformance.operators.operator import Operator
from conformance.operators.params import UNSAID
from conformance.reference.bound import is_meaningful
from conformance.vector import Tier

Factors = dict[str, tuple[Level, ...]]

_INTEGERS = ("int8", "uint8", "int32", "int64")
_MOST_AXES = 4  # where a document sets no limit
FEW: Factors = {
    "dtype": ("float16", "bfloat16", "float32", "int8", "int32"),
    "kernel": ("one", "even", "odd", "input", "large"),
    "padding": ("none", "equal", "begin", "end-larger", "above-stride", "kernel"),
    "width": ("1", "2-3", "4-7", "16-19"),
    "alike": ("nothing", "kernel-and-stride"),
    "batch": (1, 2),
    "channels": (1, 3, 17),
    "pattern": (
        *("integers", "normals", "negative", "large"),
        *("subnormals", "nan", "infinity", "all-minus-infinity"),
    ),
}
"""Of some factors, the levels of operators that have few: of each kind of number, one or two.

The pattern that shows which cells are read comes besides.
"""
_FEWER: Factors = {
    "kernel": ("one", "even", "odd", "input"),
    "channels": (1, 17),
    "pattern": ("index", "impulses", "normals", "negative", "integers"),
}
"""The same of operators of one number of axes, which repeat what others of a document have."""
_BRIEF: Factors = {
    "width": ("1", "2-3", "4-7"),
    "gradient": ("names", "negative", "large", "nan"),
}
"""The same of those that are to be brief, see `is_brief`."""
GRADIENTS = (
    *("names", "impulses", "normals", "negative", "cancellation"),
    *("large", "subnormals", "nan", "infinity"),
)
"""Patterns of the gradient that an operator takes which is one."""
OF_GRADIENTS: dict[str, tuple[str, ...]] = {
    "average": ("normals", "nan"),
    "maximum": ("index", "integers", "negative", "nan", "all-minus-infinity"),
    "norm": ("negative", "integers"),
}
"""Patterns of the data beside them: of averages they do not matter, and those of norms are around
one, since powers that leave the range of a type have no gradient."""
EXPONENTS = (1, 2, 3, 5)
"""Exponents of norms: no power at all, a square, and odd ones, whose signs would show."""
DIVISORS = (1, 3, 4, 300)
"""Divisors that are given: none at all, one that rounds, one that does not, and a large one."""
ZERO_POINTS_OF_BYTES = (0, 3, -128, 127)
"""Zero points: none, one that is odd, and the ends of int8."""
APART: tuple[Role, ...] = ("channels_last", "activation", "accumulator")
"""Words that have cases of their own: what they do has little to do with windows."""
PLAIN = {**UNSAID, "pads": 0, "fixed_output": 0}
"""What lists of numbers are, by role, where a document has no attribute for them."""


def is_brief(operator: Operator) -> bool:
    """Say whether it is a gradient of p-norms of so many axes: those of any number have all cases.

    Roots fill the digits of wide types, so that these files are large for what they add.
    """
    return operator.is_gradient and operator.rank is not None and "exponent" in operator.roles


def kind_tier(operator: Operator) -> Tier:
    """Return the tier of kinds that one vector shows: smoke where an operator has no other."""
    return "smoke" if operator.levels == "least" else "standard"


def axes(operator: Operator) -> tuple[int, ...]:
    """Return the numbers of spatial axes that are swept."""
    fewest, most = operator.axes
    return tuple(range(fewest, max(fewest, min(most or _MOST_AXES, _MOST_AXES)) + 1))


def floats(operator: Operator) -> tuple[str, ...]:
    """Return the floating-point types that are swept; all types of an operator if it has none."""
    return tuple(name for name in WIDE_FLOATS if name in operator.dtypes) or operator.dtypes


def types(operator: Operator) -> tuple[str, ...]:
    """Return the element types that are swept; averages of integers are special cases."""
    if operator.rounds_integers:
        return tuple(name for name in operator.dtypes if name not in FLOATS8)
    integers = () if operator.reduction.sums else _INTEGERS
    also = (name for name in integers if name in operator.dtypes)
    return tuple(dict.fromkeys((*floats(operator), *also)))


def settled_types(operator: Operator) -> list[str]:
    """Return the element types, but for floats of 8 bits, of which a document says the values."""
    integers = INTEGERS if operator.settles_integers else ()
    return [name for name in (*WIDE_FLOATS, *integers) if name in operator.dtypes]


def patterns(operator: Operator) -> tuple[str, ...]:
    """Return the data patterns that can show a fault of a reduction."""
    if operator.forward is not None:
        return OF_GRADIENTS[operator.forward.reduction.name]
    if operator.reduction.powers:
        return NORM_PATTERNS
    if set(FLOATS).isdisjoint(operator.dtypes):
        return INTEGER_PATTERNS
    return AVERAGE_PATTERNS if operator.reduction.sums else MAXIMUM_PATTERNS


def pattern_for(pattern: str, dtype: str) -> str:
    """Return a pattern that a type can hold: the given one, or else small integers."""
    return pattern if dtype in FLOATS or pattern in OF_INTEGERS else "integers"


def positions(operator: Operator) -> str:
    """Return the pattern that shows which cells are read, with a narrow bound if they sum."""
    if operator.is_gradient:
        return patterns(operator)[0]
    sums_numbers = operator.reduction.sums and not set(FLOATS).isdisjoint(operator.dtypes)
    return "impulses" if sums_numbers else "index"


def holds(dtype: str, pattern: str) -> bool:
    """Say whether an element type can hold a pattern."""
    if dtype not in FLOATS:
        return pattern in OF_INTEGERS
    if "infinit" in pattern and not float_format(dtype).has_infinity:
        return False
    return pattern != "extremes" and (dtype != "bfloat16" or pattern != "overflow")


HELD = constraint("patterns an element type can hold; float32 is no wider than bfloat16", holds)
OTHERS = constraint(
    "one axis has no others", lambda axes, others: (axes == 1) == (others == "none")
)


def factors(operator: Operator, lists: Factors, geometry: Factors) -> Factors:
    """Return the factors of a sweep: those of every operator, its `lists` and its `geometry`."""
    every = {
        "axes": axes(operator),
        "dtype": types(operator),
        **lists,
        **word_factors(operator),
        **_scalar_factors(operator),
        **geometry,
        "pattern": patterns(operator),
    }
    if operator.is_gradient:
        every["gradient"] = GRADIENTS
    if operator.levels == "all":
        return every
    kept = {**FEW, "pattern": (positions(operator), *FEW["pattern"])}
    if operator.rank is not None:
        kept |= _FEWER
    if operator.is_gradient:
        kept |= {"pattern": patterns(operator), "dtype": floats(operator)}
    if is_brief(operator):
        kept |= _BRIEF
    few = {
        name: tuple(level for level in levels if level in kept.get(name, levels))
        for name, levels in every.items()
    }
    return {name: few[name] or levels for name, levels in every.items()}


def case_of_row(
    operator: Operator, row: Row, axes: Sequence[Axis], unsaid: Container[str] = ()
) -> CaseSpec:
    """Return the case of a row of a covering array, for some axes; `unsaid` lists are left out."""
    words: dict[str, Any] = {
        role: row[role] for role in MEANINGS if row.get(role, ABSENT) != ABSENT
    }
    for role, attribute in scalars(operator).items():
        if row.get(role, ABSENT) != ABSENT:
            words[role] = scalar_values(attribute, len(axes))[number(row, role)]
    return case_of_axes(
        operator,
        (number(row, "batch"), number(row, "channels")),
        *(axes, str(row["pattern"]), str(row["dtype"]), words),
        roles=[role for role in Axis._fields[1:] if role not in unsaid],
        size_type=str(row.get("size_type", "int64")),
        gradient=str(row.get("gradient", "names")),
    )


def number(row: Row, factor: str) -> int:
    """Return a level that is a number."""
    return int(str(row[factor]))


def may_be_absent(attribute: Attribute) -> bool:
    """Say whether the covering arrays leave an attribute out: not if its default is unusual."""
    if attribute.required or attribute.role not in (*PLAIN, *MEANINGS):
        return False
    usual = {PLAIN.get(attribute.role), "kernel"}
    return not attribute.is_list or attribute.default in usual


def _scalar_factors(operator: Operator) -> Factors:
    """Return a factor for each number: the places in `scalar_values`, but for the default."""
    return {
        role: (
            *(() if attribute.required else (ABSENT,)),
            *range(not attribute.required, len(scalar_values(attribute, 1))),
        )
        for role, attribute in scalars(operator).items()
    }


def words(operator: Operator) -> dict[Role, Attribute]:
    """Return the attributes with a few values, by role, but for those `APART`."""
    return operator.of_roles(role for role in MEANINGS if role not in APART)


def word_factors(operator: Operator) -> Factors:
    """Return a factor for each word: its meanings, and that it is left out where it may be."""
    attributes = words(operator)
    return {
        role: (
            *((ABSENT,) if may_be_absent(attributes[role]) else ()),
            *dict.fromkeys(attributes[role].values.values()),
        )
        for role in WORDS
        if role in attributes
    }


def word_choices(operator: Operator, *varied: Role) -> Iterator[dict[str, Any]]:
    """Yield meanings of words by role: every choice of those varied, defaults first.

    Of the other words, those that are required have their first meaning.
    """
    attributes = words(operator)
    fixed = required_words(operator)
    free = [role for role in varied if role in attributes]
    for chosen in product(*(attributes[role].meanings for role in free)):
        given = {**fixed, **dict(zip(free, chosen, strict=True))}
        yield {role: given[role] for role in MEANINGS if role in given}


def scalars(operator: Operator) -> dict[Role, Attribute]:
    """Return the attributes that are one number, by role.

    But for scales and zero points that may be left out: an activation alone depends on these.
    """
    encoding = {*SCALES, *ZERO_POINTS}
    every = operator.of_roles(SCALARS).items()
    return {role: a for role, a in every if a.required or role not in encoding}


def scalar_values(attribute: Attribute, axes: int) -> tuple[float | None, ...]:
    """Return numbers that an attribute may be, or None, as many for any number of spatial axes.

    That of the default comes first; the others are at the ends of its range and within.
    """
    values = (
        attribute.samples
        or {
            "exponent": EXPONENTS,
            "fixed_divisor": DIVISORS,
            **dict.fromkeys(ZERO_POINTS, ZERO_POINTS_OF_BYTES),
            "index_axis": (0, 1, 2, -axes - 2, -1),  # of each kind, and from either end
        }[attribute.role]
    )
    return values if attribute.required else (attribute.default, *values)


def with_bounds(operator: Operator, types: Sequence[str], cells: int, axes: int) -> list[str]:
    """Return the element types whose bounds say something of windows of so many cells."""
    return [
        name
        for name in types
        if not operator.reduction.sums or name not in FLOATS or is_meaningful(cells, axes, name)
    ]
