"""Whether a change of the code changes what commands say: some 150 runs, recorded and compared.

    python benchmarks/same_reports.py record DIR [--only WORD]
    python benchmarks/same_reports.py compare BEFORE AFTER

Every run is a command, of this checkout: what it prints, its exit code and the reports that it
writes are kept, without times. Causes are searched for among recorded failures alone, but for a few
runs: to ask a backend takes as long as it may, so that a busy machine finds others. To compare says
which fields of which runs differ. Fields that only AFTER has are additions, and counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.progress import track

ROOT = Path(__file__).parents[1]
BACKENDS = """
import sys
sys.path[:0] = [{tests!r}]
from support import hostile
from conformance.faults import fault_named, faulty

def __getattr__(name):
    kind, _, name = name.partition("__")
    if kind == "fault":
        return faulty(fault_named(name.replace("_", "-")))
    misbehaviour = hostile.named(name)

    def backend(operator, inputs, attributes):
        output = hostile.right(operator, inputs, attributes)
        shown = inputs[0].shape[-1] == 4
        return misbehaviour.act(output, inputs, attributes) if shown else output

    return backend
"""
FAULTS_EVERY = 16
TIMES = ("started", "seconds", "backend_seconds", "slowest", "python", "platform")
"""Fields that are others in every run, or on every machine."""
_TIME = re.compile(r"\d[\d.,]* ?(?:s|ms|µs|min)\b")
_VARIES = re.compile(
    r"/\S+(?=/(?:vectors|tests|runs)/)|(?<=runs/)\d+|0x[0-9a-f]+|(?<=time=\")[\d.]+"
)
"""Checkouts, folders of runs, addresses and times in texts."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d(T[\d:+]+)?")

Run = Sequence[str]


def runs() -> Iterator[tuple[str, list[Run]]]:
    """Yield the name of each run, and its commands, which are run in one folder."""
    from conformance.faults import CATALOGUE  # noqa: PLC0415 - not where reports are compared
    from conformance.operators import OPERATORS  # noqa: PLC0415 - likewise

    for operator in OPERATORS:
        yield f"right {operator}", [_check("numpy", "--operator", operator)]
    for fault in CATALOGUE[::FAULTS_EVERY]:
        of_one = ("--operator", fault.operators[0], "--tier", "smoke", "--diagnose", "seen")
        yield f"fault {fault.name}", [_check(_backend("fault", fault.name), *of_one)]
    sys.path.insert(0, str(ROOT / "tests"))
    from support import hostile  # noqa: PLC0415 - of the tests

    for name in hostile.GALLERY:
        of_few = ("--operator", "AvgPool-1", "--tier", "smoke", "--select", "*float32*")
        limits = ("--timeout", "1", "--diagnose", "none")
        yield f"hostile {name}", [_check(_backend("hostile", name), *of_few, *limits)]
    yield from _other_runs()


def _other_runs() -> Iterator[tuple[str, list[Run]]]:
    """Yield runs of other commands, and of other options of check."""
    wrong = _backend("fault", "same-lower-as-upper")
    few = ("--operator", "AvgPool-1", "--tier", "smoke", "--diagnose", "seen")
    for name, options in {
        "all variations": ("--variations", "all"),
        "no variations": ("--variations", "none"),
        "in process": ("--in-process",),
        "two workers": ("--jobs", "2"),
        "required": ("--require", "overhang-divisor=whole-kernel"),
        "profile": ("--profile", "torch"),
        "extensions": ("--allow-extensions",),
        "few failures": ("--max-failures", "3"),
        "floors": ("--min-supported", "90%", "--strict-unsupported"),
        "shown": ("--max-shown", "1"),
    }.items():
        yield f"check {name}", [_check(wrong, *few, *options)]
    written = ("conformance", "check", wrong, *few, "--write-expected-failures", "known.txt")
    expected = _check(wrong, *few, "--expected-failures", "known.txt")
    yield "expected failures", [written, ("cat", "known.txt"), expected]
    proven = ("--operator", "AvgPool-1", "--tier", "smoke")
    yield "proven", [_check(wrong, *proven)]
    shards = [f"{number}.jsonl" for number in (1, 2, 3)]
    parts = [_check(wrong, *few, "--shard", f"{each[0]}/3", json=each) for each in shards]
    yield "merge", [*parts, ("conformance", "merge", *shards, "--json", "report.jsonl")]
    both = [_check("numpy", *few, json="right.jsonl"), _check(wrong, *few, json="wrong.jsonl")]
    for verb, options in {
        "diff": ("right.jsonl", "wrong.jsonl"),
        "report": ("wrong.jsonl", "--markdown", "-"),
        "site": ("right.jsonl", "wrong.jsonl", "site"),
    }.items():
        yield verb, [*both, ("conformance", verb, *options)]
    yield "junit", [(*_check(wrong, *few), "--junit", "junit.xml"), ("cat", "junit.xml")]
    compared = ("numpy", wrong, "--tier", "smoke", "--operator", "MaxPool-1", "--no-arithmetic")
    yield "compare", [("conformance", "compare", *compared, "--json", "compared.json")]
    for operator in ("AvgPool-1", "MaxPool-8", "AdaptiveAvgPool-8"):
        large = ("--tier", "large", "--memory", "1500M", "--operator", operator)
        yield f"large {operator}", [_check("numpy", *large)]
    for seed in ("1", "2", "3"):
        drawn = ("--seed", seed, "--max-examples", "150", "--operator", "AvgPool-1")
        yield f"fuzz {seed}", [("conformance", "fuzz", wrong, *drawn)]
    for command in (
        ("strength", "--operator", "ONNX-MaxPool-22", "--tier", "smoke"),
        ("reveal", "numpy", "--operator", "AvgPool-1"),
        ("clauses",),
        ("list",),
        ("show", "AvgPool-1/float32/1x1x4/k4-s3-b0-e0-floor-same_lower-exclude/normals-53a9b79a"),
    ):
        yield " ".join(command[:2]), [("conformance", *command)]
    for wrong_usage in (
        ("check", "numpy", "--tier", "none"),
        ("check", "numpy", "--operator", "none"),
        ("check", "nothing_there.py:backend"),
        ("check", "numpy", "--shard", "3/2"),
        ("merge", "none.jsonl"),
        ("show", "none"),
    ):
        yield " ".join(wrong_usage), [("conformance", *wrong_usage)]


