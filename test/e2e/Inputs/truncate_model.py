# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles a model cut off at many lengths, and with bytes changed. A cut one must be refused with
# one line; a changed one may happen to be valid, but must not crash. No refusal leaves a file.
# Arguments: model, folder, number of trials of each kind.

import random
import subprocess
import sys
from pathlib import Path

source, folder, trials = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2]), int(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
model, artifact = folder / "model.onnx", folder / "model.cvy"
chance = random.Random(1)


def compile_bytes(what, data):
    model.write_bytes(data)
    artifact.unlink(missing_ok=True)
    done = subprocess.run(["convoy-compile", model, "-o", artifact], capture_output=True, text=True,
                          errors="replace", timeout=120)
    lines = done.stderr.rstrip("\n").split("\n") if done.stderr else []
    if done.returncode == 0:
        assert artifact.exists(), what
    else:
        assert done.returncode == 1, f"{what}: exit status {done.returncode}: {done.stderr[-400:]}"
        assert lines and all("error: " in line for line in lines), f"{what}: {done.stderr}"
        assert sorted(path.name for path in folder.iterdir()) == ["model.onnx"], what
    return done.returncode, lines


refused = 0
for length in [0, 1, len(source) - 1] + chance.sample(range(2, len(source) - 1), trials):
    status, lines = compile_bytes(f"{length} bytes", source[:length])
    assert status == 1 and len(lines) == 1, f"{length} bytes: {status} {lines}"
for trial in range(trials):
    data = bytearray(source)
    # Most of a model is weights, where a change means little: the graph is what comes before them.
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data) if trial % 2 else min(len(data), 3000))] = chance.randrange(256)
    status, _ = compile_bytes(f"change {trial}", bytes(data))
    refused += status
assert refused > 0
print(f"{trials + 3} cut models refused, {refused} of {trials} changed ones")
