# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The suites of tools/check. A suite is a function that returns a Result; SUITES at the end of the
# file is their order.

import filecmp
import os
import re
import shutil
from pathlib import Path

from report import BUILD, LOGS, ROOT, Result, from_closing_line, run, run_gtest, run_lit

BIN = BUILD / "bin"
ASAN = ROOT / "build-asan"
TSAN = ROOT / "build-tsan"
FUZZ = ROOT / "build-fuzz"
LLVM = Path(os.environ.get("CONVOY_LLVM", "/usr/lib/llvm-22"))
# Real models, their inputs and expected outputs lie beside the repository where they are at hand.
SHARED = ROOT.parent / "shared"
PYTHON = BUILD / "venv/bin/python"

# The outputs of real models must be within 1e-4 of the largest magnitude, but for these.
TOLERANCE = {
    # The recorded output is itself off by 1.1e-3 of double arithmetic: fifteen instance
    # normalizations over up to half a million pixels, each summed up in one f32. Convoy's is off by
    # 2.8e-4.
    "winml_candy": "1.5e-3",
    # Tensors between ops are f16 to ONNX, which the runtime that recorded the output ignored: it
    # agrees with f32 arithmetic throughout. The logits lie at 13.3, where f16's spacing is 2^-7, and
    # a logit that moves by that moves its probability by 2^-7 of itself. Double arithmetic with every
    # result rounded to f16 differs from the recorded output by 3.0e-3, Convoy by 3.5e-3.
    "winml_squeezenet_fp16": "7.8e-3",
}

# onnxruntime's logistic function is off by up to 1e-7 of 1 (measured against double on these very
# outputs: 9e-8), which is more than 1e-4 of the largest value where all are small. One of
# ppocrv4_det's outputs is recorded as 0.
ABSOLUTE = dict.fromkeys(
    ["ppocrv4_det", "selfie_segm_landscape", "yunet_n_320", "yunet_n_dynamic"], "2e-7")

# What the models leave open, as their test data have it.
SHAPES = {
    "centernet_postproc": """decode_heatmap=1x1x120x160 decode_scale=1x2x120x160
        decode_offset=1x2x120x160 decode_landmark=1x10x120x160 score_threshold=1""",
    "mtcnn_pnet": "input_1=?x60x80x3",
    "onnxjs_teams_model": "bgrm=?x4x256x256",
    "ppocrv4_det": "x=?x3x320x320",
    "silero_vad_v5": "input=1x512 state=2x1x128",
    "yunet_n_dynamic": "input=?x3x256x320",
}

LIGHT = """
bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet vgg19 zfnet512
""".split()


def jobs():
    return run(["tools/dev/jobs"]).output.strip() or "2"


def scratch(name):
    """An empty folder of the suite's own."""
    folder = LOGS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def setup():
    result = Result()
    done = run(["tools/dev/install-deps", "--python"], "install.log", show=True)
    # Without the Python packages some tests are skipped, which each of them says.
    have_debian = run(["tools/dev/install-deps"]).code == 0
    result.check("packages", "" if have_debian else done.error())
    return result


def build():
    result = Result()
    done = run(["tools/dev/configure", "build"], "configure.log")
    if not result.check("configure", done.error()):
        print(done.output[-4000:])
        return result
    done = run(["ninja", "-C", "build", "-j", jobs()], "build.log", show=True)
    result.check("build", done.error())
    return result


def layers():
    return from_closing_line("layers", run(["tools/dev/check_layers.py"], "layers.log"))


def docs():
    """Generated pages are what TableGen and the op table say today."""
    result = Result()
    result.check("generated pages", run(["tools/dev/update_docs", "--check"], "docs.log").error())
    return result


def orphans():
    """Every file of test/ is run or read by something: a test that nothing picks up tells nothing."""
    return from_closing_line("orphans", run(["tools/dev/check_tests.py", "build"], "orphans.log"))


def gtest_binaries(folder):
    """Every executable whose name ends in Test or -tests."""
    found = sorted(folder.glob("*")) if folder.is_dir() else []
    return [f for f in found if re.search(r"(Test|-tests)$", f.name) and os.access(f, os.X_OK)]


def unit():
    result = Result()
    binaries = gtest_binaries(BIN)
    if not binaries:
        result.check("unit", "no test binaries in build/bin")
    for binary in binaries:
        result.add(run_gtest(binary, binary.name))
    return result


def lit():
    tool = LLVM / "bin/lit"
    if not tool.exists():
        tool = shutil.which("lit") or shutil.which("llvm-lit")
    if not tool:
        result = Result()
        result.check("lit", "there is no lit; llvm-22-tools has it")
        return result
    return run_lit(tool, "build/test", "lit")


