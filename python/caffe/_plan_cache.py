"""Plans of nets and of single layers, and what prototxts say, kept by their content.

What is kept on disk is limited: what was used longest ago goes."""
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

# So many plans stay in memory; most nets have fewer kinds of layers.
_KEPT = 1024
# Bytes of files that may stay between processes.
_ROOM = 2 << 30
_plan_cache = OrderedDict()
# What makes the exceptions anew: one that was raised keeps its callers' nets alive.
_failures = OrderedDict()


@functools.lru_cache(maxsize=None)
def _folder():
    """Where plans stay between processes; None where there is no such place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "brew", "layers")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return None
    return folder


@functools.lru_cache(maxsize=None)
def _environment_key():
    """What plans depend on beside their text: the compiler, and the machine that
    ``--cpu native`` means."""
    parts = [brew.__version__]
    try:
        with open("/proc/self/maps") as maps:
            libraries = {line.split()[-1] for line in maps if "libbrew_compiler" in line}
        for library in sorted(libraries):
            facts = os.stat(library)
            # The last time cannot be set, so it tells of a library that was replaced by one of the same age.
            parts.append("%s %d %d %d" % (os.path.realpath(library), facts.st_size, facts.st_mtime_ns,
                                          facts.st_ctime_ns))
        with open("/proc/cpuinfo") as info:
            parts += sorted({line for line in info if line.startswith(("model name", "flags"))})
    except OSError:
        parts.append(str(os.getpid()))  # unknown: kept for this process alone
    return "\n".join(parts)


def _remember(table, key, value):
    table[key] = value
    while len(table) > _KEPT:
        table.popitem(last=False)
    return value


def _evict(folder):
    """Removes the files that were used longest ago where there are too many bytes of them."""
    try:
        with os.scandir(folder) as found:
            files = [(entry.stat(), entry.path) for entry in found if entry.is_file()]
    except OSError:
        return
    used = sum(facts.st_size for facts, _ in files)
    for facts, path in sorted(files, key=lambda each: each[0].st_mtime):
        if used <= _ROOM * 3 // 4:
            break
        try:
            os.unlink(path)
        except OSError:
            continue
        used -= facts.st_size


@functools.lru_cache(maxsize=None)
def _written():
    """Bytes written since the folder was last looked through, in a list."""
    return [0, False]


def _count(path):
    """Keeps the folder within its room: looked through at the first file that a process
    adds, and whenever it has added a good part of the room."""
    state = _written()
    state[0] += os.path.getsize(path)
    if not state[1] or state[0] > _ROOM // 8:
        state[0], state[1] = 0, True
        folder = os.path.dirname(path)
        with os.scandir(folder) as found:
            full = sum(entry.stat().st_size for entry in found if entry.is_file()) > _ROOM
        if full:
            _evict(folder)


def _cached(kind, text, options, on_disk, make, load, save, keeps_failures=True):
    """What ``make()`` makes, or what was made of the same before."""
    if not on_disk:
        return make()
    key = (kind, text, tuple(sorted(options.items())))
    if key in _plan_cache:
        _plan_cache.move_to_end(key)
        return _plan_cache[key]
    if key in _failures:
        raise brew.CompileError(*_failures[key])
    folder, path = _folder(), None
    if folder:
        digest = hashlib.sha256(repr((key, _environment_key())).encode()).hexdigest()
        path = os.path.join(folder, "%s.%s" % (digest, kind))
        try:
            loaded = load(path)
            os.utime(path)
            return _remember(_plan_cache, key, loaded)
        except (OSError, ValueError, DecodeError, brew.Error):
            pass
    try:
        made = make()
    except brew.CompileError as failure:
        if keeps_failures:
            _remember(_failures, key, (failure.diagnostics, str(failure), failure.status))
        raise
    if path:
        try:
            save(made, path)
            _count(path)
        except OSError:
            pass  # a full or read-only disk costs time, nothing else
    return _remember(_plan_cache, key, made)


def _net_key(net):
    """Tells nets apart; their text, which takes long, is made for the compiler alone."""
    return net.SerializeToString(deterministic=True)


def plan(net, on_disk=True, **options):
    """The plan of a NetParameter. With ``on_disk`` it is looked for in, and added to, what
    was compiled before. Raises brew.CompileError."""
    return _cached("plan", _net_key(net), options, on_disk,
                   lambda: brew.compile(net, name="layer", report=False, **options),
                   brew.Plan.open, lambda made, path: made.save(path))


def parsed(path, message):
    """``message`` with what a prototxt of any age says. Raises brew.Error, ParseError."""
    with open(path, "rb") as file:
        text = file.read()

    def load(path):
        with open(path, "rb") as file:
            data = file.read()
        type(message).FromString(data)  # raises DecodeError if it is damaged
        return data

    def make():
        # A str may be a text, too.
        return text_format.Parse(brew.upgrade(pathlib.Path(path)), message).SerializeToString()

    kind = message.DESCRIPTOR.name
    # Failures name the file, and another one may have the same text.
    data = _cached(kind, text, {}, True, make, load, lambda made, path: write_bytes(path, made), keeps_failures=False)
    message.ParseFromString(data)
    return message


def shapes(net, on_disk=True, **options):
    """``blobs`` and ``params`` of a NetParameter: names to shapes. As ``plan``, which takes
    much longer."""
    def make():
        report = brew.compile(net, name="layer", report="json", check_only=True, **options).report
        return {"blobs": report["blobs"], "params": report["params"]}

    def load(path):
        with open(path) as file:
            return json.load(file)

    return _cached("shapes", _net_key(net), options, on_disk, make, load,
                   lambda made, path: write_bytes(path, json.dumps(made).encode()))
