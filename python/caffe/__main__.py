"""Caffe's command for nets with layers written in Python: ``python3 -m caffe train -solver FILE`` and
likewise ``test`` and ``time``."""
import os
import sys
import traceback

import brew

from . import _caffe_command

_USAGE = """usage: python3 -m caffe train -solver FILE [-snapshot FILE | -weights FILES]
       python3 -m caffe test -model FILE -weights FILES [-iterations N]
       python3 -m caffe time -model FILE [-iterations N] [-phase TRAIN|TEST]
flags: -gpu -level -stage -sigint_effect -sighup_effect; flags of glog, such as -log_dir.
Write -name value or --name=value. The command caffe also runs nets without layers in Python."""

_VALUES = {"solver": "", "model": "", "weights": "", "snapshot": "", "iterations": "50", "phase": "", "gpu": "",
           "level": "0", "stage": "", "sigint_effect": "stop", "sighup_effect": "snapshot"}
_INTEGERS = ("iterations", "level")
# The flags of glog that the log reads from the environment.
_GLOG_VALUES = ("log_dir", "log_link", "logfile_mode", "max_log_size", "minloglevel", "stderrthreshold")
_GLOG_SWITCHES = ("alsologtostderr", "log_prefix", "logtostderr")


class UsageError(Exception):
    """A wrong command line."""


class Flags:
    """The action and the flags of a command line, as attributes. Raises UsageError."""

    def __init__(self, arguments):
        self.action = None
        self.__dict__.update(_VALUES)
        arguments = list(arguments)
        while arguments:
            argument = arguments.pop(0)
            if argument.startswith("-"):
                self._set(argument, arguments)
            elif self.action is None:
                self.action = argument
            else:
                raise UsageError("one action at a time: '%s' or '%s'" % (self.action, argument))

    def _set(self, argument, rest):
        name, has_value, value = argument.lstrip("-").partition("=")
        name = name.replace("-", "_")
        is_negated = not has_value and name.startswith("no") and name[2:] in _GLOG_SWITCHES
        if is_negated or name in _GLOG_SWITCHES:
            os.environ["GLOG_" + name[2 * is_negated:]] = value or ("0" if is_negated else "1")
            return
        if name not in _VALUES and name not in _GLOG_VALUES:
            raise UsageError("unknown flag '%s'" % argument)
        if not has_value:
            if not rest:
                raise UsageError("flag '%s' needs a value" % argument)
            value = rest.pop(0)
        if name in _GLOG_VALUES:
            os.environ["GLOG_" + name] = value
            return
        if name in _INTEGERS and not value.lstrip("-").isdigit():
            raise UsageError("-%s is an integer, not '%s'" % (name, value))
        setattr(self, name, value)


def _is_of_package(error):
    """Whether only code of the packages raised an error: no layer of the user."""
    folders = tuple(os.path.dirname(os.path.realpath(module.__file__)) + os.sep for module in (brew, _caffe_command))
    frames = traceback.extract_tb(error.__traceback__)
    return all(os.path.realpath(frame.filename).startswith(folders) or frame.filename.startswith("<") for frame in frames)


def main(arguments=None):
    """Runs the action of the arguments, by default sys.argv's. Returns the exit status: 2 for a wrong command
    line, 1 for other errors. Exceptions of layers written in Python are printed with their traceback."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments or {argument.lstrip("-") for argument in arguments} & {"h", "help"}:
        print(_USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    os.environ["GLOG_alsologtostderr"] = "1"  # as in Caffe's main()
    os.environ["BREW_CALLER"] = "caffe"  # the name of log files
    try:
        flags = Flags(arguments)
        if flags.action not in _caffe_command.ACTIONS:
            raise UsageError("name an action: %s" % ", ".join(_caffe_command.ACTIONS))
        _caffe_command.ACTIONS[flags.action](flags)
    except (UsageError, _caffe_command.FlagError) as error:
        print("caffe: error: %s" % error, file=sys.stderr)
        return 2
    except Exception as error:
        if not _is_of_package(error):
            traceback.print_exc()
            return 1
        print("\n  ".join(["caffe: error: %s" % error] + getattr(error, "__notes__", [])), file=sys.stderr)
        return getattr(error, "status", 3 if isinstance(error, OSError) else 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
