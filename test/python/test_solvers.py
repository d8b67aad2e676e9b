"""Tests caffe's solvers: equivalence to Brew's trainer, custom training loops, snapshots."""
import itertools
import math
import os
import re
import subprocess
import sys
import threading
import time
import warnings
import unittest
from unittest import mock

import brew
import caffe
import numpy as np
from caffe.proto import caffe_pb2

from common import TRAIN, Case, events_of, feed, fill, history_of, set_history

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


FORK_POLICIES = [
    "lr_policy: 'sgdr' period: 4 p_mult: 1.5 lr_mult: 0.5 min_lr: 0.001", "lr_policy: 'sgdr'",
    "lr_policy: 'sgdr' period: 5 p_mult: 1", "lr_policy: 'sgdr' period: 5 p_mult: 0.5",
    "lr_policy: 'multifixed' stagelr: 0.02 stagelr: 0.01 stageiter: 3 stageiter: 9",
    "lr_policy: 'exp' gamma: 0.5 min_lr: 0.002", "lr_policy: 'poly' power: 2 min_lr: 0.001",
    "lr_policy: 'step' gamma: 0.5 stepsize: 3 warmup_iter: 5 warmup_start_lr: 0.001",
    "lr_policy: 'fixed' warmup_iter: 4", "lr_policy: 'poly' power: 2 rampup_interval: 6 rampup_lr: 0.002 min_lr: 0.004",
]
LOCAL_RATES = ["local_lr_auto: true local_gw_ratio: 0.1", "larc: true larc_eta: 0.1",
               "larc: true larc_policy: 'clip' larc_eta: 0.05"]
PLATEAU = "lr_policy: 'plateau' gamma: 0.5 plateau_winsize: 3 plateau_winsize: 2 plateau_winsize: 4"


