"""The folder that pack.py made, on the machine with the GPU."""

import json
import os
import re
import subprocess
import sys
import time
import uuid

import machine
import processes
import results
import schedule
import cpu_reference
from torch_server import TorchServer


class RowFailed(Exception):
    """A row's check did not hold. `result`: the figures that were measured before."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result or {}


class Package:
    """Where the parts are, and how programs are run.

    `deadline`: the time (of time.monotonic) at which the present row ends; `row`: its name.
    """

    def __init__(self, folder):
        self.folder = folder = folder.resolve()
        self.bench = folder / "bench"
        self.index = json.loads((self.bench / "index.json").read_text())
        self.archs = json.loads((folder / "settings.json").read_text())["archs"]
        self.results = folder / "results" / "results.jsonl"
        self.logs = folder / "results" / "logs"
        self.tool = folder / "bin" / "brew-run"
        self.mark = uuid.uuid4().hex
        self.libraries = machine.library_path()
        self.server = TorchServer(self.bench, self.logs / "torch.txt",
                                  dict(os.environ, **{processes.MARK: self.mark}))
        self.deadline = None
        self.row = "start"

    def rows(self):
        """The rows that this package has what they need for, in their order."""
        return [row for row in schedule.all_rows() if row.name in self.index["rows"]]

    def environment(self, more=()):
        """The environment of programs: with CUDA's libraries, and the mark by which
        processes.kill_leftovers() finds them. With GOMP_SPINCOUNT set brew-run does not restart
        itself to set it."""
        return dict(os.environ, LD_LIBRARY_PATH=self.libraries, GOMP_SPINCOUNT="10000",
                    **{processes.MARK: self.mark}, **dict(more))

    def prepare_tool(self):
        """On a machine whose C library is older than the tool's, the tool runs with the
        one that was packed. Raises RowFailed if it does not start."""
        done = processes.run([self.tool, "--version"], 20, self.environment(),
                             self.folder, self.log())
        if done.status == 0:
            return done.stdout.strip()
        loaders = list((self.folder / "lib" / "system").glob("ld-linux*"))
        if "GLIBC" not in done.stderr or not loaders:
            missing = subprocess.run(["ldd", str(self.tool)], capture_output=True,
                                     text=True, env=self.environment())
            raise RowFailed("brew-run does not start: {}\n{}".format(
                done.stderr.strip(), missing.stdout))
        binary = self.tool.with_name("brew-run.bin")
        self.tool.rename(binary)
        # The loader reads no LD_LIBRARY_PATH when it is given a path.
        self.tool.write_text("#!/bin/sh\nGOMP_SPINCOUNT=10000 exec '{}' "
                             "--library-path '{}:{}':\"$LD_LIBRARY_PATH\" "
                             "'{}' \"$@\"\n".format(
                                 loaders[0], loaders[0].parent,
                                 self.folder / "lib" / "brew-run", binary))
        self.tool.chmod(0o755)
        return self.prepare_tool()

    def log(self, end=".txt"):
        """The file of the present row's complete output."""
        return self.logs / (re.sub(r"\W+", "_", self.row) + end)

    def time_left(self):
        """Seconds until the present row has to end."""
        if self.deadline is None:
            return schedule.LIMIT_SECONDS["brew"]
        return max(0.1, self.deadline - time.monotonic())

    def run(self, command, environment=None):
        """Runs a program within the row's limit."""
        return processes.run(command, self.time_left(),
                             environment or self.environment(), self.bench, self.log())

    def call(self, command, environment=None):
        """Likewise. Raises RowFailed unless it succeeds."""
        done = self.run(command, environment)
        if done.status != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
            raise RowFailed("status {}: {}\n{}".format(done.status, lines[-1][-300:],
                                                       "\n".join(lines[-12:-1])))
        return done

    def plan(self, name):
        """The file and figures of a plan. Raises RowFailed if it was not compiled."""
        plan = self.index["plans"].get(name, {"error": "it is not in this package"})
        if "error" in plan:
            raise RowFailed("{}: {}".format(name, plan["error"]))
        return plan

    def inputs(self, row, key="inputs"):
        """BLOB=d,d,... of the blobs that the row's mode reads."""
        return cpu_reference.inputs_of(self.index["nets"][row.net][key], row.mode)

    def engines(self):
        """One file for all rows: what training measured serves inference."""
        return ["--timing-cache", results.timing_of(self.results)]

    def python(self, script, *words):
        return self.call([sys.executable, self.folder / "benchmarks" / "gpu" / script,
                          *words])
