"""The unpacked package of pack.py on the machine with the GPU."""

import json
import os
import re
import subprocess
import sys
import time
import uuid

import cpu_reference
import machine
import processes
import results
import schedule
from torch_server import TorchServer


class RowFailed(Exception):
    """A row's check failed. `result` contains the values measured before."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result or {}


class Package:
    """Paths of the package's contents, and functions that run its programs.

    `deadline` is the time (of time.monotonic) at which the current row must end; `row` is
    its name.
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
        """Returns the rows of this package in order."""
        return [row for row in schedule.all_rows() if row.name in self.index["rows"]]

    def environment(self, additions=()):
        """Returns the environment of programs: with CUDA's libraries, and the mark by which
        processes.kill_leftovers() finds them. GOMP_SPINCOUNT is set because brew-run would
        otherwise restart itself to set it."""
        return dict(os.environ, LD_LIBRARY_PATH=self.libraries, GOMP_SPINCOUNT="10000",
                    **{processes.MARK: self.mark}, **dict(additions))

    def prepare_tool(self):
        """Returns the tool's version. If the machine's C library is too old for the tool,
        makes it use the packed one. Raises RowFailed if it does not start."""
        completed = processes.run([self.tool, "--version"], 20, self.environment(),
                                  self.folder, self.log())
        if completed.status == 0:
            return completed.stdout.strip()
        loaders = list((self.folder / "lib" / "system").glob("ld-linux*"))
        if "GLIBC" not in completed.stderr or not loaders:
            missing = subprocess.run(["ldd", str(self.tool)], capture_output=True,
                                     text=True, env=self.environment())
            raise RowFailed("brew-run does not start: {}\n{}".format(
                completed.stderr.strip(), missing.stdout))
        binary = self.tool.with_name("brew-run.bin")
        self.tool.rename(binary)
        # With --library-path the loader ignores LD_LIBRARY_PATH, so pass it on.
        self.tool.write_text("#!/bin/sh\nGOMP_SPINCOUNT=10000 exec '{}' "
                             "--library-path '{}:{}':\"$LD_LIBRARY_PATH\" "
                             "'{}' \"$@\"\n".format(
                                 loaders[0], loaders[0].parent,
                                 self.folder / "lib" / "brew-run", binary))
        self.tool.chmod(0o755)
        return self.prepare_tool()

    def log(self, suffix=".txt"):
        """Returns the file for the complete output of the current row."""
        return self.logs / (re.sub(r"\W+", "_", self.row) + suffix)

    def time_left(self):
        """Returns the seconds until the current row must end."""
        if self.deadline is None:
            return schedule.LIMIT_SECONDS["brew"]
        return max(0.1, self.deadline - time.monotonic())

    def run(self, command, environment=None):
        """Runs a program within the time limit of the row."""
        return processes.run(command, self.time_left(),
                             environment or self.environment(), self.bench, self.log())

    def call(self, command, environment=None):
        """Runs a program within the time limit of the row. Raises RowFailed if it fails."""
        completed = self.run(command, environment)
        if completed.status != 0:
            lines = (completed.stderr or completed.stdout).strip().splitlines() or ["no output"]
            raise RowFailed("status {}: {}\n{}".format(completed.status, lines[-1][-300:],
                                                       "\n".join(lines[-12:-1])))
        return completed

    def plan(self, name):
        """Returns the file and figures of a plan. Raises RowFailed if it was not compiled."""
        plan = self.index["plans"].get(name, {"error": "it is not in this package"})
        if "error" in plan:
            raise RowFailed("{}: {}".format(name, plan["error"]))
        return plan

    def inputs(self, row, key="inputs"):
        """Returns BLOB=d,d,... for the blobs that the row's mode reads."""
        return cpu_reference.inputs_of(self.index["nets"][row.net][key], row.mode)

    def engines(self):
        """Returns the flags of the timing cache, which all rows share: training and inference
        have calls in common."""
        return ["--timing-cache", results.timing_of(self.results)]

    def python(self, script, *arguments):
        return self.call([sys.executable, self.folder / "benchmarks" / "gpu" / script,
                          *arguments])
