#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whether the images of a batch are what a compiled model makes of each alone, to the bit. Needs onnx
# and numpy (build/venv has them).

"""Run three different images one by one and as a batch, and compare the bits."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

IMAGES = 3
NOT_FREE = 3  # exit status


def run_or_exit(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def images_of(array):
    """Different images with the elements of the first one: as it is, backwards, and rotated."""
    flat = array[:1].reshape(-1)
    return [order.reshape(array[:1].shape) for order in (flat, flat[::-1], np.roll(flat, flat.size // 3))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("artifact", type=Path)
    parser.add_argument("data", type=Path, help="folder with input_0.pb, ... in the model's order")
    parser.add_argument("scratch", type=Path, help="folder for inputs and outputs")
    parser.add_argument("--bin", type=Path, default=Path("build/bin"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--may-agree", action="store_true",
                        help="different images may have one answer, as of random weights")
    options = parser.parse_args()

    described = json.loads(run_or_exit([options.bin / "convoy-inspect", options.artifact, "--json"]))
    variant = next(variant for variant in described["variants"] if variant["chosen"])
    is_free = [tensor["dims"][:1] == [-1] for tensor in variant["inputs"]]
    if not any(is_free):
        print("no input has a free batch")
        sys.exit(NOT_FREE)

    options.scratch.mkdir(parents=True, exist_ok=True)
    alone = [[] for _ in range(IMAGES)]
    batch = []
    for number, (tensor, free) in enumerate(zip(variant["inputs"], is_free)):
        array = numpy_helper.to_array(onnx.load_tensor(options.data / f"input_{number}.pb"))
        for image, value in enumerate(images_of(array) if free else [array] * IMAGES):
            path = options.scratch / f"input{number}-{image}.bin"
            path.write_bytes(np.ascontiguousarray(value).tobytes())
            word = ["--input", f"{tensor['name']}={path}"]
            alone[image] += word
            if free or image == 0:
                batch += word

    def outputs(inputs, folder):
        run_or_exit([options.bin / "convoy-run", options.artifact, *inputs, "--output", folder,
                     "--threads", options.threads])
        return {path.name: np.load(path) for path in sorted(folder.glob("*.npy"))}

    each = [outputs(inputs, options.scratch / f"alone{image}") for image, inputs in enumerate(alone)]
    together = outputs(batch, options.scratch / "batch")
    for name, value in together.items():
        expected = np.concatenate([results[name] for results in each])
        if value.shape != expected.shape:
            sys.exit(f"{name} is {value.shape} in a batch, {expected.shape} one by one")
        for image in range(IMAGES):
            if value[image].tobytes() != expected[image].tobytes():
                sys.exit(f"{name}: image {image} of the batch differs from its own run")
    agree = all(each[0][name].tobytes() == each[1][name].tobytes() for name in together)
    if agree and not options.may_agree:
        sys.exit("different images gave the same outputs: this shows nothing")


if __name__ == "__main__":
    main()
