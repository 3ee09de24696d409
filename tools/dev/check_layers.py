#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks that the folders depend on each other in one direction only: reads every #include of the
# C, C++ and TableGen files and compares it with the table below.

"""Check which folder includes which (docs/architecture.md has the table in words)."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

# The two files that cross from the runtime outward: how kernels are called, what an artifact holds.
SHARED = ["runtime/include/convoy/kernel_abi.h", "runtime/schema/"]

# Libraries outside the repository, by how their headers begin.
LIBRARIES = {
    "mlir": "mlir/",
    "llvm": "llvm/",
    "lld": "lld/",
    "onnx": "onnx/",
    "protobuf": "google/protobuf/",
    "flatbuffers": "flatbuffers/",
    "dnnl": "dnnl",
    "gtest": ("gtest/", "gmock/"),
    "png": "png.h",
}

# Folder: (what of the repository it may include, which of the libraries). The longest prefix of a
# file's path counts. The C and C++ standard libraries and POSIX are free for all.
LAYERS = {
    "dialects": (["dialects"], ["mlir", "llvm"]),
    "passes": (["dialects", "passes"], ["mlir", "llvm"]),
    "targets": (["dialects", "passes", "targets", *SHARED], ["mlir", "llvm", "lld", "dnnl"]),
    "compiler": (
        ["dialects", "passes", "targets", "compiler", *SHARED],
        ["mlir", "llvm", "lld", "onnx", "protobuf"],
    ),
    # The importer knows what programs mean, not how they get better.
    "compiler/onnx": (["dialects", "compiler/onnx"], ["mlir", "llvm", "onnx", "protobuf"]),
    # The writer knows neither the IR nor ONNX.
    "compiler/artifact": (["compiler/artifact", *SHARED], ["llvm", "flatbuffers"]),
    "runtime": (["runtime"], ["flatbuffers"]),
    "tools": (
        ["dialects", "passes", "targets", "compiler", "tools", "runtime/include", *SHARED],
        ["mlir", "llvm", "lld", "onnx", "protobuf", "flatbuffers", "png"],
    ),
    # These two work on artifacts: they must build without the compiler.
    "tools/convoy-run": (
        ["tools/convoy-run", "tools/support", "runtime/include"],
        ["onnx", "protobuf", "png"],
    ),
    "tools/convoy-inspect": (
        ["tools/convoy-inspect", "tools/support", "runtime/include", *SHARED],
        ["flatbuffers"],
    ),
    # An application outside: it sees the installed headers only.
    "test/install": (["test/install", "runtime/include"], []),
    "test": ([""], list(LIBRARIES)),
}

INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCES = (".h", ".hpp", ".c", ".cc", ".cpp", ".td", ".inc")
# Folders that are on the include path beside the root.
INCLUDE_ROOTS = ["", "runtime/include", "runtime/schema"]


def layer_of(path):
    fitting = [layer for layer in LAYERS if path == layer or path.startswith(layer + "/")]
    return max(fitting, key=len, default=None)


def resolve(root, includer, name):
    """The included file's path in the repository (it may be a generated one); None if it is of a
    library or the system."""
    beside = Path(includer).parent / name
    if (root / beside).exists():
        return beside.as_posix()
    for folder in INCLUDE_ROOTS:
        candidate = Path(folder) / name
        if (root / candidate).exists():
            return candidate.as_posix()
    if layer_of(name):
        return name  # Generated into the same place of the build folder.
    if name.endswith("artifact_generated.h"):
        return "runtime/schema/artifact_generated.h"
    return None


def library_of(name):
    fitting = [key for key, prefix in LIBRARIES.items() if name.startswith(prefix)]
    return fitting[0] if fitting else None


def allowed(target, entries):
    return any(
        entry == "" or target == entry or target.startswith(entry.rstrip("/") + "/")
        for entry in entries
    )


def check_file(root, path):
    """The violations of a file, as texts."""
    layer = layer_of(path)
    folders, libraries = LAYERS[layer]
    found = []
    text = (root / path).read_text(errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match.group(1) or match.group(2)
        target = resolve(root, path, name) if match.group(1) or "/" in name else None
        if target:
            if not allowed(target, folders):
                found.append(f"{path}:{number}: {layer}/ must not include {target}")
        elif (library := library_of(name)) and library not in libraries:
            found.append(f"{path}:{number}: {layer}/ must not use {library} ({name})")
    return found


def sources(root):
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True,
    )  # fmt: skip
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:  # A tarball rather than a checkout.
        names = [f.relative_to(root).as_posix() for f in root.rglob("*") if f.is_file()]
        names = [n for n in names if not n.startswith("build")]
    return sorted(n for n in names if n.endswith(SOURCES) and layer_of(n) and (root / n).exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    args = parser.parse_args()

    passed = failed = 0
    for path in sources(args.root):
        violations = check_file(args.root, path)
        for violation in violations:
            print(f"FAIL {violation}")
        passed += not violations
        failed += len(violations)
    if failed:
        print("The table LAYERS in tools/dev/check_layers.py says what each folder may include.")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
