"""Formats the results of scripts/gpu-check as a Markdown table."""

import results
from package import Package
from schedule import ABLATION_PRECISION, ABLATIONS
from timed_nets import MODES, PRECISIONS, VARIANTS

HEAD = ("| net, batch | step | type | Brew ms | images/s | best PyTorch ms | "
        "which | ratio | memory MiB | PyTorch MiB | graph nodes | roofline |")
RULE = "|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|---:|"


def best_torch(results_by_row, key):
    """Returns (seconds, variant, result) of the fastest measured variant, or None."""
    measured_variants = [(results_by_row[row]["median"], variant, results_by_row[row])
                         for variant in VARIANTS
                         for row in ["{} torch {}".format(key, variant)]
                         if "median" in results_by_row.get(row, {})]
    return min(measured_variants, key=lambda entry: entry[:2]) if measured_variants else None


def roofline(rates, brew, precision):
    """Returns the roofline time (the longer of copying and multiplying) as a share of the
    measured time."""
    if not rates or "failed" in rates:
        return "?"
    roofline_seconds = max(brew["bytes"] / rates["bytes_per_second"],
                           brew["flops"] / rates["flops"][precision])
    return "{:.0%}".format(roofline_seconds / brew["median"])


def mebibytes(count):
    return "{:.0f}".format(count / (1 << 20)) if count else "?"


def table_row(package, results_by_row, net, mode, precision):
    """Returns the line of a net, mode and precision, or None if nothing was measured."""
    key = "{} {} {}".format(net, mode, precision)
    batch = int(package.index["nets"][net]["inputs"][0].split("=")[1].split(",")[0])
    brew, torch = results_by_row.get(key + " brew"), best_torch(results_by_row, key)
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
    is_comparable = brew and torch and "median" in brew
    cells.append("{:.2f}".format(torch[0] / brew["median"]) if is_comparable else "")
    is_measured = brew and "median" in brew
    cells.append(mebibytes(brew["peak_bytes"]) if is_measured else "")
    cells.append(mebibytes(torch[2]["peak_bytes"]) if torch else "")
    cells.append(str(brew["nodes"]) if is_measured else "")
    cells.append(roofline(results_by_row.get("rates"), brew, precision)
                 if is_measured else "")
    return "| " + " | ".join(cells) + " |"


def check_lines(results_by_row):
    """Yields lines for the rows that check values."""
    for name, result in results_by_row.items():
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


def ablation_lines(results_by_row, nets):
    """Yields lines that compare ablations of passes with the normal step, which was measured
    before and after them."""
    for net in nets:
        key = "{} train {} brew".format(net, ABLATION_PRECISION)
        normal_times = [results_by_row[name]["median"] * 1e3 for name in (key, key + " again")
                        if "median" in results_by_row.get(name, {})]
        for ablation in ABLATIONS:
            result = results_by_row.get(key + " " + ablation, {})
            if "median" in result and normal_times:
                yield "- {} {}: {:.3f} ms ({} graph nodes); normally: {}".format(
                    net, ablation, result["median"] * 1e3, result["nodes"],
                    ", ".join("{:.3f} ms".format(time) for time in normal_times))


def table(folder):
    """Returns the results of the package in `folder` as Markdown text."""
    package = Package(folder)
    results_by_row = results.read(package.results)
    lines = []
    rates = results_by_row.get("rates")
    if rates and "failed" not in rates:
        lines += ["{}, PyTorch {}, CUDA {}; copies {:.0f} GB/s, products f32 "
                  "{:.1f}, tf32 {:.0f}, bf16 {:.0f} TFLOP/s.".format(
                      rates["device"], rates["torch"], rates["cuda"],
                      rates["bytes_per_second"] / 1e9,
                      *[rates["flops"][p] / 1e12 for p in PRECISIONS]), ""]
    lines += check_lines(results_by_row)
    lines += ["", HEAD, RULE]
    for net in package.index["nets"]:
        for mode in MODES:
            lines += [line for precision in PRECISIONS
                      for line in [table_row(package, results_by_row, net, mode, precision)]
                      if line]
    lines_of_ablations = list(ablation_lines(results_by_row, package.index["nets"]))
    if lines_of_ablations:
        lines += ["", "Ablations of passes:", ""] + lines_of_ablations
    failed = ["- {}: {}".format(name, result["failed"].splitlines()[0])
              for name, result in results_by_row.items() if "failed" in result]
    if failed:
        lines += ["", "Rows that failed:", ""] + failed
    return "\n".join(lines)
