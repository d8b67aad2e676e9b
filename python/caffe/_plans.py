"""Plans of single layers, kept by their content."""
import functools
import hashlib
import json
import os
from collections import OrderedDict

import brew
from brew._files import write_bytes

# So many plans stay in memory; most nets have fewer kinds of layers.
_KEPT = 1024
_plans = OrderedDict()
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
def _builder():
    """What plans depend on beside their text: the compiler, and the machine that
    ``--cpu native`` means."""
    parts = [brew.__version__]
    try:
        with open("/proc/self/maps") as maps:
            libraries = {line.split()[-1] for line in maps if "libbrew_compiler" in line}
        for library in sorted(libraries):
            facts = os.stat(library)
            parts.append("%s %d %d" % (os.path.realpath(library), facts.st_size, facts.st_mtime_ns))
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


def _cached(kind, text, options, lasting, make, load, save):
    """What ``make()`` makes, or what was made of the same before."""
    if not lasting:
        return make()
    key = (kind, text, tuple(sorted(options.items())))
    if key in _plans:
        _plans.move_to_end(key)
        return _plans[key]
    if key in _failures:
        raise _failures[key]
    folder, path = _folder(), None
    if folder:
        digest = hashlib.sha256(repr((key, _builder())).encode()).hexdigest()
        path = os.path.join(folder, "%s.%s" % (digest, kind))
        try:
            return _remember(_plans, key, load(path))
        except (OSError, ValueError, brew.Error):
            pass
    try:
        made = make()
    except brew.CompileError as failure:
        _remember(_failures, key, failure)
        raise
    if path:
        try:
            save(made, path)
        except OSError:
            pass  # a full or read-only disk costs time, nothing else
    return _remember(_plans, key, made)


def plan(text, lasting=True, **options):
    """The plan of a net's text. With ``lasting`` it is looked for in, and added to, what
    was compiled before. Raises brew.CompileError."""
    return _cached("plan", text, options, lasting,
                   lambda: brew.compile(text, name="layer", report=False, **options),
                   brew.Plan.open, lambda made, path: made.save(path))


def shapes(text, lasting=True, **options):
    """``blobs`` and ``params`` of a net's text: names to shapes. As ``plan``, which takes
    much longer."""
    def make():
        report = brew.compile(text, name="layer", report="json", check_only=True, **options).report
        return {"blobs": report["blobs"], "params": report["params"]}

    def load(path):
        with open(path) as file:
            return json.load(file)

    return _cached("shapes", text, options, lasting, make, load,
                   lambda made, path: write_bytes(path, json.dumps(made).encode()))
