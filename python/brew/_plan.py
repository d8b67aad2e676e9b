"""Plans: what a net was compiled to."""
from __future__ import annotations

import functools
import html
import json
import os
from typing import TYPE_CHECKING

from . import _core
from ._errors import Error
from ._files import write_bytes
from ._graph import Graph

if TYPE_CHECKING:
    from ._session import Session

__all__ = ["Plan", "Report"]


class Report:
    """What a plan costs, program by program; a table in Jupyter and as text.

    ``data`` is the object that ``brewc --report=json`` prints."""

    columns = ("kernels", "calls", "flops", "arena_bytes", "caffe_bytes")

    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    @property
    def rows(self):
        """[program, kernels, calls, flops, arena_bytes, caffe_bytes] of each program."""
        rows = []
        for name, program in self.data.get("programs", {}).items():
            row = [name]
            for column in self.columns:
                row.append(program[column] if column in program else program["memory"][column])
            rows.append(row)
        return rows

    def __str__(self):
        table = [["program", *self.columns]] + [[str(cell) for cell in row] for row in self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])])
            for row in table)

    __repr__ = __str__

    def _repr_html_(self):
        def line(cells, tag):
            return "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(str(c)), tag) for c in cells) + "</tr>"

        head = line(["program", *self.columns], "th")
        return "<table>%s%s</table>" % (head, "".join(line(row, "td") for row in self.rows))


class Plan:
    """A compiled net. Plans do not change, and any number of threads may use one.

    :func:`compile` makes one, :meth:`open` reads one."""

    def __init__(self, core, data, report=None, artifacts=None, warnings=(), again=None, host_layers=None):
        self._core = core
        self._data = data
        self._report = report
        self._again = again  # compiles the net once more, for what it is asked to emit
        #: Type to class of the layers that Python computes.
        self.host_layers = dict(host_layers or {})
        #: Texts that ``emit=`` asked for, by name.
        self.artifacts = artifacts or {}
        #: Diagnostics of the compilation, none of them an error.
        self.warnings = list(warnings)

    @classmethod
    def _of_bytes(cls, data, name, **more):
        # Nothing is built with check_only.
        return cls(_core.Plan.of_bytes(data, str(name)) if data else None, data, **more)

    @classmethod
    def open(cls, path) -> Plan:
        """Opens a plan file. Raises :class:`OSError` if it cannot be read, :class:`Error` if it
        is damaged."""
        path = os.fspath(path)
        with open(path, "rb") as file:
            data = file.read()
        return cls._of_bytes(data, path)

    def save(self, path) -> None:
        """Writes the plan to a file, which appears whole or not at all."""
        write_bytes(path, self._data)

    def __bytes__(self):
        return self._data

    @property
    def report(self) -> Report | None:
        """What the plan costs (:class:`Report`); plans that were opened have none."""
        return Report(json.loads(self._report)) if self._report else None

    @property
    def programs(self) -> list[str]:
        """The names of its programs."""
        return self._core.programs

    @property
    def trains(self) -> bool:
        """Whether a session over it can train."""
        return self._core.trains

    def describe(self) -> dict:
        """All there is to know, as ``brew-run inspect --json`` prints it."""
        return json.loads(self._core.describe())

    def dump(self, phase="graph") -> str | dict[str, str]:
        """What ``brewc --emit=phase`` prints: the net after phase ``import``, ``graph``,
        ``fused`` or ``plan`` as MLIR, ``graph-dot`` or ``fused-dot`` as Graphviz's text, and
        of ``kernels`` and ``all``, which are several, a dict of name to text.

        The net is compiled again for it, from the same text or the file as it is by now.
        Raises :class:`Error` for plans that were opened: they hold no net any more."""
        if self._again is None:
            raise Error("a plan that was opened holds no net; compile the net to see what becomes of it")
        texts = self._again(phase)
        return texts if phase in ("kernels", "all", "dot") else "".join(texts.values())

    def graph(self, phase="graph") -> Graph:
        """A picture (:class:`Graph`) of the net's layers, or, with phase ``fused``, of what
        they have become: kernels and calls. As :meth:`dump`."""
        if phase not in ("graph", "fused"):
            raise ValueError("there are pictures of phase graph and fused, not of %r" % (phase,))
        return Graph(self.dump(phase + "-dot"))

    @functools.cached_property
    def fed(self):
        """Whether a run needs to be fed with something beside what the caller gives:
        batches of sources, or random numbers."""
        return any(data_input["type"] != "Input" for program in self.describe()["programs"] for data_input in program["data_inputs"])

    def session(self, **options) -> Session:
        """Opens a :class:`Session`; see there for the options."""
        from ._session import Session

        return Session(self, **options)

    def __repr__(self):
        if self._core is None:
            return "<brew.Plan, checked only>"
        return "<brew.Plan of %r: %s>" % (self._core.net, ", ".join(self.programs))
