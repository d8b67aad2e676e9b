# How lit runs the tests of this folder.
#
# Substitutions:
#   %brewc %brew-opt %brew-run %brew-data %caffe   the tools of the build under test
#   %python                                        a python with h5py and numpy
#   %inputs                                        test/lit/Inputs: shared nets, scripts
#   %reference                                     test/reference: recorded values
#   %examples                                      examples/
#   %source                                        the repository
#   %dialect_pages                                 reference pages of the dialects
#   %shared                                        BREW_SHARED_DIR (REQUIRES: shared)
#   FileCheck, not, count, split-file              LLVM's tools
# Features:
#   shared     BREW_SHARED_DIR contains the recorded data
#   x86        this machine is an x86-64 one
#   nvrtc      NVIDIA's run-time compiler is installed
#   gpu        an NVIDIA driver is installed
#   avx512     the processor has AVX-512, so it can run plans of --cpu x86-64-v4
#   graphviz   Graphviz is installed
#   root       tests run as root, whom file permissions do not restrict
#
# --param brew_tools_dir=DIR runs the tools of another folder.
import ctypes
import os
import platform
import shutil
import sys

# Workers import the format by its name, so it has a module of its own.
sys.path.insert(0, os.path.dirname(__file__))
import fresh_shtest

config.name = "Brew"
config.test_format = fresh_shtest.FreshShTest(execute_external=False)
config.suffixes = [".mlir", ".prototxt", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)

tools = lit_config.params.get("brew_tools_dir", config.brew_tools_dir)


def substitute(word, text):
    config.substitutions.append((word, text))


# Longer names first: lit replaces in this order.
substitute("%brew-opt", os.path.join(tools, "brew-opt"))
substitute("%brew-run", os.path.join(tools, "brew-run"))
substitute("%brew-data", os.path.join(tools, "brew-data"))
substitute("%brewc", os.path.join(tools, "brewc"))
substitute("%caffe", os.path.join(tools, "caffe"))
substitute("%python", config.brew_python)
substitute("%inputs", os.path.join(config.test_source_root, "Inputs"))
substitute("%reference", os.path.join(config.brew_source_dir, "test", "reference"))
substitute("%examples", os.path.join(config.brew_source_dir, "examples"))
substitute("%source", config.brew_source_dir)
substitute("%dialect_pages", config.brew_dialect_pages)
substitute("%shared", config.brew_shared_dir)
substitute(r"\bFileCheck\b", config.brew_filecheck)
substitute(r"\bnot\b", config.brew_not)
substitute(r"\bcount\b", config.brew_count)
substitute(r"\bsplit-file\b", config.brew_split_file)

if os.path.isdir(os.path.join(config.brew_shared_dir, "golden")):
    config.available_features.add("shared")
if platform.machine() == "x86_64":
    config.available_features.add("x86")


def has_library(names):
    for name in names:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


cuda_homes = [os.environ[v] for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ]
nvrtc_names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
if has_library(nvrtc_names + [os.path.join(home, part, name)
                              for home in cuda_homes + ["/usr/local/cuda"]
                              for part in ("lib64", "lib") for name in nvrtc_names]):
    config.available_features.add("nvrtc")
if has_library(["libcuda.so.1"]):
    config.available_features.add("gpu")
for name in ("CUDA_HOME", "CUDA_PATH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# The kernel cache of the tests is in their output folder.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
if shutil.which("nop"):
    config.available_features.add("graphviz")
if hasattr(os, "geteuid") and os.geteuid() == 0:
    config.available_features.add("root")
try:
    with open("/proc/cpuinfo") as file:
        if "avx512vl" in file.read().split():
            config.available_features.add("avx512")
except OSError:
    pass

# Threads that spin while they wait would slow down other tests.
config.environment["OMP_WAIT_POLICY"] = "passive"
config.environment["OMP_NUM_THREADS"] = "2"
# Sanitizer builds: reports must not look like a tool's exit status.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
