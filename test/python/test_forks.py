"""Forked processes use nets, solvers and sessions, those of their parent and their own, and compute the same."""
import subprocess
import sys
import unittest

from common import DEPLOY, TRAIN, Case

# Maps each kind of use to the code that prepares it before the fork, and an expression of its next result.
KINDS = {
    "net": ("net = caffe.Net(sys.argv[1], caffe.TEST); net.forward()", "net.forward(data=x)['prob']"),
    "layers": ("net = caffe.Net(sys.argv[1], caffe.TEST); net.forward(end='pool1')",
               "net.forward(data=x, start='data', end='fc')['fc']"),
    "new net": ("caffe.Net(sys.argv[1], caffe.TEST).forward(); caffe.set_random_seed(3)",
                "caffe.Net(sys.argv[1], caffe.TEST).forward(data=x)['prob']"),
    "solver": ("solver = caffe.SGDSolver(sys.argv[2]); solver.step(3)",
               "[solver.step(2), solver.net.blobs['loss'].data, solver.net.params['ip2'][0].data.sum()][1:]"),
    "adam": ("solver = caffe.AdamSolver(sys.argv[2]); solver.step(3)", "[solver.step(2), solver.net.blobs['loss'].data][1]"),
    "session": ("session = brew.compile(sys.argv[1]).session(seed=1); session(data=x)", "session(data=-x)['prob']"),
    "pool": ("session = brew.compile(sys.argv[1]).session(seed=1, threads=2); session(data=x)", "session(data=-x)['prob']"),
    "new session": ("plan = brew.compile(sys.argv[1]); plan.session()", "plan.session(seed=2)(data=x)['prob']"),
    "trainer": ("session = brew.compile(sys.argv[2]).session(seed=1); session.step(1)",
                "[session.step(2), session.params['ip2'][0].sum(), session.iteration][1:]"),
}
# The child and then the parent print their results. The status is the child's.
USE_AFTER_FORK = """
import os, sys, brew, caffe, numpy as np
x = np.random.RandomState(0).uniform(-1, 1, (2, 3, 8, 8)).astype(np.float32)
%s
sys.stdout.flush()
child = os.fork()
if child:
    status = os.waitpid(child, 0)[1]
result = %s
print([[float(v) for v in np.ravel(part)] for part in (result if isinstance(result, list) else [result])], flush=True)
if child:
    sys.exit(os.WEXITSTATUS(status))
os._exit(0)
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
# Like a web server that loads its net before it forks workers: a pool of processes shares a net; so do their
# children. Threads of the parent run nets meanwhile.
POOL = """
import multiprocessing, sys, threading, caffe, numpy as np
net = caffe.Net(sys.argv[1], caffe.TEST)
x = np.random.RandomState(0).uniform(-1, 1, (6, 2, 3, 8, 8)).astype(np.float32)
expected = [net.forward(data=values)['prob'].copy() for values in x]
fork = multiprocessing.get_context('fork')
def score(i):
    own = caffe.Net(sys.argv[1], caffe.TEST)
    own.share_with(net)
    return net.forward(data=x[i])['prob'].copy(), own.forward(data=x[i])['prob'].copy()
def score_in_child(i):
    queue = fork.Queue()
    process = fork.Process(target=lambda: queue.put(score(i)))
    process.start()
    result = queue.get(timeout=50)
    process.join()
    return result + (process.exitcode,)
stopping, failures = False, []
def work():
    other = caffe.Net(sys.argv[1], caffe.TEST)
    other.share_with(net)
    while not stopping:
        if not np.array_equal(other.forward(data=x[0])['prob'], expected[0]):
            failures.append('a thread of the parent')
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
with fork.Pool(3) as pool:
    results = pool.map_async(score, range(6)).get(timeout=100)
for i, pair in enumerate(results):
    assert np.array_equal(pair[0], expected[i]) and np.array_equal(pair[1], expected[i]), i
nested = []
process = fork.Process(target=lambda: sys.exit(
    0 if all(np.array_equal(part, expected[2]) for part in score_in_child(2)[:2]) else 5))
process.start()
process.join(100)
assert process.exitcode == 0, process.exitcode
stopping = True
for thread in threads:
    thread.join()
