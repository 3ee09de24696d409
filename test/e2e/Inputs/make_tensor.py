# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes an ONNX TensorProto that is a vector of int64: make_tensor.py FILE NUMBER...

import struct
import sys

path, *numbers = sys.argv[1:]
data = struct.pack(f"<{len(numbers)}q", *map(int, numbers))
# Fields 1 (dims) and 2 (data_type, 7 is INT64) are numbers, 9 (raw_data) is bytes.
with open(path, "wb") as file:
    file.write(bytes([1 << 3, len(numbers), 2 << 3, 7, 9 << 3 | 2, len(data)]) + data)
