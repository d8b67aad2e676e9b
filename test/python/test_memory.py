"""Nets, solvers and sessions do not leak memory."""
import unittest

import brew
import caffe

from common import DEPLOY, TRAIN, Case, feed, random_array, resident_bytes

# In bytes. Each object takes about 60 kB, so 800 leaked objects would take 50 MB.
MAX_GROWTH = 4 << 20


class Memory(Case):
    def assert_no_leak(self, create):
        """Checks that memory does not grow over many calls, after the first calls have filled the caches."""
        for _ in range(200):
            create()
        before = resident_bytes()
        for _ in range(800):
            create()
        self.assertLess(resident_bytes() - before, MAX_GROWTH)

    def test_nets(self):
        path = self.write("force_backward: true\n" + DEPLOY)
        x, g = random_array(1, 2, 3, 8, 8), random_array(2, 2, 5)

        def create():
            net = caffe.Net(path, caffe.TEST)
            net.forward(data=x)
            net.backward(prob=g)

        self.assert_no_leak(create)

    def write_solver(self):
        return self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 max_iter: 9 snapshot_prefix: 'x' "
                          "snapshot_after_train: false random_seed: 1" % self.write(TRAIN), "solver.prototxt")

    def test_solvers(self):
        file = self.write_solver()

        def create():
            solver = caffe.SGDSolver(file)
            feed(solver.net)
            solver.step(3)
            self.assertIsNotNone(solver.net._fused_nets.found)

        self.assert_no_leak(create)

    def test_nets_that_raise(self):
        path = self.write(TRAIN)

        def create():
            net = caffe.Net(path, caffe.TRAIN)
            feed(net)
            net.blobs["label"].data[0] = 9
            with self.assertRaises(RuntimeError):
                net.forward()

        self.assert_no_leak(create)

    def test_sessions(self):
        plan, x = brew.compile(DEPLOY), random_array(1, 2, 3, 8, 8)
        self.assert_no_leak(lambda: plan.session(seed=1)(data=x))

    def test_trainers(self):
        plan = brew.compile(self.write_solver())

        def create():
            session = plan.session()
            session.set_inputs(data=random_array(1, 4, 6), label=[0, 1, 2, 0])
            session.step(2)

        self.assert_no_leak(create)


if __name__ == "__main__":
    unittest.main()
