"""caffe.NCCL: gradients that several processes average."""
import numpy as np

from brew import Error

from . import _ranks, _state

# Gradients travel together up to so many bytes.
_BUCKET = 1 << 20


def has_nccl():
    """Whether several processes can train together here."""
    return _ranks.is_available()


class NCCL:
    """What connects a solver to those of other processes: ``NCCL(solver, uid)``.

    Each process has called ``set_solver_count``, ``set_solver_rank`` and
    ``set_multiprocess(True)`` before it made its solver; ``uid`` is of one ``NCCL.new_uid()``
    for all. As a callback of the solver (``solver.add_callback(nccl)``) it replaces
    gradients by their mean over all ranks; with ``solver.net.after_backward(nccl)`` it begins
    as soon as a layer's are there. Raises RuntimeError where ranks cannot be connected, or
    train other things."""

    def __init__(self, solver, uid):
        self._solver = solver
        self._count = _state.solver_count()
        self._ranks = None
        self._waiting = []  # numbers of buckets whose sums are on their way
        self._is_last_pass, self._in_step = True, False
        if self._count == 1:
            return
        if not _state.multiprocess():
            raise RuntimeError("NCCL: a process is one rank; set_multiprocess(True) says that the others have their own")
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
        self._check_all_equal("iteration to begin with", str(solver.iter))
        if solver.param.random_seed < 0:
            self._share_seed()

    @staticmethod
    def new_uid():
        """Bytes for one run's ``NCCL(solver, uid)`` in all its processes."""
        return _ranks.new_uid()

    def bcast(self):
        """Gives all ranks the parameters of rank 0."""
        if self._ranks is None:
            return
        for blob in self._solver.net._learnable:
            self._collective(lambda communicator, values: communicator.broadcast(values), blob.data)

    # --- what the solver and its net call

    @property
    def _is_alone(self):
        """Whether there are no other ranks, and gradients stay as they are."""
        return self._ranks is None

    def _begin_pass(self, is_last):
        """A solver is about to run a pass; gradients are complete behind the last."""
        self._is_last_pass, self._in_step = is_last, True

    def _after_layer(self, number):
        """Behind a layer's backward pass: its bucket begins to travel if it is the last of it."""
        if self._ranks is None or not self._is_last_pass:
            return
        for bucket, (lowest, _) in enumerate(self._buckets):
            if lowest == number and bucket not in self._waiting:
                self._start(bucket)
                if not self._in_step:
                    self._finish()

    def _on_gradients_ready(self):
        """Replaces what has not begun to travel, too, by its mean."""
        if self._ranks is None:
            return
        for bucket in range(len(self._buckets)):
            if bucket not in self._waiting:
                self._start(bucket)
        self._finish()
        self._in_step = False

    def _start(self, bucket):
        arrays = [blob.diff for blob in self._buckets[bucket][1]]
        self._collective(lambda communicator: communicator.start_all_reduce(bucket, arrays))
        self._waiting.append(bucket)

    def _finish(self):
        share = np.float32(1 / self._count)
        for bucket in self._waiting:
            self._collective(lambda communicator: communicator.wait_all_reduce(bucket))
            for blob in self._buckets[bucket][1]:
                diff = blob.diff
                diff *= share
        self._waiting = []

    def _fail(self):
        """The iteration has failed, for which the other ranks wait: so do they when this
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

    def _check_all_equal(self, what, value):
        self._collective(lambda communicator: communicator.check_all_equal(what, value))

    def _share_seed(self):
        """Readers that shuffle need one order for all ranks, whose seeds differ where the
        solver gives none: that of rank 0."""
        seed = np.zeros(2, np.float32)  # two halves, which floats hold exactly
        if _state.solver_rank() == 0:
            seed[:] = _state.base_seed() >> 16 & 0xFFFF, _state.base_seed() & 0xFFFF
        self._collective(lambda communicator: communicator.broadcast(seed))
        for number, layer in enumerate(self._solver.net._layers):
            layer.reseed_reader((int(seed[0]) << 16 | int(seed[1])) + number)


def _buckets_of(net):
    """(number of the lowest layer, blobs) of what travels together, in the order in which a
    backward pass is done with it: behind the lowest of the layers that a parameter has."""
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
