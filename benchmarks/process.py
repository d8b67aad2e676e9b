"""Runs one measured program, and says how much memory it took."""

import os
import signal
import subprocess
import tempfile
import threading
from typing import NamedTuple


class MeasureError(Exception):
    """A program failed or said something that was not understood."""


class NotAvailable(MeasureError):
    """A program that is not installed, or cannot do what is wanted."""


class Finished(NamedTuple):
    stdout: str
    stderr: str
    peak_bytes: int


def environment(threads, work):
    """The caller's, with the same number of threads for all.

    OPENBLAS_CORETYPE can hold OpenBLAS back to an older instruction set.
    """
    result = dict(os.environ)
    result.pop("OPENBLAS_CORETYPE", None)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        result[name] = str(threads)
    # What torch.compile compiled in one round serves the next ones.
    result["TORCHINDUCTOR_CACHE_DIR"] = str(work / "inductor")
    return result


def last_words(text):
    """The end of what a program said, on one line."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1][-300:] if lines else "it says nothing"


class PeakMemory:
    """Most memory that a child had in its hands, in bytes.

    ru_maxrss counts what the child was before it became the command: a copy of
    this process. So it holds only where it is more than this process ever had;
    else the peak is the last that was seen of the child's own.
    """

    def __init__(self, pid):
        self._pid = pid
        self._seen = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.05):
            self._seen = max(self._seen, high_water(self._pid))

    def stop(self):
        self._ended.set()
        self._thread.join()

    def bytes(self, usage):
        """The peak of a child that has ended with `usage`."""
        most = usage.ru_maxrss << 10
        return most if most > high_water("self") else self._seen or most


def high_water(pid):
    """VmHWM of a process, in bytes; 0 if it has no memory any more."""
    try:
        with open("/proc/{}/status".format(pid)) as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def run(command, threads, work, limit=1800):
    """Runs a command in the folder `work`, for `limit` seconds at most."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        # A session of its own: what it starts ends with it.
        process = subprocess.Popen(command, cwd=work, stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL,
                                   env=environment(threads, work),
                                   start_new_session=True)
        memory = PeakMemory(process.pid)
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)
        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # such as Ctrl-C, which its session does not get
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
    if late.is_set():
        raise MeasureError("{} was stopped after {} s".format(
            os.path.basename(command[0]), limit))
    if process.returncode != 0:
        raise MeasureError("{} ended with status {}: {}".format(
            os.path.basename(command[0]), process.returncode,
            last_words(texts[1] or texts[0])))
    return Finished(texts[0], texts[1], memory.bytes(usage))
