"""caffe's solvers: the same as Brew's trainer, loops by hand, snapshots."""
import ctypes
import ctypes.util
import itertools
import math
import os
import re
import time
import warnings
import unittest
from unittest import mock

import brew
import caffe
import numpy as np
from caffe import _log, _rules
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from common import TRAIN, Case, feed, fill

KINDS = {
    "SGD": "momentum: 0.9 weight_decay: 0.01",
    "Nesterov": "momentum: 0.9 weight_decay: 0.02 regularization_type: 'L1'",
    "AdaGrad": "weight_decay: 0.01",
    "RMSProp": "rms_decay: 0.9",
    "AdaDelta": "momentum: 0.9 delta: 1e-6",
    "Adam": "momentum: 0.9 momentum2: 0.99",
}
POLICIES = {
    "fixed": "", "step": "gamma: 0.5 stepsize: 3", "exp": "gamma: 0.9", "inv": "gamma: 0.1 power: 0.75",
    "multistep": "gamma: 0.5 stepvalue: 2 stepvalue: 5", "poly": "power: 2", "sigmoid": "gamma: 0.3 stepsize: 4",
}


class Solvers(Case):
    def solver(self, more, name="s.prototxt"):
        net = self.write(TRAIN)
        return self.write("train_net: '%s' base_lr: 0.05 max_iter: 20 snapshot_after_train: false "
                          "snapshot_prefix: '%s' %s" % (net, self.path("snap"), more), name)

    def agrees(self, more, steps=8):
        """Parameters after some steps, here and by Brew's own trainer."""
        file = self.solver(more)
        solver = caffe.get_solver(file)
        fill(solver.net, 2)
        feed(solver.net)
        session = brew.compile(file).session()
        for layer, blobs in solver.net.params.items():
            session.params[layer] = [b.data for b in blobs]
        for name in ("data", "label"):
            session._core.set_input(0, name, solver.net.blobs[name].data)
        for _ in range(steps):
            solver.step(1)
            session.step(1)
        for layer, blobs in solver.net.params.items():
            for mine, its in zip(blobs, session.params[layer]):
                np.testing.assert_allclose(mine.data, its, rtol=1e-4, atol=2e-6, err_msg=more)

    def test_kinds(self):
        for kind, more in [*KINDS.items(), ("Adam", "momentum: 1"), ("Adam", "momentum2: 1")]:
            with self.subTest(kind):
                self.agrees("type: '%s' lr_policy: 'fixed' %s" % (kind, more))

    def test_policies(self):
        for policy, more in POLICIES.items():
            with self.subTest(policy):
                self.agrees("lr_policy: '%s' momentum: 0.5 %s" % (policy, more))

    def rate(self, iteration, more, base=0.25):
        param = text_format.Parse("base_lr: %r %s" % (base, more), caffe_pb2.SolverParameter())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rate, _ = _rules.learning_rate(param, iteration, 0)
        self.assertIs(type(rate), float)  # what becomes the text of a field
        return rate

    def test_rates_are_those_of_c(self):
        """Also where C's are infinite or no numbers, and Python's functions would raise."""
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        libm.pow.argtypes, libm.exp.argtypes = [ctypes.c_double] * 2, [ctypes.c_double]
        libm.pow.restype = libm.exp.restype = ctypes.c_double
        gammas, powers = (0.125, 1.5, 1024.0, -2.0, 0.0), (0.5, 2.0, -1.0, 0.0)
        seen = []
        for i, gamma, power in itertools.product((0, 1, 10, 11, 5000), gammas, powers):
            denominator = 1 + libm.exp(-gamma * (i - 10000))
            for policy, expected in (
                    ("step", libm.pow(gamma, i // 2)), ("exp", libm.pow(gamma, i)),
                    ("multistep", libm.pow(gamma, (i >= 1) + (i >= 11))), ("inv", libm.pow(1 + gamma * i, -power)),
                    ("poly", libm.pow(1 - i / 10, power)), ("sigmoid", 1 / denominator)):
                more = "lr_policy: '%s' gamma: %r power: %r max_iter: 10 stepsize: %d stepvalue: 1 stepvalue: 11" \
                    % (policy, gamma, power, 10000 if policy == "sigmoid" else 2)
                with self.subTest(more, iteration=i):
                    # Of the last place: NumPy has an exp of its own.
                    np.testing.assert_allclose(self.rate(i, more), 0.25 * expected, rtol=1e-15)
                seen.append(expected)
        self.assertTrue(any(map(math.isnan, seen)) and any(map(math.isinf, seen)))
        poly = "lr_policy: 'poly' power: 0.5 max_iter: 0"
        self.assertTrue(math.isnan(self.rate(0, poly)))  # of 0 / 0
        self.assertEqual(self.rate(1, poly), math.inf)  # a root of minus infinity, to C
        self.assertEqual(self.rate(0, "lr_policy: 'sigmoid' gamma: 0.1 stepsize: 10000"), 0)

    def test_rates_that_are_no_numbers(self):
        """Training goes on with them, but not in the plan, which takes numbers alone."""
        for more, check in (("lr_policy: 'exp' gamma: 1e38", math.isinf),
                            ("lr_policy: 'poly' power: 0.5", math.isnan)):
            with self.subTest(more):
                solver = caffe.SGDSolver(self.solver(more))
                solver.param.max_iter = 2
                feed(solver.net)
                solver.step(2)
                self.assertIsNotNone(solver.net._runs.update)
                solver.step(10)
                self.assertTrue(check(solver.lr))
                self.assertIsNone(solver.net._runs.update)
                self.assertFalse(np.isfinite(solver.net.params["ip1"][0].data).all())

    def test_adam_is_that_of_c(self):
        """Also with momenta of 1 and more, which make it inf or nan, and Python's functions raise."""
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        libm.pow.argtypes, libm.pow.restype = [ctypes.c_double] * 2, ctypes.c_double
        momenta, seen = (0.5, 0.0, 1.0, -1.0, 2.0), []
        for first, second, iteration in itertools.product(momenta, momenta, (0, 1, 2, 5000)):
            rule = _rules.Rule("Adam", caffe_pb2.SolverParameter(momentum=first, momentum2=second))
            t = iteration + 1
            with np.errstate(all="ignore"):  # operators of NumPy's are those of C
                correction = np.sqrt(1 - np.float64(libm.pow(second, t))) / (1 - np.float64(libm.pow(first, t)))
                m, s = (np.float32(before * momentum + 1 - momentum) for before, momentum in ((3, first), (4, second)))
                expected = np.float32(0.25 * correction) * m / (np.sqrt(s) + np.float32(rule.param.delta))
            arrays = [np.full(1, value, np.float32) for value in (0, 1, 3, 4)]  # data, gradient and history
            with self.subTest(momentum=first, momentum2=second, t=t), warnings.catch_warnings():
                warnings.simplefilter("error")
                rule.apply(arrays[0], arrays[1], arrays[2:], 0.25, 0, iteration)
                np.testing.assert_allclose(arrays[0], -expected, rtol=1e-6)
            seen.append(float(expected))
        self.assertTrue(any(map(math.isnan, seen)) and any(map(math.isinf, seen)) and any(map(math.isfinite, seen)))

    def test_snapshots_that_could_not_be_written(self):
        """Are refused before anything is computed for them."""
        def is_refused(function, *arguments):
            with self.assertRaisesRegex(RuntimeError, "Cannot write to snapshot prefix '%s'" % re.escape(nowhere)):
                function(*arguments)

        nowhere = self.path("none/snap")
        fixed = "lr_policy: 'fixed' momentum: 0.5 "
        with open(self.solver(fixed)) as file:
            text = file.read().replace(self.path("snap"), nowhere)
        is_refused(caffe.SGDSolver, self.write(text + "snapshot: 10", "s.prototxt"))
        solver = caffe.SGDSolver(self.write(text, "s.prototxt"))
        feed(solver.net)
        solver.param.snapshot_after_train = True
        is_refused(solver.solve)
        solver.param.snapshot = 10
        is_refused(solver.step, 10)
        self.assertEqual(solver.iter, 0)
        solver.step(9)  # without one
        is_refused(solver.step, 1)
        self.assertEqual(solver.iter, 9)
        os.mkdir(self.path("none"))
        solver.solve()
        self.assertEqual(sorted(os.listdir(self.path("none"))),
                         ["snap_iter_%d.%s" % (i, kind) for i in (10, 20) for kind in ("caffemodel", "solverstate")])

    def test_clipping_and_iter_size(self):
        self.agrees("lr_policy: 'fixed' clip_gradients: 0.05 iter_size: 2")

    def test_rate_that_changes(self):
        solver = caffe.SGDSolver(self.solver("lr_policy: 'fixed'"))
        solver.param.base_lr = 0.5
        self.assertAlmostEqual(solver.lr, 0.5)
        fill(solver.net)
        feed(solver.net)
        before = solver.net.params["ip2"][1].data.copy()
        solver.net.clear_param_diffs()
        solver.net.forward()
        solver.net.backward()
        gradient = solver.net.params["ip2"][1].diff.copy()
        solver.apply_update()
        self.close(solver.net.params["ip2"][1].data, before - 0.5 * gradient)

    def test_snapshots_of_the_tools(self):
        file = self.solver("lr_policy: 'fixed' momentum: 0.9")
        solver = caffe.SGDSolver(file)
        fill(solver.net)
        feed(solver.net)
        solver.step(3)
        solver.snapshot()
        session = brew.compile(file).session()
        session.restore(self.path("snap_iter_3.solverstate"))
        for name in ("data", "label"):
            session._core.set_input(0, name, solver.net.blobs[name].data)
        session.step(2)
        solver.step(2)
        self.close(solver.net.params["ip1"][0].data, session.params["ip1"][0])
        session.snapshot()
        other = caffe.SGDSolver(file)
        other.restore(self.path("snap_iter_5.solverstate"))
        feed(other.net)
        other.step(1)
        solver.step(1)
        self.close(solver.net.params["ip1"][0].data, other.net.params["ip1"][0].data)

    def test_speed_is_that_since_the_last_display(self):
        """Also where iterations are called one by one."""
        solver = caffe.SGDSolver(self.solver("lr_policy: 'fixed' display: 4"))
        feed(solver.net)
        with mock.patch.object(_log, "line") as line:
            begin = time.perf_counter()
            for _ in range(9):
                solver.step(1)
                time.sleep(0.005)
            spent = time.perf_counter() - begin
        found = [re.match(r"Iteration (\d+) \((\S+) iter/s, (\S+)s/4 iters\), loss", call.args[0])
                 for call in line.call_args_list]
        found = [[float(value) for value in each.groups()] for each in found if each]
        self.assertEqual([iteration for iteration, _, _ in found], [0, 4, 8])
        for _, speed, seconds in found[1:]:
            self.assertAlmostEqual(speed * seconds, 4, delta=4e-3)  # of printed values, of six digits
            self.assertTrue(4 * 0.005 <= seconds < spent, seconds)

    def test_test_nets_follow(self):
        net = self.write(TRAIN)
        solver = caffe.SGDSolver(self.write("net: '%s' test_iter: 1 test_interval: 2 base_lr: 0.1 lr_policy: 'fixed' "
                                            "snapshot_after_train: false max_iter: 4" % net, "t.prototxt"))
        fill(solver.net)
        feed(solver.net)
        feed(solver.test_nets[0])
        solver.solve()
        np.testing.assert_array_equal(solver.test_nets[0].params["ip1"][0].data, solver.net.params["ip1"][0].data)
        self.assertIn("acc", solver.test_nets[0].blobs)

    def test_mistakes(self):
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.path("nowhere.prototxt"))
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.write("base_lr: 0.1", "e.prototxt"))
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.solver("lr_policy: 'fixed' type: 'Annealing'"))
        with self.assertRaises(RuntimeError):
            caffe.AdaGradSolver(self.solver("lr_policy: 'fixed' momentum: 0.5"))
        net = self.write(TRAIN, "a net.prototxt")
        with self.assertRaisesRegex(RuntimeError, '^%s: Message type .* has no field named "name"' % re.escape(net)):
            caffe.SGDSolver(net)
        solver = caffe.SGDSolver(self.solver("lr_policy: 'fixed'"))
        before = solver.net.params["ip1"][0].data.copy()
        with self.assertRaises(RuntimeError):
            solver.restore(self.path("nowhere.solverstate"))
        with self.assertRaises(RuntimeError):
            solver.restore(self.write("not a state", "x.solverstate"))
        np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)
        with self.assertRaises(RuntimeError):
            caffe.SGDSolver(self.solver("lr_policy: 'sometimes'")).step(1)


if __name__ == "__main__":
    unittest.main()
