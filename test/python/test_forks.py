"""Processes forked before Brew is used work; a use in processes forked later raises an exception."""
import subprocess
import sys
import unittest

from common import DEPLOY, TRAIN, Case

# Maps each kind of use to the code of the first use and of later uses, also in a child.
KINDS = {
    "net": ("net = caffe.Net(sys.argv[1], caffe.TEST); net.forward()", "net.forward()"),
    "new net": ("caffe.Net(sys.argv[1], caffe.TEST).forward()", "caffe.Net(sys.argv[1], caffe.TEST).forward()"),
    "solver": ("solver = caffe.SGDSolver(sys.argv[2]); solver.step(3)", "solver.step(1)"),
    "session": ("session = brew.compile(sys.argv[1]).session(); session(data=np.zeros((2, 3, 8, 8)))",
                "session(data=np.zeros((2, 3, 8, 8)))"),
    "new session": ("plan = brew.compile(sys.argv[1]); plan.session()", "plan.session()"),
    "trainer": ("session = brew.compile(sys.argv[2]).session(); session.step(1)", "session.step(1)"),
}
# The exit status is 7 if the use in the child raises the expected exception, otherwise 8 or 9.
USE_AFTER_FORK = """
import os, sys, brew, caffe, numpy as np
%s
child = os.fork()
if child == 0:
    try:
        %s
    except RuntimeError as failure:
        os._exit(7 if 'forked' in str(failure) else 8)
    os._exit(9)
status = os.waitpid(child, 0)[1]
%s
sys.exit(os.WEXITSTATUS(status))
"""
# Like scripts that train in stages: the parent only imports the package, and its children use it one after
# the other.
STAGES = """
import multiprocessing, sys, caffe
def stage(queue):
    solver = caffe.SGDSolver(sys.argv[2])
    solver.step(2)
    queue.put((solver.iter, float(solver.net.blobs['loss'].data)))
fork = multiprocessing.get_context('fork')
queue, results = fork.Queue(), []
for _ in range(2):
    process = fork.Process(target=stage, args=(queue,))
    process.start()
    results.append(queue.get(timeout=50))
    process.join()
    assert process.exitcode == 0, process.exitcode
assert results[0] == results[1] and results[0][0] == 2, results
"""
# Like data layers in Python: child processes prepare batches, and exit or are terminated.
FETCHERS = """
import multiprocessing, sys, caffe, numpy as np
solver = caffe.SGDSolver(sys.argv[2])
solver.step(1)
def fetch(queue, count):
    for i in range(count):
        queue.put(np.full((4, 6), i, np.float32))
fork = multiprocessing.get_context('fork')
for count in (3, 1000000):
    queue = fork.Queue(2)
    process = fork.Process(target=fetch, args=(queue, count))
    process.start()
    for i in range(3):
        solver.net.blobs['data'].data[...] = queue.get(timeout=50)
        solver.step(1)
    if count > 3:
        process.terminate()
    process.join(50)
    assert process.exitcode == (0 if count == 3 else -15), process.exitcode
assert solver.iter == 7
"""


class Forks(Case):
    def run_program(self, program):
        """Returns the exit status of a Python program. Its arguments are a net and a solver file."""
        net = self.write(TRAIN)
        solver = self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 snapshot_after_train: false "
                            "snapshot_prefix: 'x' random_seed: 1" % net, "solver.prototxt")
        process = subprocess.run([sys.executable, "-c", program, self.write(DEPLOY, "deploy.prototxt"), solver],
                                 timeout=100, capture_output=True, text=True)
        self.assertNotIn("Traceback", process.stderr)
        return process.returncode

    def test_use_in_a_child_forked_after_use_raises(self):
        for kind, (use, again) in KINDS.items():
            with self.subTest(kind):
                self.assertEqual(self.run_program(USE_AFTER_FORK % (use, again, again)), 7)

    def test_children_forked_before_use_work(self):
        self.assertEqual(self.run_program(STAGES), 0)

    def test_children_forked_after_use_may_do_other_work(self):
        self.assertEqual(self.run_program(FETCHERS), 0)


if __name__ == "__main__":
    unittest.main()
