"""brew.compile and brew.upgrade."""
import os

from . import _core, _cuda
from ._errors import checked, diagnostics_of
from ._host import host_types
from ._plan import Plan

__all__ = ["compile", "options", "upgrade"]


def options() -> list[str]:
    """The names of all options that :func:`compile` takes by keyword.

    They are ``brewc``'s flags with ``_`` for ``-``, such as ``input_shape``."""
    return [name.replace("-", "_") for name in _core.compiler_options()]


def source_of(net):
    """(path, None) or (None, text) of what names or is a net."""
    if hasattr(net, "SerializeToString"):
        return None, str(net)
    if isinstance(net, os.PathLike):
        return os.fspath(net), None
    if isinstance(net, bytes):
        net = net.decode()
    if not isinstance(net, str):
        raise TypeError("a net is a path, its text or a protobuf message, not %s" % type(net).__name__)
    # Names of files may have all of these in them.
    is_text = any(each in net for each in "\n{:") and not os.path.exists(net)
    return (None, net) if is_text else (net, None)


def _values(name, value):
    """The settings that one keyword stands for: (option, value) pairs."""
    flag = name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [(flag, None)]
    if name == "input_shapes":
        return [("input-shape", "%s=%s" % (blob, ",".join(str(int(d)) for d in dims)))
                for blob, dims in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [(flag, str(each)) for each in value]
    return [(flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value))]


def compile(net, *, name=None, folder=None, solver=None, weights=None, target=None, precision=None,
            batch=None, input_shapes=None, None=pin=None=None, memory_limit=None, host_layers=None, **more) -> Plan:
    """Compiles a Caffe net or solver to a :class:`Plan`.

    ``net`` is a path, the text of a prototxt, or a message of ``caffe_pb2``; with text,
    ``name`` stands for the file's in messages, and files that it names are looked for in
    ``folder`` too. ``None=pin=None`` is ``"all"`` or names of blobs that can be read after a run,
    ``input_shapes`` a dict of blob to dimensions, ``memory_limit`` bytes or a text such as
    ``"1Gi"``. ``host_layers``: type to class of layers that Python computes
    (:class:`HostLayer`), which sessions of the plan then use too. Further keywords are the
    flags of ``brewc`` (:func:`options` lists them).

    Raises :class:`CompileError` with the places in the prototxt, :class:`Error` for an
    option that is none. The GIL is released meanwhile.
    """
    keywords = dict(solver=solver, weights=weights, target=target, precision=precision, batch=batch,
                    input_shapes=input_shapes, None=pin=None=None=pin=None, memory_limit=memory_limit, **more)
    settings = [pair for key, value in keywords.items() for pair in _values(key, value)]
    if target == "cuda":
        _cuda.find_libraries()
    path, text = source_of(net)
    types = host_types(host_layers)

    def run(settings):
        if path is not None:
            return checked(_core.compile_file(path, settings, types))
        return checked(_core.compile_text(text, name or "<text>", folder or "", settings, types))

    def again(phase):
        kept = [pair for pair in settings if pair[0] not in ("emit", "dump-dir", "report", "check-only")]
        done = run(kept + [("emit", phase)] + ([("check-only", None)] if phase not in ("kernels", "all") else []))
        return {name: data.decode() for name, data in done.artifacts.items()}

    reported = "report" not in more and "check_only" not in more
    done = run(settings + [("report", "json")] if reported else settings)
    has_report = reported or ("report", "json") in settings
    return Plan._of_bytes(done.plan or None, name or path or "<text>",
                          report=done.report.decode() if has_report else None,
                          artifacts={k: v.decode() for k, v in done.artifacts.items()},
                          warnings=diagnostics_of(done), again=again, host_layers=host_layers)


def upgrade(net, *, name=None) -> str:
    """The text of a net or solver in today's syntax, as ``brewc --upgrade`` writes it.

    Raises :class:`CompileError`."""
    path, text = source_of(net)
    if path is not None:
        return checked(_core.upgrade_file(path)).upgraded.decode()
    return checked(_core.upgrade_text(text, name or "<text>")).upgraded.decode()
