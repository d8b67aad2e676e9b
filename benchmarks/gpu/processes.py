"""Runs programs and kills all processes that they leave running.

Each program runs in its own session and is killed with its process group. Processes that have
left the group are found by a mark in their inherited environment.
"""

import glob
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

MARK = "GPU_CHECK_RUN"


class OutOfTime(Exception):
    """A program exceeded its time limit and was killed."""


class Finished:
    """Exit status and complete output of a program."""

    def __init__(self, status, stdout, stderr):
        self.status, self.stdout, self.stderr = status, stdout, stderr


def find_program(name):
    """Returns the path of one of CUDA's programs, which need not be in PATH. Returns `name`
    if it does not exist, so that the error of running it names it."""
    for pattern in ("/usr/local/cuda/bin/", "/usr/local/cuda-*/bin/",
                    "/opt/nvidia/nsight-compute/*/"):
        for path in [shutil.which(name)] + sorted(glob.glob(pattern + name)):
            if path:
                return path
    return name


def run(command, limit, environment, folder, log):
    """Runs `command` for at most `limit` seconds and appends its output to the file `log`.
    Raises OutOfTime."""
    command = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    out, err = (log.with_name(log.name + suffix) for suffix in (".out", ".err"))
    begin, in_time = time.monotonic(), True
    try:
        with open(out, "wb") as stdout, open(err, "wb") as stderr:
            process = subprocess.Popen(command, cwd=folder, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=stdout,
                                       stderr=stderr, start_new_session=True)
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                in_time = False
            finally:
                kill_group(process.pid)
                reap(process)
        texts = [path.read_text(errors="replace") for path in (out, err)]
    finally:
        for path in (out, err):
            path.unlink(missing_ok=True)
    with open(log, "a") as file:
        file.write("$ {}\n{}{}[status {}, {:.1f} s]\n".format(
            " ".join(command), *texts, process.returncode,
            time.monotonic() - begin))
    if not in_time:
        raise OutOfTime("out of time after {:.0f} s: {}".format(
            limit, " ".join(command[:2])))
    return Finished(process.returncode, *texts)


def reap(process, patience=10):
    """Waits for a killed process, for a limited time: a driver may block it."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        pass  # kill_leftovers() reports it


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def pids_with_mark(mark, but=()):
    """Returns the IDs of running processes whose environment contains `mark`, except the IDs in
    `but`."""
    entry, pids = "{}={}".format(MARK, mark).encode(), []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in but:
            continue
        try:
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z" and entry in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
        except (OSError, IndexError):
            continue  # it has ended, or belongs to another user
    return pids


def pids_on_gpu(environment):
    """Returns the IDs of processes that use the GPU; None if nvidia-smi cannot report
    them."""
    if not shutil.which("nvidia-smi", path=environment.get("PATH")):
        return None
    try:
        completed = subprocess.run(
            ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, env=environment)
    except subprocess.TimeoutExpired:
        return None
    if completed.returncode != 0:
        return None
    return [int(line) for line in completed.stdout.split() if line.isdigit()]


def kill_leftovers(mark, environment, but=(), patience=10):
    """Kills processes of the last row that are still running. Returns the IDs of processes
    that run or use the GPU after `patience` seconds."""
    stop = time.monotonic() + patience
    while True:
        running = pids_with_mark(mark, but)
        for process in running:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        busy = running or pids_on_gpu(environment) or []
        busy = [process for process in busy if process not in but]
        if not busy or time.monotonic() > stop:
            return busy
        time.sleep(0.2)


def keep_driver_loaded():
    """Opens the GPU's device files, so that the driver does not restart for every program.
    Returns the files, which must stay open while programs run."""
    device_files = []
    for name in ("nvidiactl", "nvidia0", "nvidia-uvm"):
        try:
            device_files.append(open("/dev/" + name, "rb", buffering=0))
        except OSError:
            continue
    return device_files
