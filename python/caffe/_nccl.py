"""caffe.NCCL: averaging of gradients over several processes."""
import numpy as np

from brew import Error

from . import _ranks, _state

# Maximum size in bytes of a bucket of gradients.
_BUCKET = 1 << 20


def has_nccl():
    """Whether several processes can train together on this machine."""
    return _ranks.is_available()


class NCCL:
    """Connects a solver to the solvers of other processes: ``NCCL(solver, uid)``.

    Each process must call ``set_solver_count``, ``set_solver_rank`` and
    ``set_multiprocess(True)`` before it creates its solver. All processes pass the same ``uid``,
    the result of one ``NCCL.new_uid()``. As a callback of the solver
    (``solver.add_callback(nccl)``) it replaces gradients by their mean over all ranks; with
    ``solver.net.after_backward(nccl)`` it starts as soon as a layer's gradients are complete.
    Raises RuntimeError if the ranks cannot be connected or have different solvers or nets."""

    def __init__(self, solver, uid):
        self._solver = solver
        self._count = _state.solver_count()
        self._ranks = None
        self._pending = []  # numbers of buckets with a pending all-reduce
        self._is_last_pass, self._in_step = True, False
        if self._count == 1:
            return
        if not _state.multiprocess():
            raise RuntimeError("NCCL: a process is one rank; call set_multiprocess(True) if each rank has its "
                               "own process")
        self._ranks = _ranks.join(uid)
        self._buckets = _buckets_of(solver.net)
        net = solver.net
        settings = type(solver.param)()
        settings.CopyFrom(solver.param)
        for field in ("net", "net_param", "train_net", "train_net_param", "test_net", "test_net_param",
                      "snapshot_prefix", "weights"):
            settings.ClearField(field)
        shapes = [(name, [blob.shape for blob in blobs]) for name, blobs in net.params.items()]
        self._check_all_equal("kind of solver", solver.type)
        self._check_all_equal("solver", settings.SerializeToString(deterministic=True).hex())
        self._check_all_equal("shapes of parameters", str(shapes))
        self._check_all_equal("first iteration", str(solver.iter))
        if solver.param.random_seed < 0:
            self._share_seed()

    @staticmethod
    def new_uid():
        """Returns the uid of a run, for ``NCCL(solver, uid)`` in all its processes."""
        return _ranks.new_uid()

    def bcast(self):
        """Broadcasts the parameters of rank 0 to all ranks."""
        if self._ranks is None:
            return
        for blob in self._solver.net._learnable:
            self._collective(lambda communicator, values: communicator.broadcast(values), blob._values)
            blob._data.changes += 1

    # --- called by the solver and its net

    @property
    def _is_alone(self):
        """Whether there are no other ranks."""
        return self._ranks is None

    def _begin_pass(self, is_last):
        """Called before a solver's pass; gradients are complete after the last pass."""
        self._is_last_pass, self._in_step = is_last, True

    def _after_layer(self, number):
        """Called after a layer's backward pass. Starts the all-reduce of its bucket if complete."""
        if self._ranks is None or not self._is_last_pass:
            return
        for bucket, (lowest, _) in enumerate(self._buckets):
            if lowest == number and bucket not in self._pending:
                self._start(bucket)
                if not self._in_step:
                    self._finish()

    def _on_gradients_ready(self):
        """Starts the remaining all-reduces and replaces all gradients by their means."""
        if self._ranks is None:
            return
        for bucket in range(len(self._buckets)):
            if bucket not in self._pending:
                self._start(bucket)
        self._finish()
        self._in_step = False

    def _start(self, bucket):
        arrays = [blob._gradient for blob in self._buckets[bucket][1]]
        self._collective(lambda communicator: communicator.start_all_reduce(bucket, arrays))
        self._pending.append(bucket)

    def _finish(self):
        share = np.float32(1 / self._count)
        for bucket in self._pending:
            self._collective(lambda communicator: communicator.wait_all_reduce(bucket))
            for blob in self._buckets[bucket][1]:
                diff = blob._gradient
                diff *= share
        self._pending = []

    def _fail(self):
        """Marks the iteration as failed: the other ranks, which wait for it, must fail when this
        process ends."""
        if self._ranks is not None:
            self._ranks.failed = True

    # --- with the other ranks

    def _collective(self, call, *arguments):
        try:
            return call(self._ranks.communicator, *arguments)
        except Error as error:
            self._fail()
            raise RuntimeError("NCCL: %s" % error) from error

    def _check_all_equal(self, description, value):
        self._collective(lambda communicator: communicator.check_all_equal(description, value))

    def _share_seed(self):
        """Distributes rank 0's seed to the readers. Shuffling needs the same order on all ranks,
        whose seeds differ if the solver sets none."""
        seed = np.zeros(2, np.float32)  # two halves, which floats hold exactly
        if _state.solver_rank() == 0:
            seed[:] = _state.base_seed() >> 16 & 0xFFFF, _state.base_seed() & 0xFFFF
        self._collective(lambda communicator: communicator.broadcast(seed))
        for number, layer in enumerate(self._solver.net._layers):
            layer.reseed_reader((int(seed[0]) << 16 | int(seed[1])) + number)


def _buckets_of(net):
    """Returns buckets of gradients as (number of the lowest layer, blobs), in the order in which
    a backward pass completes them. A gradient is complete after the lowest layer that uses the
    parameter."""
    lowest = {}
    for number, indices in enumerate(net._param_index):
        for index in indices:
            lowest.setdefault(index, number)
    buckets, bytes_left = [], 0
    for index in sorted(lowest, key=lambda i: (-lowest[i], i)):
        number, blob = lowest[index], net._learnable[index]
        if bytes_left <= 0 and not (buckets and buckets[-1][0] == number):
            buckets.append((number, []))
            bytes_left = _BUCKET
        buckets[-1] = number, buckets[-1][1] + [blob]
        bytes_left -= 4 * blob.count
    return buckets
