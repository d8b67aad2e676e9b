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
    """The process `torch_step.py --serve`. It starts at the first measurement, and again after
    one that ran out of time."""

    def __init__(self, folder, log, environment=None):
        self.folder, self.log, self.environment = folder, log, environment
        self.process = None

    def processes(self):
        """Returns the IDs of the processes that the cleanup after a measurement must not kill."""
        return [self.process.pid] if self.process else []

    def measure(self, arguments, limit):
        """Returns the result of torch_step.py for a list of arguments. Raises RuntimeError if it
        fails or takes more than `limit` seconds."""
        if not self.process or self.process.poll() is not None:
            self.start()
        self.process.stdin.write((json.dumps(arguments) + "\n").encode())
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
        """Kills the process and its children, which are one process group."""
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
