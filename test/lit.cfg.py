# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit's set-up for all tests of this folder. The build folder's lit.site.cfg.py says where things
# are and then reads this file: lit -v build/test, or lit -v build/test/passes for a part.

import os

import lit.formats

config.name = "convoy"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
# Inputs: files that tests read. install: a project of its own, which test/install/run builds.
config.excludes = ["Inputs", "install"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.build_root + "/test"

path = [config.build_root + "/bin", config.llvm_tools]
config.environment["PATH"] = os.pathsep.join(path + [config.environment["PATH"]])
# lit clears the environment; sanitizers are told what to do by these.
for name in ("ASAN_OPTIONS", "FILECHECK_OPTS", "UBSAN_OPTIONS", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%repo", config.source_root))
config.substitutions.append(("%digits", config.source_root + "/models/digits"))

# What REQUIRES lines may ask for.
with open("/proc/cpuinfo") as cpuinfo:
    flags = set(next((line for line in cpuinfo if line.startswith("flags")), "").split())
if {"avx2", "fma"} <= flags:
    config.available_features.add("avx2")
if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
    config.available_features.add("avx512")
if config.have_compiler:
    config.available_features.add("compiler")
# Models outside the repository; tests that use them say REQUIRES: shared-models.
shared = os.path.normpath(config.source_root + "/../shared")
config.substitutions.append(("%shared", shared))
if os.path.isdir(shared + "/models"):
    config.available_features.add("shared-models")
