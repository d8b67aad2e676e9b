"""Locates CUDA's libraries for plans that run on a GPU."""
import ctypes
import glob
import os
import sys
import sysconfig

# In dependency order: libraries that others load come first. The newest supported version
# of each library comes first.
_NAMES = ("libnvrtc-builtins.so.*", "libnvrtc.so.13", "libnvrtc.so.12", "libcublasLt.so.13", "libcublasLt.so.12",
          "libcudnn_graph.so.9", "libcudnn.so.9")
_done = False


def library_folders():
    """Returns the folders with shared libraries of the wheels ``nvidia-*``."""
    roots = dict.fromkeys([*sys.path, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    folders = []
    for root in roots:
        folders += sorted(glob.glob(os.path.join(glob.escape(root), "nvidia", "*", "lib"))) if root else []
    return list(dict.fromkeys(folders))


def load_libraries():
    """Loads the libraries of the wheels ``nvidia-*`` once, so that the runtime finds them by
    name. Without these wheels, the runtime searches the system's folders."""
    global _done
    if _done:
        return
    _done = True
    folders = library_folders()
    if folders and not any(v in os.environ for v in ("CUDA_HOME", "CUDA_PATH")):
        # 16-bit kernels include a header from another wheel than NVRTC's.
        headers = [f for f in folders if os.path.exists(os.path.join(os.path.dirname(f), "include", "cuda_fp16.h"))]
        if headers and not os.path.exists("/usr/local/cuda/include/cuda_fp16.h"):
            os.environ["CUDA_HOME"] = os.path.dirname(headers[0])
    for name in _NAMES:
        paths = [path for folder in folders for path in sorted(glob.glob(os.path.join(glob.escape(folder), name)))]
        if paths:
            try:
                ctypes.CDLL(paths[0], mode=ctypes.RTLD_LOCAL)
            except OSError:
                pass  # the runtime reports a missing library when it needs it
