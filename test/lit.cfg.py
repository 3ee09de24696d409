# Configuration of the lit tests: MLIR files, textual ONNX models and command scripts.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import lit.formats
import lit.util

config.name = "convoy"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "test")
config.excludes = ["Inputs"]

config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")])
for name in ("ASAN_OPTIONS", "FILECHECK_OPTS", "UBSAN_OPTIONS", "TMPDIR", "HOME", "LANG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%shared", config.shared_root))


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split())
    except OSError:
        pass
    return set()


flags = cpu_flags()
if {"avx2", "fma"} <= flags:
    config.available_features.add("avx2")
if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags:
    config.available_features.add("avx512")
# Models outside the repository; tests that use them say REQUIRES: shared-models.
if os.path.isdir(os.path.join(config.shared_root, "models")):
    config.available_features.add("shared-models")
