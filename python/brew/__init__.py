"""Brew compiles Caffe nets and runs them.

>>> import brew
>>> plan = brew.compile('''
... layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
... layer { name: "y" type: "Power" bottom: "x" top: "y" power_param { scale: 3 } }''')
>>> plan.session()(x=[1, 2])
{'y': array([3., 6.], dtype=float32)}
"""
from ._compile import compile, options, upgrade
from ._core import version as __version__
from ._embedding import embed, scatter
from ._errors import CompileError, Diagnostic, Error, Note
from ._events import Event
from ._graph import Graph
from ._host import HostLayer
from ._reinforcement import Learner
from ._plan import Plan, Report
from ._session import HookCall, Session, TunedCall

__all__ = ["CompileError", "Diagnostic", "Error", "Event", "Graph", "HookCall", "HostLayer",
           "Learner", "Note", "Plan", "Report", "Session", "TunedCall", "compile", "embed",
           "options", "scatter", "upgrade"]
