"""A small right program for `exec:`, and the same with one stated fault.

python fake_program.py [FAULT [always]]

It averages each plane of its input. A fault of an answer shows where the first cell is 13, with
`always` everywhere. Plain Python, so that it starts quickly.
"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from math import prod

CODES = {"float16": "e", "float32": "f", "float64": "d", "int64": "q", "int32": "i"}
OPERATORS = ("AvgPool-1", "nGraph-AvgPool")
TRIGGER = 13.0
HELLO = {"version": 1, "name": "fake program"}
receive, send = sys.stdin.buffer, sys.stdout.buffer


def raw(data):
    """Write bytes as they are."""
    send.write(data)
    send.flush()


def say(message, data=b""):
    """Write a message."""
    raw(json.dumps(message).encode() + b"\n" + data)


def note(line):
    """Write a line to standard error."""
    sys.stderr.write(f"{line}\n")


def hang():
    """Do nothing for longer than any test."""
    time.sleep(600)


def forever(stream):
    """Write without end."""
    while True:
        stream.write("and on " * 1000)


def child(**streams):
    """Start a process that outlives this one."""
    subprocess.Popen(["sleep", "20"], stdin=subprocess.DEVNULL, **streams)


def endless_stderr():
    """Answer rightly and write to standard error all the while."""

    def write():
        while True:  # not through sys.stderr, whose lock a thread must not hold at the end
            os.write(2, b"working\n" * 100)

    threading.Thread(target=write, daemon=True).start()


def shaped(shape, dtype="float32"):
    """Return a fault that gives the output another shape or type, and no bytes."""
    return lambda m, _: say({**m, "output": {"dtype": dtype, "shape": shape}})


def text(line, *, data=True):
    """Return a fault that writes another line; # stands for the call's number."""
    return lambda m, b: raw(line.replace(b"#", b"%d" % m["call"]) + b"\n" + (b if data else b""))


OUTPUT = b'"output": {"dtype": "float32", "shape": [1, 1, 1, 1]}'

HELLOS = {
    "no-hello": lambda: None,
    "wrong-version": lambda: say({"version": 2, "name": "fake"}),
    "echoed-version": lambda: None,  # in main
    "greets-a-person": lambda: (raw(b"Loading weights...\n"), say(HELLO)),
    "hello-is-a-list": lambda: say([HELLO]),
    "hello-has-no-version": lambda: say({"name": "fake"}),
    "hello-is-cut-off": lambda: (raw(b'{"vers'), sys.exit(0)),
    "hello-never-ends": lambda: (raw(b"x" * (2 << 20)), hang()),
    "supports-is-a-list": lambda: say({**HELLO, "supports": ["AvgPool-1"]}),
    "hangs-before-hello": hang,
    "dies-before-hello": lambda: (note("no licence"), sys.exit(3)),
    "endless-stdout": lambda: forever(sys.stdout),
}

ANSWERS = {
    "garbage": text(b"Segmentation fault (core dumped)", data=False),
    "prints": lambda m, b: (raw(b"debug: kernel 2x2\n"), say(m, b)),
    "prints-afterwards": lambda m, b: (say(m, b), raw(b"done\n")),
    "cut-off-line": lambda m, b: (raw(b'{"call": 0, "outp'), sys.exit(0)),
    "endless-line": lambda m, b: (raw(b'{"call": "' + b"x" * (2 << 20)), hang()),
    "wrong-number": lambda m, b: say({**m, "call": m["call"] + 1}, b),
    "text-number": lambda m, b: say({**m, "call": str(m["call"])}, b),
    "no-number": lambda m, b: say({"output": m["output"]}, b),
    "cut-off-bytes": lambda m, b: (say(m, b[:-1]), sys.exit(0)),
    "too-few-bytes": lambda m, b: say(m, b[:-1]),
    "too-many-bytes": lambda m, b: say(m, b + b"\x00" * 4),
    "answers-twice": lambda m, b: (say(m, b), say(m, b)),
    "negative-shape": shaped([1, 1, -1, 1]),
    "fractional-shape": shaped([1, 1, 1.0, 1]),
    "true-shape": shaped([1, 1, True, 1]),
    "text-shape": shaped("1, 1, 1, 1"),
    "huge-shape": shaped([1 << 62, 1 << 62]),
    "terabyte-shape": shaped([1 << 10, 1 << 30]),
    "empty-huge-shape": shaped([0, 1 << 62]),
    "too-large-in-full": lambda m, b: say(
        {**m, "output": {"dtype": "float32", "shape": [1 << 10, 1 << 10]}}, bytes(1 << 22)
    ),
    "deep-shape": shaped([1] * 100_000),
    "unknown-dtype": shaped([1, 1, 1, 1], "float128"),
    "dtype-is-a-number": shaped([1, 1, 1, 1], 32),
    "output-and-error": lambda m, b: say({**m, "error": "both"}, b),
    "neither": lambda m, b: say({"call": m["call"]}),
    "error-is-a-number": lambda m, b: say({"call": m["call"], "error": 7}),
    "deeply-nested": lambda m, b: raw(b"[" * 400_000 + b"\n"),
    "not-utf-8": text(b'{"call": #, "note": "\xff\xfe", ' + OUTPUT + b"}"),
    "nan": text(b'{"call": #, "note": NaN, ' + OUTPUT + b"}"),
    "duplicate-keys": text(b'{"call": 99, "call": #, ' + OUTPUT + b"}"),
    "huge-number": text(b'{"call": ' + b"9" * 10_000 + b", " + OUTPUT + b"}"),
    "killed": lambda m, b: os.kill(os.getpid(), signal.SIGSEGV),
    "exits": lambda m, b: sys.exit(0),
    "exits-3": lambda m, b: (note("out of memory"), sys.exit(3)),
    "closes-stdout": lambda m, b: (os.close(1), hang()),
    "hangs": lambda m, b: hang(),
    "hangs-in-bytes": lambda m, b: (say(m, b[:2]), hang()),
    "hangs-in-line": lambda m, b: (raw(b'{"call": '), hang()),
}

