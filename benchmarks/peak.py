"""Measures the machine's peak: the fastest matrix product of the library.

Brew compiles and times a net of one square InnerProduct, so oneDNN computes the product.
The time is the layer's own, without the rounding of its input to bf16.
"""

import re

from process import MeasureError

SIZES = (1024, 1536, 2048)
NET = """layer {{ name: "x" type: "Input" top: "x"
  input_param {{ shape {{ dim: {size} dim: {size} }} }} }}
layer {{ name: "product" type: "InnerProduct" bottom: "x" top: "y"
  inner_product_param {{ num_output: {size} bias_term: false
    weight_filler {{ type: "gaussian" std: 0.01 }} }} }}
"""
PRODUCT = re.compile(r"\] +product\tforward: \S+ ms\. \(median \S+, min (\S+)\)")
# Approximate operations per second of two cores, and the minimum number of products of a
# measurement.
OPERATIONS_PER_SECOND, MIN_PRODUCTS = 3e11, 3


def compile_products(brew):
    for size in SIZES:
        (brew.work / "product-{}.prototxt".format(size)).write_text(
            NET.format(size=size))
        for precision in ("f32", "bf16"):
            brew.run("brewc", "product-{}.prototxt".format(size), "-o",
                     "product-{}.{}.plan".format(size, precision),
                     "--precision=" + precision)


def measure(brew, precision, seconds):
    """Returns the operations per second of the fastest product."""
    best = {"flops_per_second": 0}
    for size in SIZES:
        operations = 2 * size ** 3
        # brew-run runs the net twice: layer by layer, and as a whole.
        count = max(MIN_PRODUCTS, round(seconds / 2 * OPERATIONS_PER_SECOND / operations))
        completed = brew.run("brew-run", "time",
                             "product-{}.{}.plan".format(size, precision),
                             "--random-input", "--threads", brew.threads,
                             "--iterations", count)
        times = [float(text) for text in PRODUCT.findall(completed.stderr)]
        if not times:
            raise MeasureError("brew-run printed no time of a product")
        rate = operations / max(times) * 1e3
        if rate > best["flops_per_second"]:
            best = {"flops_per_second": rate, "size": size}
    return best
