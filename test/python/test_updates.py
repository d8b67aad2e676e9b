"""Updates by the compiled program equal Caffe's formulas in NumPy."""
import unittest

import caffe
import numpy as np

from common import TRAIN, Case, feed, fill, history_in, history_of, random_array

# A frozen parameter, a parameter with its own rate and decay, a parameter shared by two layers, and running
# statistics.
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
# The two implementations round differently, because a fused multiply-add rounds once. The relative difference
# of 6e-8 grows at most by a small factor over about ten iterations at these rates.
ROUNDING = 2e-6
RULES = {"SGD": "base_lr: 0.1 momentum: 0.9", "Nesterov": "base_lr: 0.1 momentum: 0.9", "AdaGrad": "base_lr: 0.01",
         "RMSProp": "base_lr: 0.01 rms_decay: 0.9", "AdaDelta": "base_lr: 1 momentum: 0.95 delta: 1e-6",
         "Adam": "base_lr: 0.01 momentum: 0.9 momentum2: 0.999"}


class InNumPy:
    """A solver that updates the net of another one by Caffe's formulas."""

    def __init__(self, solver):
        self.param, self.kind, self.net, self.iter = solver.param, solver.type, solver.net, 0
        slots = 2 if solver.type in ("AdaDelta", "Adam") else 1
        self.history = [np.zeros(blob.shape, np.float32) for _ in range(slots) for blob in self.net._learnable]

    def step(self, iterations):
        for _ in range(iterations):
            self.net.clear_param_diffs()
            for _ in range(self.param.iter_size):
                self.net.forward()
                self.net.backward()
            self.apply_update()

    def restore(self, path):
        with open(path, "rb") as file:
            self.history = history_in(file.read())
        self.net.copy_from(path.replace("solverstate", "caffemodel"))
        self.iter = int(path.split("_iter_")[1].split(".")[0])

    def apply_update(self):
        p = self.param
        rate = p.base_lr * ((1 + p.gamma * self.iter) ** -p.power if p.lr_policy == "inv" else 1)
        gradient_scale = 1 / p.iter_size
        if p.clip_gradients >= 0:
            norm = np.sqrt(sum(float(np.sum(np.float64(blob.diff) ** 2)) for blob in self.net._learnable))
            gradient_scale *= min(1, p.clip_gradients / norm)
        self.apply(rate, gradient_scale, self.iter)
        self.iter += 1

    def apply(self, rate, gradient_scale, iteration):
        p, count = self.param, len(self.net._learnable)
        for i, blob in enumerate(self.net._learnable):
            lr, decay = (1.0 if m is None else m for m in (self.net._lr[i], self.net._decay[i]))
            if lr == 0:
                blob.diff[...] = 0
                continue
            penalty = np.sign(blob.data) if p.regularization_type == "L1" else blob.data
            g = blob.diff * np.float32(gradient_scale) + np.float32(p.weight_decay * decay) * penalty
            h = [self.history[i + slot * count] for slot in range(len(self.history) // count)]
            with np.errstate(all="ignore"):
                blob.diff[...] = getattr(self, self.kind)(g, *h, np.float32(rate * lr), iteration)
                blob.data[...] -= blob.diff

    def SGD(self, g, h, rate, iteration):
        h[...] = self.param.momentum * h + rate * g
        return h

    def Nesterov(self, g, h, rate, iteration):
        before = h.copy()
        h[...] = self.param.momentum * h + rate * g
        return (1 + self.param.momentum) * h - self.param.momentum * before

    def AdaGrad(self, g, h, rate, iteration):
        h += g * g
        return rate * g / (np.sqrt(h) + self.param.delta)

    def RMSProp(self, g, h, rate, iteration):
        h[...] = self.param.rms_decay * h + (1 - self.param.rms_decay) * g * g
        return rate * g / (np.sqrt(h) + self.param.delta)

    def AdaDelta(self, g, h, changes, rate, iteration):
        m, delta = self.param.momentum, self.param.delta
        h[...] = m * h + (1 - m) * g * g
        change = g * np.sqrt((delta + changes) / (delta + h))
        changes[...] = m * changes + (1 - m) * change * change
        return rate * change

    def Adam(self, g, mean, square, rate, iteration):
        p, t = self.param, iteration + 1
        mean[...] = p.momentum * mean + (1 - p.momentum) * g
        square[...] = p.momentum2 * square + (1 - p.momentum2) * g * g
        correction = np.sqrt(1 - p.momentum2 ** t) / (1 - p.momentum ** t)
        return rate * correction * mean / (np.sqrt(square) + p.delta)


class Updates(Case):
    def make_solvers(self, text=TRAIN, fields="", count=2, kind="SGD"):
        """Returns equal solvers, of which the last one updates in NumPy."""
        file = self.write("train_net: '%s' weight_decay: 0.01 max_iter: 90 type: '%s' %s "
                          "snapshot_after_train: false snapshot_prefix: '%s' %s"
                          % (self.write(text), kind, RULES[kind], self.path("snap"), fields or "lr_policy: 'fixed'"),
                          "s.prototxt")
        solvers = [caffe.get_solver(file) for _ in range(count)]
        for solver in solvers:
            fill(solver.net, 4)
            for blob in solver.net.params.get("bn", []):
                blob.data[...] = 0
            feed(solver.net)
        solvers[-1] = InNumPy(solvers[-1])
        return solvers

    def assert_same(self, by_plan, separate, diffs=True):
        for layer in separate.net.params:
            for a, b in zip(by_plan.net.params[layer], separate.net.params[layer]):
                self.close(a.data, b.data, ROUNDING)
                if diffs:
                    self.close(a.diff, b.diff, ROUNDING)
        histories = [solver.history if isinstance(solver, InNumPy) else history_of(solver)
                     for solver in (by_plan, separate)]
        for a, b in zip(*histories):
            self.close(a, b, ROUNDING)

    def test_updates_are_equal(self):
        for kind in RULES:
            for text in (TRAIN, VARIED):
                for fields in ("lr_policy: 'inv' gamma: 0.1 power: 0.75",
                               "lr_policy: 'fixed' regularization_type: 'L1' iter_size: 2",
                               "lr_policy: 'fixed' clip_gradients: 0.5"):
                    with self.subTest(kind + " " + fields):
                        by_plan, separate = self.make_solvers(text, fields, kind=kind)
                        for steps in (1, 2, 5):
                            by_plan.step(steps)
                            separate.step(steps)
                            self.assert_same(by_plan, separate)
                        if text is VARIED and "iter_size" not in fields:
                            # Statistics are not learned and do not decay: the number of batches is exact.
                            self.assertAlmostEqual(float(by_plan.net.params["bn"][2].data[0]),
                                                   sum(0.999 ** k for k in range(8)), places=4)

    def test_diff_is_the_update(self):
        solver, _ = self.make_solvers()
        solver.step(3)
        blob = solver.net.params["ip1"][0]
        before, retained = blob.data.copy(), None
        for i in range(4):
            solver.step(1)
            change = before - blob.data
            # Both rounded values are at most 1, so each has an error of at most half a unit in the last place.
            np.testing.assert_allclose(blob.diff, change, atol=1.2e-7, rtol=0)
            self.assertGreater(float(np.abs(change).max()), 1e-5)
            if retained is not None:
                np.testing.assert_array_equal(retained, blob.diff)
            if i == 1:
                retained = blob.diff  # later updates must change a retained array, too
            before = blob.data.copy()

    def test_fields_change_between_updates(self):
        by_plan, separate = self.make_solvers()
        gradients = []
        for solver in (by_plan, separate):
            solver.step(3)
            solver.net.clear_param_diffs()
            solver.net.forward()
            solver.net.backward()
            gradients.append(solver.net.params["ip2"][0].diff.copy())
            solver.apply_update()
            solver.step(2)
            solver.param.momentum = 0.5
            solver.step(2)
            solver.param.momentum = 0.9
            solver.param.base_lr = 0.02
            solver.step(2)
            solver.net.before_forward(lambda i: None)
            solver.step(1)
        self.close(*gradients, ROUNDING)
        self.assertGreater(float(np.abs(gradients[0]).max()), 1e-4)
        self.assert_same(by_plan, separate)

    def test_the_regularization_changes(self):
        for kind in "SGD", "Adam":
            by_plan, separate = self.make_solvers(kind=kind)
            for solver in (by_plan, separate):
                solver.step(3)
                solver.param.regularization_type = "L1"
                solver.step(3)
            self.assertEqual(by_plan.iter, 6)
            self.assert_same(by_plan, separate)

    def test_unusual_rates(self):
        for rate in (0, -0.1, 1e-30, float("inf"), float("nan")):
            by_plan, separate = self.make_solvers()
            for solver in (by_plan, separate):
                solver.step(2)
                solver.param.base_lr = rate
                solver.step(2)
            self.assert_same(by_plan, separate)

    def test_writes_to_parameters(self):
        by_plan, separate = self.make_solvers()
        retained = by_plan.net.params["ip1"][0].data
        for solver in (by_plan, separate):
            solver.step(2)
            solver.net.params["ip1"][0].data[0] = 0.25
            solver.net.params["ip2"][1].data[...] *= 2
            solver.step(2)
        np.testing.assert_array_equal(retained, by_plan.net.params["ip1"][0].data)
        self.assert_same(by_plan, separate)
        for solver in (by_plan, separate):
            solver.step(3)
            solver.net.params["ip1"][0].data[1] = -0.25
            solver.step(2)
        self.assert_same(by_plan, separate)

    def test_updates_reach_nets_that_share_the_parameters(self):
        solver, _ = self.make_solvers()
        sharing = caffe.Net(self.path("net.prototxt"), caffe.TEST)
        sharing.share_with(solver.net)
        feed(sharing)
        losses = []
        for _ in range(4):
            solver.step(1)
            losses.append(float(sharing.forward()["loss"]))
            copy = caffe.Net(self.path("net.prototxt"), caffe.TEST)
            feed(copy)
            for layer, blobs in solver.net.params.items():
                for target, source in zip(copy.params[layer], blobs):
                    target.data[...] = source.data
            self.assertAlmostEqual(losses[-1], float(copy.forward()["loss"]), places=6)
        self.assertEqual(sorted(losses, reverse=True), losses)
        self.assertLess(losses[-1], losses[0])

    def test_reshaped_nets_keep_the_history(self):
        by_plan, separate = self.make_solvers()
        for solver in (by_plan, separate):
            for count in (4, 3, 4):
                solver.net.blobs["data"].reshape(count, 6)
                solver.net.blobs["label"].reshape(count)
                solver.net.blobs["data"].data[...] = random_array(count, count, 6)
                solver.net.blobs["label"].data[...] = np.arange(count) % 3
                solver.step(3)
        self.assert_same(by_plan, separate)

    def test_restored_snapshots(self):
        by_plan, resumed, separate = self.make_solvers(count=3)
        by_plan.step(4)
        by_plan.snapshot()
        old_diff = by_plan.net.params["ip1"][0].diff.copy()
        by_plan.step(2)
        blob = by_plan.net.params["ip1"][0]
        by_plan.restore(self.path("snap_iter_4.solverstate"))
        self.assertGreater(float(np.abs(blob.diff - old_diff).max()), 0)  # restore() does not change diffs
        for solver in (resumed, separate):
            solver.restore(self.path("snap_iter_4.solverstate"))
        for solver in (by_plan, resumed, separate):
            solver.step(3)
        self.assert_same(by_plan, resumed)
        self.assert_same(by_plan, separate)

    def test_equal_seeds_give_equal_losses(self):
        text = TRAIN.replace("layer { name: 'ip2'", "layer { name: 'drop' type: 'Dropout' bottom: 'ip1' top: 'ip1' }\n"
                             "layer { name: 'ip2'")
        losses = []
        for seed in (3, 3, 4):
            caffe.set_random_seed(seed)
            solver, _ = self.make_solvers(text)
            losses.append([])
            for _ in range(5):
                solver.step(1)
                losses[-1].append(float(solver.net.blobs["loss"].data))
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])
        self.assertEqual(len(set(losses[0])), 5)


if __name__ == "__main__":
    unittest.main()
