# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes a .npy file of zeros: make_npy.py FILE TYPE DIM...

import math
import struct
import sys

path, kind, *dims = sys.argv[1:]
shape = "".join(f"{dim}, " for dim in dims)
header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n".encode()
size = int(kind[1:]) * math.prod(map(int, dims))
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(size))
