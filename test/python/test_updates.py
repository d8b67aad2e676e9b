"""Updates by the plan's program are indistinguishable from separate updates."""
import unittest

import caffe
import numpy as np

from common import TRAIN, Case, feed, fill, numbers

# A frozen parameter, one with its own rate and decay, one shared by two layers, and statistics.
VARIED = """
layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 4 dim: 6 } } }
layer { name: 'label' type: 'Input' top: 'label' input_param { shape { dim: 4 } } }
layer { name: 'a' type: 'InnerProduct' bottom: 'data' top: 'a' param { lr_mult: 2 decay_mult: 0 }
  param { lr_mult: 0 } inner_product_param { num_output: 6 weight_filler { type: 'xavier' } } }
layer { name: 'bn' type: 'BatchNorm' bottom: 'a' top: 'bn' }
layer { name: 'b' type: 'InnerProduct' bottom: 'bn' top: 'b' param { name: 'w' } param { name: 'v' }
  inner_product_param { num_output: 6 weight_filler { type: 'xavier' } } }
layer { name: 'c' type: 'InnerProduct' bottom: 'b' top: 'c' param { name: 'w' } param { name: 'v' }
  inner_product_param { num_output: 6 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'c' bottom: 'label' top: 'loss' }
"""
# The two implementations round differently: one may use fused multiply-add. The difference of 6e-8 of a
# value grows at most by a small factor over about ten iterations at these rates.
ROUNDING = 2e-6


