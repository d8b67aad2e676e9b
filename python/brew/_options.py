"""The options of compilations and sessions, which the libraries list in tables."""

import difflib
import inspect
import os

import numpy as np

from . import _core

#: The runtime's options (:class:`brew._core.Option`), by the name of their keyword.
RUNTIME = {option.name.replace("-", "_"): option for option in _core.options()}


def settings_of(name, value):
    """Returns the settings of a keyword as (option, text) pairs; the text is None for a flag."""
    flag = name.replace("_", "-")
    if value is None or isinstance(value, str) and not value:
        return []
    if isinstance(value, (bool, np.bool_)):
        return [(flag, None)] if value else []
    if isinstance(value, (list, tuple, set)):
        return [(flag, os.fspath(item) if isinstance(item, os.PathLike) else str(item)) for item in value]
    return [(flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value))]


def runtime_settings(function, keywords, skipped=()):
    """Returns the settings of keywords that name options of the runtime or fields of the solver.

    A list is one value of a field, and several values of an option. Raises TypeError like a call
    of `function` with an unknown keyword."""
    settings = []
    for name, value in keywords.items():
        if name not in RUNTIME or name in skipped:
            close = difflib.get_close_matches(name, [key for key in RUNTIME if key not in skipped], 1)
            raise TypeError("%s() got an unexpected keyword argument %r%s"
                            % (function, name, "; did you mean %r?" % close[0] if close else ""))
        if RUNTIME[name].field is None:
            settings += settings_of(name, value)
        elif value is not None:
            settings.append((RUNTIME[name].name, field_text(value)))
    return settings


def field_text(value):
    """Returns the value of a solver field as text."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value)


def field_settings(fields):
    """Returns the settings of solver fields, given by their names in the prototxt."""
    by_field = {option.field: option.name for option in RUNTIME.values() if option.field}
    for name in fields:
        if name not in by_field:
            close = difflib.get_close_matches(name, by_field, 1)
            error = _core.Error("the solver has no field %r that can be set%s"
                                % (name, "; did you mean %r?" % close[0] if close else ""))
            error.status = 2
            raise error
    return [(by_field[name], field_text(value)) for name, value in fields.items()]


def extended_signature(function, skipped=()):
    """Returns the signature of `function` with the runtime's options in place of ``**options``."""
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
                   for name in RUNTIME if name not in skipped and name not in signature.parameters]
    return signature.replace(parameters=parameters)


def description(skipped=()):
    """Returns a list item for each of the runtime's options, for a docstring."""
    return "\n".join("    - ``%s``: %s" % (name, option.help) for name, option in RUNTIME.items()
                     if name not in skipped)
