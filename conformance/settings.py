"""What a user may ask of a run: every option once, with its default, its words and its check.

The command line, pytest and Python have their options from here. Imports nothing heavy, since
`--help` needs this module.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from conformance.errors import UsageError
from conformance.text import did_you_mean, quoted

Operators = str | Sequence[str] | None
Select = str | Sequence[str] | Callable[[str], bool] | None
Variations = str | Iterable[str]
Diagnosing = Literal["none", "seen", "proven"]
DIAGNOSING: tuple[Diagnosing, ...] = get_args(Diagnosing)

TIERS: Final = ("smoke", "standard", "exhaustive")
"""The tiers in files, each with all that is in those before it."""
LARGE: Final = "large"
"""The tier of recipes: not in files, and run alone."""
SAMPLE, ALL, NONE = "sample", "all", "none"
"""Sets of variations of a call."""
MOST_JOBS = 256
"""Processes at most: thousands would exhaust a machine before the first has answered."""

Kind = Literal["text", "texts", "flag", "choice", "path", "count", "seconds", "size", "readings"]


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is given in words: `--flag METAVAR`, in a command line or to pytest.

    One of `texts` or `readings` may be given again. `default` is that of the setting.
    """

    help: str
    kind: Kind = "text"
    flag: str = ""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    default: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is run, where the backend is called, and what it is held to.

    Vectors: those of `operators`, a name or several, globs or families, None for all, with ids that
    `select` matches: a part of an id, a glob over the whole id, several of them, or a function of
    the id. They are those up to `tier`; `shard`, "i/n", leaves the i-th of n equal parts.

    Calls: `isolate` calls the backend in a worker process, so that a crash or a hang is a verdict.
    `timeout`, seconds per vector, `memory`, bytes per worker, and `jobs`, the number of workers,
    need workers and ask for them by themselves. External programs always run apart. `cluster`, the
    address of the scheduler of a Dask cluster, has the workers of that cluster run shards, each
    with a worker process or `jobs` of them; the vectors are in files then. `variations` says which
    vectors are called in other ways, too: "sample" a few of every file in each, "all" every vector
    in all of them, names of variations in those, "none" none. `max_failures` stops the run early,
    which is then incomplete.

    Verdicts: `require` pins disputed clauses to a reading, `profile` many at once ("openvino",
    "onnx", "torch"); `require` wins. With `allow_extensions`, a backend may answer what a document
    excludes: such vectors are counted apart, and are no failures. `expected_failures` is a file of
    the failures that are known, and of vectors that are not called at all; `skip` is another one,
    of which these alone are meant.

    What has to be supported: `min_supported`, a number of vectors, or a percentage of those that
    are run ("90%"), each perhaps of some operators ("95%,AvgPool-1"), or several of these;
    `baseline`, a saved report: what conforms in it may not be unsupported; `strict_unsupported`
    allows nothing unsupported.

    Causes: `diagnose` "none" leaves them out, "seen" searches the catalogue of faults for what
    reproduces the failures, and "proven" then asks the backend about held-out cases, which confirm
    or refute it; True is "proven" and False "none". The work of this is counted, so that the same
    causes are found on any machine; `diagnose_seconds`, None for no limit, ends experiments
    where a backend is slow.

    Raises UsageError for a value that cannot be.
    """

    operators: Annotated[
        Operators,
        Option(
            "Only this operator, a glob as 'ONNX-*', or a family, as pytorch. Repeatable.",
            "texts",
            "operator",
            "NAME",
        ),
    ] = None
    select: Annotated[
        Select,
        Option(
            "Only vectors whose id holds this text, or matches it if it has a * or ?.",
            metavar="GLOB",
        ),
    ] = None
    tier: Annotated[
        str,
        Option(
            "The largest tier to run; large, which is in no file, alone.",
            "choice",
            metavar="TIER",
            choices=(*TIERS, LARGE),
        ),
    ] = "standard"
    shard: Annotated[
        str | None, Option("Run the I-th of N equal parts; see merge.", metavar="I/N")
    ] = None
    require: Annotated[
        Mapping[str, str] | None,
        Option(
            "Accept only this reading of a clause; repeatable.",
            "readings",
            metavar="CLAUSE=READING",
        ),
    ] = None
    profile: Annotated[
        str | None, Option("Require the readings of openvino, onnx or torch.", metavar="NAME")
    ] = None
    allow_extensions: Annotated[
        bool,
        Option(
            "Count what is accepted though a document excludes it apart, and as no failure.",
            "flag",
        ),
    ] = False
    diagnose: Annotated[
        bool | Diagnosing,
        Option(
            "Causes of failures: not searched, those that fit, or that held-out cases confirm.",
            "choice",
            choices=DIAGNOSING,
        ),
    ] = "proven"
    diagnose_seconds: Annotated[
        float | None,
        Option(
            "How long experiments on likely causes may take; their work is limited in any case.",
            "seconds",
            metavar="SECONDS",
        ),
    ] = 600.0
    variations: Annotated[
        Variations,
        Option(
            "Call every vector in these variations, too; by default, a few of each file in all.",
            metavar="all|none|NAME,...",
        ),
    ] = SAMPLE
    isolate: bool = False
    jobs: Annotated[int, Option("Workers that run it.", "count")] = 1
    timeout: Annotated[
        float | None, Option("How long one vector may take.", "seconds", metavar="SECONDS")
    ] = None
    memory: Annotated[
        int | None, Option("Address space of a worker: 2G, 500M.", "size", metavar="SIZE")
    ] = None
    cluster: Annotated[
        str | None,
        Option(
            "Run shards on the workers of this Dask cluster, tcp://HOST:PORT.", metavar="ADDRESS"
        ),
    ] = None
    max_failures: Annotated[
        int | None,
        Option("Stop after so many failures; the run is incomplete then.", "count"),
    ] = None
    expected_failures: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "Failures that are known; others, and these where they pass, are not ok.",
            "path",
            metavar="FILE",
        ),
    ] = None
    skip: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "Another such file, of which the vectors to skip alone are meant.",
            "path",
            metavar="FILE",
        ),
    ] = None
    min_supported: Annotated[
        str | int | Sequence[str | int],
        Option(
            "Fail if fewer vectors are supported: 4000, 90%, 95%,AvgPool-1; repeatable.",
            "texts",
            metavar="N|PERCENT[,OPERATOR...]",
        ),
    ] = ()
    baseline: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "Fail if a vector is unsupported that conforms in this report of --json.",
            "path",
            metavar="REPORT",
        ),
    ] = None
    strict_unsupported: Annotated[
        bool, Option("Fail if any vector is unsupported or skipped.", "flag")
    ] = False

    def __post_init__(self) -> None:
        for name, kind in _types().items():
            value = getattr(self, name)
            if not _is_of(value, kind):
                raise UsageError(f"{name} is {value!r}: it has to be {_in_words(kind)}")
        check_jobs(self.jobs)
        check_limits(self.timeout, self.memory)
        check_seconds("diagnose_seconds", self.diagnose_seconds)
        if self.max_failures is not None and not _is_count(self.max_failures):
            raise UsageError(f"max_failures is {self.max_failures!r}; it must be at least 1")

    @classmethod
    def of(cls, settings: Settings | None, options: Mapping[str, Any]) -> Settings:
        """Return settings with some others, by name; TypeError for a name that there is not."""
        names = [each.name for each in fields(cls)]
        for name in options:
            if name not in names:
                raise TypeError(
                    f"no setting {quoted(name)}{did_you_mean(name, names)}; there are "
                    f"{', '.join(names)}"
                )
        return replace(settings or cls(), **options)

    @property
    def operators_asked(self) -> tuple[str, ...]:
        """The names, globs and families of operators that are asked for; () for all."""
        given = self.operators
        return (given,) if isinstance(given, str) else tuple(given or ())

    @property
    def apart(self) -> bool:
        """Whether the backend is called in another process."""
        limits = self.timeout, self.memory, self.cluster
        return self.isolate or self.jobs != 1 or any(limit is not None for limit in limits)

    @property
    def diagnosing(self) -> Diagnosing:
        """What is done about the causes of failures, in words."""
        if isinstance(self.diagnose, bool):
            return "proven" if self.diagnose else "none"
        return self.diagnose


@cache
def options() -> Mapping[str, Option]:
    """Return how each setting is given in words, by its name."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = Settings()
    return {
        name: replace(
            option, flag=option.flag or name.replace("_", "-"), default=getattr(defaults, name)
        )
        for name in (each.name for each in fields(Settings))
        for option in getattr(hints[name], "__metadata__", ())
    }


