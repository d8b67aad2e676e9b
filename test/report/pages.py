"""Generates and parses the pages for the tests of HTML reports."""
import json
import pathlib
import subprocess
from html.parser import HTMLParser

# Without escaping, this would end the element that contains the page's data, and run.
EVIL = "</script><script>document.body.dataset.evil=1</script>"

EVIL_NET = """name: "<b>&'net"
layer {{ name: "in" type: "Input" top: "x" input_param {{ shape {{ dim: 2 dim: 8 }} }} }}
layer {{ name: "<script>" type: "Sigmoid" bottom: "x" top: "y" }}
layer {{ name: "{}" type: "TanH" bottom: "y" top: "{}" }}
layer {{ name: "ip" type: "InnerProduct" bottom: "{}" top: "z"
        inner_product_param {{ num_output: 3 }} }}
""".format(EVIL, EVIL, EVIL)


def nets(source, folder):
    """Returns a dict from the names of the nets to report on to brewc's arguments."""
    evil = pathlib.Path(folder) / "evil.prototxt"
    evil.write_text(EVIL_NET)
    inputs = pathlib.Path(source) / "test" / "lit" / "Inputs"
    lenet = [str(inputs / "lenet_solver.prototxt"), "--input-shape", "data=1,1,28,28"]
    benchmarks = pathlib.Path(source) / "benchmarks" / "nets"
    return {
        "evil": [str(evil)],
        "lenet": lenet,
        "lenet_cuda": lenet + ["--target", "cuda", "--gpu-arch", "sm_90"],
        "googlenet": [str(benchmarks / "googlenet.prototxt")],
        "resnet50": [str(benchmarks / "resnet50.prototxt")],
    }


def output(command):
    """Runs a command and returns the completed process. Fails with its standard error."""
    process = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, (command, process.returncode, process.stderr[-3000:])
    return process


def report(brewc, arguments, form):
    """Returns the report of brewc; `form` is "html" or "json"."""
    return output([brewc, *arguments, "--report=" + form]).stdout


class Page(HTMLParser):
    """The parsed content of a page. Parsing fails if an element is not closed."""

    VOID = {"meta", "input", "br"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.scripts = []
        self.kernels = {}  # by the ids of their elements
        self.ids = set()
        self.links = []
        self.attributes = []
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.data = json.loads(self.scripts[0])

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.attributes += [(tag, name) for name in attributes]
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "script":
            self.scripts.append("")
        if tag == "details":
            self.kernels[attributes["id"]] = ""
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
        elif "details" in self.open:
            self.kernels[list(self.kernels)[-1]] += data
