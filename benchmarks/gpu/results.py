"""Files of results: a line of JSON for each row, the chosen engines (brew-run's timing cache,
which is slow to measure), and complete logs.
"""

import json
import os
import shutil
import tarfile


def timing_of(path):
    """Returns the path of the timing cache of the results `path`."""
    return path.with_suffix(".timing")


def engines(path):
    """Returns the number of lines in the timing cache of the results `path`."""
    timing = timing_of(path)
    return len(timing.read_text().splitlines()) if timing.exists() else 0


def read(path):
    """Returns row name -> last result."""
    results = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                result = json.loads(line)
                results[result["row"]] = result
            except (ValueError, KeyError):
                continue  # incomplete: the run was killed while it wrote this line
    return results


def append(path, result):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text() if path.exists() else ""
    with open(path, "a") as file:
        # Separates this line from an incomplete one.
        file.write("\n" * (text != "" and text[-1] != "\n")
                   + json.dumps(result) + "\n")


def copy(path, folder):
    """Copies results, engines and logs (logs.tar.gz) of `path` to `folder`, each file
    atomically."""
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
    """Calls `write` to create a file under another name, then renames it to `target`."""
    temporary = target.with_name(target.name + ".new")
    try:
        write(temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def adopt(path, earlier):
    """Adds rows and engines of the folder `earlier` that `path` lacks. Also replaces failed
    rows by successful ones."""
    known, earlier_path = read(path), earlier / path.name
    for name, result in read(earlier_path).items():
        if name not in known or ("failed" in known[name]
                                 and "failed" not in result):
            append(path, result)
    adopt_engines(timing_of(path), timing_of(earlier_path))
    logs = earlier / "logs.tar.gz"
    if logs.exists() and not (path.parent / "logs").exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(logs) as file:
            file.extractall(path.parent)


def adopt_engines(path, earlier):
    """Adds lines of another timing cache. The first line names the format; the others begin
    with a key and a tab."""
    if not earlier.exists():
        return
    lines = earlier.read_text().splitlines()
    merged = path.read_text().splitlines() if path.exists() else lines[:1]
    if merged[:1] != lines[:1]:
        return
    known = {line.split("\t")[0] for line in merged[1:]}
    merged += [line for line in lines[1:] if line.split("\t")[0] not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in merged))
