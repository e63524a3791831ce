"""What is revealed of a backend, as values; `--json` writes them as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

VERSION: Final = 1
"""Of the JSON. Fields may be added to it; a change that breaks readers has another one."""

OrderKind = Literal["tree", "exact", "none", "refused"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A call that tells: one window of `cells`, in row-major order, and what it returned.

    `otherwise` is what it would be if `instead` held. Cells are numbers of the element type, which
    doubles hold exactly.
    """

    kernel: tuple[int, ...]
    cells: tuple[float, ...]
    output: float
    instead: str = ""
    otherwise: float | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A window of `kernel` cells, in data of so many channels and windows per plane.

    The windows of a plane follow each other on the first axis and do not overlap.
    """

    kernel: tuple[int, ...]
    channels: int = 1
    per_plane: int = 1

    @property
    def is_plane(self) -> bool:
        """Whether it is all of its plane."""
        return self.per_plane == 1


@dataclass(frozen=True, slots=True)
class WindowOrder:
    """The order in which a window is summed.

    For a "tree", `additions` are pairs of numbers in the order in which they are added: cells are 0
    to n - 1 in row-major order, and addition k makes number n + k. Where sums are "exact" as far
    as masks tell, no order shows. `problem` says why there is none, or why
    the backend "refused" to compute such windows. The evidence is the mask of
    the first and the last cell.
    """

    window: Window
    kind: OrderKind
    additions: tuple[tuple[int, int], ...] = ()
    problem: str = ""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the arithmetic: the value it has, or several that no probe told apart."""

    values: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Prediction:
    """Averages of vectors that the model computes bit for bit, and those it does not.

    `vectors` and `averages` count what was compared; `exceptions` are ids of vectors with another
    bit, `shared` the features that all of them and few others have. `features` has, for the
    features that exceptions have more often than others, [exceptions, vectors] with it. Vectors
    that are not compared: `left_out` are of windows that the model has no tree for, or of too many
    cells, and for those `without_result` the backend returned no array of a right shape.
    """

    vectors: int
    averages: int
    other_averages: int
    exceptions: tuple[str, ...] = ()
    shared: str = ""
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    left_out: int = 0
    without_result: int = 0


@dataclass(frozen=True, slots=True)
class RevealedAverage:
    """The arithmetic of the averages of an operator in an element type, of some windows.

    `order` is the rule that makes the trees of windows of which a plane has several, and
    `order_of_plane` of those that are all of their plane; "" if no known rule does, or no such
    window has a tree.
    `properties` are those of `ways.Way`, each with its evidence, and `properties_of_plane` those of
    windows that are all of their plane, if they differ: empty where no way computes what
    the backend returned, as `problem` says then. `probes` are the averages that the model was
    held against, `rounded_once` how many of them are the exact mean rounded once.
    """

    operator: str
    dtype: str
    windows: tuple[WindowOrder, ...]
    order: str = ""
    order_of_plane: str = ""
    properties: Mapping[str, Property] = field(default_factory=dict)
    properties_of_plane: Mapping[str, Property] = field(default_factory=dict)
    problem: str = ""
    probes: int = 0
    rounded_once: int = 0
    nan: str = ""
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True)
class RevealedMaximum:
    """Which of equal maxima wins, in a window, and what a NaN does, by the place of the NaN.

    `zeros` is which of the zeros +0 and -0 is returned: "first", "last", "+0", "-0" or "mixed".
    `index` is which of equal cells the index is of, "" where the backend returns none, `gradient`
    which of them the gradient goes to: also "all", or "shared" among them. `nan` says
    where in the window a NaN is the maximum: "everywhere", "nowhere" or the cells.
    """

    operator: str
    dtype: str
    kernel: tuple[int, ...]
    zeros: str = ""
    index: str = ""
    gradient: str = ""
    nan: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """What the backend does not compute, in its own words."""

    operator: str
    dtype: str
    text: str


@dataclass(frozen=True, slots=True)
class Revealed:
    """The arithmetic of a backend."""

    backend: str
    engine: str
    averages: tuple[RevealedAverage, ...]
    maxima: tuple[RevealedMaximum, ...]
    refused: tuple[Refused, ...] = ()
    version: int = VERSION
    format: str = "pooling-conformance arithmetic"
