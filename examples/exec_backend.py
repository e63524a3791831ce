"""AvgPool-1 and MaxPool-1 for `exec:`, see docs/protocol.md: plain Python, no package.

conformance check "exec:python3 examples/exec_backend.py"
"""

import itertools
import json
import math
import re
import sys
from array import array

CODES = {"float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H"}
CODES |= {"int32": "i", "uint32": "I", "int64": "q", "uint64": "Q"}
SUPPORTS = {"AvgPool-1": ["float32", "float64"], "MaxPool-1": list(CODES)}


def main():
    """Shake hands, then answer call after call until the harness closes its end."""
    receive, send = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a stray print must not get between the messages
    hello = json.loads(receive.readline())
    if hello.get("protocol") != "pooling-conformance":
        sys.exit("exec_backend.py: conformance runs this program")
    # Whatever version was offered, this is the one spoken here.
    answer = {"version": 1, "name": "exec_backend.py", "supports": SUPPORTS}
    send.write(json.dumps(answer).encode() + b"\n")
    send.flush()
    for line in receive:
        call = json.loads(line)
        sizes = [math.prod(i["shape"]) * width(i["dtype"]) for i in call["inputs"]]
        buffers = [receive.read(size) for size in sizes]  # also where the answer needs none
        answer, data = {"call": call["call"]}, b""
        try:
            answer["output"], data = compute(call, buffers)
        except NotImplementedError as error:
            answer["unsupported"] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, this call failed and no other
            answer["error"] = f"{type(error).__name__}: {error}"
        send.write(json.dumps(answer).encode() + b"\n" + data)
        send.flush()


def width(dtype):
    """Return the bytes of an element: the first number in a name is its bits, as in bfloat16."""
    return int(re.search("[0-9]+", dtype).group()) // 8


def compute(call, buffers):
    """Return what describes the output, and its bytes."""
    operator, (described, *others) = call["operator"], call["inputs"]
    if described["dtype"] not in SUPPORTS.get(operator, ()):
        raise NotImplementedError(f"{operator} of {described['dtype']}")
    if others:
        raise ValueError("one input")
    shape = described["shape"]
    axes, counts_pads = axes_of(call["attributes"], shape[2:], average=operator == "AvgPool-1")
    if math.prod(map(len, axes)) * math.prod(shape[:2]) > 1 << 27:
        raise ValueError("the output is too large")
    pool = mean if operator == "AvgPool-1" else maximum
    data = array(CODES[described["dtype"]], buffers[0])
    if sys.byteorder == "big":
        data.byteswap()
    plane, strides = math.prod(shape[2:]), [math.prod(shape[i + 1 :]) for i in range(2, len(shape))]
    result = array(data.typecode)
    for begin in range(0, len(data), plane or 1):
        for windows in itertools.product(*axes):
            places = [
                range(lo * stride, hi * stride, stride)
                for (lo, hi, _), stride in zip(windows, strides, strict=True)
            ]
            cells = [data[begin + sum(place)] for place in itertools.product(*places)]
            padded = math.prod(count for _, _, count in windows)
            result.append(pool(cells, padded if counts_pads else len(cells), data.typecode))
    if sys.byteorder == "big":
        result.byteswap()
    described = {"dtype": described["dtype"], "shape": shape[:2] + [len(axis) for axis in axes]}
    return described, result.tobytes()


def mean(cells, divisor, _typecode):
    """Return the average, NaN where nothing can be averaged."""
    return sum(cells) / divisor if divisor else math.nan


def maximum(cells, _divisor, typecode):
    """Return the largest cell, NaN if any is, and where there is none the lowest value."""
    if typecode in "fd":
        return next((cell for cell in cells if math.isnan(cell)), max(cells, default=-math.inf))
    lowest = 0 if typecode.isupper() else -1 << 8 * array(typecode).itemsize - 1
    return max(cells, default=lowest)


def axes_of(attributes, sizes, *, average):
    """Return the windows of each axis, and whether padding counts; ValueError if invalid."""
    rest = dict(attributes)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{len(sizes)} spatial axes")
    lists = [integers(rest, name, len(sizes), least=1) for name in ("kernel", "strides")]
    lists += [integers(rest, name, len(sizes), least=0) for name in ("pads_begin", "pads_end")]
    ceil = choice(rest, "rounding_type", "floor", "ceil") == "ceil"
    mode = choice(rest, "auto_pad", "explicit", "same_upper", "same_lower", "valid")
    exclude = rest.pop("exclude_pad", None) if average else True
    if exclude is not True and exclude is not False:
        raise ValueError("exclude_pad: true or false")
    if rest:
        raise ValueError(f"there are no attributes {', '.join(rest)}")
    axes = [windows_of(d, *numbers, mode, ceil) for d, *numbers in zip(sizes, *lists, strict=True)]
    return axes, not exclude


def integers(rest, name, count, *, least):
    """Take a list of as many integers as there are axes."""
    values = rest.pop(name, None)
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"{name}: a list of {count} integers")
    if any(type(value) is not int or value < least for value in values):
        raise ValueError(f"{name}: integers from {least}")
    return values


def choice(rest, name, *words):
    """Take one of some words, the first if the attribute is absent."""
    if (word := rest.pop(name, words[0])) not in words:
        raise ValueError(f"{name}: one of {', '.join(words)}")
    return word


def windows_of(d, k, s, begin, end, mode, ceil):
    """Return for each window the cells lo:hi it reads, and those it has in input and padding."""
    if mode == "valid":
        begin = end = 0
    if mode.startswith("same"):
        count = -(-d // s)
        total = max(0, (count - 1) * s + k - d)
        begin = total // 2 if mode == "same_upper" else total - total // 2
        end = total - begin
    else:
        room = d + begin + end - k
        if room < 0:
            raise ValueError(f"a kernel of {k} on a padded axis of {room + k}")
        count = (-(-room // s) if ceil else room // s) + 1
    if count > 1 << 27:
        raise ValueError("the output is too large")
    windows = []
    for start in range(-begin, count * s - begin, s):
        lo, hi = max(start, 0), min(start + k, d)
        windows.append((lo, max(hi, lo), max(min(start + k, d + end) - start, 0)))
    return windows


if __name__ == "__main__":
    main()
