"""Adds the modules that the peers' scripts share with benchmarks/gpu to the module path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "gpu"))
