"""Where CUDA's libraries are, for plans that run on a GPU."""
import ctypes
import glob
import os
import sys
import sysconfig

# In an order in which each finds what it needs: those that others load come first. The
# newest version that Brew knows of each comes first too.
_NAMES = ("libnvrtc-builtins.so.*", "libnvrtc.so.13", "libnvrtc.so.12", "libcublasLt.so.13", "libcublasLt.so.12",
          "libcudnn_graph.so.9", "libcudnn.so.9")
_done = False


def library_folders():
    """Folders of the wheels ``nvidia-*`` that hold shared libraries."""
    places = dict.fromkeys([*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    found = []
    for place in places:
        found += sorted(glob.glob(os.path.join(glob.escape(place), "nvidia", "*", "lib"))) if place else []
    return list(dict.fromkeys(found))


def find_libraries():
    """Opens the libraries of those wheels, once, so that the runtime finds them by their
    names. Where there are none it looks where the system's lie."""
    global _done
    if _done:
        return
    _done = True
    folders = library_folders()
    if folders and not any(v in os.environ for v in ("CUDA_HOME", "CUDA_PATH")):
        # Kernels of 16 bits include a header that another wheel has than NVRTC.
        headers = [f for f in folders if os.path.exists(os.path.join(os.path.dirname(f), "include", "cuda_fp16.h"))]
        if headers and not os.path.exists("/usr/local/cuda/include/cuda_fp16.h"):
            os.environ["CUDA_HOME"] = os.path.dirname(headers[0])
    for name in _NAMES:
        paths = [path for folder in folders for path in sorted(glob.glob(os.path.join(glob.escape(folder), name)))]
        if paths:
            try:
                ctypes.CDLL(paths[0], mode=ctypes.RTLD_LOCAL)
            except OSError:
                pass  # the runtime says what it lacks when it needs it
