"""A cache of plans of nets and single layers and of parsed prototxts, keyed by content.

The cache on disk has a size limit; the least recently used files are removed."""
import functools
import hashlib
import json
import os
import pathlib
from collections import OrderedDict

from google.protobuf import text_format
from google.protobuf.message import DecodeError

import brew
from brew._files import write_bytes

# Maximum number of plans in memory; most nets have fewer kinds of layers.
_MAX_PLANS = 1024
# Maximum size of the cache on disk in bytes.
_ROOM = 2 << 30
_plans = OrderedDict()
# Arguments to recreate exceptions: a raised exception keeps its callers' nets alive.
_failures = OrderedDict()


@functools.lru_cache(maxsize=None)
def _folder():
    """Returns the cache folder, or None if it cannot be created."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "brew", "layers")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder


@functools.lru_cache(maxsize=None)
def _environment_key():
    """Returns the dependencies of plans besides the net: the compiler, and the machine for
    ``--cpu native``."""
    parts = [brew.__version__]
    try:
        with open("/proc/self/maps") as maps:
            libraries = {line.split()[-1] for line in maps if "libbrew_compiler" in line}
        for library in sorted(libraries):
            status = os.stat(library)
            # The time of the status change cannot be set, so it reveals a library replaced by
            # one of the same age.
            parts.append("%s %d %d %d" % (os.path.realpath(library), status.st_size, status.st_mtime_ns,
                                          status.st_ctime_ns))
        with open("/proc/cpuinfo") as info:
            parts += sorted({line for line in info if line.startswith(("model name", "flags"))})
    except OSError:
        parts.append(str(os.getpid()))  # unknown: valid only in this process
    return "\n".join(parts)


def _remember(table, key, value):
    table[key] = value
    while len(table) > _MAX_PLANS:
        table.popitem(last=False)
    return value


def _evict(folder):
    """Removes the least recently used files if the cache is too large."""
    try:
        with os.scandir(folder) as entries:
            files = [(entry.stat(), entry.path) for entry in entries if entry.is_file()]
    except OSError:
        return
    used = sum(status.st_size for status, _ in files)
    for status, path in sorted(files, key=lambda file: file[0].st_mtime):
        if used <= _ROOM * 3 // 4:
            break
        try:
            os.unlink(path)
        except OSError:
            continue
        used -= status.st_size


@functools.lru_cache(maxsize=None)
def _written():
    """Returns [bytes written since the last scan of the folder, whether it was scanned]."""
    return [0, False]


def _count(path):
    """Enforces the size limit of the folder: scans it after the first file that a process adds,
    and whenever the process has added an eighth of the limit."""
    state = _written()
    state[0] += os.path.getsize(path)
    if not state[1] or state[0] > _ROOM // 8:
        state[0], state[1] = 0, True
        folder = os.path.dirname(path)
        with os.scandir(folder) as entries:
            full = sum(entry.stat().st_size for entry in entries if entry.is_file()) > _ROOM
        if full:
            _evict(folder)


def _cached(kind, text, options, on_disk, make, load, save, keeps_failures=True):
    """Returns the cached result of ``make()``, or calls it and caches the result."""
    if not on_disk:
        return make()
    key = (kind, text, tuple(sorted(options.items())))
    if key in _plans:
        _plans.move_to_end(key)
        return _plans[key]
    if key in _failures:
        raise brew.CompileError(*_failures[key])
    folder, path = _folder(), None
    if folder:
        digest = hashlib.sha256(repr((key, _environment_key())).encode()).hexdigest()
        path = os.path.join(folder, "%s.%s" % (digest, kind))
        try:
            loaded = load(path)
            os.utime(path)
            return _remember(_plans, key, loaded)
        except (OSError, ValueError, DecodeError, brew.Error):
            pass
    try:
        result = make()
    except brew.CompileError as failure:
        if keeps_failures:
            _remember(_failures, key, (failure.diagnostics, str(failure), failure.status))
        raise
    if path:
        try:
            save(result, path)
            _count(path)
        except OSError:
            pass  # a full or read-only disk only costs time
    return _remember(_plans, key, result)


def _net_key(net):
    """Returns a key of a net. Formatting its text is slow and only needed for the compiler."""
    return net.SerializeToString(deterministic=True)


def plan(net, on_disk=True, **options):
    """Returns the plan of a NetParameter; with ``on_disk``, uses the cache. Raises
    brew.CompileError."""
    return _cached("plan", _net_key(net), options, on_disk,
                   lambda: brew.compile(net, name="layer", report=False, **options),
                   brew.Plan.open, lambda result, path: result.save(path))


def parsed(path, message):
    """Parses a prototxt in any syntax version into ``message``. Raises brew.Error, ParseError."""
    with open(path, "rb") as file:
        text = file.read()

    def load(path):
        with open(path, "rb") as file:
            data = file.read()
        type(message).FromString(data)  # raises DecodeError if it is damaged
        return data

    def make():
        # A str might be taken for the text of a net.
        return text_format.Parse(brew.upgrade(pathlib.Path(path)), message).SerializeToString()

    kind = message.DESCRIPTOR.name
    # Failures name the file, but other files may have the same text.
    data = _cached(kind, text, {}, True, make, load, lambda result, path: write_bytes(path, result),
                   keeps_failures=False)
    message.ParseFromString(data)
    return message


def shapes(net, on_disk=True, **options):
    """Returns ``blobs`` and ``params`` of a NetParameter, dicts of names to shapes, and ``fillers``,
    the fillers of its parameters as texts by layer and index. Much faster than ``plan``."""
    def make():
        report = brew.compile(net, name="layer", report="json", check_only=True, **options).report
        return {name: report[name] for name in ("blobs", "params", "fillers")}

    def load(path):
        with open(path) as file:
            return json.load(file)

    return _cached("shapes", _net_key(net), options, on_disk, make, load,
                   lambda result, path: write_bytes(path, json.dumps(result).encode()))