def demo():
    """The demo model, as tools/quickstart uses it: every picture, and the reference answers."""
    result = Result()
    folder = scratch("demo")
    model = folder / "digits.cvy"
    source = ROOT / "models/digits"
    done = run([BIN / "convoy-compile", source / "digits.onnx", "-o", model], "demo-compile.log")
    if not result.check("compile digits.onnx", done.error()):
        return result
    for digit in range(10):
        done = run([BIN / "convoy-run", model, "--input", source / f"digit-{digit}.png",
                    "--labels", source / "labels.txt", "--top", "1"], f"demo-{digit}.log")
        error = done.error()
        if not error and not re.search(rf"^\s*1\s+{digit}\s", done.output, re.M):
            error = f"not recognized: {done.output.strip()}"
        result.check(f"digit-{digit}.png", error)
    done = run([BIN / "convoy-run", model, "--test-data", source / "test_data_set_0",
                "--tolerance", "1e-5"], "demo-data.log")
    result.check("test_data_set_0", done.error())
    return result


def install():
    done = run(["test/install/run"], "install-test.log")
    return from_closing_line("install", done)


def unpacked_conformance():
    """The folder with ONNX's backend tests, unpacked once; None where they are not at hand."""
    archives = sorted((SHARED / "conformance").glob("onnx-testdata-*.tar.zst"))
    if not archives:
        return None
    archive = archives[-1]
    folder = BUILD / "conformance"
    stamp = folder / f"{archive.name}.unpacked"
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        done = run(["tar", "--zstd", "-xf", archive, "-C", folder])
        if done.code != 0:
            raise RuntimeError(done.error())
        stamp.touch()
    return folder / archive.name[: -len(".tar.zst")]


def scope_names(path):
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return {line for line in lines if line}


def exceptions(path):
    """Name and reason of each test, one a line, the reason after the name."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return dict(line.split(None, 1) for line in lines if line and not line.startswith("#"))


def fuzz():
    """Random graphs, the same ones each time, on each target of this machine; against onnxruntime
    without optimizations where a Python here has it."""
    result = Result()
    command = [BIN / "convoy-fuzz", "--seeds", "0..799", "--jobs", jobs(), "--keep", scratch("fuzz")]
    pythons = [path for path in (PYTHON, shutil.which("python3"))
               if path and Path(path).exists() and run([path, "-c", "import onnx, onnxruntime"]).code == 0]
    if pythons:
        command += ["--oracle", f"{pythons[0]} tools/convoy-fuzz/onnxruntime_oracle.py"]
    else:
        result.skip("fuzz against onnxruntime", "no Python here has onnx and onnxruntime")
    result.add(from_closing_line("fuzz", run(command, "fuzz.log"), one_test=True))
    return result


def conformance():
    """ONNX's backend tests in scope: those of the newest ONNX where they are at hand, else those of
    Debian's package. Tests of ops that Convoy does not import are skipped."""
    scope = ROOT / "test/conformance/scope.txt"
    root = unpacked_conformance() or Path("/usr/share/libonnx-testdata/data")
    result = Result()
    if not root.is_dir():
        result.skip("conformance", "neither ../shared/conformance nor libonnx-testdata is here")
        return result
    excepted = exceptions(ROOT / "test/conformance/contradict-the-text.txt")
    names = sorted(scope_names(scope) - excepted.keys())
    here = [name for name in names if (root / name).is_dir() or (root / f"{name}.onnx").exists()]
    chosen = scratch("conformance") / "scope.txt"
    chosen.write_text("".join(f"{name}\n" for name in here))
    done = run([BIN / "convoy-conformance", root, "--scope", chosen, "--skip-unknown-ops",
                "--jobs", jobs()], "conformance.log", timeout=3000)
    result = from_closing_line("conformance", done)
    for name, reason in excepted.items():
        result.skip(f"conformance {name}", reason)
    if len(here) < len(names):
        result.skip("conformance", f"not among the tests in {root}", len(names) - len(here))
    return result


def grids():
    """Every op at every axis, padding, type and size of a grid, against loops from ONNX's text."""
    result = Result()
    pythons = [path for path in (PYTHON, shutil.which("python3"))
               if path and Path(path).exists() and run([path, "-c", "import onnx, ml_dtypes"]).code == 0]
    if not pythons:
        result.skip("grids", "no Python here has onnx and ml_dtypes")
        return result
    done = run([pythons[0], "test/grids/run.py", BIN / "convoy-conformance", scratch("grids"), jobs()],
               "grids.log")
    result.add(from_closing_line("grids", done))
    return result


