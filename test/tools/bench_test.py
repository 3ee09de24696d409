# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests of tools/bench. Peers are those of fake-peers (onnxruntime.py, openvino.py), whose answers
# and times are known; the real ones need not be installed. Run by tools/dev/run_unittests.py.

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[2]
FAKES = Path(__file__).resolve().parent / "fake-peers"
DIGITS = "models/digits/digits.onnx"
sys.path[:0] = [str(ROOT / "tools/dev"), str(ROOT / "tools/dev/bench")]

import contest
import report

QUICK = ["--python", sys.executable, "--rounds", "2", "--slice", "0.01", "--warmup", "0"]


def bench(*words, fake="agree"):
    env = dict(os.environ, PYTHONPATH=str(FAKES), FAKE=fake)
    return subprocess.run([ROOT / "tools/bench", *map(str, words)], cwd=ROOT, env=env, text=True,
                          capture_output=True)


class Differences(unittest.TestCase):
    def check(self, ours, theirs, kind=np.float32):
        return contest.difference([np.array(ours, kind)], [np.array(theirs, kind)], ["y"])

    def test_relative_to_the_largest_magnitude(self):
        self.assertEqual(self.check([-100.09, 1], [-100, 1.09]), "")
        text = self.check([[-100, 1], [2, 3.2]], [[-100, 1], [2, 3]])
        self.assertIn("output 'y' differs, most at [1][1]: 3.2 against 3,", text)

    def test_the_output_that_differs_is_named(self):
        ours, theirs = [np.ones(3), np.ones(3)], [np.ones(3), np.full(3, 2.0)]
        self.assertIn("output 'b'", contest.difference(ours, theirs, ["a", "b"]))

    def test_not_a_number_equals_itself_alone(self):
        self.assertEqual(self.check([np.nan, np.inf, 1], [np.nan, np.inf, 1]), "")
        self.assertIn("most at [0]", self.check([np.nan, 1], [1, 1]))
        self.assertIn("most at [1]", self.check([1, 1], [1, np.inf]))

    def test_shapes_and_counts(self):
        self.assertEqual(self.check([1, 2], [[1, 2]]), "output 'y' is [2] against [1, 2]")
        self.assertEqual(contest.difference([], [np.ones(1)], ["y"]), "0 outputs against 1")
        self.assertEqual(self.check(np.ones((0, 3)), np.ones((0, 3))), "")

    def test_rounding_errors_of_one_and_of_narrow_types(self):
        self.assertEqual(self.check([1.5e-7, 0], [0, 1e-8]), "")
        self.assertIn("most at [0]", self.check([3e-7, 0], [0, 1e-8]))
        self.assertEqual(self.check([1.005], [1], np.float16), "")
        self.assertIn("differs", self.check([1.02], [1], np.float16))

    def test_integers(self):
        self.assertEqual(self.check([1000, 7], [1000, 8], np.int64), "")
        self.assertIn("differs", self.check([7], [8], np.int64))


