"""What has been measured: a line of JSON for each row, beside it the engines that were
chosen (brew-run's timing cache), which take as long to measure, and complete logs.
"""

import json
import os
import shutil
import tarfile


def timing_of(path):
    """Where the engines of the results `path` are kept."""
    return path.with_suffix(".timing")


def engines(path):
    """How many engines are kept beside the results `path`."""
    timing = timing_of(path)
    return len(timing.read_text().splitlines()) if timing.exists() else 0


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
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text() if path.exists() else ""
    with open(path, "a") as file:
        # A line that was cut off before is no part of this one.
        file.write("\n" * (text != "" and text[-1] != "\n")
                   + json.dumps(result) + "\n")


def copy(path, folder):
    """Copies results, engines and logs (logs.tar.gz) of `path` into `folder`, each as a
    whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in (path, timing_of(path)):
        if source.exists():
            replace(folder / source.name,
                    lambda target, source=source: shutil.copy(source, target))
    logs = path.parent / "logs"
    if logs.exists():
        replace(folder / "logs.tar.gz", lambda target: archive(logs, target))


def archive(folder, target):
    with tarfile.open(target, "w:gz", compresslevel=3) as file:
        file.add(folder, folder.name)


def replace(target, write):
    """Has `write` make the file under another name, then takes it for `target`."""
    new = target.with_name(target.name + ".new")
    try:
        write(new)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def adopt(path, earlier):
    """Takes over what the folder `earlier` has and `path` lacks: rows, among them ones
    that only failed here, and engines."""
    known, kept = read(path), earlier / path.name
    for name, result in read(kept).items():
        if name not in known or ("failed" in known[name]
                                 and "failed" not in result):
            append(path, result)
    adopt_engines(timing_of(path), timing_of(kept))
    logs = earlier / "logs.tar.gz"
    if logs.exists() and not (path.parent / "logs").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(logs) as file:
            file.extractall(path.parent)


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
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in own))
