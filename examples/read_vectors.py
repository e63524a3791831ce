"""Prints the id of one vector and its first expected value with h5py alone; see docs/format.md.

python read_vectors.py AvgPool-1.h5 0
"""

import sys

import h5py

TYPES = (
    *("float16", "bfloat16", "float32", "float64", "int8", "uint8"),
    *("int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float8_e4m3fn", "float8_e5m2"),
)

if len(sys.argv) != 3:
    sys.exit("usage: python read_vectors.py FILE NUMBER")
with h5py.File(sys.argv[1]) as file:
    vector = int(sys.argv[2])
    text = file["vectors/id"][vector]
    start, stop = file["text/offset"][text : text + 2]
    name = file["text/bytes"][start:stop].tobytes().decode()
    row, end = file["vectors/first_expected"][vector : vector + 2]
    if row == end:
        print(name, "expects no values")
    else:
        element_type = TYPES[file["expected_arrays/dtype"][row]]
        values = file[f"expected/{element_type}/values"]  # bfloat16, float8: its bits
        print(name, f"expects {values[file['expected_arrays/start'][row]]:.9g} first")
