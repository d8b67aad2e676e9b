"""The rows of a run in order of their value, and their time limits."""

from typing import NamedTuple

from timed_nets import MODES, NETS, PRECISIONS, STARTS, VARIANTS

# Seconds after which a row is killed, by kind.
LIMIT_SECONDS = {"machine": 30, "brew": 60, "agree": 90, "cases": 120, "eager": 60,
                 "compiled": 150, "rates": 60, "losses": 60, "kernels": 90,
                 "sanitize": 90}
# Usual seconds of a row, by kind. A row is not started if less time is left.
USUAL_SECONDS = {"machine": 5, "brew": 15, "agree": 15, "cases": 40, "eager": 25,
                 "compiled": 70, "rates": 15, "losses": 6, "kernels": 20, "sanitize": 15}
EAGER = ("eager", "channels_last")
# Precision of the rows that measure the effect of single passes.
ABLATION_PRECISION = "bf16"
# Name -> flags of brewc. Ablations of passes that depend on the compiler's model of the GPU.
ABLATIONS = {
    "without fuse-launches": ["--without=fuse-launches"],
    "without fuse-pooling-backward": ["--without=fuse-pooling-backward"],
    "with rematerialization": ["--memory-limit=4300M"],
    "without generate-alternatives": ["--without=generate-alternatives"],
    "without pad-channels": ["--without=pad-channels"],
    "without fuse-reductions": ["--without=fuse-reductions"],
}
# Name -> a training of LeNet on an LMDB of MNIST: brewc's flags, fields of the solver, the
# environment of brew-run, and the number of runs. `arch` replaces the GPU architecture.
LOSSES = {
    "f32": {},
    "bf16": {"flags": ["--precision=bf16"]},
    "f16": {"flags": ["--precision=f16", "--loss-scale=1024"]},
    "jit": {"arch": "sm_80"},  # the driver of a later GPU compiles its PTX
    "deterministic": {"flags": ["--deterministic"], "runs": 2},
    "iter_size": {"solver": "iter_size: 2\nclip_gradients: 0.5\n"},
    "one_rank": {"flags": ["--distributed"],
                 "environment": {"BREW_NCCL_SINGLE_RANK": "1"}},
}
# Nets whose gradients cannot be compared in 16 bits (timed_nets.STARTS).
CHAOTIC = {net for net, _, _ in STARTS.values()}
SANITIZERS = ("memcheck", "initcheck")
# Recorded cases that run under compute-sanitizer.
SANITIZED_CASES = ("net_residual", "batchnorm_train", "softmaxloss")


class Row(NamedTuple):
    """A measurement or check. `tier` is 1 for the first call of `gpu-check all`, 2 for the
    second, 3 for all other rows."""
    name: str
    kind: str
    tier: int
    net: str = ""
    mode: str = ""
    precision: str = ""
    detail: str = ""


def brew(tier, net, mode, precision):
    return Row("{} {} {} brew".format(net, mode, precision), "brew", tier, net,
               mode, precision)


def repeated(tier, net):
    """Returns a row that repeats a measurement, to show its variation within a run."""
    return Row("{} train {} brew again".format(net, ABLATION_PRECISION), "brew", tier,
               net, "train", ABLATION_PRECISION)


def ablation(tier, net, name):
    return Row("{} train {} brew {}".format(net, ABLATION_PRECISION, name), "brew",
               tier, net, "train", ABLATION_PRECISION, name)


def torch(tier, net, mode, precision, variant):
    return Row("{} {} {} torch {}".format(net, mode, precision, variant),
               "eager" if variant in EAGER else "compiled", tier, net, mode,
               precision, variant)


def agree(tier, net, mode, precision):
    return Row("agree {} {} {}".format(net, mode, precision), "agree", tier, net,
               mode, precision)


def losses(tier, name):
    return Row("losses " + name, "losses", tier, "lenet", "train", detail=name)


def sanitize(tier, subject, tool):
    return Row("sanitize {} {}".format(subject, tool), "sanitize", tier,
               "lenet" if subject == "lenet" else "", "train", "bf16", tool)


# The run ends if one of these fails, since no other result could be trusted.
SMOKE_TEST = ("machine", "lenet train bf16 brew")


def first_call():
    yield Row("machine", "machine", 1)
    yield brew(1, "lenet", "train", "bf16")
    yield brew(1, "resnet50", "train", "bf16")
    yield torch(1, "resnet50", "train", "bf16", "channels_last")
    yield torch(1, "resnet50", "train", "bf16", "compile_graph")
    yield Row("rates", "rates", 1)
    yield Row("cases cuda", "cases", 1)
    for name in ("without fuse-launches", "with rematerialization",
                 "without fuse-pooling-backward"):
        yield ablation(1, "resnet50", name)
    yield repeated(1, "resnet50")
    yield agree(1, "lenet", "train", "f32")
    yield agree(1, "lenet", "train", "bf16")
    yield agree(1, "resnet50", "train", "f32")
    yield agree(1, "resnet50_start", "train", "bf16")
    for name in LOSSES:
        yield losses(1, name)
    for net in ("googlenet", "vgg16", "mobilenet"):
        yield brew(1, net, "train", "bf16")
    yield agree(1, "googlenet", "train", "bf16")
    yield agree(1, "mobilenet", "train", "f32")
    yield agree(1, "mobilenet_start", "train", "bf16")


def second_call():
    yield brew(2, "resnet50", "infer", "bf16")
    yield torch(2, "resnet50", "infer", "bf16", "channels_last")
    yield Row("kernels resnet50", "kernels", 2, "resnet50", "train", "bf16")
    for tool in SANITIZERS:
        yield sanitize(2, "lenet", tool)
        yield sanitize(2, "cases", tool)
    yield brew(2, "lenet", "infer", "bf16")
    yield agree(2, "resnet50", "infer", "bf16")
    yield ablation(2, "lenet", "without fuse-launches")
    for net in ("googlenet", "vgg16", "mobilenet"):
        yield torch(2, net, "train", "bf16", "channels_last")
    yield torch(2, "lenet", "train", "bf16", "compile_graph")
    yield torch(2, "resnet50", "infer", "bf16", "compile_graph")


def everything():
    """Yields rows of every net, mode and precision: first Brew and its fastest competitor."""
    for net in NETS:
        for mode in MODES:
            for precision in PRECISIONS:
                yield brew(3, net, mode, precision)
                yield torch(3, net, mode, precision, VARIANTS[0])
    for net in NETS:
        for name in ABLATIONS:
            yield ablation(3, net, name)
        for mode in MODES:
            for precision in PRECISIONS:
                if precision == "f32" or net not in CHAOTIC or mode == "infer":
                    yield agree(3, net, mode, precision)
                for variant in VARIANTS[1:]:
                    yield torch(3, net, mode, precision, variant)


def all_rows():
    """Returns all rows in order, without duplicates."""
    rows = {}
    for row in [*first_call(), *second_call(), *everything()]:
        rows.setdefault(row.name, row)
    return list(rows.values())


def select(nets=None, modes=None, precisions=None):
    """Returns the rows of a package: the rows of both calls, or with a filter all rows that
    match it."""
    if not (nets or modes or precisions):
        return [row for row in all_rows() if row.tier < 3]

    def matches(value, wanted):
        return not wanted or not value or value in wanted
    return [row for row in all_rows()
            if matches(row.net, nets) and matches(row.mode, modes)
            and matches(row.precision, precisions)]
