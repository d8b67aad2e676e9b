"""Runs PyTorch's measurements in a process that loads PyTorch once."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


class TorchServer:
    """A process `torch_step.py --serve`, started at the first request and restarted after a
    row that ran out of time."""

    def __init__(self, folder, log, environment=None):
        self.folder, self.log, self.environment = folder, log, environment
        self.process = None

    def processes(self):
        """Returns its process id, which must survive the cleanup after a row."""
        return [self.process.pid] if self.process else []

    def measure(self, words, limit):
        """Returns the result for these arguments. Raises RuntimeError."""
        if not self.process or self.process.poll() is not None:
            self.start()
        self.process.stdin.write((json.dumps(words) + "\n").encode())
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise RuntimeError("out of time" if not ready
                               else "PyTorch's process ended")
        result = json.loads(line)
        if "failed" in result:
            raise RuntimeError(result["failed"])
        return result

    def start(self):
        self.stop()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "torch_step.py"), "--serve"],
                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, start_new_session=True, env=self.environment)

    def stop(self):
        """Kills the process and its children, which have their own session."""
        if not self.process:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()
        self.process = None
