"""Caffe's log, on standard error."""
import os

from brew import _core

INFO, WARNING, ERROR = 0, 1, 2
_configured_severity = None


def _min_severity():
    if _configured_severity is not None:
        return _configured_severity
    try:
        return int(os.environ.get("GLOG_minloglevel", "0"))
    except ValueError:
        return 0


def init_log(level=None, stderr=True):
    """Sets the minimum severity that is shown: 0 information, 1 warnings, 2 errors."""
    global _configured_severity
    if level is not None:
        _configured_severity = int(level)
        # The runtime reads the variable when it writes its first line.
        os.environ["GLOG_minloglevel"] = str(_configured_severity)


def line(text, file="python.py", number=1, severity=INFO):
    """Writes a line; ``file`` and ``number`` are the source location in Caffe."""
    if severity >= _min_severity():
        _core.log(severity, file, number, text)


def log(text):
    """Logs an information message."""
    line(str(text))
