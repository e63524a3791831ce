"""Whether a program keeps the protocol, rule by rule, whatever it computes (docs/protocol.md).

Where a program breaks no rule and its results are wrong, the fault is in what it computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Literal

import numpy as np

from conformance.backends.program.probe_session import Broken, ProbeSession, Reply, Request
from conformance.backends.program.protocol import VERSION, Welcome
from conformance.dtypes import FLOATS, INTEGERS, dtype_of
from conformance.operators import OPERATORS
from conformance.vector import Array

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
    "result": "the average, or the maximum, of 1, 2, 3, 4 is right",
}
"""The rules that are checked, in this order, with what docs/protocol.md says of each."""

_LARGE = 1 << 22
_MOST_PRINTED = 1 << 16  # bytes on standard error
_PAUSE = 0.05  # seconds between the pieces of a message
_EARLY = 0.1  # seconds in which an answer that is too early comes
_ANYTHING = {"a key": ['}]"\\', {"deep": [None, 1.5e3, -7, False, []]}], "": {}}
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
    checks = _RuleChecks(ProbeSession(tuple(command), timeout))
    try:
        for rule in RULES:
            yield checks.finding(rule)
    finally:
        checks.session.end()


class _RuleChecks:
    """A check per rule, a method of its name: it returns what was seen, or raises."""

    def __init__(self, session: ProbeSession) -> None:
        self.session = session
        self._welcome: Welcome | None = None
        self._sample: tuple[str, str] | None = None
        self._kind = ""  # of the answer to the sample

    def finding(self, rule: str) -> RuleKept:
        """Return the finding on a rule."""
        if self._welcome is None and rule not in {"handshake", "only-messages"}:
            return RuleKept(rule, "not tested", "there was no handshake")
        try:
            return RuleKept(rule, "ok", getattr(self, f"_{rule.replace('-', '_')}")())
        except _NotTestedError as why:
            return RuleKept(rule, "not tested", str(why))
        except Broken as breach:
            self.session.end()
            return RuleKept(rule, "broken", str(breach))

    # The rules, in their order ------------------------------------------------------------------

    def _handshake(self) -> str:
        self._welcome = welcome = self.session.start()
        supports = welcome.supports
        if supports is None:
            return f"{welcome.name!r}, to be asked for everything"
        return f"{welcome.name!r} supports {', '.join(sorted(supports)) or 'nothing'}"

    def _answers(self) -> str:
        first = ""
        for sample in self._samples():
            request = _plain(*sample)
            reply, _ = self._ask_both(request, request)
            seen = f"{sample[0]} of {sample[1]}: {reply.in_words}"
            if reply.kind == "output" or not first:
                self._sample, self._kind, first = sample, reply.kind, seen
            if reply.kind == "output":
                return seen
        if not first:
            raise Broken("`supports` names nothing that it could be asked for")
        return f"nothing gives an output; {first}"

    def _in_pieces(self) -> str:
        message = self.session.write(self._plain())
        line = message.index(b"\n") + 1
        for begin, end in pairwise((0, 1, line // 2, line - 1, line, line + 3, len(message))):
            self.session.send(message[begin:end])
            self.session.listen(_PAUSE if end < len(message) else 0)
        return self._as_before(self.session.read())

    def _whole_call(self) -> str:
        message = self.session.write(self._plain())
        self.session.send(message[:-1])
        if early := self.session.listen(_EARLY):
            raise Broken(f"before the last byte of the input it wrote {early}")
        self.session.send(message[-1:])
        return self._as_before(self.session.read())

    def _large_input(self) -> str:
        operator, dtype = self._known_sample()
        shape = _shape(operator)
        shape[-1] = 1024
        shape[2] = 1
        shape[2] = _LARGE // dtype_of(dtype).itemsize // prod(shape)
        data = np.ones(shape, dtype_of(dtype))
        reply = self._ask_then_plain(_request(operator, dtype, data))
        return f"{data.nbytes >> 20} MiB: {reply.in_words}"

    def _empty_input(self) -> str:
        operator, dtype = self._known_sample()
        seen = []
        for empty in (0, 2):
            shape = _shape(operator)
            shape[empty] = 0
            data = np.ones(shape, dtype_of(dtype))
            reply = self._ask_then_plain(_request(operator, dtype, data))
            seen.append(f"{shape}: {reply.in_words}")
        return "; ".join(seen)

    def _element_types(self) -> str:
        self._known_sample()
        first: dict[str, tuple[str, list[float]]] = {}
        read: list[str] = []
        rest: list[str] = []
        for operator, dtype in self._samples():
            reply = self._ask_then_plain(_plain(operator, dtype))
            what = f"{operator} of ones in {dtype}"
            if reply.kind != "output":
                rest.append(f"{dtype} of {operator}, {reply.kind}")
                continue
            if reply.dtype != dtype or reply.data is None:
                raise Broken(f"{what}: {reply.in_words}")
            values = np.frombuffer(reply.data, dtype_of(dtype)).astype(np.float64).tolist()
            # What is wrong in every type alike is a wrong result, not a wrong type.
            other, expected = first.setdefault(operator, (dtype, values))
            if values != expected:
                raise Broken(
                    f"{what} is {_numbers(values)}, but in {other} it is {_numbers(expected)}"
                )
            read += [dtype] if dtype not in read else []
        refused = f"; without an output: {_few(rest)}" if rest else ""
        if not read:
            raise _NotTestedError(f"nothing gives an output{refused}")
        return f"ones come back alike in {_few(read)}{refused}"

    def _invalid_attributes(self) -> str:
        operator, dtype = self._known_sample()
        requests = _invalid(operator, dtype)
        if not requests:
            raise _NotTestedError(f"nothing of {operator} could be invalid")
        for what, request in requests.items():
            reply = self._ask_then_plain(request)
            if reply.kind == "unsupported":
                raise _NotTestedError(f"{operator} with {what}: {reply.in_words}")
            if reply.kind != "error":
                raise Broken(f"{operator} with {what}: {reply.in_words}")
        return f"{operator} with {', '.join(requests)}: error"

    def _unknown_operator(self) -> str:
        assert self._welcome
        self._known_sample()
        if self._welcome.supports is not None:
            raise _NotTestedError("`supports` keeps it away")
        request = Request(
            "SumPool-99",
            (np.ones((1, 1, 2, 2), np.float32), np.ones(3, np.int64)),
            {"size": [1, 2]},
        )
        reply = self._ask_then_plain(request)
        if reply.kind != "unsupported":
            raise Broken(f"SumPool-99: {reply.in_words}")
        return f"SumPool-99: {reply.in_words}"

    def _unknown_keys(self) -> str:
        self.session.end()
        self.session.start(_ANYTHING)
        return self._as_before(self.session.ask(self._plain(), _ANYTHING))

    def _other_version(self) -> str:
        return self.session.offer(VERSION + 1)

    def _at_once(self) -> str:
        request = self._plain()
        self._as_before(self.session.ask(request))
        second = ProbeSession(self.session.command, self.session.timeout)
        try:
            second.start()
            second.ask(request)
            self._as_before(self.session.ask(request))
        except Broken as breach:
            raise Broken(f"beside another: {breach}") from None
        finally:
            second.end()
            self.session.join(second)
        return "two of it answered in turn"

    def _end_of_input(self) -> str:
        return self.session.finish()

    def _only_messages(self) -> str:
        if self.session.strays:
            raise Broken(f"{self.session.strays[0]}: print to standard error")
        if self._welcome is None:
            raise _NotTestedError("there was no handshake")
        return "nothing else was"

    def _standard_error(self) -> str:
        printed = self.session.printed
        last = f"the last line is {self.session.last_printed}"
        if printed > _MOST_PRINTED:
            raise Broken(f"it wrote {printed:,} bytes; {last}")
        return last if printed else "nothing was written"

    def _result(self) -> str:
        operator, dtype = self._known_sample()
        shape = _shape(operator)
        cells = np.arange(1, 1 + prod(shape))
        reduction = OPERATORS[operator].reduction
        value = reduction.combine.reduce(cells) / (len(cells) if reduction.sums else 1)
        reply = self._ask_then_plain(
            _request(operator, dtype, cells.reshape(shape).astype(dtype_of(dtype)))
        )
        expected = np.array(value, dtype_of(dtype))
        what = f"{operator} of {', '.join(map(str, cells))} in {dtype}"
        if reply.kind != "output" or reply.data is None or reply.dtype != dtype:
            raise Broken(f"{what}: {reply.in_words}")
        got = np.frombuffer(reply.data, dtype_of(dtype))
        single = (1,) * len(shape)
        if reply.shape != single or got[0] != expected:
            raise Broken(
                f"{what} is {_numbers(got.tolist())} "
                f"of shape {list(reply.shape)}, "
                f"not [{expected}] of shape {list(single)}"
            )
        return f"{what} is {expected}"

    # What the rules share ------------------------------------------------------------------------

    def _samples(self) -> Iterator[tuple[str, str]]:
        """Yield what the program is to be asked for, float32 first."""
        assert self._welcome
        types = sorted((*FLOATS, *INTEGERS), key=lambda name: name != "float32")
        forward = (each for each in OPERATORS.values() if not (each.is_gradient or each.scatters))
        operators = sorted(forward, key=lambda operator: operator.is_adaptive)
        for dtype in types:
            for operator in operators:
                rounds = operator.reduction.sums and dtype not in FLOATS
                is_defined = dtype in operator.dtypes and not rounds
                if is_defined and self._welcome.offers(operator.name, dtype):
                    yield operator.name, dtype

    def _known_sample(self) -> tuple[str, str]:
        if self._sample is None:
            raise _NotTestedError("there was no answer to begin with")
        return self._sample

    def _plain(self) -> Request:
        return _plain(*self._known_sample())

    def _ask_then_plain(self, request: Request) -> Reply:
        """Return the answer to a request, after which a plain one is answered as ever."""
        reply, plain = self._ask_both(request, self._plain())
        try:
            self._as_before(plain)
        except Broken as breach:
            raise Broken(f"{reply.in_words}, but then, for {breach}") from None
        return reply

    def _ask_both(self, request: Request, then: Request) -> tuple[Reply, Reply]:
        """Ask twice: bytes that the first answer left over show in the second."""
        reply = self.session.ask(request)
        try:
            return reply, self.session.ask(then)
        except Broken as breach:
            raise Broken(f"{reply.in_words}, but then, for the next call: {breach}") from None

    def _as_before(self, reply: Reply) -> str:
        if reply.kind != self._kind:
            raise Broken(f"the call that gave {self._kind} before: {reply.in_words}")
        return "answered as before"


def _shape(operator: str) -> list[int]:
    """Return the shape of data with one window, over two spatial axes where they are allowed."""
    fewest, most = OPERATORS[operator].axes
    return [1, 1, *[2] * max(fewest, 2 if most is None else min(2, most))]


def _plain(operator: str, dtype: str) -> Request:
    return _request(operator, dtype, np.ones(_shape(operator), dtype_of(dtype)))


def _request(operator: str, dtype: str, data: Array) -> Request:
    """Return the pooling of 2 by 2 windows that touch; `dtype` is that of the data."""
    assert data.dtype == dtype_of(dtype)
    definition = OPERATORS[operator]
    extent = tuple(-(-cells // 2) for cells in data.shape[2:])
    attributes = definition.tiled((2,) * (data.ndim - 2), extent)
    size = (np.array(extent, np.int64),) if definition.takes_output_size else ()
    return Request(operator, (data, *size), attributes)


def _invalid(operator: str, dtype: str) -> dict[str, Request]:
    """Return requests that must be refused, by what is wrong with them."""
    request = _plain(operator, dtype)
    definition = OPERATORS[operator]
    axes = request.inputs[0].ndim - 2
    if definition.takes_output_size:
        data, _ = request.inputs
        name = definition.input_names[1]
        long = list(range(1, axes + 2))
        return {
            f"{name} {long}": replace(request, inputs=(data, np.array(long))),
            f"{name} in float32": replace(request, inputs=(data, np.ones(axes, np.float32))),
        }
    kernel = definition.attribute("kernel")
    if kernel is None:
        return {}
    others = {key: value for key, value in request.attributes.items() if key != kernel.key}
    invalid = {
        f"{kernel.key} {value}": replace(request, attributes={**others, kernel.key: value})
        # One number may stand for all axes.
        for value in ([kernel.least - 1] * axes, [2] * (axes + (1 if kernel.one_for_all else -1)))
    }
    if kernel.required:
        invalid[f"no {kernel.key}"] = replace(request, attributes=others)
    return invalid


def _numbers(values: Sequence[object]) -> str:
    return f"[{_few([str(value) for value in values])}]"


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
