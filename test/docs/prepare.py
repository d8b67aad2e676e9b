#!/usr/bin/python3
"""Makes the files that commands of the documentation name, in the working directory.

usage: prepare.py lenet|photos...

Run it in the root of a repository with its build; the tools must be in PATH.

lenet    MNIST's files and databases (the 10,000 images of the test set in both), short LeNet files
         (lenet_solver.prototxt and lenet_train_test.prototxt, and the same as solver.prototxt,
         net.prototxt and train_val.prototxt; lenet.prototxt and the same as deploy.prototxt),
         lenet.plan and net.plan, and weights of 20 iterations (lenet_iter_20.caffemodel, and the
         same as lenet_iter_10000.caffemodel, lenet.caffemodel and net.caffemodel)
photos   a folder `photos` with 30 pictures of 300 x 280 pixels of each of the classes cat and dog,
         their list train.txt, and a photo cat.jpg
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "examples/mnist")
from make_pictures import png_of

SETTINGS = {"max_iter": "20", "display": "10", "snapshot": "10", "test_iter": "2",
            "test_interval": "10"}


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def prepare_lenet():
    for kind in ("images-idx3", "labels-idx1"):
        for name in ("train", "t10k"):
            os.symlink(f"examples/mnist/data/{name}-{kind}-ubyte.gz", f"{name}-{kind}-ubyte.gz")
    for name in ("train", "test"):
        run("brew-data", "mnist", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
            f"mnist_{name}_lmdb")
    with open("examples/mnist/lenet_solver.prototxt", encoding="utf-8") as file:
        solver = file.read()
    for field, value in SETTINGS.items():
        solver, count = re.subn(rf"(?m)^{field}: .*", f"{field}: {value}", solver)
        assert count == 1, field
    for name in ("lenet_solver", "solver"):
        with open(f"{name}.prototxt", "w", encoding="utf-8") as file:
            file.write(solver)
    for name in ("lenet_train_test", "net", "train_val"):
        shutil.copy("examples/mnist/lenet_train_test.prototxt", f"{name}.prototxt")
    for name in ("lenet", "deploy"):
        shutil.copy("examples/mnist/lenet.prototxt", f"{name}.prototxt")
    run("brewc", "lenet_solver.prototxt", "-o", "lenet.plan")
    shutil.copy("lenet.plan", "net.plan")
    run("brew-run", "train", "lenet.plan")
    for name in ("lenet_iter_10000", "lenet", "net"):
        shutil.copy("lenet_iter_20.caffemodel", f"{name}.caffemodel")


def prepare_photos():
    with open("train.txt", "w", encoding="utf-8") as names:
        for label, animal in enumerate(("cat", "dog")):
            os.makedirs(f"photos/{animal}")
            for number in range(30):
                pixels = bytes((x * (number + 1) + y * (label + 1)) % 256
                               for y in range(280) for x in range(300))
                with open(f"photos/{animal}/{number}.png", "wb") as file:
                    file.write(png_of(pixels, 280, 300))
                names.write(f"{animal}/{number}.png {label}\n")
    shutil.copy("test/fuzz/corpus/image/rgb.jpg", "cat.jpg")


def main():
    for what in sys.argv[1:]:
        {"lenet": prepare_lenet, "photos": prepare_photos}[what]()


if __name__ == "__main__":
    main()
