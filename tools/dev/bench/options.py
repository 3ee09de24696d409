# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The command line of tools/bench. Needs no package: --help works before anything is installed.

import argparse
import os
import shlex

PEERS = ["onnxruntime", "openvino"]

EPILOG = """\
MODEL is
  a name of the zoo, such as resnet50 (models/zoo --list; made first if it is not there),
  zoo          all of these,
  a file       x.onnx,
  a folder     with model.onnx, or with folders that have one.
Inputs are those of test_data_set_0 beside a model; else seeded random ones.

examples:
  tools/bench resnet50 vgg19
  tools/bench zoo --threads 1,2 --json times.json --chart times.svg
  tools/bench ../shared/models --peers onnxruntime --markdown docs/performance.md --marker thirty

The peers and what reads models are installed from PyPI into build/peers, once. Exit status: 0; 1 if
Convoy failed on a model, or outputs of Convoy and a peer differ; 2 for a wrong command line.
Nothing else should run meanwhile: docs/performance.md says how it is measured."""


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)


def positive_list(text):
    return [positive(word) for word in text.split(",")]


def peer_list(text):
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"no peer '{name}'; there are {', '.join(PEERS)}")
    return names


def shape(text):
    name, equals, dims = text.rpartition("=")
    try:
        return name, [int(word) for word in dims.split("x")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes NAME=DIMS, as x=1x3x224x224, not '{text}'")


def parse(words):
    parser = argparse.ArgumentParser(
        prog="tools/bench",
        description="Times Convoy, onnxruntime and OpenVINO on the same models, in turns.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", nargs="+", metavar="MODEL")
    group = parser.add_argument_group("what is compared")
    group.add_argument("--peers", type=peer_list, default=list(PEERS), metavar="LIST",
                       help="onnxruntime,openvino (the default), one of them, or none")
    group.add_argument("--threads", type=positive_list, default=[1], metavar="LIST",
                       help="threads, and cores that the process may use, e.g. 1,2 (default 1)")
    group.add_argument("--batch", type=positive, default=1, metavar="N",
                       help="images in a run (default 1); more need a free first dimension")
    group.add_argument("--precision", default="f32", metavar="P",
                       help="what f32 models compute in: f32, and no other yet")
    group.add_argument("--shape", type=shape, action="append", default=[], metavar="NAME=DIMS",
                       help="extents of an input with open dimensions, for all models that have it")
    group.add_argument("--compile-options", type=shlex.split, default=[], metavar="TEXT",
                       help="further options of convoy-compile, in one word")
    group = parser.add_argument_group("how it is measured")
    group.add_argument("--rounds", type=positive, default=7, metavar="N",
                       help="turns of each contestant (default 7)")
    group.add_argument("--slice", type=float, default=0.3, metavar="S",
                       help="seconds of a turn, or three runs if these take longer (default 0.3)")
    group.add_argument("--warmup", type=float, default=0.5, metavar="S",
                       help="seconds of runs that are not counted, at first (default 0.5)")
    group.add_argument("--by", choices=["median", "min"], default="median",
                       help="what the ratios are of (default median)")
    group.add_argument("--seed", type=int, default=0, help="of random inputs (default 0)")
    group = parser.add_argument_group("results")
    group.add_argument("--json", metavar="FILE", help="write the times; - is standard output")
    group.add_argument("--chart", metavar="FILE.svg", help="draw the ratios as bars")
    group.add_argument("--markdown", metavar="FILE",
                       help="write the table into FILE between the lines <!-- bench:NAME --> and"
                       " <!-- /bench -->")
    group.add_argument("--marker", default="table", metavar="NAME",
                       help="of --markdown (default table)")
    group = parser.add_argument_group("where things are")
    group.add_argument("--python", metavar="FILE",
                       help="an interpreter with numpy, onnx and the peers: nothing is installed")
    group.add_argument("--build", default="build", metavar="FOLDER",
                       help="the build whose convoy-compile and runtime are timed (default build)")
    args = parser.parse_args(words)
    if args.precision != "f32":
        parser.error(f"--precision {args.precision}: convoy-compile has no precision but f32 yet")
    cores = len(os.sched_getaffinity(0))
    if max(args.threads) > cores:
        parser.error(f"--threads {max(args.threads)}: this process may use {cores} cores")
    if args.slice < 0 or args.warmup < 0:
        parser.error("--slice and --warmup must not be negative")
    return args