class Updates(Case):
    def solvers(self, text=TRAIN, more="", count=2):
        """Returns solvers of one kind; the last one never updates by its plan."""
        file = self.write("train_net: '%s' base_lr: 0.1 momentum: 0.9 weight_decay: 0.01 max_iter: 90 "
                          "snapshot_after_train: false snapshot_prefix: '%s' %s"
                          % (self.write(text), self.path("snap"), more or "lr_policy: 'fixed'"), "s.prototxt")
        made = [caffe.SGDSolver(file) for _ in range(count)]
        made[-1].net._fused_nets.rule = None
        for solver in made:
            fill(solver.net, 4)
            for blob in solver.net.params.get("bn", []):
                blob.data[...] = 0
            feed(solver.net)
        return made

    def is_in_plan(self, solver):
        return solver.net._fused_nets.update is not None

    def same(self, one, two, diffs=True):
        for layer in two.net.params:
            for a, b in zip(one.net.params[layer], two.net.params[layer]):
                self.close(a.data, b.data, ROUNDING)
                if diffs:
                    self.close(a.diff, b.diff, ROUNDING)
        for a, b in zip(one._history, two._history):
            self.close(a, b, ROUNDING)

    def test_is_indistinguishable(self):
        for text in (TRAIN, VARIED):
            for more in ("lr_policy: 'inv' gamma: 0.1 power: 0.75", "lr_policy: 'fixed' regularization_type: 'L1'"):
                with self.subTest(more):
                    one, two = self.solvers(text, more)
                    for steps in (1, 2, 5):
                        one.step(steps)
                        two.step(steps)
                        self.assertEqual([self.is_in_plan(s) for s in (one, two)], [steps > 1, False])
                        self.same(one, two)
                    if text is VARIED:
                        # Statistics are not learned and do not decay: the number of batches is exact.
                        self.assertAlmostEqual(float(one.net.params["bn"][2].data[0]), sum(0.999 ** k for k in range(8)),
                                               places=4)

    def test_diff_is_the_update(self):
        solver, _ = self.solvers()
        solver.step(3)
        blob = solver.net.params["ip1"][0]
        before, held = blob.data.copy(), None
        for i in range(4):
            solver.step(1)
            self.assertTrue(self.is_in_plan(solver))
            changed = before - blob.data
            # A difference of two rounded sums of up to 1: each has an error of half a unit in the last place.
            np.testing.assert_allclose(blob.diff, changed, atol=1.2e-7, rtol=0)
            self.assertGreater(float(np.abs(changed).max()), 1e-5)
            if held is not None:
                np.testing.assert_array_equal(held, blob.diff)
            if i == 1:
                held = blob.diff  # an array that the caller retains is updated immediately
            before = blob.data.copy()

    def test_ways_may_alternate(self):
        one, two = self.solvers()
        by_hand = []
        for solver in (one, two):
            solver.step(3)
            solver.net.clear_param_diffs()
            solver.net.forward()
            solver.net.backward()
            by_hand.append(solver.net.params["ip2"][0].diff.copy())
            solver.apply_update()
            solver.step(2)
            solver.param.momentum = 0.5  # differs from the compiled value
            solver.step(2)
            self.assertFalse(self.is_in_plan(solver))
            solver.param.momentum = 0.9
            solver.param.base_lr = 0.02
            solver.step(2)
            solver.net.before_forward(lambda i: None)
            solver.step(1)
            self.assertFalse(self.is_in_plan(solver))
        self.close(*by_hand, ROUNDING)
        self.assertGreater(float(np.abs(by_hand[0]).max()), 1e-4)
        self.same(one, two)

    def test_rates_of_any_kind(self):
        for rate in (0, -0.1, 1e-30, float("inf"), float("nan")):
            one, two = self.solvers()
            for solver in (one, two):
                solver.step(2)
                solver.param.base_lr = rate
                solver.step(2)
            self.assertEqual(self.is_in_plan(one), bool(np.isfinite(rate)))
            self.same(one, two)

    def test_values_that_somebody_writes(self):
        one, two = self.solvers()
        held = one.net.params["ip1"][0].data  # the caller retains an array from the beginning
        for solver in (one, two):
            solver.step(2)
            solver.net.params["ip1"][0].data[0] = 0.25
            solver.net.params["ip2"][1].data[...] *= 2
            solver.step(2)
        self.assertFalse(self.is_in_plan(one))
        np.testing.assert_array_equal(held, one.net.params["ip1"][0].data)
        self.same(one, two)
        del held
        for solver in (one, two):
            solver.step(3)
            solver.net.params["ip1"][0].data[1] = -0.25
            solver.step(2)
        self.assertTrue(self.is_in_plan(one))
        self.same(one, two)

    def test_exceptions_of_signals(self):
        """Signal handlers raise after a completed update, which counts; other exceptions prevent the update."""
        one, two = self.solvers()
        for solver in (one, two):
            solver.step(2)
        update = one.net._fused_nets.update

        class Trainer:
            def __getattr__(self, name):
                return getattr(actual, name)

            def update(self):
                if done:
                    actual.update()
                raise LookupError

        for done in (True, False):
            actual, update.trainer = update.trainer, Trainer()
            with self.assertRaises(LookupError):
                one.step(1)
            update.trainer = actual
            self.assertEqual(one.iter, 3)
        two.step(1)
        self.same(one, two, diffs=False)
        one.step(2)
        two.step(2)
        self.assertTrue(self.is_in_plan(one))
        self.same(one, two)

    def test_nets_that_share_the_parameters_follow(self):
        solver, _ = self.solvers()
        test = caffe.Net(self.path("net.prototxt"), caffe.TEST)
        test.share_with(solver.net)
        feed(test)
        seen = []
        for _ in range(4):
            solver.step(1)
            seen.append(float(test.forward()["loss"]))
            expected = caffe.Net(self.path("net.prototxt"), caffe.TEST)
            feed(expected)
            for layer, blobs in solver.net.params.items():
                for mine, its in zip(expected.params[layer], blobs):
                    mine.data[...] = its.data
            self.assertAlmostEqual(seen[-1], float(expected.forward()["loss"]), places=6)
        self.assertEqual(sorted(seen, reverse=True), seen)
        self.assertLess(seen[-1], seen[0])

    def test_other_shapes_have_the_same_history(self):
        one, two = self.solvers()
        for solver in (one, two):
            for count in (4, 3, 4):
                solver.net.blobs["data"].reshape(count, 6)
                solver.net.blobs["label"].reshape(count)
                solver.net.blobs["data"].data[...] = numbers(count, count, 6)
                solver.net.blobs["label"].data[...] = np.arange(count) % 3
                solver.step(3)
        self.assertTrue(self.is_in_plan(one))
        self.same(one, two)

    def test_snapshots(self):
        one, two, three = self.solvers(count=3)
        one.step(4)
        one.snapshot()
        change = one.net.params["ip1"][0].diff.copy()
        one.step(2)
        after = one.net.params["ip1"][0]
        one.restore(self.path("snap_iter_4.solverstate"))
        self.assertGreater(float(np.abs(after.diff - change).max()), 0)  # unchanged since the last step
        for solver in (two, three):
            solver.restore(self.path("snap_iter_4.solverstate"))
        for solver in (one, two, three):
            solver.step(3)
        self.same(one, two)
        self.same(one, three)

    def test_numbers_of_a_seed(self):
        text = TRAIN.replace("layer { name: 'ip2'", "layer { name: 'drop' type: 'Dropout' bottom: 'ip1' top: 'ip1' }\n"
                             "layer { name: 'ip2'")
        losses = []
        for seed in (3, 3, 4):
            caffe.set_random_seed(seed)
            solver, _ = self.solvers(text)
            losses.append([])
            for _ in range(5):
                solver.step(1)
                losses[-1].append(float(solver.net.blobs["loss"].data))
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])
        self.assertEqual(len(set(losses[0])), 5)


if __name__ == "__main__":
    unittest.main()
