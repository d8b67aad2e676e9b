"""Tests installed wheels: wheel_check.py FOLDER, with copies of test/python and examples in FOLDER.
`wheels` runs it."""
import os
import subprocess
import sys
import time

folder = sys.argv[1]
os.chdir(folder)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout + done.stderr


def seconds(program):
    """Returns the minimum seconds of several runs, minus the minimum of `import numpy`."""
    def seconds_of(text):
        begin = time.perf_counter()
        run(sys.executable, "-c", text)
        return time.perf_counter() - begin

    return min(seconds_of(program) for _ in range(7)) - min(seconds_of("import numpy") for _ in range(7))


import brew  # noqa: E402

site = os.path.dirname(os.path.dirname(brew.__file__))
assert site.startswith(folder), site
with open("/proc/self/maps") as maps:
    libraries = {line.split()[-1] for line in maps if ".so" in line}
outside_libraries = sorted(os.path.basename(p) for p in libraries if not p.startswith((folder, os.path.dirname(os.__file__))))
print("Python %d.%d; libraries of the system: %s" % (*sys.version_info[:2], " ".join(outside_libraries)))
allowed = ("ld-linux", "libc.", "libm.", "libstdc++", "libgcc_s", "libdl.", "libpthread.", "librt.", "libutil.",
           "libz.", "libzstd.", "libpython", "libexpat", "libffi", "libbz2", "liblzma", "libcrypto", "libssl", "libuuid")
unexpected = [name for name in outside_libraries if not name.startswith(allowed) and not name.endswith("gnu.so")]
assert not unexpected, "libraries outside the wheel: %s" % unexpected
assert not [name for name in libraries if "opencv" in name], "import brew loads OpenCV"
bundled = os.listdir(os.path.join(site, "brew_nets.libs"))
assert not [name for name in bundled if "cuda" in name or "cublas" in name or "cudnn" in name], bundled
assert any(name.startswith("libdnnl") for name in bundled) and any(name.startswith("libgomp") for name in bundled)
assert "libbrew_opencv.so" in bundled, bundled
assert os.path.exists(os.path.join(site, "brew", "py.typed"))
with open(os.path.join(site, "brew", "_core.pyi")) as stubs:
    assert "class Session" in stubs.read()
print("import brew: %.2f s more than numpy" % seconds("import brew"))

for tool in ("brewc", "brew-run", "caffe"):
    assert brew.__version__ in run(tool, "--version"), tool
for tool in ("brew-data", "convert_imageset", "extract_features"):
    assert run(tool, "--help"), tool
run("brewc", "examples/mnist/lenet.prototxt", "-o", "lenet.plan")
assert "conv1" in run("brew-run", "time", "lenet.plan", "--iterations", "2")

# Several ranks need libraries that a wheel cannot contain.
with open("ranks.prototxt", "w") as net:
    net.write("""
layer { name: "d" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 2 } } }
layer { name: "b" type: "Bias" bottom: "x" top: "b" }
layer { name: "l" type: "EuclideanLoss" bottom: "b" bottom: "y" top: "l" }""")
run("brewc", "ranks.prototxt", "--distributed", "-o", "ranks.plan")
done = subprocess.run(["brew-run", "train", "ranks.plan", "--ranks", "2"], capture_output=True, text=True, check=False)
assert done.returncode == 3 and ("wheels have none" in done.stderr or "mpirun" in done.stderr), done.stderr

os.environ.update(LENET_ITERATIONS="60", LENET_OUT=folder)
assert "labels" in run(sys.executable, "examples/python/lenet.py")

for name in ("brew", "sessions", "host_layers", "embed", "learning", "nets", "solvers", "updates", "net_spec"):
    done = subprocess.run([sys.executable, "-B", "-m", "unittest", "-q", "test_" + name], cwd="tests",
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("test_%s failed\n%s" % (name, done.stderr))
print("everything works")
