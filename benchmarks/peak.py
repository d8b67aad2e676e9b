"""The machine's peak: the best matrix product of the library.

A net of one square InnerProduct, compiled and timed by Brew, so the product is
oneDNN's; the layer's own line counts, without what rounds its input to bf16.
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
# Operations in a second, about: what two cores do. And the fewest products in one
# measurement.
PER_SECOND, LEAST = 3e11, 3


def compile_products(brew):
    for size in SIZES:
        (brew.work / "product-{}.prototxt".format(size)).write_text(
            NET.format(size=size))
        for precision in ("f32", "bf16"):
            brew.run("brewc", "product-{}.prototxt".format(size), "-o",
                     "product-{}.{}.plan".format(size, precision),
                     "--precision=" + precision)


def measure(brew, precision, seconds):
    """Operations per second of the best of the products."""
    best = {"flops_per_second": 0}
    for size in SIZES:
        operations = 2 * size ** 3
        # brew-run runs everything twice: layer by layer, and whole.
        count = max(LEAST, round(seconds / 2 * PER_SECOND / operations))
        done = brew.run("brew-run", "time",
                        "product-{}.{}.plan".format(size, precision),
                        "--random-input", "--threads", brew.threads,
                        "--iterations", count)
        times = [float(text) for text in PRODUCT.findall(done.stderr)]
        if not times:
            raise MeasureError("brew-run tells no time of a product")
        rate = operations / max(times) * 1e3
        if rate > best["flops_per_second"]:
            best = {"flops_per_second": rate, "size": size}
    return best
