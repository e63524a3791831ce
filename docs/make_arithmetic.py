"""Writes the table of engines in docs/arithmetic.md: `python docs/make_arithmetic.py JSON...`.

Each JSON is what `conformance reveal ENGINE --json JSON` wrote, for an engine where it is
installed. Operators that an engine computes alike share a row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.report import document as doc
from conformance.report import markdown
from conformance.text import listed

PAGE = Path(__file__).parent / "arithmetic.md"
BEGIN, END = "<!-- engines: begin -->\n", "<!-- engines: end -->\n"
COLUMNS = ("engine", "operators", "type", "order", "sums", "division", "subnormals", "predicted")


def rows(revealed: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each arithmetic of an engine."""
    engine = f"{revealed['backend']} {revealed['engine']}"
    given = [(_arithmetic(found), found) for found in revealed["averages"]]
    given.sort(key=lambda pair: pair[0])
    for arithmetic, group in groupby(given, key=lambda pair: pair[0]):
        averages = [found for _, found in group]
        dtype, *others = arithmetic
        names = listed([found["operator"] for found in averages])
        yield engine, names, dtype, *others, _predicted(averages)


def _arithmetic(found: dict[str, Any]) -> tuple[str, ...]:
    several = _values(found["properties"]) or ("", found["problem"], "")
    plane = _values(found.get("properties_of_plane", {})) or several
    texts = [
        one if one == other else f"{one}; of a whole plane {other}"
        for one, other in zip(several, plane, strict=True)
    ]
    return found["dtype"], _order(found), *texts


def _values(properties: dict[str, Any]) -> tuple[str, ...]:
    """Return the sums, the division and the subnormals; none without properties."""
    if not properties:
        return ()
    # where several values give the same bits, the plainest: the evidence has the others
    values = {name: given["values"][0] for name, given in properties.items()}
    return values["sums"], f"{values['division']}, {values['quotient']}", values["subnormals"]


def _order(found: dict[str, Any]) -> str:
    computed = [order for order in found["windows"] if order["kind"] != "refused"]
    orders = []
    for rule, plane in (("order", False), ("order_of_plane", True)):
        kinds = {o["kind"] for o in computed if (o["window"]["per_plane"] == 1) == plane}
        unnamed = "trees without a rule" if "tree" in kinds else "no tree"
        text = "exact as far as masks tell" if kinds == {"exact"} else found[rule] or unnamed
        orders += [text] if kinds else []
    first, last = orders[0], orders[-1]
    return first if first == last else f"{first}; of a whole plane {last}"


def _predicted(averages: Sequence[dict[str, Any]]) -> str:
    predictions = [found["prediction"] for found in averages if found["prediction"]]
    every = sum(prediction["averages"] for prediction in predictions)
    others = sum(prediction["other_averages"] for prediction in predictions)
    return f"{every - others:,} of {every:,}"


def page(text: str, reports: Sequence[dict[str, Any]]) -> str:
    """Return a page with the table of some reports between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = doc.table(COLUMNS, [row for report in reports for row in rows(report)])
    made = markdown.render(doc.Document("", (doc.Section("", (table,)),)))
    lines = [line for line in made.splitlines() if line.startswith("|")]
    return "\n".join([f"{before}{BEGIN}", *lines, "", f"{END}{after}"])


if __name__ == "__main__":
    given = [json.loads(Path(path).read_text()) for path in sys.argv[1:]]
    PAGE.write_text(page(PAGE.read_text(), given))
