"""Writes the table of engines in docs/arithmetic.md: `make_arithmetic.py JSON...`.

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
from conformance.report.reveal_report import summary
from conformance.reveal.values import Property, RevealedAverage, Window, WindowOrder
from conformance.text import listed

PAGE = Path(__file__).parents[1] / "arithmetic.md"
BEGIN, END = "<!-- engines: begin -->\n", "<!-- engines: end -->\n"
COLUMNS = (
    *("engine", "operators", "type", "order", "sums", "division", "subnormals"),
    *("predicted", "vectors compared"),
)


def rows(revealed: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each arithmetic of an engine."""
    engine = f"{revealed['backend']} {revealed['engine']}"
    given = [((found["dtype"], *summary(_average(found))), found) for found in revealed["averages"]]
    given.sort(key=lambda pair: pair[0])
    for arithmetic, group in groupby(given, key=lambda pair: pair[0]):
        averages = [found for _, found in group]
        dtype, *others = arithmetic
        names = listed([found["operator"] for found in averages])
        yield engine, names, dtype, *others, *_predicted(averages)


def _average(found: dict[str, Any]) -> RevealedAverage:
    """Return an average that `--json` wrote, so far as the table shows it."""
    orders = ((order["kind"], order["window"]["per_plane"]) for order in found["windows"])
    return RevealedAverage(
        found["operator"],
        found["dtype"],
        tuple(WindowOrder(Window((), per_plane=n), kind) for kind, n in orders),
        found["order"],
        found["order_of_plane"],
        _properties(found["properties"]),
        _properties(found.get("properties_of_plane", {})),
        found.get("problem", ""),
    )


def _properties(given: dict[str, Any]) -> dict[str, Property]:
    return {name: Property(tuple(each["values"])) for name, each in given.items()}


def _predicted(averages: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Return how many averages are predicted, and in how many of all vectors."""
    predictions = [found["prediction"] for found in averages if found["prediction"]]

    def total(key: str) -> int:
        return sum(prediction[key] for prediction in predictions)

    reasons = {"unknown windows": total("left_out"), "no result": total("without_result")}
    left_out = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items() if number)
    compared, every = total("vectors"), total("averages")
    return (
        f"{every - total('other_averages'):,} of {every:,}",
        f"{compared:,} of {compared + sum(reasons.values()):,}"
        + (f" ({left_out})" if left_out else ""),
    )


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
