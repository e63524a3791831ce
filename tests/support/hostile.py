"""Backends that are right but for one stated misbehaviour, where the first cell is 13.

`GALLERY` maps the name of each to what it does and to the verdict that this deserves. Workers
import this module, so it imports little.
"""

# ruff: noqa: T201, N818 - backends print, and their exceptions have the names they have
import ctypes
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.backends.engines.numpy_backend import backend as right
from conformance.errors import Unsupported

TRIGGER = 13.0
GALLERY: dict[str, "Misbehaviour"] = {}


@dataclass(frozen=True)
class Misbehaviour:
    """What a backend does, and what is to be said of it.

    `act` gets the right output and the arguments of the backend, and returns the output.
    `verdict` and `detail`, a regular expression, are those of the vector. `survivable` says
    that it can be met in this process. `hangs` needs a time limit.
    """

    name: str
    act: Callable[..., Any]
    verdict: str
    detail: str
    survivable: bool
    hangs: bool

    def __call__(self, operator, inputs, attributes):
        given = inputs[0].flat[0]
        output = right(operator, inputs, attributes)
        return self.act(output, inputs, attributes) if given == TRIGGER else output

    def __reduce__(self):
        return named, (self.name,)


def named(name):
    """Return a backend of the gallery; it is sent to a worker as this call."""
    return GALLERY[name]


def hostile(verdict, detail="", *, survivable=True, hangs=False):
    """Put a misbehaviour into the gallery, under its function's name."""

    def put(act):
        name = act.__name__
        GALLERY[name] = Misbehaviour(name, act, verdict, detail, survivable, hangs)
        return act

    return put


# The process ----------------------------------------------------------------------------------


@hostile("crashed", r"signal SIGSEGV \(11\)", survivable=False)
def segfault(output, inputs, attributes):
    """Read address 0."""
    return ctypes.string_at(0)


@hostile("crashed", "exit status 0", survivable=False)
def exit_zero(output, inputs, attributes):
    """End the process as if all were well."""
    os._exit(0)


@hostile("crashed", "exit status 3", survivable=False)
def exit_three(output, inputs, attributes):
    """End the process."""
    os._exit(3)


@hostile("crashed", r"signal SIGKILL \(9\)", survivable=False)
def killed(output, inputs, attributes):
    """Be killed, as by a system that is out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


@hostile("crashed", r"exit status 5", survivable=False)
def exit_with_child(output, inputs, attributes):
    """End while a child holds every descriptor open."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(5)


@hostile("crashed", r"signal SIGSEGV \(11\)", survivable=False)
def overflow_in_c(output, inputs, attributes):
    """Overflow the stack of C: a thread without room for its frames."""
    threading.stack_size(32768)
    sys.setrecursionlimit(10**6)

    def deeper(value):
        return max((value,), key=deeper)

    thread = threading.Thread(target=deeper, args=(0,))
    thread.start()
    thread.join()
    return output


@hostile("error", "SystemExit: 3")
def sys_exit(output, inputs, attributes):
    sys.exit(3)


@hostile("error", "KeyboardInterrupt", survivable=False)
def keyboard_interrupt(output, inputs, attributes):
    """Raise KeyboardInterrupt without a keyboard."""
    raise KeyboardInterrupt


@hostile("error", "RecursionError: .*")
def recursion(output, inputs, attributes):
    """Call itself without end."""
    return recursion(output, inputs, attributes)


@hostile("conforms", survivable=False)
def forks_and_both_return(output, inputs, attributes):
    """Fork, and return in both processes."""
    os.fork()
    return output


@hostile("conforms", survivable=False)
def leaves_a_child(output, inputs, attributes):
    """Leave a child that lives on."""
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    return output


@hostile("conforms", survivable=False)
def leaves_threads(output, inputs, attributes):
    """Leave threads that nobody may wait for."""
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
    return output


# Hangs ----------------------------------------------------------------------------------------


@hostile("timed-out", "no answer within 1 s", survivable=False, hangs=True)
def hangs_in_python(output, inputs, attributes):
    """Loop without end, past every exception."""
    while True:
        try:
            while True:
                pass
        except BaseException:  # noqa: BLE001 - so does the worst of backends
            continue


@hostile("timed-out", "no answer within 1 s", survivable=False, hangs=True)
def hangs_in_c(output, inputs, attributes):
    """Wait in C with the interpreter's lock, every signal that can be ignored."""
    for number in range(1, 32):
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
    while True:
        ctypes.PyDLL(None).sleep(600)


@hostile("timed-out", "no answer within 1 s", survivable=False, hangs=True)
def prints_forever(output, inputs, attributes):
    """Print without end."""
    while True:
        os.write(1, b"and on " * 1000)


@hostile("timed-out", "no answer within 1 s", survivable=False, hangs=True)
def exception_that_hangs(output, inputs, attributes):
    """Raise an exception that never has a text."""

    class Endless(Exception):
        def __str__(self):
            time.sleep(600)
            return ""

    raise Endless


# Memory and sizes -----------------------------------------------------------------------------


