# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Python environments under build/ with packages from PyPI. Needs no package itself.

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

# To read models and test data.
ALWAYS = ["numpy", "onnx"]


def missing(python, packages):
    """Those of the packages that this interpreter cannot find."""
    look = ("import importlib.util, sys\n"
            "print(*[p for p in sys.argv[1:] if not importlib.util.find_spec(p)])")
    done = subprocess.run([python, "-c", look, *packages], capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else list(packages)


def environment(folder, packages):
    """The interpreter of an environment with at least these packages, made or completed first."""
    python = folder / "bin/python"
    wanted = missing(python, packages) if python.exists() else list(packages)
    if not wanted:
        return python
    name = os.path.relpath(folder)
    print(f"Installing {', '.join(wanted)} from PyPI into {name} (once)", file=sys.stderr)
    if not python.exists():
        # Debian's python3-venv belongs to /usr/bin/python3, which need not be the first in PATH.
        maker = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
        subprocess.run([maker, "-m", "venv", "--clear", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    if subprocess.run(pip).returncode != 0:
        raise SystemExit(f"error: pip could not install {', '.join(wanted)} into {name}")
    return python


def interpreter(args):
    """The interpreter that a run of tools/bench takes."""
    if args.python:
        lacking = missing(args.python, ALWAYS)
        if lacking:
            raise SystemExit(f"error: --python {args.python} lacks {', '.join(lacking)}")
        return Path(args.python)
    return environment(BUILD / "peers", ALWAYS + args.peers)
