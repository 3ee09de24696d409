# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Times the contestants on one model: a process for each, which take turns. While one runs the
# others are stopped, so that threads which spin for work take no time from it.

import hashlib
import json
import os
import select
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from environment import BUILD, ROOT

# The largest difference of outputs, relative to the largest magnitude, at which times are compared.
TOLERANCE = 1e-3
# Outputs of narrow types are rounded on the way, by each contestant at places of its own: ten units
# of their last place.
EPSILONS = 10
# A logistic function is computed to a rounding error of 1, not of its value: where all of an output
# is near 0, as scores of a detector that sees nothing, onnxruntime is off by 1e-7.
ABSOLUTE = 2 * float(np.finfo(np.float32).eps)
# Counted runs of a turn at least, and runs before them that are not counted.
LEAST, SKIPPED = 3, 1
# Seconds without an answer after which a contestant is given up.
PATIENCE = 600
WORKER = Path(__file__).resolve().parent / "worker.py"
SCRATCH = BUILD / "bench"


class Failed(Exception):
    """Why a contestant has no time."""


@dataclass
class Entry:
    """One contestant on one model: its times in milliseconds, or why there are none."""

    times: list = field(default_factory=list)
    reason: str = ""
    differs: bool = False

    def min(self):
        return min(self.times)

    def median(self):
        return statistics.median(self.times)

    def value(self, by):
        return self.min() if by == "min" else self.median()


