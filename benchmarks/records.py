"""The file of results: JSON lines, each written as soon as it is known.

kind "run": the machine, the command and its settings, once for every start;
"peak": a precision's best product; "compile": a plan's compilation;
"time": a program's time; "done": the end of a run. All but the first and the last
belong to a round. A "time" with `failed` was not measured, for that reason.
"""

import json


class Records:
    def __init__(self, path=None):
        """Reads a file, if there is one."""
        self.path = path
        self.entries = []
        if path and path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # cut off when it was written: measured again
                if isinstance(entry, dict) and "kind" in entry:
                    self.entries.append(entry)

    def add(self, **entry):
        self.entries.append(entry)
        if self.path:
            with open(self.path, "a+b") as file:
                # A line that was cut off must not swallow this one.
                if file.tell() and not ends_a_line(file):
                    file.write(b"\n")
                file.write(json.dumps(entry).encode() + b"\n")

    def of(self, kind, **fields):
        return [entry for entry in self.entries if entry["kind"] == kind
                and all(entry.get(name) == value
                        for name, value in fields.items())]

    @property
    def workloads(self):
        """Keys, in the order of their first results."""
        return list(dict.fromkeys(entry["workload"] for entry in self.entries
                                  if "workload" in entry))

    def versions(self):
        """{peer: its version} of all that told one."""
        found = {}
        for entry in self.of("time"):
            if entry.get("version"):
                found[entry["peer"]] = entry["version"]
        return found


def ends_a_line(file):
    file.seek(-1, 2)
    return file.read(1) == b"\n"