class Reports(unittest.TestCase):
    def row(self, name="net", threads=1, **times):
        entries = {kind: contest.Entry(times=value) if isinstance(value, list)
                   else contest.Entry(reason=value, differs="differs" in value)
                   for kind, value in times.items()}
        return report.Row(name, threads, 1, "f32", entries)

    def setUp(self):
        self.peers = ["onnxruntime", "openvino"]
        self.rows = [
            self.row("a", convoy=[1.0, 2.0, 9.0], onnxruntime=[4.0, 3.0, 5.0], openvino=[1.0, 1.0]),
            self.row("b<", convoy=[1.0], onnxruntime=[8.0], openvino="no | op"),
            self.row("c", convoy="broken", onnxruntime=[1.0], openvino="differs a lot"),
        ]

    def test_json_has_times_alone(self):
        self.assertEqual(json.loads(report.as_json(self.rows[:2])), {"results": [
            {"model": "a", "threads": 1, "batch": 1, "precision": "f32", "contestants": {
                "convoy": {"min_ms": 1.0, "median_ms": 2.0},
                "onnxruntime": {"min_ms": 3.0, "median_ms": 4.0},
                "openvino": {"min_ms": 1.0, "median_ms": 1.0}}},
            {"model": "b<", "threads": 1, "batch": 1, "precision": "f32", "contestants": {
                "convoy": {"min_ms": 1.0, "median_ms": 1.0},
                "onnxruntime": {"min_ms": 8.0, "median_ms": 8.0}}}]})

    def test_ratios(self):
        _, lines, means = report.cells(self.rows, self.peers, "median")
        self.assertEqual([line[-3:] for line in lines],
                         [["2.00", "0.50", "0.50"], ["8.00", "-", "8.00"], ["-", "-", "-"]])
        self.assertEqual(means, [["geometric mean", "1", "", "", "", "4.00", "0.50", "2.00"]])
        self.assertEqual(report.cells(self.rows, self.peers, "min")[1][0][-3:],
                         ["3.00", "1.00", "1.00"])

    def test_means_are_of_the_same_threads(self):
        rows = [self.row(threads=1, convoy=[1.0], onnxruntime=[2.0]),
                self.row(threads=2, convoy=[1.0], onnxruntime=[3.0])]
        _, _, means = report.cells(rows, ["onnxruntime"], "min")
        self.assertEqual([line[-1] for line in means], ["2.00", "3.00"])

    def test_who_has_no_time_is_told(self):
        text = report.table(self.rows, self.peers, "median")
        for part in ["failed", "differs", "b<, OpenVINO: no | op", "c, Convoy: broken"]:
            self.assertIn(part, text)

    def test_markdown_between_markers(self):
        text = report.markdown(self.rows, self.peers, "median", ["A machine."])
        self.assertIn("| b< | 1 | 1.000 / 1.000 | 8.000 / 8.000 | failed | 8.00 | - | 8.00 |", text)
        self.assertIn("* b<, OpenVINO: no / op", text)
        self.assertEqual(len({line.count("|") for line in text.splitlines() if line[:1] == "|"}), 1)
        page = "x\n<!-- bench:one -->\nold\n<!-- /bench -->\n<!-- bench:two -->\n<!-- /bench -->\n"
        once = report.insert(page, "two", "new")
        self.assertEqual(once, page.replace("two -->\n", "two -->\nnew\n"))
        self.assertEqual(report.insert(once, "two", "new"), once)
        with self.assertRaises(ValueError):
            report.insert(page, "three", "new")

    def test_chart(self):
        root = ElementTree.fromstring(report.chart(self.rows, self.peers, "median", ["<facts>"]))
        texts = [item.text for item in root.iter("{http://www.w3.org/2000/svg}text")]
        for text in ["b<, 1 thread", "8.00", "0.50", "failed", "Convoy failed", "<facts>",
                     "geometric mean, 1 thread"]:
            self.assertIn(text, texts)


