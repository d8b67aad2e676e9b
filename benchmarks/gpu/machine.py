"""What of CUDA a machine has, and where.

Python packages bring cuDNN and cuBLASLt in folders where the loader does not
look; brew-run, which opens them by name, is told of these folders.
"""

import glob
import os
import re
import site
import sys
from pathlib import Path

# What brew-run opens, and what those libraries open themselves.
WANTED = re.compile(r"lib(cudnn\w*|cublasLt|cublas|nccl|nvrtc\S*|nvJitLink|cuda)\.so")
# Not the folders of stubs, which only programs are linked with.
SYSTEM = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
          "/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
          "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib")


def python_folders():
    """Folders for packages of this Python."""
    found = [path for path in sys.path if path.endswith("-packages")]
    if hasattr(site, "getsitepackages"):
        found += site.getsitepackages()
    return list(dict.fromkeys(found))


def library_folders(packages=None, system=SYSTEM):
    """Folders with libraries of CUDA; PyTorch's own first, so that both are
    measured with the same."""
    folders = []
    for package in python_folders() if packages is None else packages:
        folders += sorted(glob.glob(os.path.join(package, "nvidia", "*", "lib")))
    for pattern in system:
        folders += sorted(glob.glob(pattern), reverse=True)
    return [folder for folder in folders
            if any(WANTED.match(name.name) for name in Path(folder).iterdir())]


def library_path(folders=None):
    """The value of LD_LIBRARY_PATH: those folders, then what it was."""
    folders = library_folders() if folders is None else folders
    before = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return ":".join(dict.fromkeys(folders + [path for path in before if path]))
