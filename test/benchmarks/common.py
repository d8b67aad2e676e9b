"""Common code of the tests of benchmarks/run.py."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

MEMORY = {"arena_bytes": 4000000, "lower_bound_bytes": 4000000,
          "caffe_bytes": 8000000}
RUN = {"kind": "run", "cpu": "A processor", "flags": ["avx2", "avx512_bf16"],
       "cpus": 2, "threads": 2, "load": 0.5, "memory_bytes": 16e9,
       "date": "2026-01-02", "brew": "0.1.0", "rounds": 3, "seconds": 1,
       "command": "benchmarks/run.py --net lenet --python PYTHON"}


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
