# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The process of one contestant: holds one model loaded and runs it on request, so that contestants
# take turns without loading again. Usage: worker.py CONTESTANT SPEC.json; requests are lines of
# JSON on standard input, answers lines on standard output.

import ctypes
import json
import os
import signal
import sys
import time

import numpy as np

PR_SET_PDEATHSIG = 1  # Of linux/prctl.h.


class Convoy:
    """The runtime's C API, by ctypes. Structs as in convoy.h."""

    TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
             "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13}

    class Tensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("type", ctypes.c_int),
                    ("rank", ctypes.c_size_t), ("dims", ctypes.POINTER(ctypes.c_int64))]

    class ContextOptions(ctypes.Structure):
        _fields_ = [("threads", ctypes.c_uint32), ("max_batch", ctypes.c_int64),
                    ("profile", ctypes.c_size_t), ("allocator", ctypes.c_void_p),
                    ("parallel_for", ctypes.c_void_p), ("parallel_for_user", ctypes.c_void_p)]

    def __init__(self, spec, inputs):
        self.library = library = ctypes.CDLL(spec["library"])
        library.convoy_last_error.restype = ctypes.c_char_p
        library.convoy_model_num_outputs.restype = ctypes.c_size_t
        library.convoy_version.restype = ctypes.c_uint32
        number = library.convoy_version()
        self.version = f"{number >> 16}.{number >> 8 & 255}.{number & 255}"
        self.model, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(library.convoy_model_load(spec["artifact"].encode(), None,
                                             ctypes.byref(self.model)))
        options = self.ContextOptions(threads=spec["threads"])
        self.check(library.convoy_context_create(self.model, ctypes.byref(options),
                                                 ctypes.byref(self.context)))
        self.inputs = inputs  # The context reads them where they are.
        for name, value in inputs.items():
            dims = (ctypes.c_int64 * value.ndim)(*value.shape)
            tensor = self.Tensor(value.ctypes.data, value.nbytes, self.TYPES[str(value.dtype)],
                                 value.ndim, dims)
            self.check(library.convoy_context_set_input_by_name(self.context, name.encode(),
                                                                ctypes.byref(tensor)))
        self.run_context = library.convoy_context_run

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.convoy_last_error().decode())

    def run(self):
        if self.run_context(self.context) != 0:
            self.check(1)

    def outputs(self):
        self.run()
        names = {number: name for name, number in self.TYPES.items()}
        values = []
        for index in range(self.library.convoy_model_num_outputs(self.model)):
            tensor = self.Tensor()
            self.check(self.library.convoy_context_output(self.context, ctypes.c_size_t(index),
                                                          ctypes.byref(tensor)))
            if tensor.type not in names:
                raise RuntimeError(f"output {index} has the type {tensor.type}, which numpy lacks")
            kind = np.dtype(names[tensor.type])
            shape = [tensor.dims[axis] for axis in range(tensor.rank)]
            size = int(np.prod(shape)) * kind.itemsize
            data = ctypes.string_at(tensor.data, size) if size else b""
            values.append(np.frombuffer(data, kind).reshape(shape))
        return values


class Onnxruntime:
    """All graph optimizations; inputs and outputs bound, so that a run copies nothing."""

    def __init__(self, spec, inputs):
        import onnxruntime

        self.version = onnxruntime.__version__
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = spec["threads"]
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        for name, extent in spec["symbols"].items():
            options.add_free_dimension_override_by_name(name, extent)
        self.session = onnxruntime.InferenceSession(spec["model"], options,
                                                    providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for name, value in inputs.items():
            self.binding.bind_cpu_input(name, value)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        self.run()
        return self.binding.copy_outputs_to_cpu()


class Openvino:
    """Latency mode, one stream, f32; the shapes are fixed, since open ones cost it speed."""

    def __init__(self, spec, inputs):
        import openvino

        self.version = openvino.__version__.split("-")[0]
        core = openvino.Core()
        model = core.read_model(spec["model"])
        shapes = {}
        for port in model.inputs:
            name = next(name for name in inputs if name in port.names)
            if port.partial_shape.is_dynamic:
                shapes[port] = list(inputs[name].shape)
        if shapes:
            model.reshape(shapes)
        compiled = core.compile_model(model, "CPU", {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
            "INFERENCE_NUM_THREADS": spec["threads"],
            "NUM_STREAMS": 1,
            # The process is bound to its cores already.
            "ENABLE_CPU_PINNING": False,
        })
        self.request = compiled.create_infer_request()
        self.count = len(compiled.outputs)
        self.tensors = []
        for index, port in enumerate(compiled.inputs):
            name = next(name for name in inputs if name in port.names)
            self.tensors.append(openvino.Tensor(inputs[name], shared_memory=True))
            self.request.set_input_tensor(index, self.tensors[-1])

    def run(self):
        self.request.infer(share_outputs=True)

    def outputs(self):
        self.run()
        return [np.array(self.request.get_output_tensor(i).data) for i in range(self.count)]


CONTESTANTS = {"convoy": Convoy, "onnxruntime": Onnxruntime, "openvino": Openvino}


def aligned(value):
    """A copy that begins at a multiple of 64, which no contestant then has to copy again."""
    room = np.empty(value.nbytes + 64, np.uint8)
    begin = -room.ctypes.data % 64
    copy = room[begin:begin + value.nbytes].view(value.dtype).reshape(value.shape)
    copy[...] = value
    return copy


def run_for(contestant, seconds, skipped, least):
    """Nanoseconds of each run; the first ones, which find cold caches, are not counted."""
    for _ in range(skipped):
        contestant.run()
    times, clock = [], time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    while len(times) < least or clock() < end:
        begin = clock()
        contestant.run()
        times.append(clock() - begin)
    return times


def main():
    kind, path = sys.argv[1:]
    # A stopped process would outlive a benchmark that is killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Libraries print what they like: answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(**what):
        answers.write(json.dumps(what) + "\n")

    with open(path) as file:
        spec = json.load(file)
    os.sched_setaffinity(0, spec["cores"])
    try:
        with np.load(spec["inputs"]) as archive:
            inputs = {name: aligned(archive[f"input_{index}"])
                      for index, name in enumerate(spec["input_names"])}
        contestant = CONTESTANTS[kind](spec, inputs)
        answer(version=contestant.version)
        for line in sys.stdin:
            request = json.loads(line)
            if "outputs" in request:
                values = contestant.outputs()
                np.savez(request["outputs"], **{f"output_{i}": v for i, v in enumerate(values)})
                answer(count=len(values))
            else:
                answer(times=run_for(contestant, request["seconds"], request["skipped"],
                                     request["least"]))
    except Exception as error:
        answer(error=" ".join(f"{type(error).__name__}: {error}".split())[:400])


if __name__ == "__main__":
    main()
