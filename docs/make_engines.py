"""Make docs/engines.md: every installed engine against the vectors given, or the shipped suite.

    python docs/make_engines.py [VECTORS]

Each engine runs in a process of its own. JAX compiles every case and takes some ten minutes.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path

from conformance import check
from conformance.backends import available, load_backend
from conformance.check import Report
from conformance.operators import DISPUTED, OPERATORS

DISTRIBUTIONS = {"paddle": "paddlepaddle"}
VERDICTS = ("conforms", "mismatch", "error", "unsupported")
INTRODUCTION = """\
# Engines and the readings they follow

Every adapter of this package against the {count:,} vectors of the standard tier, each engine on the
CPU of an x86-64 machine. This page is made by [make_engines.py](make_engines.py); for one engine
`conformance check NAME` says the same and shows the vectors. What is behind the mismatches and
errors is in [findings.md](findings.md).

*unsupported* is what an adapter cannot say in the engine's words, with the reason in its module:
an element type or a number of axes the engine lacks, pads or rounding it has no attribute for.

"""

READINGS = """\
Blank: no vector that the engine supports is touched; *either*: nothing separates. *inconsistent* is
a finding (7, 9, 11), but for OpenVINO and pads-not-below-kernel: it refuses such pads where padding
does not count in an average, and takes them otherwise.

"""


def run(name: str, vectors: str | None) -> dict[str, object]:
    """Check one engine and return what the page shows, in plain types."""
    report: Report = check(load_backend(name), vectors)
    return {
        "counts": {
            operator: [counts[verdict] for verdict in VERDICTS]
            for operator, counts in report.counts_by_operator.items()
        },
        "readings": {
            clause.clause: clause.followed
            or (clause.status if clause.status != "split" else _split(clause.by, clause.values))
            for clause in report.readings
        },
        "accuracy": {a.dtype: (a.correctly_rounded, a.worst_of_bound) for a in report.accuracy},
    }


def _split(by: str | None, values: object) -> str:
    assert isinstance(values, dict)
    return f"by {by}: " + ", ".join(f"{k} {v}" for k, v in values.items() if v != "either")


def main() -> None:
    """Run every installed engine and write the page."""
    vectors = sys.argv[1] if len(sys.argv) > 1 else None
    names = [name for name, builtin in available().items() if builtin.installed]
    names.remove("numpy")
    found = {}
    for name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            found[name] = process.submit(run, name, vectors).result()
    count = sum(sum(counts) for counts in found[names[0]]["counts"].values())
    page = INTRODUCTION.format(count=count)
    page += table(
        ["engine", "version", *OPERATORS],
        [
            [
                name,
                release(name),
                *(" · ".join(map(str, found[name]["counts"][o])) for o in OPERATORS),
            ]
            for name in names
        ],
    )
    page = page.replace("| engine ", "Counts are " + " · ".join(VERDICTS) + ".\n\n| engine ", 1)
    page += "\n## Readings of the disputed clauses\n\n"
    page += READINGS
    page += table(
        ["clause", *names],
        [
            [
                f"[{c.name}](clauses.md#{c.name})",
                *(found[n]["readings"].get(c.name, "") for n in names),
            ]
            for c in DISPUTED
        ],
    )
    page += "\n## Accuracy of averages\n\nShare of elements correctly rounded, and the largest "
    page += "error as a share of the bound, of vectors that conform.\n\n"
    dtypes = ["float16", "bfloat16", "float32", "float64"]
    page += table(
        ["engine", *dtypes],
        [
            [name, *(accuracy(found[name]["accuracy"].get(dtype)) for dtype in dtypes)]
            for name in names
        ],
    )
    Path(__file__).with_name("engines.md").write_text(page, encoding="utf-8")


def accuracy(measured: tuple[float, float] | None) -> str:
    """Return a share in percent and a share of the bound."""
    return f"{measured[0]:.1%} · {measured[1]:.2f}" if measured else ""


def release(name: str) -> str:
    """Return the version of an engine's distribution."""
    try:
        return version(DISTRIBUTIONS.get(name, name)).split("+")[0]
    except PackageNotFoundError:
        return "?"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


if __name__ == "__main__":
    main()
