#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that every file of test/ is picked up by something: a source file by the build, a lit test
# by lit and with something to check, any other file by a file that names it. Usage: check_tests.py BUILD.

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = ROOT / "test"
LIT_SUFFIXES = {".mlir", ".onnxtxt", ".test"}
# What CMake, lit and people read by these very names.
WELL_KNOWN = {"CMakeLists.txt", "README.md", "lit.cfg.py"}


def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "test"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        return sorted({ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()})
    return sorted(path for path in TEST.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def compiled(build):
    """The source files that the build compiles."""
    text = subprocess.run(["ninja", "-C", build, "-t", "compdb"], cwd=ROOT, capture_output=True,
                          text=True, check=True).stdout
    return {Path(entry["file"]).resolve() for entry in json.loads(text) if entry["file"]}


def problem(path, sources, names):
    """What is wrong with a file; empty if something picks it up."""
    inside = path.relative_to(TEST).parts
    is_lit = path.suffix in LIT_SUFFIXES and not {"Inputs", "install"} & set(inside[:-1])
    if path.name in WELL_KNOWN:
        return ""
    if is_lit:
        text = path.read_text()
        if "RUN:" not in text:
            return "has no RUN line"
        return "" if re.search(r"FileCheck|verify-diagnostics|\bcmp\b|\bcount\b|\bnot\b|%python|diff",
                               text) else "checks nothing"
    if path.suffix in {".c", ".cpp"} and "install" not in inside:
        return "" if path.resolve() in sources else "is not compiled"
    # The others name what they read; Python names a module beside it by its stem.
    readers = [text for reader, text in names.items() if reader != path]
    if path.suffix == ".py":
        imported = re.compile(rf"^\s*(?:import|from)\b.*\b{re.escape(path.stem)}\b", re.MULTILINE)
        beside = [text for reader, text in names.items() if reader != path and reader.parent == path.parent]
        if any(imported.search(text) for text in beside):
            return ""
    return "" if any(path.name in text for text in readers) else "is named by no other file"


def main():
    build = sys.argv[1]
    found = files()
    sources = compiled(build)
    readers = found + [ROOT / "tools/dev/checks/suites.py"]
    names = {path: path.read_text(errors="replace") for path in readers}
    failed = 0
    for path in found:
        text = problem(path, sources, names)
        if text:
            failed += 1
            print(f"FAIL {path.relative_to(ROOT)} {text}")
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