@hostile("error", ".*MemoryError.*", survivable=False)
def exhausts_memory(output, inputs, attributes):
    """Take all memory there is, up to its limit."""
    taken = []
    while True:
        taken.append(np.empty(1 << 26, np.uint8))


@hostile("error", ".*MemoryError.*")
def asks_for_too_much(output, inputs, attributes):
    """Ask for more memory than there is."""
    return np.empty(1 << 58, np.uint8)


@hostile("mismatch", r"shape \(1, 1, 1099511627776\) instead of \(1, 1, 3\)")
def giant_view(output, inputs, attributes):
    """Return an array of terabytes that takes no room."""
    return np.broadcast_to(output[..., :1], (1, 1, 1 << 40))


@hostile("mismatch", r"shape \(17179869184,\) instead of \(1, 1, 3\)", survivable=False)
def giant_array(output, inputs, attributes):
    """Return an array that no memory was yet given to."""
    try:
        return np.empty(1 << 34, np.uint8)
    except MemoryError:  # the system promises no more than it has
        return np.broadcast_to(np.uint8(0), (1 << 34,))


@hostile("mismatch", r"shape \(0, 4611686018427387904\) instead of .*")
def empty_giant(output, inputs, attributes):
    """Return an array of no elements with a giant axis."""
    return np.lib.stride_tricks.as_strided(np.empty(0, np.uint8), (0, 1 << 62), (0, 0))


# Standard streams and descriptors -------------------------------------------------------------


@hostile("conforms")
def prints(output, inputs, attributes):
    """Print to both streams."""
    print("to stdout")
    print("to stderr", file=sys.stderr)
    return output


@hostile("conforms", survivable=False)
def prints_half_a_line(output, inputs, attributes):
    """Print without an end of line, also past Python, and what looks like an answer."""
    print('{"call": 1, "error": "forged"}', end="")
    sys.stdout.flush()
    os.write(1, b'{"call": 1, "error": "forged"}')
    ctypes.CDLL(None).puts(b"from C")
    return output


@hostile("conforms", survivable=False)
def prints_megabytes(output, inputs, attributes):
    """Print more than any pipe holds, and bytes that are no text."""
    os.write(2, b"\xff\xfe\x00\x1b[31m" * 1000)
    for _ in range(100):
        print("x" * 30000)
    print("the end")
    return output


@hostile("conforms", survivable=False)
def closes_standard_streams(output, inputs, attributes):
    """Close descriptors 0, 1 and 2."""
    for fd in range(3):
        os.close(fd)
    return output


@hostile("conforms", survivable=False)
def closes_stream_objects(output, inputs, attributes):
    """Close sys.stdin, sys.stdout and sys.stderr."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()
    return output


@hostile("crashed", "exit status .*", survivable=False)
def closes_everything(output, inputs, attributes):
    """Close every descriptor there is."""
    os.closerange(0, 4096)
    return output


@hostile("crashed", "protocol: .*(print to stderr).*", survivable=False)
def writes_everywhere(output, inputs, attributes):
    """Write garbage to every descriptor there is."""
    for fd in range(256):
        try:
            os.write(fd, b"garbage\n")
        except OSError:
            continue
    return output


@hostile("crashed", "protocol: .*", survivable=False)
def writes_bytes_everywhere(output, inputs, attributes):
    """Write bytes that are no line to every descriptor there is."""
    for fd in range(256):
        try:
            os.write(fd, bytes(range(10)) + b"\xff{")
        except OSError:
            continue
    return output


@hostile("conforms", survivable=False)
def reads_standard_input(output, inputs, attributes):
    assert sys.stdin.read() == ""
    assert os.read(0, 100) == b""
    return output


# Inputs and attributes ------------------------------------------------------------------------


@hostile("conforms")
def spoils_arguments(output, inputs, attributes):
    """Change the inputs and the attributes, deeply."""
    inputs[0][...] = np.nan
    inputs[0].resize((1, 1, 1), refcheck=False)
    inputs.clear()
    for value in attributes.values():
        if isinstance(value, list):
            value[:] = [-1] * 5
    attributes.clear()
    return output


@hostile("conforms")
def view_of_input(output, inputs, attributes):
    """Return a view of an input."""
    inputs[0][..., :3] = output
    return inputs[0][..., :3]


@hostile("conforms")
def backwards_view(output, inputs, attributes):
    """Return an array whose strides are negative."""
    return np.ascontiguousarray(output[..., ::-1])[..., ::-1]


@hostile("conforms")
def other_byte_order(output, inputs, attributes):
    """Return right values in the other byte order."""
    return output.astype(output.dtype.newbyteorder())


@hostile("conforms")
def fortran_order(output, inputs, attributes):
    """Return right values in Fortran's order, read-only and unaligned."""
    raw = np.frombuffer(b"\x00" + output.tobytes(), np.uint8)[1:]
    return np.asfortranarray(raw.view(np.float32).reshape(output.shape))


@hostile("mismatch", "2 of 3 elements differ")
def zero_strides(output, inputs, attributes):
    """Return one element three times."""
    return np.broadcast_to(output[..., :1], output.shape)


