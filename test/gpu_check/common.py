"""Helpers of the tests of scripts/gpu-check, which need no GPU."""

import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "gpu"))

# A net with a loss, BatchNorm statistics, and layers of a single phase.
NET = """
    layer { name: "in" type: "Data" top: "x" top: "label"
            include { phase: TRAIN } }
    layer { name: "in" type: "Data" top: "x" top: "label"
            include { phase: TEST } }
    layer { name: "c" type: "Convolution" bottom: "x" top: "c"
            convolution_param { num_output: 5 } } # the only one
    layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
    layer { name: "n" type: "BatchNorm" bottom: "c" top: "c" }
    layer { name: "d" type: "Dropout" bottom: "c" top: "d"
            include { phase: TRAIN } }
    layer { name: "loss" type: "SoftmaxWithLoss" bottom: "c"
            bottom: "label" }
    layer { name: "right" type: "Accuracy" bottom: "c" bottom: "label" }"""


def write_tool(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def write_index(folder, **entries):
    """Writes the index of a package to `folder`."""
    (folder / "bench").mkdir(exist_ok=True)
    index = {"rows": [], "nets": {}, "plans": {}, "expected_errors": {}, "losses": {}}
    (folder / "bench" / "index.json").write_text(json.dumps(dict(index, **entries)))
    (folder / "settings.json").write_text('{"archs": "sm_90"}')


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
