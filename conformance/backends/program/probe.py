"""Whether a program keeps the protocol, rule by rule, whatever it computes (docs/protocol.md).

Where a program breaks no rule and its results are wrong, the fault is in what it computes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod
from typing import Literal

import numpy as np

from conformance.backends.answer import ARRAY, UNSUPPORTED, Answer, arrays_of
from conformance.backends.program.probed_program import (
    Broken,
    Delivery,
    ProbedProgram,
    described,
    kind_of,
    whole,
)
from conformance.backends.program.protocol import VERSION, hello, shown
from conformance.dtypes import FLOATS, INTEGERS, dtype_of, name_of
from conformance.errors import UsageError
from conformance.operators import OPERATORS, vector_of
from conformance.process.transport import Ended, Silent, status_in_words
from conformance.vector import Array, Case

State = Literal["ok", "broken", "not tested"]

RULES = {
    "handshake": "the first line is answered by a line with `version` 1 and `name`",
    "answers": "a call is answered by a line with its number, and the bytes it announces, no more",
    "in-pieces": "a message may come in pieces: one read may return a part of it",
    "whole-call": "nothing is written before the call and all bytes of its inputs are read",
    "large-input": "inputs of several MiB are read",
    "empty-input": "an input without elements has no bytes; any answer is allowed",
    "element-types": "elements of all types in `supports` are read and written as described above",
    "invalid-attributes": "they are answered by `error`, and the next call is answered as usual",
    "unknown-operator": "it is answered by `unsupported`; it is not sent if there is `supports`",
    "unknown-keys": "keys that are not named above are ignored in every message",
    "other-version": "offered another version, the program answers with its own, or exits",
    "at-once": "several copies of the program can run at the same time",
    "end-of-input": "when its input ends, the program exits with status 0, and its children end",
    "only-messages": "nothing but messages is written to standard output",
    "standard-error": "it is for people to read: at most 64 KiB are written to it during a probe",
    "result": "the average, the maximum or the norm of 1, 2, 3, 4 is right",
}
"""The rules that are checked, in this order, with what docs/protocol.md says of each."""

_LARGE = 1 << 22
_MOST_PRINTED = 1 << 16  # bytes on standard error
_PAUSE = 0.05  # seconds between the pieces of a message
_EARLY = 0.1  # seconds in which an answer that is too early comes
_MORE_KEYS = {"a key": ['}]"\\', {"deep": [None, 1.5e3, -7, False, []]}], "": {}}
"""Keys and values that a program misreads if it searches for braces or quotes by hand."""


@dataclass(frozen=True, slots=True)
class RuleKept:
    """Whether a program keeps a rule; `seen` is one line on what it did."""

    rule: str
    state: State
    seen: str


class _NotTestedError(Exception):
    """Why a rule could not be tested."""


def probe(command: Sequence[str], *, timeout: float = 10.0) -> Iterator[RuleKept]:
    """Yield a finding for each of RULES, in their order; it may start the program several times.

    `timeout` is how many seconds it may take over an answer. Raises UsageError if the program
    cannot be started.
    """
    checks = _RuleChecks(tuple(command), timeout)
    try:
        for rule in RULES:
            yield checks.finding(rule)
    finally:
        checks.end()


class _RuleChecks:
    """A check per rule, its _CALLS or a method of its name: it returns what was seen, or raises."""

    def __init__(self, command: tuple[str, ...], timeout: float) -> None:
        self._command, self._timeout = command, timeout
        self._programs: list[ProbedProgram] = []  # all that were started
        self._greeted = False
        self._answered: tuple[Case, str] | None = None  # a case, and the kind of its answer

    def finding(self, rule: str) -> RuleKept:
        """Return the finding on a rule."""
        if not self._greeted and rule not in {"handshake", "only-messages"}:
            return RuleKept(rule, "not tested", "there was no handshake")
        try:
            if rule in _CALLS:
                return RuleKept(rule, "ok", self._calls(*_CALLS[rule]))
            return RuleKept(rule, "ok", getattr(self, f"_{rule.replace('-', '_')}")())
        except _NotTestedError as why:
            return RuleKept(rule, "not tested", str(why))
        except Broken as breach:
            self.end()
            return RuleKept(rule, "broken", str(breach))

    def end(self) -> None:
        """End the programs that run."""
        for program in self._programs:
            program.kill()

    # Rules that are more than calls, in their order ---------------------------------------------

    def _handshake(self) -> str:
        welcome = self._start().welcome
        assert welcome
        self._greeted = True
        if welcome.supports is None:
            return f"{welcome.name!r}, to be asked for everything"
        return f"{welcome.name!r} supports {', '.join(sorted(welcome.supports)) or 'nothing'}"

    def _answers(self) -> str:
        tried = []
        for case in self._samples():
            tried.append((case, self._ask(case, then=case)))
            if tried[-1][1].kind == ARRAY:
                break
        if not tried:
            raise Broken("`supports` names nothing that it could be asked for")
        case, answer = max(tried, key=lambda each: each[1].kind == ARRAY)
        self._answered = case, kind_of(answer)
        nothing = "" if answer.kind == ARRAY else "nothing gives an output; "
        return f"{nothing}{case.id}: {described(answer)}"

    def _element_types(self) -> str:
        first: dict[str, tuple[Case, Array]] = {}
        read: dict[str, None] = {}
        rest: list[str] = []
        for case in self._samples():
            answer = self._ask(case)
            if answer.kind != ARRAY:
                rest.append(f"{case.id}, {kind_of(answer)}")
                continue
            output = _output(case, answer)
            # What is wrong in every type alike is a wrong result, not a wrong type.
            other, expected = first.setdefault(case.operator, (case, output))
            if not _is_near(output, expected):
                raise Broken(f"{_pooled(case, output)}, but {_pooled(other, expected)}")
            read[name_of(case.data.dtype)] = None
        refused = f"; without an output: {_few(rest)}" if rest else ""
        if not read:
            raise _NotTestedError(f"nothing gives an output{refused}")
        return f"outputs are alike in {_few([*read])}{refused}"

    def _unknown_keys(self) -> str:
        self.end()
        self._start(_more_keys)
        return self._calls(lambda sample: [sample], "", _more_keys)

    def _other_version(self) -> str:
        self.end()
        offered = f"version {VERSION + 1}"
        try:
            self._start(lambda *_: [hello(VERSION + 1)])
        except Broken as breach:
            cause = breach.__cause__
            if isinstance(cause, UsageError):
                return f"it refuses to work with {offered}"
            exited = isinstance(cause, Ended) and cause.status in range(256)
            if exited and not self._programs[-1].received:
                return f"{cause} for {offered}"
            raise Broken(f"offered {offered}: {breach}") from None
        finally:
            self.end()
        return f"it answers {offered} with its own"

    def _at_once(self) -> str:
        self._answer(self._sample)
        try:
            other = self._start()
            other.ask(self._sample, whole)
            self._answer(self._sample)
        except Broken as breach:
            raise Broken(f"beside another: {breach}") from None
        other.kill()
        return "two of it answered in turn"

    def _end_of_input(self) -> str:
        program = self._running()
        try:
            status = program.finish(self._timeout)
        except Silent as silent:
            after = f"{silent.seconds:g} seconds after its input has ended"
            raise Broken(f"it runs on {after}") from None
        if program.received:
            program.strays.append(f"after its input had ended it wrote {shown(program.received)}")
            raise Broken(program.strays[-1])
        if status != 0:
            raise Broken(status_in_words(status))
        if program.output_is_open:
            raise Broken("it exits, but a process that it started keeps its standard output open")
        self.end()
        return status_in_words(status)

    def _only_messages(self) -> str:
        if strays := [stray for program in self._programs for stray in program.strays]:
            raise Broken(f"{strays[0]}: print to standard error")
        if not self._greeted:
            raise _NotTestedError("there was no handshake")
        return "nothing else was"

    def _standard_error(self) -> str:
        self.end()
        printed = sum(program.errors.total for program in self._programs)
        lines = [shown(program.last_printed) for program in self._programs if program.last_printed]
        last = f"the last line is {lines[-1]}" if lines else "nothing was written"
        if printed > _MOST_PRINTED:
            raise Broken(f"it wrote {printed:,} bytes; {last}")
        return last

    def _result(self) -> str:
        case = self._sample
        output = _output(case, self._ask(case))
        expected = vector_of(case).values[0].outputs[0].values
        if output.shape != expected.shape or not _is_near(output, expected):
            right = f"{_numbers(expected)} of shape {list(expected.shape)}"
            raise Broken(f"{_pooled(case, output)} of shape {list(output.shape)}, not {right}")
        return _pooled(case, output)

    # What the rules share ------------------------------------------------------------------------

    def _start(self, delivery: Delivery = whole) -> ProbedProgram:
        self._programs.append(ProbedProgram(self._command, self._timeout))
        self._programs[-1].shake_hands(delivery)
        return self._programs[-1]

    def _running(self) -> ProbedProgram:
        """Return the program that runs, a fresh one if none does."""
        return next((each for each in self._programs if each.alive), None) or self._start()

    def _samples(self) -> Iterator[Case]:
        """Yield what the program is to be asked for, float32 first."""
        types = sorted((*FLOATS, *INTEGERS), key=lambda name: name != "float32")
        forward = (each for each in OPERATORS.values() if not (each.is_gradient or each.scatters))
        operators = sorted(forward, key=lambda operator: operator.is_adaptive)
        for dtype, operator in product(types, operators):
            rounds = operator.reduction.sums and dtype not in FLOATS
            is_defined = dtype in operator.dtypes and not rounds
            if is_defined and self._running().offers(operator.name, dtype):
                yield _plain(operator.name, dtype)

    @property
    def _sample(self) -> Case:
        """What is answered: by an output, if anything is."""
        if self._answered is None:
            raise _NotTestedError("there was no answer to begin with")
        return self._answered[0]

    def _calls(self, cases: Callable[[Case], list[Case]], kind: str, delivery: Delivery) -> str:
        """Ask for the cases that a sample gives; their answers are to be of a kind, "" for any."""
        seen = []
        for case in cases(self._sample):
            if not self._running().offers(case.operator, name_of(case.data.dtype)):
                raise _NotTestedError("`supports` keeps it away")
            answer = self._ask(case, delivery)
            seen.append(f"{case.id}: {kind_of(answer)}")
            if kind not in {"", kind_of(answer)}:
                why = _NotTestedError if answer.kind == UNSUPPORTED else Broken
                raise why(f"{case.id}: {described(answer)}")
        if not seen:
            raise _NotTestedError(f"nothing of {self._sample.operator} could be wrong")
        return "; ".join(seen)

    def _ask(self, case: Case, delivery: Delivery = whole, then: Case | None = None) -> Answer:
        """Return the answer to a case, after which another, the sample, is answered as ever.

        Bytes that the first answer left over show in the second.
        """
        then = then or self._sample
        answer = self._answer(case, delivery)
        try:
            self._answer(then)
        except Broken as breach:
            asked = f"{described(answer)}, but then, for the next call"
            raise Broken(f"{asked}: {breach}") from None
        return answer

    def _answer(self, case: Case, delivery: Delivery = whole) -> Answer:
        """Return the answer to a case; that to the sample must be of the same kind as before."""
        answer = self._running().ask(case, delivery)
        if self._answered and case is self._sample and kind_of(answer) != self._answered[1]:
            raise Broken(f"{described(answer)}; the same call gave {self._answered[1]} before")
        return answer


# What is sent -------------------------------------------------------------------------------------


def _in_pieces(program: ProbedProgram, message: bytes) -> Iterator[bytes]:
    line = message.index(b"\n") + 1
    for begin, end in pairwise((0, 1, line // 2, line - 1, line, line + 3, len(message))):
        yield message[begin:end]
        program.listen(_PAUSE)


def _last_byte_late(program: ProbedProgram, message: bytes) -> Iterator[bytes]:
    yield message[:-1]
    if early := program.listen(_EARLY):
        raise Broken(f"before the last byte of the input it wrote {early}")
    yield message[-1:]


def _more_keys(_: ProbedProgram, message: bytes) -> Iterator[bytes]:
    """Put keys before the others, and in what describes the inputs."""
    line, feed, data = message.partition(b"\n")
    keys = {**_MORE_KEYS, **json.loads(line)}
    if "inputs" in keys:
        keys["inputs"] = [{**_MORE_KEYS, **array} for array in keys["inputs"]]
    yield json.dumps(keys).encode() + feed + data


def _plain(operator: str, dtype: str) -> Case:
    """Return a case with one window, over two spatial axes where they are allowed."""
    fewest, most = OPERATORS[operator].axes
    axes = max(fewest, 2 if most is None else min(2, most))
    return _case(operator, dtype, (1, 1, *[2] * axes))


def _case(operator: str, dtype: str, shape: Sequence[int]) -> Case:
    """Return the pooling of 1, 2, 3, 4, again and again, by windows of 2 cells per axis."""
    definition = OPERATORS[operator]
    extent = tuple(-(-cells // 2) for cells in shape[2:])
    attributes = definition.tiled((2,) * len(extent), extent)
    size = (np.array(extent, np.int64),) if definition.takes_output_size else ()
    data = np.resize(np.arange(1, 5).astype(dtype_of(dtype)), shape)
    return Case(f"{operator} of {dtype}", operator, attributes, (data, *size))


def _reshaped(sample: Case, *shapes: Sequence[int]) -> list[Case]:
    dtype = name_of(sample.data.dtype)
    cases = [_case(sample.operator, dtype, shape) for shape in shapes]
    return [replace(case, id=f"{case.id}, shape {[*case.data.shape]}") for case in cases]


def _large(sample: Case) -> list[Case]:
    shape = [*sample.data.shape[:-1], 1024]
    shape[2] = 1
    shape[2] = _LARGE // sample.data.itemsize // prod(shape)
    return _reshaped(sample, shape)


def _empty(sample: Case) -> list[Case]:
    batch, channels, _, *others = sample.data.shape
    return _reshaped(sample, (0, *sample.data.shape[1:]), (batch, channels, 0, *others))


def _unknown(_: Case) -> list[Case]:
    inputs = (np.ones((1, 1, 2, 2), np.float32), np.ones(3, np.int64))
    return [Case("SumPool-99", "SumPool-99", {"size": [1, 2]}, inputs)]


def _invalid(sample: Case) -> list[Case]:
    """Return cases that must be refused, whose ids say what is wrong with them."""
    definition = OPERATORS[sample.operator]
    axes = sample.data.ndim - 2
    wrong: dict[str, Case] = {}
    if definition.takes_output_size:
        name = definition.input_names[1]
        for what, size in (
            (f"{name} {[*range(1, axes + 2)]}", np.arange(1, axes + 2)),
            (f"{name} in float32", np.ones(axes, np.float32)),
        ):
            wrong[what] = replace(sample, inputs=(sample.data, size))
    elif kernel := definition.attribute("kernel"):
        others = {key: value for key, value in sample.attributes.items() if key != kernel.key}
        # One number may stand for all axes.
        length = axes + (1 if kernel.one_for_all else -1)
        for value in ([kernel.least - 1] * axes, [2] * length):
            attributes = {**others, kernel.key: value}
            wrong[f"{kernel.key} {value}"] = replace(sample, attributes=attributes)
        if kernel.required:
            wrong[f"no {kernel.key}"] = replace(sample, attributes=others)
    return [replace(case, id=f"{case.operator} with {what}") for what, case in wrong.items()]


_CALLS: dict[str, tuple[Callable[[Case], list[Case]], str, Delivery]] = {
    "in-pieces": (lambda sample: [sample], "", _in_pieces),
    "whole-call": (lambda sample: [sample], "", _last_byte_late),
    "large-input": (_large, "", whole),
    "empty-input": (_empty, "", whole),
    "invalid-attributes": (_invalid, "error", whole),
    "unknown-operator": (_unknown, "unsupported", whole),
}
"""By rule: the cases that a sample gives, the kind of their answers, and how they are sent."""


# What comes back ----------------------------------------------------------------------------------


def _output(case: Case, answer: Answer) -> Array:
    """Return the first output; Broken unless there is one of the type of the data."""
    output = arrays_of(answer.outputs[:1])
    if not isinstance(output, np.ndarray) or output.dtype != case.data.dtype:
        raise Broken(f"{case.id}: {described(answer)}")
    return output


def _is_near(output: Array, other: Array) -> bool:
    """Say whether elements are the same, but for how a type rounds the norm of 1, 2, 3, 4."""
    flat, others = (of.astype(np.float64).ravel() for of in (output, other))
    return flat.size == others.size and np.allclose(flat, others, rtol=0.01)


def _pooled(case: Case, output: Array) -> str:
    of = ", ".join(map(str, case.data.ravel().astype(np.int64).tolist()))
    return f"{case.operator} of {of} in {name_of(case.data.dtype)} is {_numbers(output)}"


def _numbers(values: Array) -> str:
    return f"[{_few([str(value) for value in values.ravel().tolist()])}]"


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
