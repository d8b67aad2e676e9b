"""The recorded cases on a machine with a GPU: their own checker, unchanged,
several times at once, since most of a case is starting up."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SUMMARY = re.compile(r"(\d+) passed, (\d+) failed")
AT_ONCE = 8


def names_of(folder):
    """The cases of a package, as the checker finds them."""
    golden, names = folder / "golden", []
    names += [path.stem for path in (golden / "layers").glob("*.prototxt")]
    names += [path.parent.name
              for path in (golden / "solvers").glob("*/solver.prototxt")]
    names += [path.parent.name
              for path in (folder / "models").glob("*/expected.h5")]
    return sorted(names)


def check(folder, names, target, flags, limit, environment=None):
    """How many of these cases passed and failed, and what was said of them."""
    command = [sys.executable, str(folder / "golden" / "check.py"), "--bin",
               str(folder / "bin"), "--target", target,
               "--brewc-flags=" + flags, "--only"] + names
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=limit, env=environment)
    except subprocess.TimeoutExpired as expired:
        said = (expired.stdout or b"").decode(errors="replace").splitlines()
        return 0, len(names), said + ["FAIL out of time among: "
                                      + " ".join(names)]
    lines = done.stdout.strip().splitlines()
    summary = SUMMARY.search(lines[-1]) if lines else None
    if not summary:
        return 0, len(names), ["FAIL " + done.stderr.strip()[-600:]]
    return int(summary.group(1)), int(summary.group(2)), lines[:-1]


def run(folder, target, flags, limit, environment=None):
    """Result of the row: `summary` and the `failures`' lines."""
    names = names_of(folder)
    shards = [names[i::AT_ONCE] for i in range(AT_ONCE) if names[i::AT_ONCE]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(
            lambda shard: check(folder, shard, target, flags, limit,
                                environment), shards))
    return {"summary": "{} passed, {} failed".format(
                sum(result[0] for result in results),
                sum(result[1] for result in results)),
            "failures": [line for result in results for line in result[2]]}
