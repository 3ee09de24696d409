# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests of models/zoo: the exported networks count what is published of them, the models are sound,
# and models/shapes says what layers they have. Run by tools/dev/run_unittests.py.

import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models/networks"))

import classifiers
import dense
import shapes
from published import PUBLISHED

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

LIGHT = """bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet vgg19
zfnet512""".split()


def exported(name):
    return getattr(classifiers, name, None) or getattr(dense, name)


def zoo(*words):
    return subprocess.run([sys.executable, ROOT / "models/zoo", *map(str, words)], text=True,
                          capture_output=True, check=False)


class Published(unittest.TestCase):
    def test_parameters_and_multiply_accumulates(self):
        for name, (parameters, giga, digits, _) in PUBLISHED.items():
            with self.subTest(name):
                graph = exported(name)()
                self.assertEqual(graph.parameters, parameters)
                if giga is not None:
                    self.assertLessEqual(abs(graph.macs / 1e9 - giga), digits)

    def test_batch_norm_is_a_node_or_folded(self):
        ops = {node.op_type for node in classifiers.mobilenetv2().nodes}
        self.assertIn("BatchNormalization", ops)
        ops = {node.op_type for node in classifiers.efficientnet_b0().nodes}
        self.assertNotIn("BatchNormalization", ops)

    def test_widths_of_regnet(self):
        self.assertEqual(classifiers.regnet_widths(16, 48, 27.89, 2.09, 8),
                         [(48, 1), (104, 3), (208, 6), (440, 6)])


class Models(unittest.TestCase):
    """The files that models/zoo makes."""

    @classmethod
    def setUpClass(cls):
        cls.names = [*LIGHT, *PUBLISHED]
        done = zoo(*cls.names)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def path(self, name):
        return ROOT / "build/zoo" / name / "model.onnx"

    def test_the_list(self):
        listed = [line.split()[0] for line in zoo("--list").stdout.splitlines()]
        self.assertEqual(sorted(set(listed) & set(self.names)), sorted(self.names))
        self.assertEqual(len(listed), len(set(listed)))

    def test_same_bytes_and_made_once(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ["mobilenetv2", "--output", folder]
            self.assertIn("model.onnx", zoo(*words).stdout)
            again = Path(folder) / "mobilenetv2/model.onnx"
            self.assertEqual(again.read_bytes(), self.path("mobilenetv2").read_bytes())
            self.assertEqual(zoo(*words).stdout, "")

    def test_light_networks_have_weights_and_a_free_batch(self):
        for name in LIGHT:
            with self.subTest(name):
                graph = onnx.load(self.path(name)).graph
                self.assertNotIn("ConstantOfShape", {node.op_type for node in graph.node})
                (source,) = graph.input
                self.assertEqual(source.type.tensor_type.shape.dim[0].dim_param, "batch")
                weights = sum(math.prod(tensor.dims) for tensor in graph.initializer)
                self.assertGreater(weights, 1e6)

    def test_unknown_name(self):
        done = zoo("resnet5000")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no network 'resnet5000'", done.stderr)

    def test_layers_of_models_shapes(self):
        written = sorted(path.stem for path in (ROOT / "models/shapes").glob("*.txt"))
        self.assertEqual(written, sorted(self.names))
        with tempfile.TemporaryDirectory() as folder:
            for name in self.names:
                path = Path(folder) / "layers.txt"
                shapes.write(name, self.path(name), path)
                self.assertEqual(path.read_text(), (ROOT / f"models/shapes/{name}.txt").read_text(),
                                 "models/zoo --shapes writes it anew")

    @unittest.skipUnless(onnxruntime, "there is no onnxruntime")
    def test_answers_depend_on_the_picture(self):
        """And are finite, for a batch of two."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        for name in self.names:
            with self.subTest(name):
                session = onnxruntime.InferenceSession(str(self.path(name)), options,
                                                       providers=["CPUExecutionProvider"])
                (source,) = session.get_inputs()
                pictures = np.random.default_rng(0).uniform(-1, 1, [2, *source.shape[1:]])
                (answer,) = session.run(None, {source.name: pictures.astype(np.float32)})
                self.assertEqual(answer.shape[0], 2)
                self.assertTrue(np.isfinite(answer).all())
                largest = np.abs(answer).max()
                self.assertGreater(np.abs(answer[0] - answer[1]).max(), 1e-4 * largest)
                self.assertGreater(answer.std(), 1e-2 * largest)
