"""Runs the recorded cases on a GPU with their own checker, several processes at once, since
most of a case's time is start-up."""

import re
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import processes

SUMMARY = re.compile(r"(\d+) passed, (\d+) failed")
PROCESSES = 8


def names_of(folder):
    """Returns the names of the cases of a package, as the checker finds them."""
    golden, names = folder / "golden", []
    names += [path.stem for path in (golden / "layers").glob("*.prototxt")]
    names += [path.parent.name
              for path in (golden / "solvers").glob("*/solver.prototxt")]
    names += [path.parent.name
              for path in (folder / "models").glob("*/expected.h5")]
    return sorted(names)


def flags_of(archs):
    """Returns brewc's flags for the cases."""
    return "--gpu-arch=" + archs


def check(package, names, binaries, number):
    """Checks the cases `names`. Returns the numbers of passed and failed cases, and a line
    for each failure."""
    command = [sys.executable, package.folder / "golden" / "check.py", "--bin",
               binaries, "--target", "cuda", "--brewc-flags=" + flags_of(package.archs),
               "--only", *names]
    log = package.log(".{}.txt".format(number))
    try:
        completed = processes.run(command, package.time_left(), package.environment(),
                                  package.folder, log)
    except processes.OutOfTime:
        return 0, len(names), ["FAIL out of time among: " + " ".join(names)]
    lines = completed.stdout.strip().splitlines()
    summary = SUMMARY.search(lines[-1]) if lines else None
    if not summary:
        return 0, len(names), ["FAIL " + (completed.stderr.strip()[-600:]
                                          or "the checker printed nothing")]
    return int(summary.group(1)), int(summary.group(2)), lines[:-1]


def run(package, names=None, wrapper=()):
    """Checks the cases `names` (all by default) and returns the result of a row: `summary`,
    `failed_cases` and `failures` (lines). `wrapper` is a command that runs brew-run. Does
    not tune, since concurrent processes would disturb each other's measurements."""
    names = list(names or names_of(package.folder))
    shards = [names[i::PROCESSES] for i in range(PROCESSES) if names[i::PROCESSES]]
    with tempfile.TemporaryDirectory() as folder:
        binaries = wrapped(Path(folder), package.folder / "bin",
                           [*wrapper, str(package.tool)], ["--no-tune"])
        with ThreadPoolExecutor(PROCESSES) as pool:
            results = list(pool.map(lambda shard: check(
                package, shard[1], binaries, shard[0]),
                enumerate(shards)))
    passed, failed = (sum(result[i] for result in results) for i in (0, 1))
    return {"summary": "{} passed, {} failed".format(passed, failed),
            "failed_cases": failed,
            "failures": [line for result in results for line in result[2]]}


def wrapped(folder, binaries, command, more_arguments):
    """Writes a folder of tools whose brew-run runs `command` with its own arguments and
    `more_arguments`. Returns the folder."""
    (folder / "brewc").symlink_to(binaries / "brewc")
    tool = folder / "brew-run"
    tool.write_text("#!/bin/sh\nexec {} \"$@\" {}\n".format(
        shlex.join(command), shlex.join(more_arguments)))
    tool.chmod(0o755)
    return folder
