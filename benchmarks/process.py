"""Runs a measured program and determines its peak memory."""

import os
import signal
import subprocess
import tempfile
import threading
from typing import NamedTuple


class MeasureError(Exception):
    """A program failed, or its output could not be parsed."""


class NotAvailable(MeasureError):
    """A program is not installed, or does not support the workload."""


class Finished(NamedTuple):
    """Complete output and peak memory of a program."""
    stdout: str
    stderr: str
    peak_bytes: int


def environment(threads, work):
    """Returns the caller's environment with the number of threads for all libraries.

    OPENBLAS_CORETYPE is removed: it can restrict OpenBLAS to an older instruction set.
    """
    result = dict(os.environ)
    result.pop("OPENBLAS_CORETYPE", None)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        result[name] = str(threads)
    # Later rounds reuse the code that torch.compile compiled in the first one.
    result["TORCHINDUCTOR_CACHE_DIR"] = str(work / "inductor")
    return result


def last_line(text):
    """Returns the last line of a program's output."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1][-300:] if lines else "it printed nothing"


class PeakMemory:
    """Determines the peak resident memory of a child process.

    ru_maxrss includes the time before exec, when the child is a copy of this process. It is
    valid only if it exceeds the peak of this process; otherwise the peak is the last sampled
    high-water mark of the child.
    """

    def __init__(self, pid):
        self._pid = pid
        self._sampled_peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.05):
            self._sampled_peak = max(self._sampled_peak, high_water(self._pid))

    def stop(self):
        self._ended.set()
        self._thread.join()

    def bytes(self, usage):
        """Returns the peak in bytes of a child that has ended with `usage`."""
        max_rss = usage.ru_maxrss << 10
        return max_rss if max_rss > high_water("self") else self._sampled_peak or max_rss


def high_water(pid):
    """Returns VmHWM of a process in bytes, or 0 if it has already ended."""
    try:
        with open("/proc/{}/status".format(pid)) as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def run(command, threads, work, limit=1800):
    """Runs a command in the folder `work`, for `limit` seconds at most. Raises MeasureError if it
    fails or exceeds the limit."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        # In a session of its own, so that its child processes can be ended with it.
        process = subprocess.Popen(command, cwd=work, stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL,
                                   env=environment(threads, work),
                                   start_new_session=True)
        memory = PeakMemory(process.pid)
        is_timed_out = threading.Event()

        def stop():
            is_timed_out.set()
            os.killpg(process.pid, signal.SIGKILL)
        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # such as Ctrl-C, which does not reach the child's session
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
            memory.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    if is_timed_out.is_set():
        raise MeasureError("{} was stopped after {} s".format(
            os.path.basename(command[0]), limit))
    if process.returncode != 0:
        raise MeasureError("{} ended with status {}: {}".format(
            os.path.basename(command[0]), process.returncode,
            last_line(texts[1] or texts[0])))
    return Finished(texts[0], texts[1], memory.bytes(usage))