ENDS = {
    "stays": hang,
    "ignores-signals": lambda: (signal.signal(signal.SIGTERM, signal.SIG_IGN), hang()),
    "says-goodbye": lambda: raw(b"bye\n"),
    "crashes-at-end": lambda: os.kill(os.getpid(), signal.SIGABRT),
    "leaves-a-child": child,
}

OTHERS = ("answers-early", "answers-by-itself", "endless-stderr", "refuses-unknown-keys")
OTHERS += ("refuses-unknown-operators", "accepts-anything", "dies-of-errors", "no-empty-input")
OTHERS += ("reads-at-most-64-KiB", "reads-lines-with-read", "only-one", "wrong-values")
OTHERS += ("does-nothing-yet",)
FAULTS = ("", *HELLOS, *ANSWERS, *ENDS, *OTHERS)


def answer_of(fault, call, buffers):
    """Return the answer to a call, and its bytes."""
    number, attributes, described = call["call"], call["attributes"], call["inputs"][0]
    if fault == "does-nothing-yet":
        return {"call": number, "unsupported": "not yet"}, b""
    if call["operator"] not in OPERATORS or described["dtype"] not in CODES:
        what = "error" if fault == "refuses-unknown-operators" else "unsupported"
        return {"call": number, what: f"no {call['operator']} of {described['dtype']}"}, b""
    kernel = attributes.get("kernel", attributes.get("window_shape"))
    if kernel != described["shape"][2:] and fault != "accepts-anything" and kernel != [2, 2]:
        if fault == "dies-of-errors":
            sys.exit("invalid kernel")
        return {"call": number, "error": f"kernel {kernel}"}, b""
    code = CODES[described["dtype"]]
    n, c, *sizes = described["shape"]
    plane = prod(sizes)
    if not n * c * plane:
        if fault == "no-empty-input":
            sys.exit("empty input")
        return {"call": number, "error": "nothing to pool"}, b""
    cells = struct.unpack(f"<{n * c * plane}{code}", buffers[0])
    means = [sum(cells[i : i + plane]) / plane for i in range(0, len(cells), plane)]
    if fault == "wrong-values":
        means = [mean + 1 for mean in means]
    output = {"dtype": described["dtype"], "shape": [n, c, *(1 for _ in sizes)]}
    return {"call": number, "output": output}, struct.pack(f"<{len(means)}{code}", *means)


def first_cell(call, buffers):
    """Return the first cell of the data, or None."""
    code = CODES.get(call["inputs"][0]["dtype"])
    return struct.unpack_from(f"<{code}", buffers[0])[0] if code and buffers[0] else None


def read_call(fault):
    """Return the next call with its bytes, or None at the end."""
    line = os.read(0, 1 << 20) if fault == "reads-lines-with-read" else receive.readline()
    if not line:
        return None
    call = json.loads(line)
    if fault == "answers-early":
        output = {"dtype": call["inputs"][0]["dtype"], "shape": [1, 1, 1, 1]}
        if output["dtype"] == "float32":
            say({"call": call["call"], "output": output}, struct.pack("<f", 1.0))
            time.sleep(0.3)  # so that it is read first
    if fault == "refuses-unknown-keys" and len(call) > 4:
        sys.exit("unknown key")
    buffers = []
    for each in call["inputs"]:
        size = prod(each["shape"]) * int(re.search(r"\d+", each["dtype"])[0]) // 8
        if fault == "reads-at-most-64-KiB" and size > 1 << 16:
            sys.exit("input too large")
        buffers.append(receive.read(size))
    return call, buffers


def greet(fault):
    """Shake hands."""
    if fault in HELLOS and fault != "echoed-version":
        HELLOS[fault]()
    hello = json.loads(receive.readline())
    if fault == "only-one":
        lock_or_exit()
    if fault == "echoed-version":
        say({"version": hello["version"], "name": "fake"})
    elif fault not in HELLOS:
        say(HELLO)


def lock_or_exit():
    """Exit where another program like this one runs."""
    import socket  # noqa: PLC0415 - only this fault needs it

    global lock  # noqa: PLW0603 - held until the program ends
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0fake-program-{os.getppid()}")
    except OSError:
        sys.exit("already running")


def main(fault="", always=""):
    """Run with a fault."""
    if fault not in FAULTS:
        sys.exit(f"no fault {fault}")
    greet(fault)
    if fault == "endless-stderr":
        endless_stderr()
    if fault == "answers-by-itself":
        say({"call": 0, "unsupported": "nobody asked"})
    while (read := read_call(fault)) is not None:
        message, data = answer_of(fault, *read)
        if fault == "answers-early" and read[0]["inputs"][0]["dtype"] == "float32":
            continue
        faulty = always or first_cell(*read) == TRIGGER
        if fault in ANSWERS and faulty and "output" in message:
            ANSWERS[fault](message, data)
        else:
            say(message, data)
    if fault in ENDS:
        ENDS[fault]()


if __name__ == "__main__":
    main(*sys.argv[1:])
