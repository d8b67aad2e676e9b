"""Lets the peers' scripts find what they share with the GPU's."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "gpu"))
