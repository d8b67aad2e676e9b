"""Tests `python3 -m caffe`, and the command `caffe` on nets with layers written in Python."""
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import caffe
import numpy as np
from brew import _core

from common import Case

CAFFE = os.path.join(os.path.dirname(_core.__file__), "../../bin/caffe")
MODULE = [sys.executable, "-m", "caffe"]

# Batches whose label is the sign of the first value, and half of the mean square as a loss.
LAYERS = """
import caffe
import numpy as np

class Batches(caffe.Layer):
    def setup(self, bottom, top):
        self.count, self.passes = int(self.param_str), 0

    def reshape(self, bottom, top):
        top[0].reshape(self.count, 3)
        top[1].reshape(self.count)

    def forward(self, bottom, top):
        values = np.random.RandomState(self.passes).randn(self.count, 3)
        self.passes += 1
        top[0].data[...], top[1].data[...] = values, values[:, 0] > 0

    def backward(self, top, propagate_down, bottom):
        pass

class Decay(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        top[0].data[...] = (bottom[0].data ** 2).sum() / 2 / len(bottom[0].data)

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = bottom[0].data / len(bottom[0].data) * top[0].diff[0]

class Broken(Batches):
    def forward(self, bottom, top):
        raise RuntimeError("a defect of the layer")

class Slow(Batches):
    def forward(self, bottom, top):
        import time
        time.sleep(0.02)
        super().forward(bottom, top)
"""
NET = """name: 'signs'
layer { name: 'in' type: 'Python' top: 'x' top: 'y' python_param { module: 'signs' layer: 'Batches' param_str: '8' } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'ip' inner_product_param { num_output: 2
  weight_filler { type: 'constant' value: 0.1 } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'y' top: 'loss' }
layer { name: 'decay' type: 'Python' bottom: 'ip' top: 'decay' python_param { module: "signs" layer: 'Decay' }
  loss_weight: 0.5 }
layer { name: 'acc' type: 'Accuracy' bottom: 'ip' bottom: 'y' top: 'acc' include { phase: TEST } }
layer { name: 'staged' type: 'Silence' bottom: 'x' include { stage: 'extra' min_level: 1 } }
"""
SOLVER = """net: 'net.prototxt' base_lr: 0.1 momentum: 0.9 lr_policy: 'fixed' display: 5 max_iter: 10 snapshot: 5
test_iter: 2 test_interval: 10 test_initialization: false snapshot_prefix: 's' solver_mode: CPU
"""


def expected_weights(iterations):
    """Returns the weights of NET after training, computed with numpy."""
    weights, bias = np.full((2, 3), 0.1), np.zeros(2)
    history = [np.zeros_like(weights), np.zeros_like(bias)]
    for iteration in range(iterations):
        x = np.random.RandomState(iteration).randn(8, 3).astype(np.float32)
        labels = (x[:, 0] > 0).astype(int)
        scores = x @ weights.T + bias
        probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        diff = (probabilities - np.eye(2)[labels]) / 8 + 0.5 * scores / 8
        for value, update, gradient in zip((weights, bias), history, (diff.T @ x, diff.sum(axis=0))):
            update *= 0.9
            update += 0.1 * gradient
            value -= update
    return weights


