"""Nets, solvers and sessions do not leak memory."""
import unittest

import brew
import caffe

from common import DEPLOY, TRAIN, Case, feed, numbers, resident

# Each object takes about 60 kB: 800 leaked objects would take 50 MB.
FLAT = 4 << 20


class Memory(Case):
    def stays_flat(self, make):
        """Checks that memory stays constant over many objects, after the first ones filled the caches."""
        for _ in range(200):
            make()
        before = resident()
        for _ in range(800):
            make()
        self.assertLess(resident() - before, FLAT)

    def test_nets(self):
        path = self.write("force_backward: true\n" + DEPLOY)
        x, g = numbers(1, 2, 3, 8, 8), numbers(2, 2, 5)

        def make():
            net = caffe.Net(path, caffe.TEST)
            net.forward(data=x)
            net.backward(prob=g)

        self.stays_flat(make)

    def solver(self):
        return self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 9 snapshot_prefix: 'x' "
                          "snapshot_after_train: false random_seed: 1" % self.write(TRAIN), "solver.prototxt")

    def test_solvers(self):
        file = self.solver()

        def make():
            solver = caffe.SGDSolver(file)
            feed(solver.net)
            solver.step(3)
            self.assertIsNotNone(solver.net._fused_nets.update)

        self.stays_flat(make)

    def test_nets_that_raise(self):
        path = self.write(TRAIN)

        def make():
            net = caffe.Net(path, caffe.TRAIN)
            feed(net)
            net.blobs["label"].data[0] = 9
            with self.assertRaises(RuntimeError):
                net.forward()

        self.stays_flat(make)

    def test_sessions(self):
        plan, x = brew.compile(DEPLOY), numbers(1, 2, 3, 8, 8)
        self.stays_flat(lambda: plan.session(seed=1)(data=x))

    def test_trainers(self):
        plan = brew.compile(self.solver())

        def make():
            session = plan.session()
            session.set_inputs(data=numbers(1, 4, 6), label=[0, 1, 2, 0])
            session.step(2)

        self.stays_flat(make)


if __name__ == "__main__":
    unittest.main()
