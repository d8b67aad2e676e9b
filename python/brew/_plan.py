"""Plans: compiled nets."""
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
    """The cost of a plan, program by program; shown as a table in Jupyter and as text.

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
        def table_row(cells, tag):
            return "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(str(c)), tag) for c in cells) + "</tr>"

        head = table_row(["program", *self.columns], "th")
        return "<table>%s%s</table>" % (head, "".join(table_row(row, "td") for row in self.rows))


class Plan:
    """A compiled net. Plans are immutable and thread-safe.

    :func:`compile` creates a plan, :meth:`open` reads one from a file."""

    def __init__(self, core, data, report=None, artifacts=None, warnings=(), recompile=None, host_layers=None):
        self._core = core
        self._data = data
        self._report = report
        self._recompile = recompile  # compiles the net again and returns the artifacts of a phase
        #: Dict of layer type to the Python class that implements it.
        self.host_layers = dict(host_layers or {})
        #: Texts requested by ``emit=``, by name.
        self.artifacts = artifacts or {}
        #: Warnings of the compilation.
        self.warnings = list(warnings)

    @classmethod
    def _of_bytes(cls, data, name, **more):
        # With check_only there is no plan.
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
        """Writes the plan to a file atomically."""
        write_bytes(path, self._data)

    def __bytes__(self):
        return self._data

    @property
    def report(self) -> Report | None:
        """The cost of the plan (:class:`Report`); None for plans that were opened."""
        return Report(json.loads(self._report)) if self._report else None

    @property
    def programs(self) -> list[str]:
        """The names of the programs."""
        return self._core.programs

    @property
    def trains(self) -> bool:
        """Whether a session of the plan can train."""
        return self._core.trains

    def describe(self) -> dict:
        """Returns the complete description, as printed by ``brew-run inspect --json``."""
        return json.loads(self._core.describe())

    def dump(self, phase="graph") -> str | dict[str, str]:
        """Returns the output of ``brewc --emit=phase``: the net after phase ``import``,
        ``graph``, ``fused`` or ``plan`` as MLIR, ``graph-dot`` or ``fused-dot`` as Graphviz's
        text, or, for ``kernels`` and ``all``, a dict of name to text.

        Compiles the net again, from the same text or the current content of the file.
        Raises :class:`Error` for plans that were opened, because they do not contain the net."""
        if self._recompile is None:
            raise Error("a plan that was opened does not contain the net; compile the net to see its phases")
        texts = self._recompile(phase)
        return texts if phase in ("kernels", "all", "dot") else "".join(texts.values())

    def graph(self, phase="graph") -> Graph:
        """Returns a picture (:class:`Graph`) of the net's layers or, with phase ``fused``, of
        the fused kernels and library calls. Compiles the net like :meth:`dump`."""
        if phase not in ("graph", "fused"):
            raise ValueError("phase must be 'graph' or 'fused', not %r" % (phase,))
        return Graph(self.dump(phase + "-dot"))

    @functools.cached_property
    def _description(self):
        return self.describe()

    @property
    def needs_data(self):
        """Whether a run needs data besides the caller's inputs: batches of sources or random
        numbers."""
        return any(self.needs_data_in(program) for program in range(len(self.programs)))

    def needs_data_in(self, program):
        """Like ``needs_data``, for the program of this number."""
        description = self._description["programs"][program]
        return bool(description["random_keys"]) \
            or any(data_input["type"] != "Input" for data_input in description["data_inputs"])

    def blobs_read(self, program):
        """Returns two lists of names: the blobs that each step of the forward pass reads, as a set
        per step, and the blobs that the backward pass reads, as one set."""
        buffers, description = self._description["buffers"], self._description["programs"][program]
        blobs = [(name, buffers[index]) for name, index in description["blobs"].items()]

        def read_by(step):
            operands = [buffers[o["buffer"]] for o in step["operands"] if o["access"] != "write"]
            return {name for name, blob in blobs
                    if any(b["arena_index"] == blob["arena_index"] and b["offset"] < blob["offset"] + blob["size"]
                           and blob["offset"] < b["offset"] + b["size"] for b in operands)}

        steps, first_backward = description["steps"], description["first_backward_step"]
        return ([read_by(step) for step in steps[:first_backward]],
                set().union(*map(read_by, steps[first_backward:])))

    def session(self, **options) -> Session:
        """Opens a :class:`Session` with its options."""
        from ._session import Session

        return Session(self, **options)

    def __repr__(self):
        if self._core is None:
            return "<brew.Plan, checked only>"
        return "<brew.Plan of %r: %s>" % (self._core.net, ", ".join(self.programs))
