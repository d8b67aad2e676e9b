"""What goes wrong, as exceptions."""
from typing import NamedTuple

from ._core import Error

__all__ = ["CompileError", "Diagnostic", "Error", "Note"]


class Note(NamedTuple):
    """A further place that explains a diagnostic."""

    file: str
    line: int
    column: int
    message: str


class Diagnostic(NamedTuple):
    """What the compiler has to say about one place.

    ``line`` and ``column`` count from 1 and are 0 where unknown; ``file`` and
    ``layer`` are empty where it is about none.
    """

    file: str
    line: int
    column: int
    layer: str
    message: str
    notes: list
    severity: str = "error"

    def __str__(self):
        def at(file, line, column):
            if not file:
                return ""
            return "%s:%d:%d: " % (file, line, column) if line > 0 else file + ": "

        lines = [at(self.file, self.line, self.column) + self.severity + ": " + self.message]
        lines += [at(n.file, n.line, n.column) + "note: " + n.message for n in self.notes]
        return "\n".join(lines)


class CompileError(Error):
    """A net or solver that does not compile.

    ``diagnostics`` is the list of all that was found, warnings included;
    ``errors`` are those that prevented the plan; ``status`` is the exit status
    that ``brewc`` would have. As text it is what ``brewc`` prints.
    """

    def __init__(self, diagnostics, message="", status=1):
        self.diagnostics = list(diagnostics)
        self.errors = [d for d in self.diagnostics if d.severity == "error"]
        self.status = status
        super().__init__("\n".join(map(str, self.errors)) or message)


def diagnostics_of(compilation):
    """The diagnostics of a finished compilation, as tuples."""
    return [
        Diagnostic(d.file, d.line, d.column, d.layer, d.message,
                   [Note(n.file, n.line, n.column, n.message) for n in d.notes], d.severity)
        for d in compilation.diagnostics
    ]


def checked(compilation):
    """The compilation if it succeeded; else raises CompileError."""
    if compilation.status:
        raise CompileError(diagnostics_of(compilation), compilation.message, compilation.status)
    return compilation