def run_data_set(result, name, model, data, tolerance, absolute="0", shapes=()):
    """Compiles a model and compares it with expected outputs at 1 and 2 threads, which must agree
    with each other to the bit."""
    folder = scratch(f"models/{name}")
    artifact = folder / "model.cvy"
    flags = [flag for shape in shapes for flag in ("--shape", shape)]
    done = run([BIN / "convoy-compile", model, *flags, "--remarks", "-o", artifact],
               f"models/{name}/compile.log")
    remarks = done.output
    if not result.check(f"compile {name}", done.error()):
        return
    seconds = done.seconds
    for threads in (1, 2):
        done = run([BIN / "convoy-run", artifact, "--test-data", data, "--tolerance", tolerance,
                    "--absolute-tolerance", absolute, "--threads", threads, "--output", folder / f"threads{threads}"],
                   f"models/{name}/run{threads}.log")
        if not result.check(f"{name}, {threads} threads", done.error()):
            return
    outputs = sorted(f.name for f in (folder / "threads1").iterdir())
    _, differ, missing = filecmp.cmpfiles(folder / "threads1", folder / "threads2", outputs, False)
    bad = differ + missing
    result.check(f"{name}, same bits at 1 and 2 threads", f"{bad[0]} differs" if bad else "")
    shutil.rmtree(folder / "threads1")
    shutil.rmtree(folder / "threads2")
    check_batch(result, name, artifact, data, remarks, "random weights" in name)
    artifact.unlink()
    print(f"  {name}: compiled in {seconds:.1f} s", flush=True)


def check_batch(result, name, artifact, data, remarks, is_random):
    """A batch of three images gives what each gives alone, if the model's batch is free."""
    if not PYTHON.exists() or run([PYTHON, "-c", "import numpy, onnx"]).code != 0:
        result.skip(f"{name}, a batch is its images", "build/venv has no onnx")
        return
    folder = scratch(f"models/{name}/batch")
    for threads in (1, 2):
        done = run([PYTHON, "tools/dev/check_batch.py", artifact, data, folder, "--bin", BIN,
                    "--threads", threads, *(["--may-agree"] if is_random else [])],
                   f"models/{name}/batch{threads}.log")
        if done.code == 3:
            reason = re.search(r"the batch of 1 is not free: .*", remarks)
            result.skip(f"{name}, a batch is its images",
                        reason.group() if reason else "its shapes, as given, leave no batch free")
            break
        result.check(f"{name}, a batch is its images, {threads} threads", done.error())
    shutil.rmtree(folder, ignore_errors=True)


def models():
    result = Result()
    folders = sorted(f.parent for f in (SHARED / "models").glob("*/model.onnx"))
    if not folders:
        result.skip("models", "../shared/models is not here")
    for folder in folders:
        name = folder.name
        run_data_set(result, name, folder / "model.onnx", folder / "test_data_set_0",
                     TOLERANCE.get(name, "1e-4"), ABSOLUTE.get(name, "0"),
                     SHAPES.get(name, "").split())
    return result


def light():
    """Whole networks: with the constant weights that they come with, and with seeded random ones
    against onnxruntime without optimizations."""
    result = Result()
    root = unpacked_conformance()
    if not root or not (SHARED / "tools/materialize.py").exists():
        result.skip("light networks", "../shared/conformance is not here", 2 * len(LIGHT))
        return result
    done = run([BIN / "convoy-conformance", root, "--filter", "^light/", "--timeout", "600"],
               "light.log")
    result.add(from_closing_line("light networks", done))
    if not PYTHON.exists() or run([PYTHON, "-c", "import onnxruntime"]).code != 0:
        result.skip("light networks, random weights", "build/venv has no onnxruntime", len(LIGHT))
        return result
    for name in LIGHT:
        folder = scratch(f"light/{name}")
        model, data = folder / "model.onnx", folder / "test_data_set_0"
        done = run([PYTHON, SHARED / "tools/materialize.py", root / f"light/light_{name}.onnx", model])
        if result.check(f"give {name} weights", done.error()):
            done = run([PYTHON, "tools/dev/make_test_data.py", model, data, "--logits"])
            if result.check(f"run {name} in onnxruntime", done.error()):
                run_data_set(result, f"{name}, random weights", model, data, "1e-4")
        shutil.rmtree(folder)
    return result


