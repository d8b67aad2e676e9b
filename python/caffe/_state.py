"""What caffe's module functions set: seed, devices, the process's place among others."""
import functools
import os
import warnings

from brew._core import ThreadPool

_seed = None
_is_given = False
_of_rank = 0  # what is added to it on this rank
_drawn = 0


@functools.lru_cache(maxsize=None)
def thread_pool():
    """The threads that all nets compute with."""
    return ThreadPool(_threads())


def _threads():
    """The ranks of a machine share its cores, unless somebody has given each its own; 0: as
    the thread_pool chooses."""
    local = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", _count))
    cores = os.cpu_count() or 1
    if local <= 1 or "OMP_NUM_THREADS" in os.environ or len(os.sched_getaffinity(0)) < cores:
        return 0
    return max(1, cores // local)


def base_seed():
    """The seed that all others come from, on whichever rank."""
    global _seed
    if _seed is None:
        _seed = int.from_bytes(os.urandom(4), "little")
    return _seed


def _draw(seed):
    global _drawn
    _drawn += 1
    return (seed * 1000003 + _drawn) & 0xFFFFFFFFFFFF


def next_seed():
    """A seed for one layer's fillers and random numbers; each rank has its own."""
    return _draw(base_seed() + _of_rank)


def next_reader_seed():
    """As next_seed(), for what reads records: one for all ranks, plus the rank."""
    return _draw(base_seed()) + _rank


def set_random_seed(seed):
    """Nets made from now on draw the same numbers whenever the seed is the same."""
    global _seed, _drawn, _is_given, _of_rank
    _seed, _drawn, _is_given, _of_rank = int(seed), 0, True, 0


def seed_solver(seed):
    """As set_random_seed(), for a solver: each rank draws other numbers."""
    global _of_rank
    set_random_seed(seed)
    _of_rank = _rank


def set_mode_cpu():
    """Nets compute on the CPU, as they do anyway."""


def set_mode_gpu():
    """Accepted with a warning: this package computes on the CPU in this version."""
    warnings.warn("caffe.set_mode_gpu: this version computes on the CPU; for a GPU compile a plan with "
                  "brew.compile(target='cuda')", RuntimeWarning, stacklevel=2)


def set_device(device):
    """Accepted with a warning, as set_mode_gpu."""
    warnings.warn("caffe.set_device(%d): this version computes on the CPU" % device, RuntimeWarning, stacklevel=2)


_count, _rank, _multiprocess = 1, 0, False


def solver_count():
    return _count


def solver_rank():
    return _rank


def set_solver_count(count):
    """How many processes train together, before this one makes its solver."""
    global _count
    if count < 1:
        raise ValueError("%d solvers cannot train" % count)
    _count = int(count)


def set_solver_rank(rank):
    """This process's number among them. Rank 0 alone tests, logs and writes snapshots."""
    global _rank, _seed
    if rank < 0:
        raise ValueError("there is no rank %d" % rank)
    _rank = int(rank)
    if not _is_given:
        _seed = None  # a process that others were forked from may have drawn one


def set_multiprocess(value):
    """Whether each solver of several has a process of its own; ``NCCL`` needs it."""
    global _multiprocess
    _multiprocess = bool(value)


def multiprocess():
    return _multiprocess


def is_root():
    return _rank == 0
