"""The commands of the wheel: Brew's programs, which are in the package brew."""
import importlib.util
import os
import sys

# Names by which brew-data is also installed: the tools of Caffe that it replaces.
_ALIASES = ("convert_imageset", "compute_image_mean", "extract_features")


def _nvidia_folders(package):
    """Returns the library folders of NVIDIA's wheels. Loads only brew._cuda, because importing
    the package would load the compiler's library unnecessarily."""
    spec = importlib.util.spec_from_file_location("_brew_cuda", os.path.join(package, "_cuda.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.library_folders()


def main():
    """Replaces this process with the program that argv[0] names."""
    package = os.path.dirname(importlib.util.find_spec("brew").origin)
    name = os.path.basename(sys.argv[0])
    program = os.path.join(package, "_bin", "brew-data" if name in _ALIASES else name)
    folders = _nvidia_folders(package)
    if folders:
        existing = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = ":".join(([existing] if existing else []) + folders)
    sys.stdout.flush()
    os.execv(program, [name, *sys.argv[1:]])
