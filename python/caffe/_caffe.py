"""The names of pycaffe's extension module that scripts use, such as ``caffe._caffe.BlobVec``."""
from ._base import Layer
from ._blob import Blob, BlobVec, RawBlobVec
from ._log import init_log, log
from ._module import Timer, layer_type_list
from ._nccl import NCCL, has_nccl
from ._solver import (AdaDeltaSolver, AdaGradSolver, AdamSolver, NesterovSolver, RMSPropSolver, SGDSolver,
                      get_solver)
from ._solver import SGDSolver as Solver  # the base of the others
from ._state import (set_device, set_mode_cpu, set_mode_gpu, set_multiprocess, set_random_seed,
                     set_solver_count, set_solver_rank, solver_count, solver_rank)
from ._vectors import BoolVec, DtypeVec, IntVec, LayerVec, NetVec, StringVec
from .proto.caffe_pb2 import LayerParameter, SolverParameter
from .pycaffe import Net

#: The version of Caffe that this interface corresponds to.
__version__ = "1.0.0"

__all__ = ["AdaDeltaSolver", "AdaGradSolver", "AdamSolver", "Blob", "BlobVec", "BoolVec", "DtypeVec", "IntVec", "Layer",
           "LayerParameter", "LayerVec", "NCCL", "NesterovSolver", "Net", "NetVec", "RMSPropSolver", "RawBlobVec",
           "SGDSolver", "Solver", "SolverParameter", "StringVec", "Timer", "get_solver", "has_nccl", "init_log",
           "layer_type_list", "log", "set_device", "set_mode_cpu", "set_mode_gpu", "set_multiprocess",
           "set_random_seed", "set_solver_count", "set_solver_rank", "solver_count", "solver_rank"]
