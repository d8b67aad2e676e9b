"""Renders tables of results as text or Markdown."""

import statistics

import workloads
from programs import LOOP, NO_UPDATE, STEP

MISSING = "-"


def render(header, rows, markdown, left=1):
    """Returns the lines of a table. The first `left` columns are aligned to the left."""
    table = [header] + [list(map(str, row)) for row in rows]
    widths = [max(3, *(len(row[i]) for row in table))
              for i in range(len(header))]
    lines = []
    for number, row in enumerate(table):
        cells = [cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("| " + " | ".join(cells) + " |" if markdown
                     else "  ".join(cells).rstrip())
        if number == 0:
            rules = ["-" * width if i < left else "-" * (width - 1) + ":"
                     for i, width in enumerate(widths)]
            lines.append("| " + " | ".join(rules) + " |" if markdown
                         else "  ".join("-" * width for width in widths))
    return lines


class Row:
    """The result of one program on one workload, over all rounds."""

    def __init__(self, entries):
        first = entries[0]
        self.title, self.peer = first["title"], first["peer"]
        self.program, self.measure = first["program"], first["measure"]
        self.variant, self.precision = first["variant"], first["precision"]
        timed = [entry for entry in entries if "median" in entry]
        self.rounds = len(timed)
        self.failed = None if timed else entries[-1]["failed"]
        if timed:
            self.median = statistics.median(e["median"] for e in timed)
            self.least = min(e["least"] for e in timed)
            self.peak_bytes = max(e.get("peak_bytes") or 0 for e in timed)


class Results:
    """The results of a file, by workload."""

    def __init__(self, records):
        self.records = records
        self.peaks = {}
        for entry in records.of("peak"):
            best = self.peaks.get(entry["precision"])
            if not best or entry["flops_per_second"] > best["flops_per_second"]:
                self.peaks[entry["precision"]] = entry

    def rows(self, workload):
        """Returns the rows in the order of measurement, grouped by precision."""
        entries = {}
        for entry in self.records.of("time", workload=workload):
            entries.setdefault(entry["program"], []).append(entry)
        rows = [Row(of_program) for of_program in entries.values()]
        return sorted(rows, key=lambda row: row.precision != "f32")

    def brew(self, rows, precision, measure=STEP):
        """Returns Brew's row, the baseline of the comparison, or None."""
        return next((row for row in rows if row.peer == "brew" and row.rounds
                     and (row.precision, row.measure) == (precision, measure)),
                    None)

    def best(self, rows, peer, precision):
        """Returns the fastest row of a peer, or None."""
        candidates = [row for row in rows if row.rounds and row.measure == STEP
                      and (row.peer, row.precision) == (peer, precision)]
        return min(candidates, key=lambda row: row.median, default=None)

    def flops(self, workload):
        """Returns the operations of a step. The f32 plan's count applies to all programs."""
        entries = (self.records.of("compile", workload=workload, precision="f32")
                   or self.records.of("compile", workload=workload))
        return entries[0]["flops"] if entries else None

    def rate_cells(self, workload, row):
        """Returns the cells for GFLOP/s and the percentage of the peak of the same precision."""
        flops, peak = self.flops(workload), self.peaks.get(row.precision)
        if not flops or row.measure == NO_UPDATE:  # the plan's operations include the update
            return [MISSING, MISSING]
        rate = flops / row.median
        return ["{:.1f}".format(rate / 1e9),
                "{:.1%}".format(rate / peak["flops_per_second"]) if peak
                else MISSING]

    def details(self, workload, markdown):
        """Returns the table of all programs of a workload."""
        rows = self.rows(workload)
        best_ids = {id(self.best(rows, "torch", precision))
                    for precision in ("f32", "bf16")}
        cells = []
        for row in rows:
            title = row.title + (" (best)" if id(row) in best_ids else "")
            if row.failed:
                cells.append([title, row.precision, "not measured"]
                             + [MISSING] * 6)
                continue
            brew = self.brew(rows, row.precision, row.measure)
            cells.append([title, row.precision, milliseconds(row.median),
                          milliseconds(row.least),
                          "{:.2f}".format(row.median / brew.median)
                          if brew and brew is not row else MISSING]
                         + self.rate_cells(workload, row)
                         + [megabytes(row.peak_bytes), row.rounds])
        return render(["program", "type", "median ms", "min ms", "times Brew's",
                       "GFLOP/s", "of peak", "peak MB", "rounds"], cells,
                      markdown, left=2)

    def summary(self, mode, markdown):
        """Returns a table with a row for each workload and precision: Brew's time, and how many
        times slower its peers are. Empty if nothing of the mode was measured."""
        keys = [key for key in self.records.workloads
                if workloads.workload_of(key).mode == mode]
        peers = [("torch", "PyTorch")]
        if mode == "infer":
            peers += [("onnxruntime", "ONNX Runtime"), ("openvino", "OpenVINO"),
                      ("opencv", "OpenCV"), ("caffe", "Caffe")]
        cells = []
        for key in keys:
            rows = self.rows(key)
            for precision in dict.fromkeys(row.precision for row in rows):
                cells.append(self.summary_row(key, rows, precision, peers))
        if not cells:
            return []
        return render(
            ["net, batch", "type", "Brew ms", "min", "GFLOP/s", "of peak"]
            + [name + " / Brew" for _, name in peers]
            + ["of minima", "PyTorch's form", "Brew MB", "PyTorch MB"], cells,
            markdown, left=2)

    def summary_row(self, key, rows, precision, peers):
        workload = workloads.workload_of(key)
        brew = self.brew(rows, precision)
        row = ["{}, {}".format(workloads.TITLES[workload.net], workload.batch),
               precision]
        row += ([milliseconds(brew.median), milliseconds(brew.least)]
                + self.rate_cells(key, brew) if brew else [MISSING] * 4)
        for peer, _ in peers:
            best = self.best(rows, peer, precision)
            row.append("{:.2f}".format(best.median / brew.median)
                       if best and brew else MISSING)
        torch = self.best(rows, "torch", precision)
        row += ["{:.2f}".format(torch.least / brew.least)
                if torch and brew else MISSING,
                torch.variant if torch else MISSING,
                megabytes(brew.peak_bytes) if brew else MISSING,
                megabytes(torch.peak_bytes) if torch else MISSING]
        return row

    def loops(self, markdown):
        """Returns the table of training loops that read a database."""
        cells = []
        for key in self.records.workloads:
            rows = [row for row in self.rows(key) if row.measure == LOOP]
            brew = self.brew(rows, "f32", LOOP)
            for row in rows:
                cells.append([workloads.workload_of(key).title, row.title] + (
                    [milliseconds(row.median), milliseconds(row.least),
                     "{:.2f}".format(row.median / brew.median)
                     if brew and row is not brew else MISSING]
                    if row.rounds else ["not measured"] + [MISSING] * 2))
        if not cells:
            return []
        return render(["net", "program", "median ms", "min ms", "times Brew's"],
                      cells, markdown, left=2)

    def compilation(self, markdown):
        """Returns the table of compile time and memory of every plan."""
        cells = []
        for key in self.records.workloads:
            for precision in ("f32", "bf16"):
                entries = self.records.of("compile", workload=key,
                                          precision=precision)
                if entries:
                    cells.append([workloads.workload_of(key).title, precision]
                                 + compile_cells(entries))
        if not cells:
            return []
        return render(["plan", "type", "brewc ms", "min", "brewc MB", "arena MB",
                       "/ bound", "/ Caffe's", "calls / kernels"], cells,
                      markdown, left=2)

    def reasons(self, keys):
        """Returns [(program and type, reason, workloads)] of the missing measurements."""
        keys_by_reason = {}
        for key in keys:
            for row in self.rows(key):
                if row.failed:
                    program = "{}, {}".format(row.title, row.precision)
                    keys_by_reason.setdefault((program, row.failed), []).append(key)
        return [(program, reason, failed_keys)
                for (program, reason), failed_keys in keys_by_reason.items()]


def compile_cells(entries):
    seconds = [entry["seconds"] for entry in entries]
    memory = entries[-1]["memory"]
    arena = memory["arena_bytes"]
    return [milliseconds(statistics.median(seconds)), milliseconds(min(seconds)),
            megabytes(max(entry["peak_bytes"] for entry in entries)),
            megabytes(arena)] + [
        "{:.3f}".format(arena / memory[name]) if memory.get(name) else MISSING
        for name in ("lower_bound_bytes", "caffe_bytes")] + [
        "{} / {}".format(entries[-1]["calls"], entries[-1]["kernels"])]


def milliseconds(seconds):
    value = seconds * 1e3
    return "{:.3f}".format(value) if value < 10 else (
        "{:.2f}".format(value) if value < 100 else "{:.1f}".format(value))


def megabytes(count):
    return "{:.0f}".format(count / 1e6) if count > 1e8 else (
        "{:.2f}".format(count / 1e6))