def caffe_rates(param, iterations, first=0, step=0, limits=()):
    """Returns the learning rates of ``iterations`` iterations from ``first`` on, by the formulas of Caffe's
    SGDSolver::GetLearningRate. ``step`` is the solver's current step of policy multistep. ``limits`` are
    pairs of an iteration and the max_iter from that iteration on."""
    max_iter, rates = param.max_iter, []
    for i in range(first, first + iterations):
        max_iter = dict(limits).get(i, max_iter)
        if param.lr_policy == "multistep" and step < len(param.stepvalue) and i >= param.stepvalue[step]:
            step += 1
        rates.append(param.base_lr * {
            "fixed": lambda: 1,
            "step": lambda: param.gamma ** (i // param.stepsize),
            "exp": lambda: param.gamma ** i,
            "inv": lambda: (1 + param.gamma * i) ** -param.power,
            "multistep": lambda: param.gamma ** step,
            "poly": lambda: (1 - i / max_iter) ** param.power,
            "sigmoid": lambda: 1 / (1 + math.exp(-param.gamma * (i - param.stepsize))),
        }[param.lr_policy]())
    return rates


class Solvers(Case):
    def write_solver(self, fields, name="s.prototxt"):
        net = self.write(TRAIN)
        return self.write("train_net: '%s' base_lr: 0.05 max_iter: 20 snapshot_after_train: false "
                          "snapshot_prefix: '%s' %s" % (net, self.path("snap"), fields), name)

    def assert_same_training(self, fields, steps=8):
        """Checks that pycaffe's solver and Brew's trainer compute equal parameters within rounding."""
        file = self.write_solver(fields)
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
            for blob, values in zip(blobs, session.params[layer]):
                np.testing.assert_allclose(blob.data, values, rtol=1e-4, atol=2e-6, err_msg=fields)

    def test_solver_types(self):
        for kind, fields in [*KINDS.items(), ("Adam", "momentum: 1"), ("Adam", "momentum2: 1")]:
            with self.subTest(kind):
                self.assert_same_training("type: '%s' lr_policy: 'fixed' %s" % (kind, fields))

    def test_names_of_weight_files_may_have_blanks(self):
        solver = caffe.get_solver(self.write_solver("lr_policy: 'fixed'"))
        fill(solver.net, 3)
        layer = list(solver.net.params)[0]
        file = self.path("w.caffemodel")
        solver.net.save(file)
        loaded = caffe.get_solver(self.write_solver("lr_policy: 'fixed' weights: ' %s , %s'" % (file, file)))
        np.testing.assert_array_equal(loaded.net.params[layer][0].data, solver.net.params[layer][0].data)

    def test_policies(self):
        for policy, fields in POLICIES.items():
            with self.subTest(policy):
                self.assert_same_training("lr_policy: '%s' momentum: 0.5 %s" % (policy, fields))

    def run_and_read_rates(self, solver, session, iterations, limits=()):
        """Runs further iterations of the solver and of Brew's trainer; returns the learning rates of each.
        Reads each rate twice, because reading must not change it."""
        solver_rates, session_rates = [], []
        for i in range(solver.iter, solver.iter + iterations):
            for limit in (limit for iteration, limit in limits if iteration == i):
                solver.param.max_iter = limit
                session.set_field("max_iter", limit)
            for _ in range(2):
                solver_rate, session_rate = solver.lr, session.learning_rate
            solver_rates.append(solver_rate)
            session_rates.append(session_rate)
            solver.step(1)
            session.step(1)
        return solver_rates, session_rates

    def check_rates(self, solver, session, iterations, limits=(), **start):
        expected = caffe_rates(solver.param, iterations, limits=limits, **start)
        for rates in self.run_and_read_rates(solver, session, iterations, limits):
            np.testing.assert_allclose(rates, expected, rtol=1e-6)  # solver.lr is a 32-bit float
        for layer, blobs in solver.net.params.items():  # checks the rates that the updates used
            for blob, values in zip(blobs, session.params[layer]):
                np.testing.assert_allclose(blob.data, values, rtol=1e-4, atol=2e-6)

    def make_pair(self, fields, max_iter=400):
        """Returns a solver and a session of Brew's trainer with the same parameters and inputs."""
        file = self.write_solver(fields)
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

    def test_policies_of_forks(self):
        for fields in FORK_POLICIES:
            with self.subTest(fields):
                for rates in zip(*self.run_and_read_rates(*self.make_pair(fields, max_iter=30), 30)):
                    np.testing.assert_allclose(*rates, rtol=1e-6)

    def test_local_rates(self):
        for fields in LOCAL_RATES:
            for more in "", "iter_size: 2 clip_gradients: 0.5 weight_decay: 0.05":
                with self.subTest(fields + more):
                    self.assert_same_training("lr_policy: 'fixed' momentum: 0.5 %s %s" % (fields, more))
        for fields, message in (("type: 'Adam' larc: true", "larc cannot be used with Adam"),
                                ("larc: true local_lr_auto: true", "larc cannot be used with local_lr_auto"),
                                ("larc_policy: 'both'", "arc.policy")):
            with self.subTest(fields), self.assertRaisesRegex(RuntimeError, message):
                caffe.get_solver(self.write_solver("lr_policy: 'fixed' " + fields))

    def plateau_rates(self, solver, iterations):
        solver.param.display = 1
        with events_of(solver, "learning_rate") as events:
            solver.step(iterations)
        return [event.learning_rate for event in events]

    def test_plateau(self):
        """The rate is too low to change the loss, so there is no new minimum after the first loss."""
        expected = [1.0] * 3 + [0.5] * 2 + [0.25] * 4 + [0.125] * 5
        for format_field in "", " snapshot_format: HDF5":
            solver, session = self.make_pair(PLATEAU + format_field)
            solver.param.base_lr = 1e-30
            session.set_field("base_lr", 1e-30)
            rates = self.plateau_rates(solver, 5)
            solver.snapshot()
            np.testing.assert_allclose(rates + self.plateau_rates(solver, 9), 1e-30 * np.array(expected), rtol=1e-5)
            state = self.path("snap_iter_5.solverstate" + (".h5" if format_field else ""))
            resumed, session = self.make_pair(PLATEAU)
            resumed.param.base_lr = 1e-30
            session.set_field("base_lr", 1e-30)
            resumed.restore(state)
            session.restore(state)
            for name in ("data", "label"):
                session._core.set_input(0, name, solver.net.blobs[name].data)
            session.step(9)  # Brew's trainer resumes, too
            np.testing.assert_allclose(self.plateau_rates(resumed, 9), 1e-30 * np.array(expected[5:]), rtol=1e-5)
            np.testing.assert_allclose(session.learning_rate, 1e-30 * expected[-1], rtol=1e-5)

    def test_test_offset(self):
        net = self.write(TRAIN)
        solver = caffe.get_solver(self.write("net: '%s' base_lr: 0.1 lr_policy: 'fixed' test_iter: 1 test_interval: 4 "
                                             "test_offset: 1 snapshot_after_train: false" % net, "s.prototxt"))
        feed(solver.net)
        feed(solver.test_nets[0])
        with events_of(solver, "test_begin") as events:
            solver.step(10)
        self.assertEqual([event.iteration for event in events], [1, 5, 9])

    def test_rates_of_all_policies(self):
        """Compares 300 iterations, across two changes of max_iter."""
        for fields in RATES:
            with self.subTest(fields):
                self.check_rates(*self.make_pair(fields), 300, limits=((100, 350), (200, 301)))

    def test_rates_after_a_restore(self):
        """Includes snapshots whose step counter is too low, as after a change of stepvalues."""
        for fields in RATES:
            for step, iteration in (None, 12), (0, 12), (1, 5):
                with self.subTest(fields, step=step, iteration=iteration):
                    first, session = self.make_pair(fields)
                    self.run_and_read_rates(first, session, iteration)
                    first.snapshot()
                    solver, session = self.make_pair(fields)
                    state = self.path("snap_iter_%d.solverstate" % iteration)
                    with open(state, "rb") as file:
                        message = caffe_pb2.SolverState.FromString(file.read())
                    if step is not None:  # without the fields that only Brew writes, such as the checksum
                        message = caffe_pb2.SolverState(iter=message.iter, current_step=step, history=message.history,
                                                        learned_net=message.learned_net)
                        with open(state, "wb") as file:
                            file.write(message.SerializeToString())
                    solver.restore(state)
                    session.restore(state)
                    for name in ("data", "label"):
                        session._core.set_input(0, name, solver.net.blobs[name].data)
                    self.assertEqual(solver.iter, iteration)
                    self.check_rates(solver, session, 20, first=iteration, step=message.current_step)

    def test_settings_that_caffe_rejects(self):
        for policy, condition in (("'step' gamma: -1 stepsize: 2", "gamma >= 0"), ("'step' gamma: 1", "stepsize > 0"),
                                  ("'exp' gamma: -1", "gamma >= 0"), ("'inv' gamma: -1 power: 1", "gamma >= 0"),
                                  ("'multistep' gamma: -1 stepvalue: 1", "gamma >= 0"),
                                  ("'sigmoid' gamma: -1 stepsize: 2", "gamma >= 0"),
                                  ("'sigmoid' gamma: 1", "stepsize > 0")):
            with self.subTest(policy), self.assertRaisesRegex(RuntimeError, "^solver: lr_policy %s needs %s$"
                                                              % (policy.split()[0], condition)):
                caffe.SGDSolver(self.write_solver("lr_policy: " + policy)).step(1)

    def test_training_with_non_finite_rates(self):
        """Training continues with such rates, but without the plan's update, which needs finite rates."""
        for fields, is_expected in (("lr_policy: 'exp' gamma: 1e38", math.isinf),
                                    ("lr_policy: 'poly' power: 0.5", math.isnan)):
            with self.subTest(fields):
                solver = caffe.SGDSolver(self.write_solver(fields))
                solver.param.max_iter = 2
                feed(solver.net)
                solver.step(2)
                solver.step(10)
                self.assertTrue(is_expected(solver.lr))
                self.assertFalse(np.isfinite(solver.net.params["ip1"][0].data).all())

    def test_adam_equals_its_formula(self):
        """Includes momenta of 1 and more, for which the formula is infinite or not a number."""
        momenta, results = (0.5, 0.0, 1.0, -1.0, 2.0), []
        solver = caffe.AdamSolver(self.write_solver("lr_policy: 'fixed' weight_decay: 0"))
        param, blob = solver.param, solver.net.params["ip1"][0]
        param.base_lr = 0.25
        shapes = [blob.shape for blobs in solver.net.params.values() for blob in blobs]
        history = [np.full(shape, value, np.float32) for value in (3, 4) for shape in shapes]
        for first, second, iteration in itertools.product(momenta, momenta, (0, 1, 2, 5000)):
            param.momentum, param.momentum2 = first, second
            t = iteration + 1
            with np.errstate(all="ignore"):  # NumPy's operators behave like C's
                correction = np.sqrt(1 - np.float64(second) ** t) / (1 - np.float64(first) ** t)
                m, s = (np.float32(before * momentum + 1 - momentum) for before, momentum in ((3, first), (4, second)))
                expected = np.float32(0.25 * correction) * m / (np.sqrt(s) + np.float32(param.delta))
            set_history(solver, history, iteration, self.path("state.solverstate"))
            blob.data[...], blob.diff[...] = 0, 1
            with self.subTest(momentum=first, momentum2=second, t=t), warnings.catch_warnings():
                warnings.simplefilter("error")
                solver.apply_update()
                np.testing.assert_allclose(blob.data, -expected, rtol=1e-6)
            results.append(float(expected))
        for is_kind in (math.isnan, math.isinf, math.isfinite):
            self.assertTrue(any(map(is_kind, results)))

    def test_unwritable_snapshot_prefixes_raise(self):
        """A snapshot prefix that cannot be written is an error before training."""
        def assert_rejected(function, *arguments):
            with self.assertRaisesRegex(RuntimeError, "cannot write to snapshot prefix '%s'" % re.escape(nowhere)):
                function(*arguments)

        nowhere = self.path("none/snap")
        fixed = "lr_policy: 'fixed' momentum: 0.5 "
        with open(self.write_solver(fixed)) as file:
            text = file.read().replace(self.path("snap"), nowhere)
        assert_rejected(caffe.SGDSolver, self.write(text + "snapshot: 10", "s.prototxt"))
        solver = caffe.SGDSolver(self.write(text, "s.prototxt"))
        feed(solver.net)
        solver.param.snapshot_after_train = True
        assert_rejected(solver.solve)
        solver.param.snapshot = 10
        assert_rejected(solver.step, 1)
        self.assertEqual(solver.iter, 0)
        os.mkdir(self.path("none"))
        solver.solve()
        self.assertEqual(sorted(os.listdir(self.path("none"))),
                         ["snap_iter_%d.%s" % (i, kind) for i in (10, 20) for kind in ("caffemodel", "solverstate")])

    def test_clipping_and_iter_size(self):
        self.assert_same_training("lr_policy: 'fixed' clip_gradients: 0.05 iter_size: 2")

    def test_a_training_loop_with_a_changed_rate(self):
        solver = caffe.SGDSolver(self.write_solver("lr_policy: 'fixed'"))
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

    def test_snapshots_of_solvers_and_trainers_are_interchangeable(self):
        file = self.write_solver("lr_policy: 'fixed' momentum: 0.9")
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
        restored = caffe.SGDSolver(file)
        restored.restore(self.path("snap_iter_5.solverstate"))
        feed(restored.net)
        restored.step(1)
        solver.step(1)
        self.close(solver.net.params["ip1"][0].data, restored.net.params["ip1"][0].data)

    def test_snapshots_that_were_moved(self):
        for format_field in "", " snapshot_format: HDF5":
            solver = caffe.SGDSolver(self.write_solver("lr_policy: 'fixed' momentum: 0.9" + format_field))
            feed(solver.net)
            solver.step(2)
            solver.snapshot()
            expected = solver.net.params["ip1"][0].data.copy()
            solver.step(1)
            os.makedirs(self.path("moved"), exist_ok=True)
            end = ".h5" if format_field else ""
            for kind in ("caffemodel", "solverstate"):
                os.replace(self.path("snap_iter_2.%s%s" % (kind, end)), self.path("moved/snap_iter_2.%s%s" % (kind, end)))
            solver.restore(self.path("moved/snap_iter_2.solverstate" + end))
            np.testing.assert_array_equal(solver.net.params["ip1"][0].data, expected)
            os.unlink(self.path("moved/snap_iter_2.caffemodel" + end))
            with self.assertRaisesRegex(RuntimeError, "snap_iter_2.caffemodel"):
                solver.restore(self.path("moved/snap_iter_2.solverstate" + end))

    def test_snapshots_that_do_not_match_change_nothing(self):
        file = self.write_solver("lr_policy: 'fixed' momentum: 0.9")
        session = brew.compile(file).session(seed=1)
        for name, shape in (("data", (4, 6)), ("label", (4,))):
            session._core.set_input(0, name, np.zeros(shape, np.float32))
        session.step(1)
        session.snapshot()
        solver = caffe.SGDSolver(file)
        fill(solver.net)
        before = solver.net.params["ip1"][0].data.copy()
        weights, state = (self.path("snap_iter_1." + kind) for kind in ("caffemodel", "solverstate"))
        with open(weights, "rb") as content:
            changed = bytearray(content.read())
        changed[-3] ^= 1
        with open(weights, "wb") as content:
            content.write(changed)
        with self.assertRaisesRegex(RuntimeError, re.escape(weights)):  # the state contains its checksum
            solver.restore(state)
        adam = caffe.AdamSolver(file)
        with self.assertRaisesRegex(RuntimeError, "the state has 4 history blobs; this net and solver have 8"):
            adam.restore(state)
        np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)
        self.assertEqual((solver.iter, adam.iter), (0, 0))

    def test_log_lines_are_those_of_sessions(self):
        """Statement and text of each line from "Solving" on, except for times."""
        net = self.write("""
            layer { name: 'd' type: 'DummyData' top: 'x' top: 't' dummy_data_param {
              shape { dim: 2 dim: 3 } shape { dim: 2 dim: 2 } data_filler { type: 'constant' value: 1 } } }
            layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 2 } }
            layer { name: 'l' type: 'EuclideanLoss' bottom: 'y' bottom: 't' top: 'l' }""")
        for more in ("", "snapshot_format: HDF5 test_compute_loss: true"):
            file = self.write("net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 4 display: 2 test_iter: 3 "
                              "test_interval: 2 snapshot: 4 snapshot_prefix: '%s' %s"
                              % (net, self.path("snap"), more), "s.prototxt")
            logs = []
            for script in ("import caffe; caffe.get_solver(%r).solve()",
                           "import brew, sys; brew.compile(sys.argv[1]).session(log=True).solve()"):
                script = script % file if "%r" in script else script
                run = subprocess.run([sys.executable, "-c", script, file], capture_output=True, text=True, check=True,
                                     env=dict(os.environ, GLOG_minloglevel="0", GLOG_logtostderr="1"))
                lines = [re.sub(r"^[IWE]\S+ \S+ +\d+ ", "", line) for line in run.stderr.splitlines()]
                lines = [re.sub(r"\(\S+ iter/s, \S+s/", "(", line) for line in lines]
                start = next(i for i, line in enumerate(lines) if "] Solving" in line)
                logs.append([line for line in lines[start:] if not re.match(r"brew\.cpp|blocking_queue\.cpp", line)])
            self.assertIn("sgd_solver.cpp:%d] Snapshotting solver state to" % (290 if more else 280),
                          "\n".join(logs[0]))
            self.assertEqual(*logs)

    def test_losses_without_tops(self):
        solvers = []
        for text in (TRAIN, TRAIN.replace(" top: 'loss' }", " }")):
            net = self.write(text)
            solver = caffe.SGDSolver(self.write("net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_after_train: false"
                                                % net, "s.prototxt"))
            fill(solver.net)
            feed(solver.net)
            before = solver.net.params["ip1"][0].data.copy()
            solver.step(3)
            self.assertGreater(np.abs(solver.net.params["ip1"][0].data - before).max(), 1e-4)
            solvers.append(solver)
        self.assertEqual([solver.net.outputs for solver in solvers], [["loss"], []])
        self.close(solvers[0].net.params["ip1"][0].data, solvers[1].net.params["ip1"][0].data)
        self.assertEqual(*(solver._training.trainer.smoothed_loss for solver in solvers))

    def test_displayed_speed(self):
        """The displayed speed is the speed since the last display, even if each call runs one iteration."""
        solver = caffe.SGDSolver(self.write_solver("lr_policy: 'fixed' display: 4"))
        solver.add_callback(lambda: time.sleep(0.005), lambda: None)
        feed(solver.net)
        start = time.perf_counter()
        with events_of(solver, "display") as displays:
            for _ in range(9):
                solver.step(1)
        elapsed = time.perf_counter() - start
        self.assertEqual([display.iteration for display in displays], [0, 4, 8])
        for display in displays[1:]:
            self.assertAlmostEqual(display.rate * display.seconds, 4)
            self.assertTrue(4 * 0.005 <= display.seconds < elapsed, display.seconds)

    def test_displayed_loss(self):
        """The displayed loss is the mean of the last average_loss losses, which may change; earlier losses,
        even infinite ones, have no effect."""
        for spike in (1e18, math.inf, -math.inf, math.nan):
            solver = caffe.SGDSolver(self.write_solver("lr_policy: 'fixed' average_loss: 3"))
            losses = [spike, 1.0, 2.0, 6.0, 10.0]
            trainer = solver._training.trainer
            with mock.patch.object(solver.net, "_fused_step", side_effect=losses):
                solver.step(4)
                self.assertEqual(trainer.smoothed_loss, 3)
                solver.param.average_loss = 2
                solver._apply_changes()
                self.assertEqual(trainer.smoothed_loss, 4)
                solver.step(1)
            self.assertEqual(trainer.smoothed_loss, 10)  # losses of earlier calls do not count, as in Caffe

    def make_small(self, net="", **fields):
        """Returns a solver of a net that needs no input."""
        net = self.write("""
            layer { name: 'd' type: 'DummyData' top: 'x' top: 't' dummy_data_param {
              shape { dim: 2 dim: 3 } shape { dim: 2 dim: 2 } data_filler { type: 'constant' value: 1 } } }
            layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param { num_output: 2 } %s }
            layer { name: 'l' type: 'EuclideanLoss' bottom: 'y' bottom: 't' top: 'l' }""" % net)
        text = "net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_after_train: false snapshot_prefix: '%s' " % (
            net, self.path("snap"))
        return caffe.SGDSolver(self.write(text + " ".join("%s: %s" % field for field in fields.items()), "s.prototxt"))

    def test_snapshots_after_updates_by_hand(self):
        solver = self.make_small(test_iter=1, test_interval=2, max_iter=4)
        solver.solve()
        for _ in range(3):
            solver.net.forward()
            solver.net.backward()
            solver.apply_update()
        solver.snapshot()
        with open(self.path("snap_iter_7.solverstate"), "rb") as file:
            self.assertEqual(caffe_pb2.SolverState.FromString(file.read()).iter, 7)

    def test_snapshots_are_complete_at_the_next_iteration(self):
        solver, found = self.make_small(snapshot=1), []
        solver.add_callback(lambda: found.append(sorted(name for name in os.listdir(self.folder) if "snap" in name)),
                            lambda: None)
        solver.step(3)
        self.assertEqual(found[0], ["snap.lock"])
        self.assertEqual(found[2], ["snap.lock", "snap_iter_1.caffemodel", "snap_iter_1.solverstate",
                                    "snap_iter_2.caffemodel", "snap_iter_2.solverstate"])
        self.assertNotIn("snap.lock", os.listdir(self.folder))

    def test_nets_whose_parameters_are_frozen(self):
        solver = self.make_small("param { lr_mult: 0 } param { lr_mult: 0 }")
        before = solver.net.params["ip"][0].data.copy()
        solver.step(2)
        np.testing.assert_array_equal(solver.net.params["ip"][0].data, before)
        self.assertEqual([h.shape for h in history_of(solver)], [(2, 3), (2,)])

    def test_actions(self):
        """As in Caffe, the solver is asked once after each iteration."""
        solver, answers = self.make_small(), ["snapshot", "snapshot", "stop"]
        solver.next_action = lambda: answers.pop(0)
        solver.step(5)
        self.assertEqual((solver.iter, answers), (3, []))
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.endswith("state")),
                         ["snap_iter_1.solverstate", "snap_iter_2.solverstate"])

    def test_changes_in_callbacks_take_effect_at_once(self):
        solver = self.make_small(test_iter=1, test_interval=100, test_initialization="false")
        def change():
            if solver.iter == 3:
                solver.param.test_interval = solver.param.display = 3
            elif solver.iter == 1:
                solver.param.base_lr = 0.5

        solver.add_callback(lambda: change() if solver.iter == 1 else None, lambda: None)
        solver.next_action = lambda: change() if solver.iter == 3 else None
        with events_of(solver, "test_begin", "display", "iteration") as events:
            solver.step(4)
        self.assertEqual([(event.kind, event.iteration) for event in events if event.kind != "iteration"],
                         [("test_begin", 3), ("display", 3)])
        np.testing.assert_allclose([event.learning_rate for event in events if event.kind == "iteration"],
                                   [0.1, 0.5, 0.5, 0.5], rtol=1e-6)

    def test_large_numbers_of_iterations(self):
        solver = self.make_small()
        solver.step(1)
        solver.next_action = lambda: "stop" if solver.iter == 4 else None
        solver.step(2**31)
        self.assertEqual(solver.iter, 4)

    def test_the_rate_in_other_threads(self):
        solver, rates = self.make_small(), []

        def read():
            thread = threading.Thread(target=lambda: rates.append((solver.iter, solver.lr)))
            thread.start()
            thread.join()

        solver.add_callback(read, lambda: None)
        solver.step(2)
        np.testing.assert_allclose(rates, [(0, 0.1), (1, 0.1)], rtol=1e-6)

    def test_children_of_callbacks_use_the_solver(self):
        solver = self.make_small()
        statuses = []

        def fork():
            child = os.fork()
            if not child:
                try:
                    solver.snapshot()
                    os._exit(0 if abs(solver.lr - 0.1) < 1e-6 else 1)
                finally:
                    os._exit(2)
            statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

        solver.add_callback(fork, lambda: None)
        solver.step(2)
        self.assertEqual(statuses, [0, 0])
        self.assertTrue(os.path.exists(self.path("snap_iter_1.solverstate")))

    def test_a_log_level_set_late(self):
        script = "import caffe; s = caffe.get_solver(%r); s.step(2); caffe.init_log(2); s.step(2)"
        self.make_small(display=1)
        run = subprocess.run([sys.executable, "-c", script % self.path("s.prototxt")], capture_output=True, text=True,
                             check=True, env=dict(os.environ, GLOG_minloglevel="0"))
        self.assertEqual(re.findall(r"Iteration (\d+) \(", run.stderr), ["0", "1"])
        self.assertNotIn("ETA", run.stderr)

    def test_test_nets_share_the_parameters(self):
        net = self.write(TRAIN)
        solver = caffe.SGDSolver(self.write("net: '%s' test_iter: 1 test_interval: 2 base_lr: 0.1 lr_policy: 'fixed' "
                                            "snapshot_after_train: false max_iter: 4" % net, "t.prototxt"))
        fill(solver.net)
        feed(solver.net)
        feed(solver.test_nets[0])
        solver.solve()
        np.testing.assert_array_equal(solver.test_nets[0].params["ip1"][0].data, solver.net.params["ip1"][0].data)
        self.assertIn("acc", solver.test_nets[0].blobs)

    def test_wrong_solvers_and_states_raise(self):
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.path("nowhere.prototxt"))
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.write("base_lr: 0.1", "e.prototxt"))
        with self.assertRaises(RuntimeError):
            caffe.get_solver(self.write_solver("lr_policy: 'fixed' type: 'Annealing'"))
        with self.assertRaises(RuntimeError):
            caffe.AdaGradSolver(self.write_solver("lr_policy: 'fixed' momentum: 0.5"))
        net = self.write(TRAIN, "a net.prototxt")
        with self.assertRaisesRegex(RuntimeError, '^%s: Message type .* has no field named "name"' % re.escape(net)):
            caffe.SGDSolver(net)
        solver = caffe.SGDSolver(self.write_solver("lr_policy: 'fixed'"))
        before = solver.net.params["ip1"][0].data.copy()
        with self.assertRaises(RuntimeError):
            solver.restore(self.path("nowhere.solverstate"))
        with self.assertRaises(RuntimeError):
            solver.restore(self.write("not a state", "x.solverstate"))
        np.testing.assert_array_equal(solver.net.params["ip1"][0].data, before)
        with self.assertRaises(RuntimeError):
            caffe.SGDSolver(self.write_solver("lr_policy: 'sometimes'")).step(1)


if __name__ == "__main__":
    unittest.main()
