"""pycaffe's interface over Brew's compiled plans."""
from . import _caffe, io, net_spec, proto, pycaffe
from ._caffe import __version__
from ._log import init_log, log
from ._module import Timer, layer_type_list
from ._nccl import NCCL, has_nccl
from ._solver import (AdaDeltaSolver, AdaGradSolver, AdamSolver, NesterovSolver, RMSPropSolver, SGDSolver,
                      get_solver)
from ._state import (set_device, set_mode_cpu, set_mode_gpu, set_multiprocess, set_random_seed,
                     set_solver_count, set_solver_rank, solver_count, solver_rank)
from .classifier import Classifier
from .detector import Detector
from .net_spec import NetSpec, layers, params, to_proto
from .proto.caffe_pb2 import TEST, TRAIN
from .pycaffe import Layer, Net
