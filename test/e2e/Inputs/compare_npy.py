# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares two .npy files of f32: compare_npy.py FILE FILE TOLERANCE, relative to the largest value.

import ast
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00", path
        header = ast.literal_eval(file.read(struct.unpack("<H", file.read(2))[0]).decode())
        data = file.read()
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    return header["shape"], struct.unpack(f"<{len(data) // 4}f", data)


(shape, values), (other_shape, other_values) = read(sys.argv[1]), read(sys.argv[2])
assert shape == other_shape, (shape, other_shape)
worst = max(abs(a - b) for a, b in zip(values, other_values)) / max(map(abs, other_values))
assert worst <= float(sys.argv[3]), worst
