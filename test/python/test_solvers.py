"""caffe's solvers: equivalence to Brew's trainer, custom training loops, snapshots."""
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
# Settings of each policy, including edge cases.
RATES = [
    "lr_policy: 'fixed'",
    "lr_policy: 'step' gamma: 0.97 stepsize: 1", "lr_policy: 'step' gamma: 0.5 stepsize: 40",
    "lr_policy: 'exp' gamma: 0.99", "lr_policy: 'inv' gamma: 0.01 power: 0.75",
    "lr_policy: 'multistep' gamma: 0.5 stepvalue: 5 stepvalue: 5 stepvalue: 6",
    "lr_policy: 'multistep' gamma: 0.5 stepvalue: 0 stepvalue: 0 stepvalue: 0 stepvalue: 90",
    "lr_policy: 'multistep' gamma: 0.5 stepvalue: 7 stepvalue: 3 stepvalue: 250",
    "lr_policy: 'multistep' gamma: 0.5",
    "lr_policy: 'poly' power: 0.9", "lr_policy: 'poly' power: 2",
    "lr_policy: 'sigmoid' gamma: 0.05 stepsize: 100", "lr_policy: 'sigmoid' gamma: 1 stepsize: 3",
]


def rates_of_caffe(param, iterations, first=0, step=0, limits=()):
    """Returns the rates of iterations from ``first`` on by the formulas of Caffe's
    SGDSolver::GetLearningRate, called once per iteration. ``limits``: pairs (iteration, new max_iter)."""
    last, rates = param.max_iter, []
    for i in range(first, first + iterations):
        last = dict(limits).get(i, last)
        if param.lr_policy == "multistep" and step < len(param.stepvalue) and i >= param.stepvalue[step]:
            step += 1
        rates.append(param.base_lr * {
            "fixed": lambda: 1,
            "step": lambda: param.gamma ** (i // param.stepsize),
            "exp": lambda: param.gamma ** i,
            "inv": lambda: (1 + param.gamma * i) ** -param.power,
            "multistep": lambda: param.gamma ** step,
            "poly": lambda: (1 - i / last) ** param.power,
            "sigmoid": lambda: 1 / (1 + math.exp(-param.gamma * (i - param.stepsize))),
        }[param.lr_policy]())
    return rates


class Solvers(Case):
    def solver(self, more, name="s.prototxt"):
        net = self.write(TRAIN)
        return self.write("train_net: '%s' base_lr: 0.05 max_iter: 20 snapshot_after_train: false "
                          "snapshot_prefix: '%s' %s" % (net, self.path("snap"), more), name)

    def agrees(self, more, steps=8):
        """Compares the parameters after some steps of pycaffe's solver and of Brew's trainer."""
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

    def rates(self, solver, session, iterations, limits=()):
        """Returns the rates of further iterations of the solver and of Brew's trainer. Reads each rate twice:
        reading has no effect."""
        found = [], []
        for i in range(solver.iter, solver.iter + iterations):
            for limit in (limit for at, limit in limits if at == i):
                solver.param.max_iter = limit
                session.set_field("max_iter", limit)
            for _ in range(2):
                mine, its = solver.lr, session.learning_rate
            found[0].append(mine)
            found[1].append(its)
            solver.step(1)
            session.step(1)
        return found

    def check_rates(self, solver, session, iterations, limits=(), **start):
        expected = rates_of_caffe(solver.param, iterations, limits=limits, **start)
        for rates in self.rates(solver, session, iterations, limits):
            np.testing.assert_allclose(rates, expected, rtol=1e-6)  # solver.lr is a 32-bit float
        for layer, blobs in solver.net.params.items():  # checks the rates that the updates used
            for mine, its in zip(blobs, session.params[layer]):
                np.testing.assert_allclose(mine.data, its, rtol=1e-4, atol=2e-6)

    def pair(self, more, max_iter=400):
        """Returns a solver and a session of Brew's trainer with the same parameters and inputs."""
        file = self.solver(more)
        with open(file) as text:
            file = self.write(text.read().replace("max_iter: 20", "max_iter: %d" % max_iter), "s.prototxt")
        solver = caffe.get_solver(file)
        fill(solver.net, 2)
        feed(solver.net)
        session = brew.compile(file).session()
        for layer, blobs in solver.net.params.items():
            session.params[layer] = [b.data for b in blobs]
        for name in ("data", "label"):
            session._core.set_input(0, name, solver.net.blobs[name].data)
        return solver, session

    def test_rates_of_all_policies(self):
        """Some hundred iterations, across a change of max_iter."""
        for more in RATES:
            with self.subTest(more):
                self.check_rates(*self.pair(more), 300, limits=((100, 350), (200, 301)))

    def test_rates_after_a_restore(self):
        """Includes a state whose step counter lags, as after a change of stepvalues."""
        for more in RATES:
            for step, at in (None, 12), (0, 12), (1, 5):
                with self.subTest(more, step=step, at=at):
                    first, session = self.pair(more)
                    self.rates(first, session, at)
                    if step is not None:
                        first._current_step = step
                    first.snapshot()
                    solver, session = self.pair(more)
                    state = self.path("snap_iter_%d.solverstate" % at)
                    solver.restore(state)
                    session.restore(state)
                    for name in ("data", "label"):
                        session._core.set_input(0, name, solver.net.blobs[name].data)
                    self.assertEqual(solver.iter, at)
                    self.check_rates(solver, session, 20, first=at, step=first._current_step)

    def test_settings_that_caffe_refuses(self):
        for more, what in (("'step' gamma: -1 stepsize: 2", "gamma >= 0"), ("'step' gamma: 1", "stepsize > 0"),
                           ("'exp' gamma: -1", "gamma >= 0"), ("'inv' gamma: -1 power: 1", "gamma >= 0"),
                           ("'multistep' gamma: -1 stepvalue: 1", "gamma >= 0"),
                           ("'sigmoid' gamma: -1 stepsize: 2", "gamma >= 0"), ("'sigmoid' gamma: 1", "stepsize > 0")):
            with self.subTest(more), self.assertRaisesRegex(RuntimeError, "^lr_policy %s needs %s$"
                                                            % (more.split()[0], what)):
                caffe.SGDSolver(self.solver("lr_policy: " + more)).step(1)

    def rate(self, iteration, more, base=0.25):
        param = text_format.Parse("base_lr: %r %s" % (base, more), caffe_pb2.SolverParameter())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rate, _ = _rules.learning_rate(param, iteration, 0)
        self.assertIs(type(rate), float)  # the type that is formatted for a field
        return rate

    def test_rates_are_those_of_c(self):
        """Also where C returns infinity or NaN and Python's functions raise exceptions."""
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        libm.pow.argtypes, libm.exp.argtypes = [ctypes.c_double] * 2, [ctypes.c_double]
        libm.pow.restype = libm.exp.restype = ctypes.c_double
        gammas, powers = (0.125, 1.5, 1024.0, 0.0), (0.5, 2.0, -1.0, 0.0)
        seen = []
        for i, gamma, power in itertools.product((0, 1, 10, 11, 5000), gammas, powers):
            denominator = 1 + libm.exp(-gamma * (i - 10000))
            for policy, expected in (
                    ("step", libm.pow(gamma, i // 2)), ("exp", libm.pow(gamma, i)),
                    ("multistep", libm.pow(gamma, i >= 1)), ("inv", libm.pow(1 + gamma * i, -power)),
                    ("poly", libm.pow(1 - i / 10, power)), ("sigmoid", 1 / denominator)):
                more = "lr_policy: '%s' gamma: %r power: %r max_iter: 10 stepsize: %d stepvalue: 1 stepvalue: 11" \
                    % (policy, gamma, power, 10000 if policy == "sigmoid" else 2)
                with self.subTest(more, iteration=i):
                    # The last digit may differ: NumPy has its own exp.
                    np.testing.assert_allclose(self.rate(i, more), 0.25 * expected, rtol=1e-15)
                seen.append(expected)
        self.assertTrue(any(map(math.isnan, seen)) and any(map(math.isinf, seen)))
        poly = "lr_policy: 'poly' power: 0.5 max_iter: 0"
        self.assertTrue(math.isnan(self.rate(0, poly)))  # of 0 / 0
        self.assertEqual(self.rate(1, poly), math.inf)  # C's pow of minus infinity
        self.assertEqual(self.rate(0, "lr_policy: 'sigmoid' gamma: 0.1 stepsize: 10000"), 0)

    def test_rates_that_are_no_numbers(self):
        """Training continues with such rates, but without the plan's update, which needs finite rates."""
        for more, check in (("lr_policy: 'exp' gamma: 1e38", math.isinf),
                            ("lr_policy: 'poly' power: 0.5", math.isnan)):
            with self.subTest(more):
                solver = caffe.SGDSolver(self.solver(more))
                solver.param.max_iter = 2
                feed(solver.net)
                solver.step(2)
                self.assertIsNotNone(solver.net._fused_nets.update)
                solver.step(10)
                self.assertTrue(check(solver.lr))
                self.assertIsNone(solver.net._fused_nets.update)
                self.assertFalse(np.isfinite(solver.net.params["ip1"][0].data).all())

    def test_adam_is_that_of_c(self):
        """Also with momenta of 1 and more: the result is inf or NaN, and Python's functions raise exceptions."""
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        libm.pow.argtypes, libm.pow.restype = [ctypes.c_double] * 2, ctypes.c_double
        momenta, seen = (0.5, 0.0, 1.0, -1.0, 2.0), []
        for first, second, iteration in itertools.product(momenta, momenta, (0, 1, 2, 5000)):
            rule = _rules.UpdateRule("Adam", caffe_pb2.SolverParameter(momentum=first, momentum2=second))
            t = iteration + 1
            with np.errstate(all="ignore"):  # NumPy's operators behave like C's
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
        """A snapshot prefix that cannot be written is an error before training."""
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
        """Also if each call runs one iteration."""
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
            self.assertAlmostEqual(speed * seconds, 4, delta=4e-3)  # printed values have six digits
            self.assertTrue(4 * 0.005 <= seconds < spent, seconds)

    def test_displayed_loss(self):
        """The displayed loss is the mean of the last average_loss losses, which may change; earlier losses,
        even infinite ones, have no effect."""
        for spike in (1e18, math.inf, -math.inf, math.nan):
            solver = caffe.SGDSolver(self.solver("lr_policy: 'fixed' average_loss: 3"))
            for loss in (spike, 1, 2, 6):
                solver._smooth(loss, 0)
            self.assertEqual(solver._smoothed, 3)
            solver.param.average_loss = 2
            solver._smooth(10, 0)
            self.assertEqual(solver._smoothed, 8)

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
