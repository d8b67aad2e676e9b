"""What has been measured: a line of JSON for each row, and beside that file the
engines that were chosen (brew-run's timing cache), which take as long to measure.
"""

import json
import shutil


def timing_of(path):
    """Where the engines of the results `path` are kept."""
    return path.with_suffix(".timing")


def read(path):
    """Row name -> result, the last of each row."""
    results = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                result = json.loads(line)
                results[result["row"]] = result
            except (ValueError, KeyError):
                continue  # the run was stopped while it wrote this line
    return results


def append(path, result):
    # What was cut off before is no part of this line.
    text = path.read_text() if path.exists() else ""
    with open(path, "a") as file:
        file.write("\n" * (text != "" and text[-1] != "\n")
                   + json.dumps(result) + "\n")


def copy(path, target):
    """Keeps results and engines elsewhere too."""
    for source, kept in ((path, target), (timing_of(path), timing_of(target))):
        if source.exists():
            shutil.copy(source, kept)


def adopt(path, earlier):
    """Takes over what `earlier` has and `path` lacks: rows, among them ones that
    only failed here, and engines."""
    known = read(path)
    for name, result in read(earlier).items():
        if name not in known or ("failed" in known[name]
                                 and "failed" not in result):
            append(path, result)
    adopt_engines(timing_of(path), timing_of(earlier))


def adopt_engines(path, earlier):
    """The first line names the format, others begin with a key and a tab."""
    if not earlier.exists():
        return
    lines = earlier.read_text().splitlines()
    own = path.read_text().splitlines() if path.exists() else lines[:1]
    if own[:1] != lines[:1]:
        return
    known = {line.split("\t")[0] for line in own[1:]}
    own += [line for line in lines[1:] if line.split("\t")[0] not in known]
    path.write_text("".join(line + "\n" for line in own))