# Types ----------------------------------------------------------------------------------------


@hostile("mismatch", "returned list instead of numpy.ndarray")
def returns_list(output, inputs, attributes):
    return output.tolist()


@hostile("mismatch", "dtype object instead of float32")
def returns_objects(output, inputs, attributes):
    """Return an array of objects."""
    return output.astype(object)


@hostile("mismatch", "dtype .* instead of float32")
def returns_structures(output, inputs, attributes):
    """Return an array of structures with hostile names."""
    fields = [(f"a\n\x1b[31m{i}", "f4") for i in range(1000)]
    return np.zeros(output.shape, fields)


@hostile("mismatch", r"returned numpy\.ma(\.core)?\.MaskedArray instead of numpy.ndarray")
def returns_masked(output, inputs, attributes):
    return np.ma.masked_array(output, mask=True)


@hostile("mismatch", r"returned .*Liar instead of numpy.ndarray")
def returns_liar(output, inputs, attributes):
    """Return an array that answers every question with an exit."""

    class Liar(np.ndarray):
        def __array_finalize__(self, obj):
            if obj is None:
                os._exit(0)

        def __getattribute__(self, name):
            raise SystemExit(name)

        def __del__(self):
            pass

    return output.view(Liar)


@hostile("mismatch", r"returned .* instead of numpy.ndarray")
def returns_hostile_type(output, inputs, attributes):
    """Return an object whose type answers with exceptions, and claims to be an array."""

    class Meta(type):
        def __getattribute__(cls, name):
            raise KeyError(name)

    class Hostile(metaclass=Meta):
        @property
        def __class__(self):
            return np.ndarray

    Hostile.__module__ = 3
    type.__setattr__(Hostile, "__qualname__", "a\n\x1b[31m" + "b" * 1000)
    return object.__new__(Hostile)


# Exceptions -----------------------------------------------------------------------------------


@hostile("unsupported", "Unsupported: no 13")
def unsupported(output, inputs, attributes):
    """Say that it does not do this."""
    raise Unsupported("no 13")


@hostile("error", r"Silent: \(its text could not be made\)")
def exception_without_text(output, inputs, attributes):
    """Raise an exception whose text raises."""

    class Silent(Exception):
        def __str__(self):
            raise SystemExit

    raise Silent


@hostile("error", "ValueError: x{297}[.]{3}")
def exception_of_megabytes(output, inputs, attributes):
    """Raise an exception with an enormous text."""
    raise ValueError("x" * 30_000_000)


@hostile("error", r"ValueError: one two\\x1b\[31m three\\u202e four\\ud800")
def exception_with_escapes(output, inputs, attributes):
    """Raise an exception with newlines, escape sequences and half a character."""
    raise ValueError("one\r\n\n two\x1b[31m three\u202e four\ud800")


@hostile("error", r"a\\x1b\[31m b.*: text")
def exception_with_hostile_name(output, inputs, attributes):
    """Raise an exception whose class has a hostile name."""
    raise type("a\x1b[31m\n b" + "c" * 1000, (Exception,), {})("text")


@hostile("error", "Liar: text")
def exception_that_lies(output, inputs, attributes):
    """Raise an exception that claims to be another when asked."""

    class Liar(Exception):
        @property
        def __class__(self):
            raise SystemExit

    raise Liar("text")


@hostile("error", r"Odd: odd")
def exception_with_odd_text(output, inputs, attributes):
    """Raise an exception whose text is a str that cannot be worked with."""

    class Text(str):
        __slots__ = ()

        def __getitem__(self, _):
            raise SystemExit

        split = __len__ = __format__ = __getitem__

    class Odd(Exception):
        def __str__(self):
            return Text("odd")

    raise Odd


# What stays behind ----------------------------------------------------------------------------


@hostile("conforms")
def changes_directory(output, inputs, attributes):
    """Go to another directory."""
    os.chdir("/")
    return output


@hostile("conforms")
def changes_numpy(output, inputs, attributes):
    """Make every rounding of numpy an exception, and seed its numbers."""
    np.seterr(all="raise")
    np.random.seed(0)  # noqa: NPY002
    random.seed(0)
    return output


@hostile("conforms")
def warnings_as_errors(output, inputs, attributes):
    """Make every warning an exception."""
    warnings.simplefilter("error")
    return output


@hostile("conforms")
def replaces_streams(output, inputs, attributes):
    """Put something else in the place of the standard streams."""
    sys.stdin = sys.stdout = sys.stderr = None
    return output


@hostile("conforms")
def shallow_recursion(output, inputs, attributes):
    """Leave hardly any room for calls."""
    depth = 0
    frame = sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 12)
    return output


@hostile("conforms", survivable=False)
def ignores_signals(output, inputs, attributes):
    """Ignore every signal that can be ignored."""
    for number in range(1, 32):
        if number not in {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
            signal.signal(number, signal.SIG_IGN)
    return output


@hostile("conforms")
def changes_it_later(output, inputs, attributes):
    """Change the output after it was returned."""
    threading.Timer(0.05, output.fill, (np.nan,)).start()
    return output
