"""Formats the results of scripts/gpu-check as a Markdown table."""

import results
from package import Package
from schedule import ABLATION_PRECISION, ABLATIONS
from timed_nets import MODES, PRECISIONS, VARIANTS

HEAD = ("| net, batch | step | type | Brew ms | images/s | best PyTorch ms | "
        "which | ratio | memory MiB | PyTorch MiB | graph nodes | roofline |")
RULE = "|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|"


def best_torch(done, key):
    """Returns (seconds, variant, result) of the fastest measured variant, or None."""
    ran = [(done[row]["median"], variant, done[row])
           for variant in VARIANTS
           for row in ["{} torch {}".format(key, variant)]
           if "median" in done.get(row, {})]
    return min(ran, key=lambda entry: entry[:2]) if ran else None


def roofline(rates, brew, precision):
    """Returns the roofline time (the longer of copying and multiplying) as a share of the
    measured time."""
    if not rates or "failed" in rates:
        return "?"
    needed = max(brew["bytes"] / rates["bytes_per_second"],
                 brew["flops"] / rates["flops"][precision])
    return "{:.0%}".format(needed / brew["median"])


def mebibytes(count):
    return "{:.0f}".format(count / (1 << 20)) if count else "?"


def row(package, done, net, mode, precision):
    key = "{} {} {}".format(net, mode, precision)
    batch = int(package.index["nets"][net]["inputs"][0].split("=")[1].split(",")[0])
    brew, torch = done.get(key + " brew"), best_torch(done, key)
    if not brew and not torch:
        return None
    cells = ["{}, {}".format(net, batch), mode, precision]
    if brew and "median" in brew:
        cells += ["{:.3f}".format(brew["median"] * 1e3),
                  "{:.0f}".format(batch / brew["median"])]
    else:
        cells += ["failed" if brew else "not run", ""]
    cells += (["{:.3f}".format(torch[0] * 1e3), torch[1]] if torch
              else ["not run", ""])
    both = brew and torch and "median" in brew
    cells.append("{:.2f}".format(torch[0] / brew["median"]) if both else "")
    measured = brew and "median" in brew
    cells.append(mebibytes(brew["peak_bytes"]) if measured else "")
    cells.append(mebibytes(torch[2]["peak_bytes"]) if torch else "")
    cells.append(str(brew["nodes"]) if measured else "")
    cells.append(roofline(done.get("rates"), brew, precision)
                 if measured else "")
    return "| " + " | ".join(cells) + " |"


def checks(done):
    """Yields lines for the rows that check values."""
    for name, result in done.items():
        failed = result.get("failed", "").split("\n")[0]
        if name.startswith("cases "):
            yield "Recorded cases, {}: {}".format(name[6:],
                                                  result.get("summary", failed))
            yield from ("    " + line for line in result.get("failures", []))
        elif name.startswith("agree "):
            yield "GPU against CPU, {}: {}".format(
                name[6:], failed or "error {error:.2g} in {blob}, {ratio:.2f} times a "
                "CPU plan's of the same precision; {compared} blobs".format(**result))
        elif name.startswith("losses "):
            yield "20 iterations of LeNet, {}: {}".format(
                name[7:], failed or "losses {deviation:.2g} off (at most "
                "{tolerance:.2g})".format(**result))
        elif name.startswith("sanitize "):
            yield "compute-sanitizer, {}: {}".format(name[9:],
                                                     failed or result["summary"])


def ablations(done, nets):
    """Yields lines that compare ablations of passes with the normal step, which was measured
    before and after them."""
    for net in nets:
        key = "{} train {} brew".format(net, ABLATION_PRECISION)
        whole = [done[name]["median"] * 1e3 for name in (key, key + " again")
                 if "median" in done.get(name, {})]
        for ablation in ABLATIONS:
            result = done.get(key + " " + ablation, {})
            if "median" in result and whole:
                yield "- {} {}: {:.3f} ms ({} graph nodes); normally: {}".format(
                    net, ablation, result["median"] * 1e3, result["nodes"],
                    ", ".join("{:.3f} ms".format(time) for time in whole))


def table(folder):
    package = Package(folder)
    done = results.read(package.results)
    lines = []
    rates = done.get("rates")
    if rates and "failed" not in rates:
        lines += ["{}, PyTorch {}, CUDA {}; copies {:.0f} GB/s, products f32 "
                  "{:.1f}, tf32 {:.0f}, bf16 {:.0f} TFLOP/s.".format(
                      rates["device"], rates["torch"], rates["cuda"],
                      rates["bytes_per_second"] / 1e9,
                      *[rates["flops"][p] / 1e12 for p in PRECISIONS]), ""]
    lines += checks(done)
    lines += ["", HEAD, RULE]
    for net in package.index["nets"]:
        for mode in MODES:
            lines += [line for precision in PRECISIONS
                      for line in [row(package, done, net, mode, precision)]
                      if line]
    worth = list(ablations(done, package.index["nets"]))
    if worth:
        lines += ["", "Ablations of passes:", ""] + worth
    failed = ["- {}: {}".format(name, result["failed"].splitlines()[0])
              for name, result in done.items() if "failed" in result]
    if failed:
        lines += ["", "Rows that failed:", ""] + failed
    return "\n".join(lines)
