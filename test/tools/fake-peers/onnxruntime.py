# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for onnxruntime in bench_test.py: answers with the expected outputs beside the model, and
# misbehaves as the environment variable FAKE says.

import os
import time
from pathlib import Path

import onnx
from onnx import numpy_helper

__version__ = "0.fake"


class GraphOptimizationLevel:
    ORT_ENABLE_ALL = 99


class SessionOptions:
    def add_free_dimension_override_by_name(self, name, extent):
        pass


class Output:
    def __init__(self, name):
        self.name = name


class Binding:
    def bind_cpu_input(self, name, value):
        pass

    def bind_output(self, name, device):
        pass

    def copy_outputs_to_cpu(self):
        return self.outputs


class InferenceSession:
    def __init__(self, path, options, providers):
        assert options.graph_optimization_level == GraphOptimizationLevel.ORT_ENABLE_ALL
        assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
        assert len(os.sched_getaffinity(0)) == 1
        self.names = [value.name for value in onnx.load(path).graph.output]
        expected = Path(path).parent / "test_data_set_0/output_0.pb"
        self.value = numpy_helper.to_array(onnx.load_tensor(str(expected))).copy()
        if os.environ["FAKE"] == "differ":
            self.value[2, 3] += 2e-3 * abs(self.value).max()

    def get_outputs(self):
        return [Output(name) for name in self.names]

    def io_binding(self):
        return Binding()

    def run_with_iobinding(self, binding):
        if os.environ["FAKE"] == "die":
            os._exit(3)
        if os.environ["FAKE"] == "slow":
            time.sleep(0.02)
        binding.outputs = [self.value]
