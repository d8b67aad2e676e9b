"""Pictures of nets."""
import shutil
import subprocess

__all__ = ["Graph"]


class Graph:
    """A picture of a net in Graphviz's language (``dot``). Jupyter shows it as SVG if
    Graphviz is installed.

    ``seconds``: time limit of Graphviz in Jupyter. Beyond it, Jupyter shows the text instead."""

    seconds = 30

    def __init__(self, dot):
        self.dot = dot

    def __str__(self):
        return self.dot

    def __repr__(self):
        return "<brew.Graph, %d lines of dot>" % self.dot.count("\n")

    def svg(self, seconds=None):
        """Returns the picture as SVG. Raises RuntimeError if Graphviz's ``dot`` is not
        installed, fails, or takes longer than ``seconds``."""
        return self._drawn("svg", seconds).decode()

    def save(self, path):
        """Writes the picture to a file in the format of the file extension; ``.dot`` and
        ``.gv`` are text and do not need Graphviz."""
        from ._files import atomic

        extension = str(path).rsplit(".", 1)[-1].lower() if "." in str(path) else "dot"
        with atomic(path) as name, open(name, "wb") as out:
            out.write(self.dot.encode() if extension in ("dot", "gv") else self._drawn(extension, None))

    def _drawn(self, kind, seconds):
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError("Graphviz's program dot was not found; str() of the picture is its text")
        try:
            process = subprocess.run([program, "-T" + kind], input=self.dot.encode(), capture_output=True,
                                     timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise RuntimeError("Graphviz took longer than %g seconds" % seconds) from None
        if process.returncode:
            raise RuntimeError("Graphviz failed: " + process.stderr.decode(errors="replace").strip())
        return process.stdout

    def _repr_mimebundle_(self, include=None, exclude=None):
        try:
            return {"image/svg+xml": self.svg(self.seconds), "text/plain": repr(self)}
        except RuntimeError as failure:
            return {"text/plain": "%s\n(%s)" % (self.dot, failure)}
