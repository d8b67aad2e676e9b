"""Learning rates of solvers."""
import functools
from typing import NamedTuple, Optional

from brew._core import LearningRate

from ._base import runtime_errors
from .proto import caffe_pb2


class RateState(NamedTuple):
    """The state that a policy carries from iteration to iteration; part of snapshots."""

    step: int = 0
    minimum_loss: Optional[float] = None
    last_event: int = 0  # iteration of the last new minimum, step or restart


def learning_rate(param, iteration, state, loss=0.0):
    """Returns the learning rate of an iteration and the new state. Only policy ``plateau`` reads the
    displayed ``loss`` of the iteration. Raises RuntimeError for settings that the policy rejects."""
    with runtime_errors():
        rate, new_state = _rate_of(_encoded(param, "SGD")).at(iteration, loss, state)
    return rate, RateState(*new_state)


def check(param, kind):
    """Raises RuntimeError if fields of a SolverParameter contradict each other or the kind of solver."""
    with runtime_errors():
        LearningRate(_encoded(param, kind))


def _encoded(param, kind):
    """Encodes a SolverParameter with another type: later fields replace earlier ones."""
    return param.SerializeToString() + caffe_pb2.SolverParameter(type=kind).SerializeToString()


@functools.lru_cache(maxsize=16)
def _rate_of(solver):
    return LearningRate(solver)
