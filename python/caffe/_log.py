"""Caffe's log, on standard error."""
from brew import _core

INFO, WARNING, ERROR = 0, 1, 2


def init_log(level=None, stderr=True):
    """Sets the minimum severity that is shown: 0 information, 1 warnings, 2 errors. ``stderr`` has no effect:
    the log is always on standard error."""
    if level is not None:
        _core.set_log_minimum(int(level))


def line(text, file="python.py", number=1, severity=INFO):
    """Writes a line; ``file`` and ``number`` are the source location in Caffe."""
    _core.log(severity, file, number, text)


def log(text):
    """Logs an information message."""
    line(str(text))