class EndToEnd(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def results(self, done):
        try:
            return json.loads(done.stdout)["results"]
        except ValueError:
            self.fail(done.stderr)

    def test_convoy_alone(self):
        done = bench(DIGITS, "--peers", "none", "--json", "-", *QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        (result,) = self.results(done)
        times = result.pop("contestants")
        self.assertEqual(result, {"model": "digits", "threads": 1, "batch": 1, "precision": "f32"})
        self.assertEqual(list(times), ["convoy"])
        self.assertEqual(list(times["convoy"]), ["min_ms", "median_ms"])
        self.assertTrue(0 < times["convoy"]["min_ms"] <= times["convoy"]["median_ms"])

    def test_a_slower_peer(self):
        done = bench(DIGITS, "--peers", "onnxruntime", "--json", self.folder / "times.json",
                     "--chart", self.folder / "c.svg", *QUICK, fake="slow")
        self.assertEqual(done.returncode, 0, done.stderr)
        (result,) = json.loads((self.folder / "times.json").read_text())["results"]
        times = result["contestants"]
        self.assertGreaterEqual(times["onnxruntime"]["min_ms"], 20)
        ratio = times["onnxruntime"]["median_ms"] / times["convoy"]["median_ms"]
        self.assertIn(f"{ratio:.2f}", done.stdout)
        ElementTree.parse(self.folder / "c.svg")

    def test_outputs_that_differ_are_not_compared(self):
        done = bench(DIGITS, "--peers", "onnxruntime", "--json", self.folder / "times.json", *QUICK,
                     fake="differ")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"digits, onnxruntime: Convoy's output '\w+' differs, most at "
                         r"\[2\]\[3\]: \S+ against \S+,")
        (result,) = json.loads((self.folder / "times.json").read_text())["results"]
        self.assertEqual(list(result["contestants"]), ["convoy"])

    def test_peers_that_cannot(self):
        page = self.folder / "page.md"
        page.write_text("<!-- bench:t -->\n<!-- /bench -->\n")
        done = bench(DIGITS, "--json", "-", "--markdown", page, "--marker", "t", *QUICK, fake="die")
        self.assertEqual(done.returncode, 0, done.stderr)
        (result,) = self.results(done)
        self.assertEqual(list(result["contestants"]), ["convoy"])
        self.assertIn("digits, onnxruntime: its process ended with status 3", page.read_text())
        self.assertIn("digits, OpenVINO: RuntimeError: no such op / Frobnicate", page.read_text())

    def model(self, batch):
        """y = x + 1 on [batch, 2]."""
        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [batch, 2]) for name in "xy"]
        one = numpy_helper.from_array(np.ones(2, np.float32), "one")
        graph = helper.make_graph([helper.make_node("Add", ["x", "one"], ["y"])], "g", value[:1],
                                  value[1:], [one])
        path = self.folder / "add.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        return path

    def test_batch(self):
        words = ["--peers", "none", "--batch", "3", "--json", "-", *QUICK]
        (result,) = self.results(bench(self.model("n"), *words))
        self.assertEqual(result["batch"], 3)
        self.assertIn("convoy", result["contestants"])
        done = bench(self.model(1), *words)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.results(done)[0]["contestants"], {})
        done = bench(self.model(1), *words[:4], *QUICK)
        self.assertIn("add, Convoy: no input has a free first dimension, so there is no batch of 3",
                      done.stdout)

    def test_wrong_command_lines(self):
        for words, text in [
                (["x.onnx", "--precision", "bf16"], "no precision but f32 yet"),
                (["x.onnx", "--peers", "tvm"], "no peer 'tvm'"),
                (["x.onnx", "--threads", "0"], "--threads"),
                (["x.onnx", "--threads", "1000000"], "this process may use"),
                (["x.onnx", "--shape", "x"], "takes NAME=DIMS"),
                ([], "MODEL")]:
            done = bench(*words, *QUICK)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr)
        for words, text in [
                (["nowhere"], "no file, folder or model of the zoo 'nowhere'"),
                ([self.folder], "has no model.onnx"),
                ([DIGITS, "--build", "nowhere"], "build first"),
                ([DIGITS, "--markdown", "README.md"], "has no lines <!-- bench:table -->")]:
            done = bench(*words, "--peers", "none", *QUICK)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(text, done.stderr)

    def test_stopped_processes_end_with_the_benchmark(self):
        env = dict(os.environ, PYTHONPATH=str(FAKES), FAKE="agree")
        words = [DIGITS, "--peers", "onnxruntime", *QUICK, "--rounds", "100000"]
        process = subprocess.Popen([ROOT / "tools/bench", *words], cwd=ROOT, env=env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

        def running(pid):
            try:  # The state comes after the name, which is in brackets; Z has ended.
                return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            except FileNotFoundError:
                return False

        def soon(condition):
            end = time.monotonic() + 60
            while not condition() and time.monotonic() < end:
                time.sleep(0.05)
            return condition()

        try:
            self.assertTrue(soon(lambda: len(children.read_text().split()) == 2))
            workers = children.read_text().split()
        finally:
            process.kill()
            process.wait()
        self.assertTrue(soon(lambda: not any(map(running, workers))), workers)

    def test_a_file_that_is_no_model(self):
        path = self.folder / "broken.onnx"
        path.write_bytes(b"not a model")
        done = bench(path, "--peers", "none", *QUICK)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken, Convoy:", done.stdout)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
