"""State of caffe's module functions: seed, devices, rank."""
import functools
import os
import warnings

from brew import Error, _core

_seed = None
_is_seed_set = False
_rank_offset = 0  # added to the seed on this rank
_draw_count = 0


@functools.lru_cache(maxsize=None)
def thread_pool():
    """Returns the thread pool of all nets."""
    return _core.ThreadPool(_pool_size())


def _pool_size():
    """Returns the number of threads of a rank, or 0 if the pool should choose it. Divides the cores
    among the ranks of a machine, unless each rank is bound to its own cores."""
    local_ranks = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", _count))
    cores = os.cpu_count() or 1
    if local_ranks <= 1 or "OMP_NUM_THREADS" in os.environ or len(os.sched_getaffinity(0)) < cores:
        return 0
    return max(1, cores // local_ranks)


def base_seed():
    """Returns the seed from which all ranks derive all other seeds."""
    global _seed
    if _seed is None:
        _seed = int.from_bytes(os.urandom(4), "little")
    return _seed


def _draw_seed(seed):
    global _draw_count
    _draw_count += 1
    return (seed * 1000003 + _draw_count) & 0xFFFFFFFFFFFF


def next_seed():
    """Returns a seed for the fillers and random numbers of a layer; it differs between ranks."""
    return _draw_seed(base_seed() + _rank_offset)


def next_reader_seed():
    """Returns a seed for a data reader: a seed that all ranks share plus the rank."""
    return _draw_seed(base_seed()) + _rank


def set_random_seed(seed):
    """Sets the random seed of all nets created from now on."""
    global _seed, _draw_count, _is_seed_set, _rank_offset
    _seed, _draw_count, _is_seed_set, _rank_offset = int(seed), 0, True, 0


def seed_solver(seed):
    """Sets the random seed of a solver's nets; the random numbers differ between ranks."""
    global _rank_offset
    set_random_seed(seed)
    _rank_offset = _rank


_uses_gpu, _device = False, 0


def gpu():
    """Returns the number of the GPU on which nets compute, or None for the CPU."""
    return _device if _uses_gpu else None


def target():
    """Returns the compiler's options for the device on which nets compute."""
    return dict(target="cuda", gpu_arch=_architecture(_device)) if _uses_gpu else {}


@functools.lru_cache(maxsize=None)
def _architecture(device):
    if "BREW_CUDASIM" in os.environ:
        return "sim"
    properties = dict(_core.device_query(device))
    return "sm_%s%s" % (properties["Major revision number"], properties["Minor revision number"])


def set_mode_cpu():
    """Makes all nets compute on the CPU."""
    global _uses_gpu
    _uses_gpu = False


def set_mode_gpu():
    """Makes all nets compute on a GPU. On machines without one, warns and has no effect."""
    global _uses_gpu
    reason = missing_gpu()
    if reason:
        warnings.warn("caffe.set_mode_gpu: %s; nets compute on the CPU" % reason, RuntimeWarning, stacklevel=2)
    _uses_gpu = not reason


def set_device(device):
    """Selects the GPU of mode GPU by its number. On machines without one, warns and has no effect."""
    global _device
    reason = missing_gpu()
    if reason:
        warnings.warn("caffe.set_device(%d): %s; nets compute on the CPU" % (device, reason), RuntimeWarning,
                      stacklevel=2)
    elif not 0 <= device < _core.gpu_count():
        raise RuntimeError("there is no GPU %d; the machine has %d" % (device, _core.gpu_count()))
    else:
        _device = int(device)


def missing_gpu():
    """Returns why the machine has no GPU that nets can use, or None."""
    try:
        return None if _core.gpu_count() else "the machine has no GPU"
    except Error as error:
        return str(error)


_count, _rank, _multiprocess = 1, 0, False


def solver_count():
    return _count


def solver_rank():
    return _rank


def set_solver_count(count):
    """Sets the number of ranks. Call it before creating the solver."""
    global _count
    if count < 1:
        raise ValueError("the number of solvers must be at least 1, not %d" % count)
    _count = int(count)


def set_solver_rank(rank):
    """Sets the rank of this process. Only rank 0 tests, logs and writes snapshots."""
    global _rank, _seed
    if rank < 0:
        raise ValueError("there is no rank %d" % rank)
    _rank = int(rank)
    if not _is_seed_set:
        _seed = None  # a parent process may have drawn one before the fork


def set_multiprocess(value):
    """Sets whether each solver has its own process, as ``NCCL`` requires."""
    global _multiprocess
    _multiprocess = bool(value)


def multiprocess():
    return _multiprocess


def is_root():
    return _rank == 0
