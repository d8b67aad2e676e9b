"""Exceptions and diagnostics."""
from typing import NamedTuple

from ._core import Error

__all__ = ["CompileError", "Diagnostic", "Error", "Note"]


class Note(NamedTuple):
    """An additional location that explains a diagnostic."""

    file: str
    line: int
    column: int
    message: str


class Diagnostic(NamedTuple):
    """A message of the compiler about one location.

    ``line`` and ``column`` count from 1 and are 0 if unknown; ``file`` and
    ``layer`` are empty if the message concerns no file or layer.
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
    """Raised for a net or solver that does not compile.

    ``diagnostics`` is the list of all diagnostics, including warnings; ``errors``
    contains the errors among them; ``status`` is the exit status of ``brewc``.
    The text is the output of ``brewc``.
    """

    def __init__(self, diagnostics, message="", status=1):
        self.diagnostics = list(diagnostics)
        self.errors = [d for d in self.diagnostics if d.severity == "error"]
        self.status = status
        super().__init__("\n".join(map(str, self.errors)) or message)


def diagnostics_of(compilation):
    """Returns the diagnostics of a finished compilation."""
    return [
        Diagnostic(d.file, d.line, d.column, d.layer, d.message,
                   [Note(n.file, n.line, n.column, n.message) for n in d.notes], d.severity)
        for d in compilation.diagnostics
    ]


def checked(compilation):
    """Returns the compilation if it succeeded; otherwise raises CompileError."""
    if compilation.status:
        raise CompileError(diagnostics_of(compilation), compilation.message, compilation.status)
    return compilation
