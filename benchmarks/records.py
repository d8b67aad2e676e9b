"""The file of results: JSON lines, each written immediately after its measurement.

The kinds of lines are "run": the machine, the command and its settings, once for every start;
"peak": the fastest matrix product of a precision; "compile": the compilation of a plan;
"time": the time of a program; "done": the end of a run. All kinds except "run" and "done"
belong to a round. In a "time" without a measurement, `failed` is the reason.
"""

import json


class Records:
    """The lines of a file of results."""

    def __init__(self, path=None):
        """Reads the file if it exists."""
        self.path = path
        self.entries = []
        if path and path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # truncated by an interruption: will be measured again
                if isinstance(entry, dict) and "kind" in entry:
                    self.entries.append(entry)

    def add(self, **entry):
        self.entries.append(entry)
        if self.path:
            with open(self.path, "a+b") as file:
                # Terminate a truncated last line, so that the new line is not appended to it.
                if file.tell() and not ends_a_line(file):
                    file.write(b"\n")
                file.write(json.dumps(entry).encode() + b"\n")

    def of(self, kind, **fields):
        """Returns the lines of a kind whose fields have these values."""
        return [entry for entry in self.entries if entry["kind"] == kind
                and all(entry.get(name) == value
                        for name, value in fields.items())]

    @property
    def workloads(self):
        """The keys of the workloads, in the order of their first results."""
        return list(dict.fromkeys(entry["workload"] for entry in self.entries
                                  if "workload" in entry))

    def versions(self):
        """Returns {peer: version} of all peers that reported their version."""
        versions_by_peer = {}
        for entry in self.of("time"):
            if entry.get("version"):
                versions_by_peer[entry["peer"]] = entry["version"]
        return versions_by_peer


def ends_a_line(file):
    file.seek(-1, 2)
    return file.read(1) == b"\n"