class Contestant:
    """A worker process, stopped but for its turns."""

    def __init__(self, kind, spec, folder):
        self.kind, self.folder = kind, folder
        path = folder / f"{kind}.json"
        path.write_text(json.dumps(spec))
        # Libraries that read these would else make threads for all cores.
        env = dict(os.environ, OMP_NUM_THREADS=str(spec["threads"]))
        self.log = open(folder / f"{kind}.log", "w+")
        self.process = subprocess.Popen([sys.executable, WORKER, kind, path], text=True, env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log)
        try:
            self.version = self.read()["version"]
        except Failed:
            self.end()
            raise
        self.stop()

    def read(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise Failed(f"no answer for {PATIENCE} s")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.log.seek(0)
            words = [text.strip() for text in self.log if text.strip()]
            raise Failed(words[-1][:300] if words else f"its process ended with status {code}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def ask(self, **request):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.read()
        except BrokenPipeError:
            answer = self.read()  # Raises what the process said last.
        self.stop()
        return answer

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def outputs(self):
        path = self.folder / f"{self.kind}.npz"
        count = self.ask(outputs=str(path))["count"]
        with np.load(path) as archive:
            values = [archive[f"output_{index}"] for index in range(count)]
        path.unlink()
        return values

    def run_for(self, seconds):
        request = {"seconds": seconds, "skipped": SKIPPED, "least": LEAST}
        return [time * 1e-6 for time in self.ask(**request)["times"]]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.log.close()


def allowed(expected):
    """The largest difference from an output."""
    if not np.issubdtype(expected.dtype, np.floating):
        return TOLERANCE * float(np.abs(expected.astype(np.float64)).max())
    finite = np.abs(expected[np.isfinite(expected)])
    relative = max(TOLERANCE, EPSILONS * float(np.finfo(expected.dtype).eps))
    return max(relative * float(finite.max() if finite.size else 0), ABSOLUTE)


def difference(found, expected, names):
    """Where two lists of outputs differ by more than TOLERANCE, in words; empty if nowhere."""
    if len(found) != len(expected):
        return f"{len(found)} outputs against {len(expected)}"
    for name, ours, theirs in zip(names, found, expected):
        if ours.shape != theirs.shape:
            return f"output '{name}' is {list(ours.shape)} against {list(theirs.shape)}"
        if not theirs.size:
            continue
        bound = allowed(theirs)
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        with np.errstate(invalid="ignore"):
            close = (np.abs(ours - theirs) <= bound) | (ours == theirs)
        close |= np.isnan(ours) & np.isnan(theirs)
        if close.all():
            continue
        with np.errstate(invalid="ignore"):
            error = np.where(close, 0, np.nan_to_num(np.abs(ours - theirs), nan=np.inf))
        where = np.unravel_index(np.argmax(error), error.shape)
        index = "".join(f"[{i}]" for i in where)
        return (f"output '{name}' differs, most at {index}: {ours[where]:.6g} against "
                f"{theirs[where]:.6g}, which is more than {bound:.3g}")
    return ""


def compiled(model, args):
    """The artifact of a model, compiled unless that was done before. Raises Failed."""
    compiler = ROOT / args.build / "bin/convoy-compile"
    if not compiler.exists():
        raise SystemExit(f"error: there is no {compiler}: build first")
    words = list(args.compile_options)
    for name in model.fixed:
        words += ["--shape", f"{name}={'x'.join(map(str, model.inputs[name].shape))}"]
    key = hashlib.sha256(model.path.read_bytes())
    status = compiler.stat()
    key.update(repr((str(compiler), status.st_mtime_ns, status.st_size, words)).encode())
    artifact = SCRATCH / f"artifacts/{model.name}-{key.hexdigest()[:16]}.cvy"
    if artifact.exists():
        return artifact
    artifact.parent.mkdir(parents=True, exist_ok=True)
    for old in artifact.parent.glob(f"{model.name}-{'[0-9a-f]' * 16}.cvy"):
        old.unlink()
    done = subprocess.run([compiler, model.path, "-o", artifact, *words], text=True,
                          errors="replace", capture_output=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        raise Failed(f"convoy-compile: {lines[0].strip()[:300] if lines else 'it said nothing'}")
    return artifact


def start(kind, model, spec, args, folder):
    if kind == "convoy":
        spec = dict(spec, artifact=str(compiled(model, args)),
                    library=str(ROOT / args.build / "lib/libconvoy_rt.so"))
    return Contestant(kind, spec, folder)


def output_names(model):
    import onnx

    return [value.name for value in onnx.load(model.path, load_external_data=False).graph.output]


def compare_outputs(contestants, entries, model):
    """Takes those out of the contest whose outputs are not Convoy's."""
    outputs = {}
    for kind in list(contestants):
        try:
            outputs[kind] = contestants[kind].outputs()
        except Failed as failure:
            entries[kind].reason = str(failure)
            contestants.pop(kind).end()
    if "convoy" not in outputs:
        return
    names = output_names(model)
    for kind in list(contestants):
        text = difference(outputs["convoy"], outputs[kind], names) if kind != "convoy" else ""
        if text:
            entries[kind].reason, entries[kind].differs = f"Convoy's {text}", True
            contestants.pop(kind).end()


def take_turns(contestants, entries, args):
    """Every other round the other way round, so that nobody always comes after the same one."""
    for number in range(-1, args.rounds):
        order = list(contestants) if number % 2 else list(contestants)[::-1]
        for kind in order:
            try:
                times = contestants[kind].run_for(args.slice if number >= 0 else args.warmup)
            except Failed as failure:
                entries[kind] = Entry(reason=str(failure))
                contestants.pop(kind).end()
                continue
            if number >= 0:
                entries[kind].times += times


def hold(model, threads, args):
    """Times one model: a dict of contestant to Entry, and one of contestant to version."""
    folder = SCRATCH / "run"
    folder.mkdir(parents=True, exist_ok=True)
    names = list(model.inputs)
    np.savez(folder / "inputs.npz",
             **{f"input_{index}": model.inputs[name] for index, name in enumerate(names)})
    spec = {"model": str(model.path.resolve()), "inputs": str(folder / "inputs.npz"),
            "input_names": names, "symbols": model.symbols, "threads": threads,
            "cores": sorted(os.sched_getaffinity(0))[:threads]}
    kinds = ["convoy", *args.peers]
    entries = {kind: Entry() for kind in kinds}
    contestants, versions = {}, {}
    try:
        for kind in kinds:
            try:
                contestants[kind] = start(kind, model, spec, args, folder)
                versions[kind] = contestants[kind].version
            except Failed as failure:
                entries[kind].reason = str(failure)
        compare_outputs(contestants, entries, model)
        take_turns(contestants, entries, args)
    finally:
        for contestant in contestants.values():
            contestant.end()
    return entries, versions
