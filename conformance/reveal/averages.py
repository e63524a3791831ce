"""The arithmetic of the averages of an operator: trees of several windows, and one way for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.backends.runner import Runner
from conformance.dtypes import dtype_of
from conformance.operators import OPERATORS
from conformance.reference import mean
from conformance.reference.rounding import widen
from conformance.reveal.calls import NoAnswer, WindowCalls
from conformance.reveal.elimination import (
    Probes,
    equal,
    every_way,
    fitting_ways,
    probe,
    properties_of,
)
from conformance.reveal.masks import order_of
from conformance.reveal.maxima import places
from conformance.reveal.trees import RULES, Additions, common_rules
from conformance.reveal.values import RevealedAverage, Window, WindowOrder
from conformance.reveal.ways import Way

WINDOWS = (
    Window((7,)),
    Window((7,), per_plane=3),
    Window((3, 3)),
    Window((3, 3), per_plane=3),
    Window((4, 4)),
    Window((4, 4), channels=16, per_plane=3),
    Window((2, 3, 4)),
    Window((2, 3, 4), per_plane=2),
    Window((37,)),
    Window((37,), per_plane=2),
)
"""Windows whose order is revealed. Some cells are no power of two, so that divisions round, and 37
are more than two rows of 16 lanes."""


@dataclass(frozen=True, slots=True)
class Model:
    """What computes averages as a backend does: a way, and the additions of any window.

    `rule` and `rule_of_plane` are names of rules, see RevealedAverage. Without one, the trees of
    `orders` are all that is known.
    """

    way: Way
    way_of_plane: Way
    rule: str
    rule_of_plane: str
    orders: tuple[WindowOrder, ...]

    def way_of(self, window: Window) -> Way:
        """Return the way in which a window is averaged."""
        return self.way_of_plane if window.is_plane else self.way

    def additions(self, window: Window) -> Additions | None:
        """Return the additions of a window; None if they are not known."""
        rule = self.rule_of_plane if window.is_plane else self.rule
        if rule or int(np.prod(window.kernel)) <= 2:
            return RULES[rule or "first to last"](window.kernel)
        known = [
            order
            for order in self.orders
            if order.additions
            and (order.window.kernel, order.window.is_plane) == (window.kernel, window.is_plane)
        ]
        nearest = min(
            known, key=lambda order: abs(order.window.channels - window.channels), default=None
        )
        return None if nearest is None else nearest.additions


@dataclass(slots=True)
class _Findings:
    """What is found of one window after the other."""

    orders: list[WindowOrder] = field(default_factory=list)
    probes: dict[bool, list[Probes]] = field(default_factory=lambda: {False: [], True: []})
    left: dict[bool, list[Way]] = field(default_factory=lambda: {False: [], True: []})

    def add(self, calls: WindowCalls) -> None:
        """Reveal a window; the ways that are left compute what all such windows returned.

        Windows that are all of their plane have ways of their own. A tree that no such way confirms
        is none.
        """
        order, alone = order_of(calls), calls.window.is_plane
        if order.kind in _UNCONFIRMED:
            probes = probe(calls, order.additions or RULES["first to last"](calls.window.kernel))
            fitting = fitting_ways(probes, self.left[alone] or every_way(calls.dtype))
            if fitting:
                self.left[alone] = fitting
                self.probes[alone].append(probes)
            else:
                order = replace(order, kind="none", additions=(), problem=_UNCONFIRMED[order.kind])
        self.orders.append(order)

    def ways(self) -> tuple[list[Way], list[Way]]:
        """Return the ways of windows and of whole planes: those of both, if there are any."""
        several, alone = (self.left[key] or self.left[not key] for key in (False, True))
        common = [way for way in several if way in alone]
        return (common, common) if common else (several, alone)


_UNCONFIRMED = {
    "tree": "masks give a tree, but no known way to use it gives what other cells do",
    "exact": "masks are added exactly, but no known way gives what other cells do",
}


def average_of(
    runner: Runner, operator: str, dtype: str, windows: Sequence[Window]
) -> tuple[RevealedAverage, Model | None]:
    """Reveal the averages of an operator, with a model if there is one; raises NoAnswer."""
    findings, refused = _Findings(), []
    for calls in _calls(runner, operator, dtype, windows):
        try:
            findings.add(calls)
        except NoAnswer as error:
            refused.append(error)
            findings.orders.append(WindowOrder(calls.window, "refused", problem=str(error)))
    if len(refused) == len(findings.orders):
        raise refused[0]
    return _revealed(runner, operator, dtype, findings)


def _calls(
    runner: Runner, name: str, dtype: str, windows: Sequence[Window]
) -> Iterator[WindowCalls]:
    """Yield the windows that the operator can have."""
    operator = OPERATORS[name]
    several = operator.has_windows or operator.is_adaptive
    for window in windows:
        if operator.takes_axes(len(window.kernel)) and (several or window.is_plane):
            yield WindowCalls(runner, name, dtype, window)


def _revealed(
    runner: Runner, operator: str, dtype: str, findings: _Findings
) -> tuple[RevealedAverage, Model | None]:
    orders = tuple(findings.orders)
    first = next(order for order in orders if order.kind != "refused")
    calls = WindowCalls(runner, operator, dtype, Window(first.window.kernel))
    revealed = RevealedAverage(operator, dtype, orders, nan=_nan(calls))
    several, alone = findings.ways()
    if not several:
        return replace(revealed, problem="no known way computes what was returned"), None
    rule, rule_of_plane = (
        _common_rule([order for order in orders if order.window.is_plane == plane])
        for plane in (False, True)
    )
    every = [*findings.probes[False], *findings.probes[True]]
    differ = several[0] != alone[0]
    revealed = replace(
        revealed,
        order=rule,
        order_of_plane=rule_of_plane,
        properties=properties_of(several, findings.probes[False] if differ else every),
        properties_of_plane=properties_of(alone, findings.probes[True]) if differ else {},
        probes=sum(len(probes.windows) for probes in every),
        rounded_once=sum(map(_rounded_once, every)),
    )
    return revealed, Model(several[0], alone[0], rule, rule_of_plane, orders)


def _common_rule(orders: Sequence[WindowOrder]) -> str:
    """Return the plainest rule that makes the tree of every window with one, "" for none.

    Where all sums are exact, no order differs from another.
    """
    trees: dict[tuple[int, ...], Additions] = {}
    for order in orders:
        if order.kind == "tree":
            known = trees.setdefault(order.window.kernel, order.additions)
            if known != order.additions:
                return ""  # channels change the order
    exact = any(order.kind == "exact" for order in orders)
    return next(iter(common_rules(trees)), "") if trees or exact else ""


def _rounded_once(probes: Probes) -> int:
    """Count the averages that are the exact mean, rounded once."""
    count, n = probes.windows.shape
    ends = np.array([0]), np.array([n])
    exact = mean(probes.windows.reshape(count, 1, n), ends[:1], ends[1:], np.array([n]))
    return int(equal(exact.reshape(-1), probes.returned).sum())


def _nan(calls: WindowCalls) -> str:
    """Say in which cells of a window a NaN makes the average a NaN."""
    windows = np.ones((calls.cells, calls.cells), dtype_of(calls.dtype))
    np.fill_diagonal(windows, np.nan)
    return places(np.isnan(widen(calls.outputs(windows)[0])))
