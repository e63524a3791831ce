"""What is in the smoke tier for what it catches: cases by name, and rows of covering arrays.

benchmarks/choose_smoke.py chooses the cases. A name is an id without its digest, which depends on
the seed.
"""

from __future__ import annotations

from pathlib import Path

LIST = Path(__file__).with_name("smoke_choice.txt")
NAMES = frozenset(LIST.read_text(encoding="utf-8").split())
ROWS: dict[str, tuple[int, ...]] = {
    "AvgPool-1": (38, 16),
    "MaxPool-1": (35, 12),
    "AdaptiveAvgPool-8": (50,),
    "nGraph-AvgPool": (34, 1),
    "LiteRT-AVERAGE_POOL_2D": (31, 10),  # of one example: those with an activation came later
    "ORT-QLinearAveragePool-1": (40, 110),  # which have no others: theirs are of the least levels
    "ORT-QLinearGlobalAveragePool-1": (40,),
}
"""How many rows of each covering array, but for that of special kernels, by operator. Of others,
there are as many as make the tier about 60 vectors."""
