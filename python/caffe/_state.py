"""What caffe's module functions set: seed, devices, the process's place among others."""
import functools
import os
import warnings

from brew._core import Pool

_seed = None
_drawn = 0


@functools.lru_cache(maxsize=None)
def pool():
    """The threads that all nets compute with."""
    return Pool()


def next_seed():
    """A seed for one layer's fillers and random numbers."""
    global _drawn, _seed
    if _seed is None:
        _seed = int.from_bytes(os.urandom(4), "little")
    _drawn += 1
    return (_seed * 1000003 + _drawn) & 0xFFFFFFFFFFFF


def set_random_seed(seed):
    """Nets made from now on draw the same numbers whenever the seed is the same."""
    global _seed, _drawn
    _seed, _drawn = int(seed), 0


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
    global _count
    if count != 1:
        raise RuntimeError("several solvers need NCCL, which this version does not have")
    _count = count


def set_solver_rank(rank):
    global _rank
    if rank:
        raise RuntimeError("several solvers need NCCL, which this version does not have")
    _rank = rank


def set_multiprocess(value):
    global _multiprocess
    if value:
        raise RuntimeError("several processes need NCCL, which this version does not have")
    _multiprocess = bool(value)


def has_nccl():
    return False
