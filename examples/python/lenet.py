# %% [markdown]
# # LeNet in Python
#
# Trains LeNet on MNIST, plots the loss, and classifies digits, with the package
# `brew` (the wheel `brew-nets`) and numpy alone. Editors and Jupyter (with jupytext) show this
# file as a notebook; as a script: `python examples/python/lenet.py`. It takes some seconds.
#
# Files go to a new folder of temporary files, or to `$LENET_OUT`; the last lines print it.

# %%
import gzip
import os
import pathlib
import tempfile

import brew
import numpy as np

HERE = pathlib.Path(__file__).parent if "__file__" in globals() else pathlib.Path("examples/python")
MNIST = pathlib.Path(os.environ.get("MNIST", HERE.parent / "mnist" / "data"))
ITERATIONS = int(os.environ.get("LENET_ITERATIONS", 1000))
OUT = pathlib.Path(os.environ.get("LENET_OUT") or tempfile.mkdtemp(prefix="lenet_"))
print("files go to", OUT)

# %% [markdown]
# ## Data
#
# MNIST's files are IDX: four bytes of type and rank, the extents, then the bytes.


# %%
def read_idx(name):
    data = gzip.decompress((MNIST / name).read_bytes())
    rank = data[3]
    shape = np.frombuffer(data, ">i4", rank, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


train_images, train_labels = read_idx("train-images-idx3-ubyte.gz"), read_idx("train-labels-idx1-ubyte.gz")
test_images, test_labels = read_idx("t10k-images-idx3-ubyte.gz"), read_idx("t10k-labels-idx1-ubyte.gz")
print(train_images.shape, test_images.shape)

# %% [markdown]
# ## The net
#
# Caffe's LeNet; the tops of its `Input` layers get their batches from Python.

# %%
BODY = """
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 20 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2"
  convolution_param { num_output: 50 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1"
  inner_product_param { num_output: 500 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2"
  inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
"""
TRAIN = """
layer { name: "data" type: "Input" top: "data" top: "label" input_param {
  shape { dim: 64 dim: 1 dim: 28 dim: 28 } shape { dim: 64 } } }
""" + BODY + """
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
layer { name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label" top: "accuracy"
  include { phase: TEST } }
"""
(OUT / "solver.prototxt").write_text("""
net_param { %s }
test_iter: 20 test_interval: 1000000 test_initialization: false
base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005
lr_policy: "inv" gamma: 0.0001 power: 0.75
max_iter: %d snapshot_prefix: "%s"
""" % (TRAIN, ITERATIONS, OUT / "lenet"))

plan = brew.compile(OUT / "solver.prototxt")
plan.report  # a table: kernels, library calls, operations and memory of each program

# %% [markdown]
# Look at the compiler's result: `plan.graph()` and
# `plan.graph("fused")` are pictures in Jupyter (Graphviz draws the file: `dot -Tsvg lenet.dot`),
# `plan.dump("fused")` is the text.

# %%
print(plan.report)
graph = plan.graph("fused")
graph.save(OUT / "lenet.dot")
graph

# %% [markdown]
# ## Training
#
# A function fills each batch, and the session reports each iteration to a listener.


# %%
def feed_of(images, labels, seed):
    generator = np.random.default_rng(seed)

    def fill(arrays):
        indices = generator.integers(len(images), size=len(arrays["label"]))
        arrays["data"][:, 0] = images[indices] / 256
        arrays["label"][:] = labels[indices]

    return fill


def print_progress(event):
    if event.iteration % 100 == 0:
        print("iteration %4d: loss %.4f" % (event.iteration, event.smoothed_loss))


session = plan.session(seed=1)
session.events.listen(print_progress, "iteration")
session.set_feed(feed_of(train_images, train_labels, 1))
session.set_feed(feed_of(test_images, test_labels, 2), program="test_0")
with session.events.record("iteration") as iterations:
    session.step(ITERATIONS)
accuracy = dict(session.test())["accuracy"]
print("accuracy on 1280 digits of the test set: %.4f" % accuracy)

# %% [markdown]
# ## The loss


# %%
class Curve:
    """A line plot of numbers, which Jupyter displays."""

    def __init__(self, values, width=600, height=200):
        values = np.asarray(values)
        x = np.linspace(0, width, len(values))
        y = height - height * values / values.max()
        points = " ".join("%.1f,%.1f" % point for point in zip(x, y))
        self.svg = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d">'
                    '<polyline fill="none" stroke="steelblue" points="%s"/></svg>' % (width, height, width, points))

    def _repr_svg_(self):
        return self.svg


loss = [event.smoothed_loss for event in iterations]
curve = Curve(loss)
(OUT / "loss.svg").write_text(curve.svg)
curve

# %% [markdown]
# ## Classifying
#
# Compiles a net without a loss, with these weights. Its plan is one file, for `brew-run infer` and
# for any program that links `libbrew_runtime`.

# %%
session.save_weights(OUT / "lenet.caffemodel")
DEPLOY = """
layer { name: "data" type: "Input" top: "data" input_param {
  shape { dim: 10 dim: 1 dim: 28 dim: 28 } } }
""" + BODY + 'layer { name: "prob" type: "Softmax" bottom: "ip2" top: "prob" }'
deploy = brew.compile(DEPLOY, weights=OUT / "lenet.caffemodel")
deploy.save(OUT / "lenet.plan")

probabilities = brew.Plan.open(OUT / "lenet.plan").session()(data=test_images[:10, None] / 256)["prob"]
print("predicted", probabilities.argmax(axis=1))
print("labels   ", test_labels[:10])
print("files in %s: %s" % (OUT, ", ".join(sorted(path.name for path in OUT.iterdir()))))