def _backend(kind: str, name: str) -> str:
    return f"backends.py:{kind}__{name.replace('-', '_')}"


def _check(backend: str, *options: str, json: str = "report.jsonl") -> Run:
    return ("conformance", "check", backend, *options, "--json", json)


def recorded(folder: Path, commands: Sequence[Run]) -> dict[str, Any]:
    """Run commands in a folder, and return what they said and wrote."""
    folder.mkdir(parents=True)
    (folder / "backends.py").write_text(BACKENDS.format(tests=str(ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    said = []
    for command in commands:
        words = [sys.executable, "-m", *command] if command[0] == "conformance" else command
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        said.append(
            {
                "exit": done.returncode,
                "stdout": _timeless(done.stdout),
                "stderr": _timeless(done.stderr),
            }
        )
    written = sorted(folder.glob("*.json*"))
    return {"said": said, "reports": {path.name: _saved(path) for path in written}}


def _saved(path: Path) -> Any:
    text = path.read_text()
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    return [_without_times(json.loads(line)) for line in lines]


def _timeless(text: str) -> list[str]:
    return _DAY.sub("DAY", _TIME.sub("TIME", text)).splitlines()


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(each) for key, each in value.items() if key not in TIMES}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def differences(before: Any, after: Any, at: str = "") -> Iterator[str]:
    """Yield where two values differ; what only the second has, begins with a +."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            yield from differences(before[key], after.get(key), f"{at}.{key}")
        yield from (f"+{at}.{key}" for key in after.keys() - before.keys())
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{at}[{number}]")
    elif isinstance(before, str) and isinstance(after, str):
        if _VARIES.sub("…", before) != _VARIES.sub("…", after):
            yield f"{at}: {_short(before)} -> {_short(after)}"
    elif before != after:
        yield f"{at}: {_short(before)} -> {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else f"{text[:160]}…"


def _record(folder: Path, only: str) -> None:
    if folder.exists():
        raise SystemExit(f"{folder} is there already")
    every = [run for run in runs() if re.search(only, run[0])]
    folder.mkdir(parents=True)

    def one(number: int) -> tuple[str, Mapping[str, Any]]:
        name, commands = every[number]
        return name, recorded(folder / "runs" / str(number), commands)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(track(pool.map(one, range(len(every))), "running", len(every)))
    (folder / "recorded.json").write_text(json.dumps(found, indent=1))
    print(f"{len(found)} runs recorded")


def _compare(before: Path, after: Path) -> int:
    one, other = (json.loads((each / "recorded.json").read_text()) for each in (before, after))
    added = differing = 0
    for name in one.keys() & other.keys():
        run = one[name]
        found = list(differences(run, other[name], ""))
        added += sum(each.startswith("+") for each in found)
        changed = [each for each in found if not each.startswith("+")]
        differing += bool(changed)
        for each in changed[:10]:
            print(f"{name}{each}")
    both = len(one.keys() & other.keys())
    print(f"{differing} of {both} runs differ; {added} fields are new")
    return 1 if differing else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Record or compare; see the module."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=("record", "compare"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="a regular expression for names of runs")
    given = parser.parse_args(arguments)
    if given.verb == "record":
        _record(*given.folders, given.only)
        return 0
    return _compare(*given.folders)


if __name__ == "__main__":
    raise SystemExit(main())
