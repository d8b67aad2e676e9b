"""Runs brewc with an NVRTC that counts its compilations, and prints how many there were.

usage: count_compilations.py FOLDER BREWC ARGUMENT...

The counting library is written to FOLDER. It forwards every function to the real library; no
function has more than six arguments, so all of them are passed in registers.
"""
import glob
import os
import subprocess
import sys

FUNCTIONS = ("Version", "GetNumSupportedArchs", "GetSupportedArchs", "CreateProgram",
             "DestroyProgram", "CompileProgram", "GetCUBINSize", "GetCUBIN", "GetPTXSize",
             "GetPTX", "GetProgramLogSize", "GetProgramLog", "GetErrorString")
# Of these functions, only nvrtcCompileProgram continues with "Co" after "nvrtc".
SOURCE = """#include <dlfcn.h>
#include <unistd.h>
#define FORWARD(name)                                                       \\
  long name(long a, long b, long c, long d, long e, long f) {               \\
    void *real = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);                       \\
    if (#name[5] == 'C' && #name[6] == 'o') write(2, "compilation\\n", 12);  \\
    return ((long (*)(long, long, long, long, long, long))dlsym(real, #name))( \\
        a, b, c, d, e, f);                                                  \\
  }
"""

folder, command = sys.argv[1], sys.argv[2:]
homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
nvrtc_paths = [path for home in homes + sorted(glob.glob("/usr/local/cuda*"))
               for path in glob.glob(home + "/lib*/libnvrtc.so.1?")]
os.makedirs(folder, exist_ok=True)
with open(folder + "/count.c", "w") as file:
    file.write(SOURCE + "".join("FORWARD(nvrtc{})\n".format(name) for name in FUNCTIONS))
subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", folder + "/libnvrtc.so.13",
                folder + "/count.c", '-DREAL="{}"'.format(os.path.realpath(nvrtc_paths[0]))],
               check=True)
result = subprocess.run(command, stderr=subprocess.PIPE, text=True,
                        env=dict(os.environ, LD_LIBRARY_PATH=folder))
sys.stderr.write(result.stderr)
print(result.stderr.count("compilation\n"), "compilations")
sys.exit(result.returncode)
