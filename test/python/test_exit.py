"""Tests the exit of Python while daemon threads use Brew."""
import os
import subprocess
import sys
import time
import unittest

from common import TRAIN, Case

SOLVER = "net: '%s' base_lr: 0.1 lr_policy: 'fixed' max_iter: 1000000000 snapshot_prefix: '%s'"


class Exit(Case):
    def test_exit_while_threads_train(self):
        """The exit of Python stops daemon threads that train or run nets; solve() writes its snapshot."""
        net = self.write(TRAIN)
        solver = self.write(SOLVER % (net, self.path("snap")), "s.prototxt")
        text = """
import brew, sys, threading, time
import numpy as np
sessions = [brew.compile(sys.argv[1]).session(seed=1) for _ in range(3)]
for session in sessions:
    session._core.set_input(0, "data", np.ones((4, 6), np.float32))
    session._core.set_input(0, "label", np.zeros(4, np.float32))
sessions[1].add_hook("every iteration do call", lambda call: None)
def step(session):
    while True:
        session.step(3)
def forward(session):
    while True:
        session.forward()
for function, session in (brew.Session.solve, sessions[0]), (step, sessions[1]), (forward, sessions[2]):
    threading.Thread(target=function, args=(session,), daemon=True).start()
time.sleep(1)
"""
        script = self.write(text, "exit.py")
        for _ in range(3):
            done = subprocess.run([sys.executable, script, solver], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            snapshots = [name for name in os.listdir(self.folder) if name.endswith(".solverstate")]
            self.assertEqual(len(snapshots), 1)
            os.remove(self.path(snapshots[0]))

    def test_exit_while_a_hook_calls_brew(self):
        """A hook that runs during the exit may call Brew; solve() writes its snapshot."""
        net = self.write(TRAIN)
        solver = self.write(SOLVER % (net, self.path("snap")), "s.prototxt")
        text = """
import brew, sys, threading, time
import numpy as np
session = brew.compile(sys.argv[1]).session(seed=1)
session._core.set_input(0, "data", np.ones((4, 6), np.float32))
session._core.set_input(0, "label", np.zeros(4, np.float32))
def hook(call):
    time.sleep(.01)
    session.trainer.metric("train.loss")
session.add_hook("every iteration do call", hook)
threading.Thread(target=session.solve, daemon=True).start()
time.sleep(1)
"""
        script = self.write(text, "exit.py")
        begin = time.monotonic()
        done = subprocess.run([sys.executable, script, solver], capture_output=True, text=True, timeout=90)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(time.monotonic() - begin, 45)
        self.assertTrue(any(name.endswith(".solverstate") for name in os.listdir(self.folder)))


if __name__ == "__main__":
    unittest.main()
