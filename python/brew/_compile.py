"""brew.compile and brew.upgrade."""
import os

from . import _core, _cuda
from ._errors import checked, diagnostics_of
from ._host import host_types
from ._options import settings_of
from ._plan import Plan

__all__ = ["compile", "options", "upgrade"]


def options() -> list[str]:
    """Returns the names of all options that :func:`compile` accepts as keywords.

    They are ``brewc``'s flags with ``_`` for ``-``, such as ``input_shape``."""
    return [name.replace("-", "_") for name in _core.compiler_options()]


def source_of(net):
    """Returns (path, None) for a path to a net, or (None, text) for the net itself."""
    if hasattr(net, "SerializeToString"):
        return None, str(net)
    if isinstance(net, os.PathLike):
        return os.fspath(net), None
    if isinstance(net, bytes):
        net = net.decode()
    if not isinstance(net, str):
        raise TypeError("a net is a path, its text or a protobuf message, not %s" % type(net).__name__)
    # File names may contain these characters, too.
    is_text = any(character in net for character in "\n{:") and not os.path.exists(net)
    return (None, net) if is_text else (net, None)


def _settings_of(name, value):
    """Returns the settings of one keyword as (option, value) pairs."""
    if name == "input_shapes" and value is not None:
        return [("input-shape", "%s=%s" % (blob, ",".join(str(int(d)) for d in dims)))
                for blob, dims in value.items()]
    return settings_of(name, value)


def compile(net, *, name=None, folder=None, solver=None, weights=None, target=None, precision=None,
            batch=None, input_shapes=None, keep=None, memory_limit=None, host_layers=None, **more) -> Plan:
    """Compiles a Caffe net or solver to a :class:`Plan`.

    ``net`` is a path, the text of a prototxt, or a message of ``caffe_pb2``. With text,
    ``name`` is used in messages instead of a file name, and ``folder`` is an additional
    folder for the files that the text names. ``keep`` is ``"all"`` or the names of blobs that
    must be readable after a run, ``input_shapes`` a dict of blob to dimensions,
    ``memory_limit`` a number of bytes or a text such as ``"1Gi"``. ``host_layers`` is a dict of
    layer type to the Python class that implements it (:class:`HostLayer`); sessions of the
    plan also use it. All other keywords are flags of ``brewc`` (see :func:`options`).

    Raises :class:`CompileError` with the locations in the prototxt and :class:`Error` for an
    unknown option. Releases the GIL.
    """
    keywords = dict(solver=solver, weights=weights, target=target, precision=precision, batch=batch,
                    input_shapes=input_shapes, keep=keep, memory_limit=memory_limit, **more)
    settings = [pair for key, value in keywords.items() for pair in _settings_of(key, value)]
    if target == "cuda":
        _cuda.load_libraries()
    path, text = source_of(net)
    layer_types = host_types(host_layers)

    def run(settings):
        if path is not None:
            return checked(_core.compile_file(path, settings, layer_types))
        return checked(_core.compile_text(text, name or "<text>", folder or "", settings, layer_types))

    def recompile(phase):
        inherited = [pair for pair in settings if pair[0] not in ("emit", "dump-dir", "report", "check-only")]
        check_only = [("check-only", None)] if phase not in ("kernels", "all") else []
        compilation = run(inherited + [("emit", phase)] + check_only)
        return {name: data.decode() for name, data in compilation.artifacts.items()}

    adds_report = "report" not in more and "check_only" not in more
    compilation = run(settings + [("report", "json")] if adds_report else settings)
    has_report = adds_report or ("report", "json") in settings
    return Plan._of_bytes(compilation.plan or None, name or path or "<text>",
                          report=compilation.report.decode() if has_report else None,
                          artifacts={k: v.decode() for k, v in compilation.artifacts.items()},
                          warnings=diagnostics_of(compilation), recompile=recompile, host_layers=host_layers)


def upgrade(net, *, name=None) -> str:
    """Returns the text of a net or solver in the current syntax, as ``brewc --upgrade``.

    Raises :class:`CompileError`."""
    path, text = source_of(net)
    if path is not None:
        return checked(_core.upgrade_file(path)).upgraded.decode()
    return checked(_core.upgrade_text(text, name or "<text>")).upgraded.decode()