def readings_of(texts: Iterable[str]) -> dict[str, str]:
    """Return the reading of each clause that texts CLAUSE=READING give; UsageError for others."""
    readings: dict[str, str] = {}
    for text in texts:
        clause, _, reading = text.partition("=")
        if not (clause and reading):
            raise UsageError(f"{text!r} is not CLAUSE=READING")
        if readings.setdefault(clause, reading) != reading:
            raise UsageError(f"{clause} is asked to be both {readings[clause]} and {reading}")
    return readings


def check_jobs(jobs: int) -> None:
    """Raise UsageError for a number of processes that cannot be."""
    if not isinstance(jobs, int) or not 1 <= jobs <= MOST_JOBS:
        raise UsageError(f"jobs is {jobs!r}: from 1 to {MOST_JOBS}")


def check_limits(timeout: float | None, memory: int | None) -> None:
    """Raise UsageError for seconds of a call or bytes of a process that cannot be a limit."""
    check_seconds("timeout", timeout)
    if memory is not None and not _is_count(memory):
        raise UsageError(f"memory is {memory!r} bytes: at least 1, or None for no limit")


def check_seconds(name: str, seconds: float | None) -> None:
    """Raise UsageError for seconds that cannot be a limit."""
    if seconds is not None and not (
        isinstance(seconds, int | float) and 0 < seconds <= threading.TIMEOUT_MAX
    ):
        raise UsageError(f"{name} is {seconds!r} s: above 0, or None for no limit")


@cache
def _types() -> Mapping[str, Any]:
    """Return the type of each setting, as it is annotated."""
    return get_type_hints(Settings)


def _is_of(value: object, kind: Any) -> bool:
    """Say whether a value is of an annotated type, with what it holds; flags are no numbers."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return any(_is_of(value, each) for each in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if kind in {int, float}:
        numbers = int if kind is int else (int, float)
        return isinstance(value, numbers) and not isinstance(value, bool)
    if origin is Mapping and isinstance(value, Mapping):
        return all(_is_of(k, args[0]) and _is_of(v, args[1]) for k, v in value.items())
    if origin is Sequence and isinstance(value, Sequence):
        return not isinstance(value, str | bytes) and all(_is_of(each, args[0]) for each in value)
    return isinstance(value, origin or kind)


def _in_words(kind: Any) -> str:
    """Say what values an annotated type has: "a text, several of them, or None"."""
    kinds = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    words = [word for each in kinds for word in _words_of(each)]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _words_of(kind: Any) -> Sequence[str]:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return [repr(each) for each in args]
    if origin in {Sequence, Iterable}:
        return [f"several (each {_in_words(args[0])})"]
    return [_WORDS.get(origin or kind, "what its annotation says")]


_WORDS: Mapping[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    type(None): "None",
    os.PathLike: "a path",
    Callable: "a function",
    Mapping: "a mapping of texts to texts",
}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
