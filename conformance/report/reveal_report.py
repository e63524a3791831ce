"""The arithmetic of a backend: what is the same for several operators stands once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, product
from math import prod
from typing import Any

from conformance.literals import exact
from conformance.report import document as doc
from conformance.report import values as words
from conformance.report.tree_drawing import draw_tree
from conformance.reveal.values import (
    Evidence,
    Prediction,
    Property,
    Refused,
    Revealed,
    RevealedAverage,
    RevealedMaximum,
    Window,
    WindowOrder,
)
from conformance.text import listed

_DRAWN = 16
"""Cells of the largest window that is drawn."""
_SHOWN = 3


def describe(revealed: Revealed) -> doc.Document:
    """Return what was revealed of a backend."""
    name = f"{revealed.backend} {revealed.engine}".rstrip()
    groups = [[*group] for _, group in groupby(sorted(revealed.averages, key=_key), key=_key)]
    groups.sort(key=lambda group: revealed.averages.index(group[0]))
    return doc.Document(
        title=f"The arithmetic of {name}",
        subject=("backend", name),
        sections=(
            *(_averages(number, group) for number, group in enumerate(groups, 1)),
            _maxima(revealed.maxima),
            _refused(revealed.refused),
        ),
        conclusion=_conclusion(revealed.averages),
        footer=doc.FOOTER,
    )


def summary(found: RevealedAverage) -> tuple[str, str, str, str]:
    """Return the order, the sums, the division and the subnormals of an average in a few words.

    Of several values that give the same bits, the plainest: the evidence has the others.
    """
    computed = [order for order in found.windows if order.kind != "refused"]
    orders = []
    for rule, is_plane in ((found.order, False), (found.order_of_plane, True)):
        kinds = {order.kind for order in computed if order.window.is_plane == is_plane}
        unnamed = "trees without a rule" if "tree" in kinds else "no tree"
        text = "exact as far as masks tell" if kinds == {"exact"} else rule or unnamed
        orders += [text] if kinds else []
    several = _plainest(found.properties) or ("", found.problem, "")
    plane = _plainest(found.properties_of_plane) or several
    sums, division, subnormals = (_or_of_plane(*pair) for pair in zip(several, plane, strict=True))
    return _or_of_plane(*(orders or [""])), sums, division, subnormals


def _plainest(properties: Mapping[str, Property]) -> tuple[str, str, str] | None:
    if not properties:
        return None
    values = {name: given.values[0] for name, given in properties.items()}
    return values["sums"], f"{values['division']}, {values['quotient']}", values["subnormals"]


def _or_of_plane(several: str, plane: str = "") -> str:
    return f"{several}; of a whole plane {plane}" if plane not in {"", several} else several


def _key(found: RevealedAverage) -> str:
    """Return what is equal for averages that are computed alike."""
    values = [
        {name: given.values for name, given in properties.items()}
        for properties in (found.properties, found.properties_of_plane)
    ]
    orders = [*_orders(found), *_problems(found)]
    trees = [(order.window, order.additions) for order in _drawn(found)]
    return repr((found.dtype, orders, trees, values, found.problem, found.nan))


def _averages(number: int, group: Sequence[RevealedAverage]) -> doc.Section:
    first = group[0]
    return doc.Section(
        f"{listed([found.operator for found in group])} in {first.dtype}",
        (
            doc.Facts((*_arithmetic(first), *_predictions(group))),
            *_trees(first),
            doc.Detail((_evidence_table(first),), title="evidence"),
        ),
        name=f"average-{number}",
    )


def _arithmetic(found: RevealedAverage) -> Iterator[tuple[str, doc.Text]]:
    yield from _orders(found)
    if found.properties:
        texts = {name: " or ".join(given.values) for name, given in found.properties.items()}
        yield "sums", f"in {texts['sums']}"
        yield "division", f"{texts['division']}, in {texts['quotient']}"
        if found.properties["quotient"].values[0] != found.dtype:
            yield "narrowing", f"to {found.dtype}, {texts['narrowing']}"
        yield "subnormals", texts["subnormals"]
        if found.properties_of_plane:
            yield "a whole plane", _in_words(found.properties_of_plane)
        share = f"{found.rounded_once:,} of {found.probes:,}"
        yield "rounded once", f"{share} probes are the exact mean, rounded once"
    elif found.problem:
        yield "arithmetic", doc.Span(found.problem, "warn")
    yield "NaN", f"{found.nan} in a window makes its average NaN"
    yield from _problems(found)


def _in_words(properties: Mapping[str, Property]) -> str:
    texts = {name: " or ".join(given.values) for name, given in properties.items()}
    division = f"{texts['division']}, in {texts['quotient']}"
    return f"sums in {texts['sums']}; {division}; subnormals {texts['subnormals']}"


def _orders(found: RevealedAverage) -> Iterator[tuple[str, doc.Text]]:
    """Yield the order of windows; that of a window alone in its plane apart where it differs."""
    computed = [order for order in found.windows if order.kind != "refused"]
    several = [order for order in computed if not order.window.is_plane]
    alone = [order for order in computed if order.window.is_plane]
    texts = [_order(found.order, several), _order(found.order_of_plane, alone)]
    if not several or not alone or texts[0] == texts[1]:
        yield "order", texts[0 if several else 1]
    else:
        yield "order", texts[0]
        yield "order of a whole plane", texts[1]


def _order(rule: str, orders: Sequence[WindowOrder]) -> doc.Text:
    if orders and all(order.kind == "exact" for order in orders):
        return "sums are exact as far as masks tell: no order shows"
    if rule:
        return rule
    if any(order.additions for order in orders):
        return doc.Span("no rule that is known makes all the trees below", "warn")
    return doc.Span("no tree", "warn")


def _problems(found: RevealedAverage) -> Iterator[tuple[str, doc.Text]]:
    """Yield why windows have no tree or are not computed; of refusals, the first one."""
    refused = [order for order in found.windows if order.kind == "refused"]
    if refused:
        count = words.count(len(refused), "kind")
        yield "not computed", f"{count} of windows: {refused[0].problem}"

    def problem(order: WindowOrder) -> str:
        return order.problem

    without = [order for order in found.windows if order.kind == "none"]
    for reason, group in groupby(sorted(without, key=problem), key=problem):
        yield "no tree", f"{', '.join(_window(order.window) for order in group)}: {reason}"


def _window(window: Window) -> str:
    channels = f" in {window.channels} channels" if window.channels > 1 else ""
    several = "" if window.is_plane else f", {window.per_plane} in a plane"
    return f"{words.shape(window.kernel)}{channels}{several}"


def _predictions(group: Sequence[RevealedAverage]) -> Iterator[tuple[str, doc.Text]]:
    """Yield how well models predict: those of one operator, or the sum of all without exception."""
    given = [(found.operator, found.prediction) for found in group if found.prediction]
    perfect = [prediction for _, prediction in given if not prediction.other_averages]
    if perfect:
        averages = sum(prediction.averages for prediction in perfect)
        vectors = words.count(sum(prediction.vectors for prediction in perfect), "vector")
        text = f"all {averages:,} averages of {vectors} are bit for bit what this model computes"
        rest = _not_compared(perfect)
        yield "prediction", doc.Span(text + rest, "good") if averages else text + rest
    for operator, prediction in given:
        if prediction.other_averages:
            yield f"prediction, {operator}", _exceptions(prediction)


def _not_compared(predictions: Sequence[Prediction]) -> str:
    """Say how many vectors were not compared with a model, and why."""
    unknown = sum(prediction.left_out for prediction in predictions)
    without = sum(prediction.without_result for prediction in predictions)
    reasons = [(unknown, "of unknown windows"), (without, "without a result that can be compared")]
    texts = [f"{words.count(number, 'vector')} {reason}" for number, reason in reasons if number]
    return f"; left out: {listed(texts)}" if texts else ""


def _exceptions(prediction: Prediction) -> doc.Text:
    count = prediction.averages - prediction.other_averages
    shared = f", where {prediction.shared}" if prediction.shared else ""
    often = [
        f"{name} ({failing:,} of {both:,})" for name, (failing, both) in prediction.features.items()
    ]
    features = f"; more often than others: {', '.join(often)}" if often and not shared else ""
    ids = ", ".join(prediction.exceptions[:_SHOWN])
    rest = (
        f" averages are bit for bit what this model computes; exceptions in "
        f"{len(prediction.exceptions):,} of {words.count(prediction.vectors, 'vector')}"
        f"{shared}{features}; for example {ids}{_not_compared([prediction])}"
    )
    return doc.Span(f"{count:,} of {prediction.averages:,}", "warn"), rest


def _trees(found: RevealedAverage) -> Iterator[doc.Block]:
    for order in _drawn(found):
        yield doc.Paragraph(doc.Span(f"a window of {_window(order.window)}", "quiet"))
        lines = draw_tree(order.additions, _labels(order.window.kernel))
        yield doc.Drawing(tuple(lines))


def _drawn(found: RevealedAverage) -> Iterator[WindowOrder]:
    """Yield one small window where a rule makes the trees, else every small one."""
    small = [w for w in found.windows if w.additions and prod(w.window.kernel) <= _DRAWN]
    rules = {False: found.order, True: found.order_of_plane}
    drawn: dict[str, WindowOrder] = {}
    for order in small:
        rule = rules[order.window.is_plane]
        drawn[rule or f"{order.window}"] = order
    yield from drawn.values()


def _labels(kernel: tuple[int, ...]) -> list[str]:
    """Return the position of each cell of a window."""
    return [",".join(map(str, position)) for position in product(*map(range, kernel))]


def _evidence_table(found: RevealedAverage) -> doc.Table:
    orders = (("order", window.evidence) for window in found.windows)
    properties = (*found.properties.items(), *found.properties_of_plane.items())
    others = ((name, piece) for name, given in properties for piece in given.evidence)
    return doc.table(
        ("property", "window", "cells", "returned", "not", "which would give"),
        (
            (name, *_evidence(piece, found.dtype))
            for name, piece in (*orders, *others)
            if piece is not None
        ),
        name="evidence",
    )


def _evidence(piece: Evidence, dtype: str) -> tuple[doc.Text, ...]:
    otherwise = "" if piece.otherwise is None else doc.code(_number(piece.otherwise, dtype))
    return (
        words.shape(piece.kernel),
        doc.code(" ".join(_number(cell, dtype) for cell in piece.cells)),
        doc.code(_number(piece.output, dtype)),
        piece.instead,
        otherwise,
    )


def _number(value: Any, dtype: str) -> str:
    return exact(value, dtype)


def _maxima(maxima: Sequence[RevealedMaximum]) -> doc.Section:
    """Return what is the same for several element types of an operator in one row."""

    def key(found: RevealedMaximum) -> tuple[str, ...]:
        return found.operator, found.zeros, found.index, found.gradient, found.nan

    rows = []
    for (operator, *properties), group in groupby(sorted(maxima, key=key), key=key):
        types = ", ".join(found.dtype for found in group)
        rows.append((operator, types, *(text or "-" for text in properties)))
    columns = ("operator", "types", "+0 and -0", "index", "gradient", "NaN wins")
    title = "Maxima: which of equal cells wins"
    return doc.Section(title, (doc.table(columns, rows),), name="maxima")


def _refused(refused: Sequence[Refused]) -> doc.Section:
    texts = sorted(refused, key=lambda refusal: (refusal.text, refusal.dtype))
    items = []
    for (text, dtype), group in groupby(texts, key=lambda refusal: (refusal.text, refusal.dtype)):
        names = listed([refusal.operator for refusal in group])
        items.append(f"{names} in {dtype}: {text}")
    return doc.Section("Not computed", (doc.listing(items),), name="refused")


def _conclusion(averages: Sequence[RevealedAverage]) -> doc.Conclusion:
    predictions = [found.prediction for found in averages if found.prediction]
    models = sum(bool(found.properties) for found in averages)
    text = f"a model of {models:,} of {words.count(len(averages), 'average')}"
    if predictions:
        every = sum(prediction.averages for prediction in predictions)
        others = sum(prediction.other_averages for prediction in predictions)
        text += f"; {every - others:,} of {every:,} results predicted bit for bit"
    return doc.Conclusion("REVEALED", text)
