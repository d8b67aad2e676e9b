"""Ranks that train together, connected by Open MPI.

Processes started by mpirun are its ranks. If multiprocessing or a shell started the processes,
rank 0 starts mpirun with a proxy for each rank (``_rank_proxy.py``), and each process joins with
the environment of its proxy. Proxies and processes connect through sockets in a folder whose
name contains the uid of the run."""
import atexit
import json
import multiprocessing
import multiprocessing.util
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

from brew import Error
from brew._core import Communicator

from . import _state
from ._rank_proxy import DONE

# Timeout in seconds for all ranks to connect.
_CONNECT_TIMEOUT = 600
_LAUNCHER = "mpirun"
_joined = None


def new_uid():
    """Returns bytes that identify a run, for all its ranks."""
    return secrets.token_hex(16).encode()


def is_available():
    """Whether several processes can train together on this machine."""
    return Communicator.is_available() and (Communicator.is_launched() or shutil.which(_LAUNCHER) is not None)


def join(uid):
    """Joins the ranks of a run; a process joins at most once."""
    global _joined
    rank, count = _state.solver_rank(), _state.solver_count()
    if not 0 <= rank < count:
        raise RuntimeError("NCCL: there is no rank %d of %d; call set_solver_count, then set_solver_rank"
                           % (rank, count))
    if _joined is None:
        _joined = RankGroup(uid, rank, count)
    communicator = _joined.communicator
    if (communicator.rank, communicator.ranks) != (rank, count):
        raise RuntimeError("NCCL: this process is connected as rank %d of %d, not %d of %d as set by "
                           "set_solver_rank and set_solver_count"
                           % (communicator.rank, communicator.ranks, rank, count))
    return _joined


class RankGroup:
    """This process's connection to the other ranks, closed at the end of the process."""

    def __init__(self, uid, rank, count):
        self.owner_pid = os.getpid()
        self.failed = False  # failed in a collective operation
        self.folder = self.launcher = self.channel = None
        if not Communicator.is_launched():
            self._rendezvous(_folder_of(uid), rank, count)
        try:
            # Sum in the order of ranks, so that runs are reproducible.
            self.communicator = Communicator(deterministic=True)
        except Error as error:
            raise RuntimeError("NCCL: %s" % error) from error
        atexit.register(self.leave)
        if _is_child():  # it may end without calling atexit's functions
            multiprocessing.util.Finalize(None, self.leave, exitpriority=-100)

    # --- connecting

    def _rendezvous(self, folder, rank, count):
        if rank == 0:
            self._launch(folder, count)
        deadline = time.monotonic() + _CONNECT_TIMEOUT
        path = os.path.join(folder, str(rank))
        self.channel = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.channel.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                self._require_launcher(folder, rank)
            if time.monotonic() > deadline:
                raise RuntimeError("NCCL: rank 0 did not connect within %d s" % _CONNECT_TIMEOUT)
            time.sleep(0.02)
        with self.channel.makefile("rb") as lines:
            line = lines.readline()
        if not line.endswith(b"\n"):
            raise RuntimeError("NCCL: mpirun ended before the ranks were connected")
        os.environ.update(json.loads(line))

    def _launch(self, folder, count):
        """Starts mpirun with the proxies, in a new session that Ctrl-C does not reach."""
        self.folder = folder
        command = [_LAUNCHER, "--quiet", "--oversubscribe", "--bind-to", "none", "--host", "localhost:%d" % count,
                   "-n", str(count)]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
        command += [sys.executable, "-S", "-E", os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                             "_rank_proxy.py"), folder]
        os.mkdir(folder, 0o700)
        try:
            self.launcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             start_new_session=True)
        except OSError as failure:
            open(_failure_file(folder), "w").close()
            raise RuntimeError("NCCL: several ranks need Open MPI, and mpirun cannot be started: %s"
                               % failure) from failure

    def _require_launcher(self, folder, rank):
        if self.launcher is not None and self.launcher.poll() is not None:
            open(_failure_file(folder), "w").close()
            raise RuntimeError("NCCL: mpirun ended with status %d before the ranks were connected"
                               % self.launcher.returncode)
        if rank and os.path.exists(_failure_file(folder)):
            raise RuntimeError("NCCL: rank 0 could not connect the ranks")

    # --- leaving

    def leave(self):
        """Closes the connection together with the other ranks; aborts them if this one failed."""
        if self.owner_pid != os.getpid() or self.communicator is None:
            return
        communicator, self.communicator = self.communicator, None
        failure = _fatal_exception()
        if (self.failed or failure is not None) and not communicator.has_collective_error:
            if failure is not None and not isinstance(failure, SystemExit) and _is_child():
                # Python would print it too late.
                traceback.print_exception(type(failure), failure, failure.__traceback__)
            sys.stdout.flush()
            sys.stderr.flush()
            communicator.abort(1)
        try:
            communicator.close()
        except Error as error:
            print("NCCL: %s" % error, file=sys.stderr)
            sys.stderr.flush()
            communicator.abort(3)
        if self.channel is not None:
            self.channel.sendall(DONE)
            self.channel.close()
        if self.launcher is not None:
            self.launcher.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


def _folder_of(uid):
    """Returns the folder of the sockets, whose names must be short."""
    text = uid.decode("ascii", "replace") if isinstance(uid, bytes) else str(uid)
    if len(text) != 32 or not set(text) <= set("0123456789abcdef"):
        raise ValueError("NCCL: %r is not a uid of NCCL.new_uid()" % (uid,))
    folder = os.path.join(tempfile.gettempdir(), "brew-" + text)
    return folder if len(folder) < 90 else os.path.join("/tmp", "brew-" + text)


def _failure_file(folder):
    return os.path.join(folder, "failed")


def _is_child():
    return multiprocessing.parent_process() is not None


def _fatal_exception():
    """Returns the exception that ends this process, unless it is a successful exit."""
    exception = sys.exc_info()[1] or getattr(sys, "last_value", None)
    return None if isinstance(exception, SystemExit) and not exception.code else exception
