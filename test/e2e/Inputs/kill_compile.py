# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Kills compiles at different times: what stands under the artifact's name is the old file, or the
# whole new one. Arguments: model, folder.

import subprocess
import sys
import time
from pathlib import Path

model, folder = sys.argv[1], Path(sys.argv[2])
artifact = folder / "model.cvy"


def compile_into(path):
    return subprocess.Popen(["convoy-compile", model, "-o", path])


start = time.monotonic()
assert compile_into(folder / "whole.cvy").wait() == 0
duration = time.monotonic() - start
whole = (folder / "whole.cvy").read_bytes()
killed = 0
for step in range(8):
    old = b"old" * step
    artifact.write_bytes(old)
    process = compile_into(artifact)
    time.sleep(duration * (0.3 + 0.1 * step))
    process.kill()
    killed += process.wait() != 0
    assert artifact.read_bytes() in (old, whole), f"killed at step {step}"
print(f"killed {killed} of 8")
assert killed > 0
