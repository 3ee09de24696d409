"""Compiles a chain of matrix products with small and with large weights, and checks how much more
memory the large ones take at most.

usage: check_peak.py FOLDER (or, to write one model, check_peak.py MODEL SIZE)
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys

FLOAT = 1
LAYERS = 4


def varint(number):
    text = b""
    while number > 127:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    parts = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"".join([varint(field << 3 | 2), varint(sum(map(len, parts))), *parts])


def value(field, name, *dims):
    shape = message(2, *(message(1, number(1, dim)) for dim in dims))
    return message(field, message(1, name), message(2, message(1, number(1, FLOAT), shape)))


def write_model(path, size):
    """x [1, size] times LAYERS matrices."""
    """x [1, size] times LAYERS matrices; the bytes of these."""
    graph = [message(2, "chain")]
    for layer in range(LAYERS):
        weights = os.urandom(size * 2) * (size * 2)  # of any value; no two layers are equal
        graph.append(message(5, number(1, size), number(1, size), number(2, FLOAT),
                             message(8, f"w{layer}"), message(9, weights)))
        graph.append(message(1, message(1, "x" if layer == 0 else f"t{layer}"),
                             message(1, f"w{layer}"), message(2, f"t{layer + 1}"),
                             message(4, "MatMul")))
    graph += [value(11, "x", 1, size), value(12, f"t{LAYERS}", 1, size)]
    with open(path, "wb") as file:
        file.write(number(1, 8) + message(8, number(2, 17)) + message(7, *graph))


def peak(model):
    """Bytes that the compiler had in memory at most."""
    process = subprocess.Popen(["convoy-compile", model, "-o", model + ".cvy"])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"convoy-compile {model}: status {status}")
    return usage.ru_maxrss * 1024


def main(folder):
    small, large = (os.path.join(folder, name) for name in ("small.onnx", "large.onnx"))
    sizes = {small: 64, large: 3072}
    # In processes of their own: the system counts this one's memory for those that it starts.
    for model, size in sizes.items():
        subprocess.run([sys.executable, __file__, model, str(size)], check=True)
    more = LAYERS * 4 * (sizes[large] ** 2 - sizes[small] ** 2)
    times = (peak(large) - peak(small)) / more
    print(f"{times:.2f} times the weights")
    # Twice is the file and what protobuf reads from it; less than once was not measured right.
    if not 1 < times < 2.4:
        sys.exit("expected 1 to 2.4 times")


if len(sys.argv) == 2:
    main(sys.argv[1])
else:
    write_model(sys.argv[1], int(sys.argv[2]))