class Command(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("layers"))
        self.write(LAYERS, "layers/signs.py")
        self.write(NET)
        self.write(SOLVER, "solver.prototxt")
        self.write_python("python", "")

    def write_python(self, folder, flags):
        """Writes a program python3 that runs this interpreter with flags."""
        os.mkdir(self.path(folder))
        path = self.write('#!/bin/sh\nexec %s %s "$@"\n' % (sys.executable, flags), os.path.join(folder, "python3"))
        os.chmod(path, 0o755)

    def environment(self, **changes):
        modules = os.pathsep.join([self.path("layers"), os.environ.get("PYTHONPATH", "")])
        programs = os.pathsep.join([self.path("python"), os.environ["PATH"]])
        # The test of CMake reduces the log.
        return {**os.environ, "PATH": programs, "PYTHONPATH": modules, "GLOG_minloglevel": "0", **changes}

    def run_command(self, command, *arguments, **environment):
        """Returns the exit status and the standard error, without the prefixes of lines."""
        process = subprocess.run([*command, *arguments], cwd=self.folder, env=self.environment(**environment),
                                 capture_output=True, text=True, timeout=100)
        return process.returncode, re.sub(r"^[IWEF]\d{4} [^\]]*\] ", "", process.stderr, flags=re.MULTILINE)

    def weights(self, name):
        message = caffe.proto.caffe_pb2.NetParameter()
        with open(self.path(name), "rb") as file:
            message.ParseFromString(file.read())
        return caffe.io.blobproto_to_array(next(p for p in message.layer if p.name == "ip").blobs[0]).reshape(2, 3)

    def test_train(self):
        status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt")
        self.assertEqual(status, 0, log)
        self.close(self.weights("s_iter_10.caffemodel"), expected_weights(10), 1e-4)
        lines = log.splitlines()
        order = ["Use CPU.", "Initializing solver from parameters: ", "Creating training net from net file: net.prototxt",
                 "Creating Layer ip", "ip <- x", "ip -> ip", "Top shape: 8 2 (16)", "    with loss weight 0.5",
                 "loss needs backward computation.", "in does not need backward computation.",
                 "Network initialization done.", "Creating test net (#0) specified by net file: net.prototxt",
                 "Solver scaffolding done.", "Starting Optimization", "Solving signs", "Learning Rate Policy: fixed",
                 "Iteration 5, lr = 0.1", "Iteration 10, Testing net (#0)", "Optimization Done."]
        position = 0
        for line in order:
            self.assertIn(line, lines[position:], log)
            position += lines[position:].index(line)
        self.assertEqual(lines.count("Optimization Done."), 2)
        self.assertRegex(log, r"Iteration 5 \(.* iter/s, .*s/5 iters\), loss = 0\.\d+")
        self.assertRegex(log, r"Test net output #0: acc = [01]")

    def test_the_command_caffe_runs_python(self):
        status, log = self.run_command([CAFFE], "train", "--solver=solver.prototxt", "-minloglevel", "2")
        self.assertEqual((status, log), (0, ""))
        self.close(self.weights("s_iter_10.caffemodel"), expected_weights(10), 1e-4)
        status, log = self.run_command([CAFFE], "train", "-solver", "solver.prototxt", "-snapshot", "s_iter_5.solverstate")
        self.assertEqual(status, 0, log)
        self.assertIn("Resuming from s_iter_5.solverstate", log)
        # The data layer begins again, so that the values differ, but the count of iterations goes on.
        self.assertIn("Iteration 10, Testing net", log)
        self.assertNotIn("Iteration 5, Testing net", log)

    def test_finetuning_stages_and_levels(self):
        self.run_command(MODULE, "train", "-solver", "solver.prototxt")
        first = self.weights("s_iter_5.caffemodel")
        self.write(SOLVER.replace("max_iter: 10 snapshot: 5", "max_iter: 0"), "solver.prototxt")
        status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt", "-weights", "s_iter_5.caffemodel",
                                       "-stage=extra", "--level", "1")
        self.assertEqual(status, 0, log)
        self.assertIn("Finetuning from s_iter_5.caffemodel", log)
        self.assertIn("Creating Layer staged", log)
        self.close(self.weights("s_iter_0.caffemodel"), first)

    def test_test(self):
        self.run_command(MODULE, "train", "-solver", "solver.prototxt")
        for command in (MODULE, [CAFFE]):
            status, log = self.run_command(command, "test", "-model", "net.prototxt", "-weights", "s_iter_10.caffemodel",
                                           "-iterations", "3")
            self.assertEqual(status, 0, log)
            weights, accuracies, losses = expected_weights(10), [], []
            bias = np.zeros(2)
            net = caffe.proto.caffe_pb2.NetParameter()
            with open(self.path("s_iter_10.caffemodel"), "rb") as file:
                net.ParseFromString(file.read())
            bias[:] = next(p for p in net.layer if p.name == "ip").blobs[1].data
            for batch in range(3):
                x = np.random.RandomState(batch).randn(8, 3)
                scores = x @ weights.T + bias
                labels = (x[:, 0] > 0).astype(int)
                accuracies.append((scores.argmax(axis=1) == labels).mean())
                log_sum = np.log(np.exp(scores).sum(axis=1))
                losses.append((log_sum - scores[np.arange(8), labels]).mean())
            self.assertIn("Running for 3 iterations.", log)
            shown = [float(value) for value in re.findall(r"^Batch \d, acc = (\S+)$", log, re.MULTILINE)]
            self.close(shown, accuracies)
            self.close(float(re.search(r"^loss = (\S+) \(\* 1 = \1 loss\)$", log, re.MULTILINE).group(1)),
                       np.mean(losses), 1e-3)

    def test_time(self):
        status, log = self.run_command(MODULE, "time", "-model", "net.prototxt", "-iterations", "2", "-phase", "TRAIN")
        self.assertEqual(status, 0, log)
        self.assertIn("Testing for 2 iterations.", log)
        for layer in ("in", "ip", "loss", "decay"):
            self.assertRegex(log, r"(?m)^ *%s\tforward: [\d.e-]+ ms\.$" % layer)
            self.assertRegex(log, r"(?m)^ *%s\tbackward: [\d.e-]+ ms\.$" % layer)
        total = float(re.search(r"Total Time: (\S+) ms", log).group(1))
        self.close(float(re.search(r"Average Forward-Backward: (\S+) ms", log).group(1)), total / 2, 1e-3)

    def test_signals(self):
        self.write(NET.replace("'Batches'", "'Slow'"))
        self.write(SOLVER.replace("max_iter: 10 snapshot: 5", "max_iter: 100000"), "solver.prototxt")
        with subprocess.Popen([CAFFE, "train", "-solver", "solver.prototxt"], cwd=self.folder, env=self.environment(),
                              stderr=subprocess.PIPE, text=True) as process:
            log = []
            for line in process.stderr:
                log.append(line)
                if "Iteration 5 " in line:
                    process.send_signal(signal.SIGHUP)
                    while not [name for name in os.listdir(self.folder) if name.endswith(".solverstate")]:
                        time.sleep(0.01)
                    process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), 0, "".join(log))
        text = "".join(log)
        self.assertIn("Optimization stopped early.", text)
        self.assertTrue(text.endswith("Optimization Done.\n"))
        self.assertEqual(len([name for name in os.listdir(self.folder) if name.endswith(".solverstate")]), 2)

    def test_usage_errors(self):
        for arguments, message in ((["train"], "need a solver definition to train (-solver FILE)"),
                                   (["train", "-solvr", "x"], "unknown flag '-solvr'"),
                                   (["test", "-model", "net.prototxt"], "need model weights to score"),
                                   (["time", "-model", "net.prototxt", "-iterations", "x"], "-iterations is an integer"),
                                   (["time", "-model", "net.prototxt", "-iterations", "0"], "-iterations is at least 1"),
                                   (["train", "-solver"], "flag '-solver' needs a value"),
                                   (["train", "-solver", "s", "-snapshot", "a", "-weights", "b"], "but not both"),
                                   (["train", "test"], "one action at a time"),
                                   (["solve"], "name an action: train, test, time"),
                                   (["train", "-solver", "solver.prototxt", "-gpu", "0,1"], "several GPUs"),
                                   (["train", "-solver", "solver.prototxt", "-sigint_effect", "x"],
                                    "-sigint_effect is stop, snapshot or none")):
            status, log = self.run_command(MODULE, *arguments)
            self.assertEqual((status, log.count("\n")), (2, 1), log)
            self.assertIn(message, log)

    def test_errors(self):
        status, log = self.run_command(MODULE, "train", "-solver", "nowhere.prototxt")
        self.assertEqual((status, log), (1, "caffe: error: Could not open file nowhere.prototxt\n"))
        self.write(NET.replace("'Batches'", "'Broken'"))
        status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt", "-minloglevel=2")
        self.assertEqual(status, 1)
        self.assertIn('raise RuntimeError("a defect of the layer")', log)
        self.assertIn("Traceback", log)
        if sys.version_info >= (3, 11):
            self.assertRegex(log, r"in forward\(\) of layer '\w+' \(\w+\.Broken\)\n")
            self.write(NET.replace("'Batches'", "'Absent'"))
            status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt", "-minloglevel=2")
            self.assertRegex(log, r"in class of layer '\w+' \(\w+\.Absent\)\n")
            module = re.search(r"module: '(\w+)'", NET).group(1)
            self.write(NET.replace(module, "nowhere"))
            status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt", "-minloglevel=2")
            self.assertIn("does not find 'nowhere': install it, or add its folder to PYTHONPATH\n", log)

    def test_gpu_without_one(self):
        self.write(NET)
        status, log = self.run_command(MODULE, "train", "-solver", "solver.prototxt", "-gpu", "0",
                                       BREW_CUDASIM="", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(status, 3, log)
        self.assertRegex(log, r"caffe: error: -gpu 0: .*; omit -gpu to run on the CPU\n$")

    def test_no_python(self):
        status, log = self.run_command([CAFFE], "train", "-solver", "solver.prototxt", PATH=self.folder)
        self.assertEqual(status, 3)
        self.assertIn("net.prototxt has layers of type Python", log)
        self.assertIn("`python -m caffe train`", log)
        # A Python without the package's requirements.
        self.write_python("bin", "-S -E")
        status, log = self.run_command([CAFFE], "train", "-solver", "solver.prototxt", PATH=self.path("bin"))
        self.assertEqual((status, log.count("\n")), (1, 1), log)
        self.assertIn("cannot import it: No module named 'caffe'", log)
        self.assertIn("run `python3 -m caffe train -solver=solver.prototxt` with another Python", log)


if __name__ == "__main__":
    unittest.main()