def bench():
    """What measures and what is measured: tools/bench, models/zoo."""
    result = Result()
    tests = ["test/tools/bench_test.py", "test/models/zoo_test.py"]
    if not PYTHON.exists() or run([PYTHON, "-c", "import numpy, onnx"]).code != 0:
        result.skip("bench", "build/venv has no onnx", len(tests))
        return result
    for test in tests:
        done = run([PYTHON, "tools/dev/run_unittests.py", test], f"{Path(test).stem}.log")
        result.add(from_closing_line(Path(test).stem, done))
    return result


def sanitize():
    """The runtime's tests with AddressSanitizer and UndefinedBehaviorSanitizer."""
    result = Result()
    done = run(["tools/dev/configure", ASAN.name, "-DCONVOY_SANITIZE=ON",
                "-DCONVOY_BUILD_COMPILER=OFF"], "asan-configure.log")
    if not result.check("sanitized configure", done.error()):
        return result
    done = run(["ninja", "-C", ASAN, "-j", jobs()], "asan-build.log", show=True)
    if not result.check("sanitized build", done.error()):
        return result
    binaries = gtest_binaries(ASAN / "bin")
    if not binaries:
        result.check("sanitize", "no test binaries in build-asan/bin")
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:abort_on_error=0", UBSAN_OPTIONS="print_stacktrace=1")
    for binary in binaries:
        result.add(run_gtest(binary, f"sanitized-{binary.name}", env=env))
    return result


def importer_fuzz():
    """Changed model files, always the same ones, through the importer and the first passes with
    AddressSanitizer and UndefinedBehaviorSanitizer."""
    result = Result()
    done = run(["tools/dev/configure", FUZZ.name, "-DCONVOY_SANITIZE=ON"], "fuzz-configure.log")
    if not result.check("configure for the importer's fuzzer", done.error()):
        return result
    done = run(["ninja", "-C", FUZZ, "-j", jobs(), "convoy-fuzz-importer"], "fuzz-build.log",
               show=True)
    if not result.check("build of the importer's fuzzer", done.error()):
        return result
    corpus = [ROOT / "test", SHARED / "cases", SHARED / "models"]
    done = run([FUZZ / "bin/convoy-fuzz-importer", "--seed", "1", "--count", "20000", "--jobs", jobs(),
                "--failures", scratch("fuzz-importer"),
                *(word for folder in corpus if folder.is_dir() for word in ("--corpus", folder))],
               "fuzz-importer.log", timeout=3000)
    result.add(from_closing_line("importer fuzz", done, one_test=True))
    return result


def races():
    """The runtime's tests with ThreadSanitizer."""
    result = Result()
    flags = [f"-DCMAKE_{language}_FLAGS=-fsanitize=thread" for language in ("C", "CXX")]
    done = run(["tools/dev/configure", TSAN.name, "-DCONVOY_BUILD_COMPILER=OFF", *flags],
               "tsan-configure.log")
    if not result.check("configure for ThreadSanitizer", done.error()):
        return result
    done = run(["ninja", "-C", TSAN, "-j", jobs(), "RuntimeTest"], "tsan-build.log", show=True)
    if not result.check("build for ThreadSanitizer", done.error()):
        return result
    test = TSAN / "bin/RuntimeTest"
    if "ThreadSanitizer: unexpected memory mapping" in run([test, "--gtest_list_tests"]).output:
        result.skip("races", "this kernel's address space layout does not suit ThreadSanitizer")
        return result
    result.add(run_gtest(test, "races-RuntimeTest"))
    return result


# Name, what it is, function. Quick ones first, so that a mistake shows early.
SUITES = [
    ("setup", "packages that the build and the tests need", setup),
    ("build", "everything, into build/", build),
    ("layers", "which folder may include which", layers),
    ("docs", "pages written from TableGen and the op table", docs),
    ("orphans", "every file of test/ is picked up by a test", orphans),
    ("unit", "GoogleTest binaries of build/bin", unit),
    ("lit", "lit tests of test/", lit),
    ("demo", "the demo model, end to end", demo),
    ("bench", "tools/bench and models/zoo", bench),
    ("install", "an application built against the installed runtime", install),
    ("grids", "small models of every op, against loops from ONNX's text", grids),
    ("fuzz", "random graphs on each target, and against onnxruntime", fuzz),
    ("models", "real models of ../shared/models", models),
    ("light", "whole networks, as they come and with random weights", light),
    ("conformance", "ONNX's backend tests", conformance),
    ("sanitize", "the runtime's tests with sanitizers, in build-asan/", sanitize),
    ("importer-fuzz", "changed model files with sanitizers, in build-fuzz/", importer_fuzz),
    ("races", "the runtime's tests with ThreadSanitizer, in build-tsan/", races),
]