assert not failures, failures
assert np.array_equal(net.forward(data=x[1])['prob'], expected[1])
"""
# A child continues to read where its parent was.
READERS = """
import os, sys, caffe, h5py, numpy as np
with h5py.File('values.h5', 'w') as file:
    file['x'] = np.arange(20, dtype=np.float32).reshape(20, 1)
open('list.txt', 'w').write('values.h5')
open('net.prototxt', 'w').write('''layer { name: 'x' type: 'HDF5Data' top: 'x'
  hdf5_data_param { source: 'list.txt' batch_size: 3 } } layer { name: 'y' type: 'Power' bottom: 'x' top: 'y' power_param { scale: 2 } }
  layer { name: 'n' type: 'DummyData' top: 'n' dummy_data_param { data_filler { type: 'gaussian' } shape { dim: 2 } } }''')
net = caffe.Net('net.prototxt', caffe.TEST)
for begin in (0, 3):
    assert net.forward()['y'].ravel().tolist() == [2 * (begin + i) for i in range(3)]
child = os.fork()
if child:
    status = os.waitpid(child, 0)[1]
for begin in (6, 9, 12):
    values = net.forward()['y'].ravel().tolist()
    assert values == [2 * (begin + i) for i in range(3)], values
    print(net.blobs['n'].data.tolist(), flush=True)
del net
if child:
    sys.exit(os.WEXITSTATUS(status))
os._exit(0)
"""
# Objects that belong to the parent's GPU cannot be used.
GPU = """
import os, sys, brew, numpy as np
if not os.path.exists(os.path.join(os.environ.get('BREW_CUDASIM', ''), 'libcuda.so.1')):
    sys.exit(77)
session = brew.compile(sys.argv[1], target='cuda', gpu_arch='sim').session(seed=1, device='cuda:0')
x = np.zeros((2, 3, 8, 8), np.float32)
session(data=x)
child = os.fork()
if child == 0:
    try:
        session(data=x)
    except brew.Error as failure:
        assert 'forked from one that had opened a session on a GPU' in str(failure), failure
        del session
        assert brew.compile(sys.argv[1]).session()(data=x)['prob'].shape == (2, 5)
        os._exit(0)
    os._exit(9)
status = os.waitpid(child, 0)[1]
session(data=x)
sys.exit(os.WEXITSTATUS(status))
"""


class Forks(Case):
    def run_program(self, program):
        """Runs a Python program, whose arguments are a net and a solver file. Returns its exit status and the lines
        of its output."""
        net = self.write(TRAIN)
        solver = self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 9 snapshot_after_train: false "
                            "snapshot_prefix: 'x' random_seed: 1" % net, "solver.prototxt")
        process = subprocess.run([sys.executable, "-c", program, self.write(DEPLOY, "deploy.prototxt"), solver],
                                 timeout=200, capture_output=True, text=True, cwd=self.folder)
        self.assertNotIn("Traceback", process.stderr)
        return process.returncode, process.stdout.splitlines()

    def test_parent_and_child_compute_the_same(self):
        for kind, (use, again) in KINDS.items():
            with self.subTest(kind):
                status, lines = self.run_program(USE_AFTER_FORK % (use, again))
                self.assertEqual((status, len(lines)), (0, 2))
                self.assertEqual(lines[0], lines[1])
                self.assertIn(".", lines[0])

    def test_children_forked_before_use(self):
        self.assertEqual(self.run_program(STAGES)[0], 0)

    def test_children_forked_after_use_may_do_other_work(self):
        self.assertEqual(self.run_program(FETCHERS)[0], 0)

    def test_pools_of_processes(self):
        self.assertEqual(self.run_program(POOL)[0], 0)

    def test_children_continue_to_read(self):
        status, lines = self.run_program(READERS)
        self.assertEqual((status, len(lines)), (0, 6))
        self.assertEqual(lines[:3], lines[3:])
        self.assertEqual(len(set(lines)), 3)

    def test_sessions_on_gpus_are_refused(self):
        status = self.run_program(GPU)[0]
        if status == 77:
            self.skipTest("the CUDA simulator is not built")
        self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
