"""Finds CUDA's libraries on a machine.

Python packages contain cuDNN and cuBLASLt in folders that the loader does not search.
brew-run opens the libraries by name, so it needs these folders in LD_LIBRARY_PATH.
"""

import glob
import os
import re
import site
import sys
from pathlib import Path

# Libraries that brew-run opens, and their dependencies.
CUDA_LIBRARIES = re.compile(r"lib(cudnn\w*|cublasLt|cublas|nccl|nvrtc\S*|nvJitLink|cuda)\.so")
# System folders, except the folders of stub libraries, which are only for linking.
SYSTEM_FOLDERS = ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib",
                  "/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
                  "/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib")


def python_folders():
    """Returns the package folders of this Python."""
    folders = [path for path in sys.path if path.endswith("-packages")]
    if hasattr(site, "getsitepackages"):
        folders += site.getsitepackages()
    return list(dict.fromkeys(folders))


def library_folders(packages=None, system=SYSTEM_FOLDERS):
    """Returns the folders with CUDA libraries, PyTorch's first, so that Brew and PyTorch are
    measured with the same versions."""
    folders = []
    for package in python_folders() if packages is None else packages:
        folders += sorted(glob.glob(os.path.join(package, "nvidia", "*", "lib")))
    for pattern in system:
        folders += sorted(glob.glob(pattern), reverse=True)
    return [folder for folder in folders
            if any(CUDA_LIBRARIES.match(name.name) for name in Path(folder).iterdir())]


def library_path(folders=None):
    """Returns LD_LIBRARY_PATH: the folders, then its previous value."""
    folders = library_folders() if folders is None else folders
    previous = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return ":".join(dict.fromkeys(folders + [path for path in previous if path]))
