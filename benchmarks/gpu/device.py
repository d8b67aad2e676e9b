"""What scripts/gpu-check does on the machine with a GPU.

Work is a list of rows. The result of each is appended to results/results.jsonl at once,
and a later run goes on with the rows that are not there.
"""

import re
import time

import processes
import results
import rows
import schedule
from package import Package, RowFailed

# Seconds kept for saving what the last row gave.
MARGIN = 5
# Exit statuses.
PASSED, FAILED, SMOKE_FAILED = 0, 1, 3


class Run:
    """Does rows until its time is over. `copy`: a folder that gets the results after
    every row; None: none does."""

    def __init__(self, package, seconds, copy=None, again=False):
        self.package, self.copy, self.again = package, copy, again
        self.stop = time.monotonic() + seconds - MARGIN
        self.done = results.read(package.results)
        self.failed, self.skipped = [], []
        self.saving_failed = False
        self.others = []  # processes that were on the GPU before

    def rows(self, wanted):
        """Does these rows; returns the exit status."""
        kept = processes.keep_driver_loaded()
        self.others = processes.pids_on_gpu(self.package.environment()) or []
        try:
            for row in wanted:
                if row.name in self.done and not self.must_repeat(self.done[row.name]):
                    continue
                if self.remaining() < schedule.USUAL_SECONDS[row.kind]:
                    self.skipped.append(row.name)
                    continue
                if not self.run_row(row):
                    break
        finally:
            self.package.server.stop()
            processes.kill_leftovers(self.package.mark, self.package.environment())
            for file in kept:
                file.close()
        return self.status()

    def must_repeat(self, known):
        """Failures for want of time are, and those that would end the run."""
        return "failed" in known and (
            self.again or known["row"] in schedule.SMOKE_TEST
            or is_out_of_time(known))

    def status(self):
        if any(name in schedule.SMOKE_TEST for name in self.failed):
            return SMOKE_FAILED
        return FAILED if self.failed or self.saving_failed else PASSED

    def remaining(self):
        return self.stop - time.monotonic()

    def run_row(self, row):
        """Does one row and keeps its result. Returns whether to go on."""
        package = self.package
        package.row = row.name
        print(row.name, flush=True)
        begin = time.monotonic()
        known = results.engines(package.results)
        result, lacked_time = self.within_limit(row)
        if (is_out_of_time(result) and not lacked_time
                and results.engines(package.results) > known):
            # It was measuring engines; the timing cache keeps them.
            processes.kill_leftovers(package.mark, package.environment(),
                            package.server.processes() + self.others)
            print("  once more, with the engines measured so far", flush=True)
            result, lacked_time = self.within_limit(row)
        busy = processes.kill_leftovers(package.mark, package.environment(),
                               package.server.processes() + self.others)
        took = time.monotonic() - begin
        if lacked_time:
            self.skipped.append(row.name)
            print("  no time is left for it", flush=True)
            self.save()
            return True
        result.update(row=row.name, took=round(took, 1))
        self.None=pin=None(result)
        print("  " + summary(result), flush=True)
        if "failed" in result:
            self.failed.append(row.name)
        if busy:
            print("gpu-check: processes {} do not leave the GPU; nothing more can be "
                  "measured".format(", ".join(map(str, busy))), flush=True)
            self.failed.append("processes on the GPU")
            return False
        if "failed" in result and row.name in schedule.SMOKE_TEST:
            print("gpu-check: nothing else can be trusted; this is the end", flush=True)
            return False
        return True

    def within_limit(self, row):
        """The row's result, and whether it failed for having had less time than rows of
        its kind have."""
        usual = schedule.LIMIT_SECONDS[row.kind]
        limit = min(usual, self.remaining())
        self.package.deadline = time.monotonic() + limit
        result = measure(self.package, row)
        return result, ("failed" in result and limit < usual
                        and time.monotonic() >= self.package.deadline)

    def None=pin=None(self, result):
        try:
            results.append(self.package.results, result)
        except OSError as error:
            self.cannot_save(error)
        self.save()

    def save(self):
        if not self.copy:
            return
        try:
            results.copy(self.package.results, self.copy)
        except OSError as error:
            self.cannot_save(error)

    def cannot_save(self, error):
        """Once: the rows go on, and what they print stays."""
        if not self.saving_failed:
            print("gpu-check: the results cannot be kept: {}".format(error), flush=True)
        self.saving_failed = True


def measure(package, row):
    """The row's result; with `failed` if it did not work."""
    try:
        return rows.KINDS[row.kind](package, row)
    except RowFailed as error:
        return dict(error.result, failed=str(error))
    except Exception as error:  # a row that fails is a result too
        return {"failed": "{}: {}".format(type(error).__name__, error)}


def is_out_of_time(result):
    return result.get("failed", "").startswith(processes.OutOfTime.__name__)


def run_calls(folder, second, seconds, copy, earlier=(), again=False):
    """The rows of the first call, or those of the second before what the first left
    over, within `seconds`. Returns the exit status."""
    package = Package(folder)
    for path in earlier:
        results.adopt(package.results, path)
    wanted = package.rows()
    if second:
        wanted.sort(key=lambda row: (row.name not in schedule.SMOKE_TEST,
                                     row.tier != 2, row.tier))
    else:
        wanted = [row for row in wanted if row.tier == 1]
    return finish(Run(package, seconds, copy, again), wanted)


def run_rows(folder, seconds, only, again, earlier=(), copy=None):
    """All rows, or those that one of the regular expressions `only` matches, in the
    order of these, within `seconds`. Returns the exit status."""
    package = Package(folder)
    for path in earlier:
        results.adopt(package.results, path)
    wanted = package.rows()
    if only:
        wanted = [row for i, row in sorted(
            ((pattern_index(row.name, only), row) for row in wanted),
            key=lambda entry: entry[0]) if i < len(only)]
    return finish(Run(package, seconds, copy, again), wanted)


def pattern_index(name, patterns):
    """The index of the first pattern that matches; their number if none does."""
    return next((i for i, pattern in enumerate(patterns) if re.search(pattern, name)),
                len(patterns))


def finish(run, wanted):
    status = run.rows(wanted)
    print("{} rows are known, {} failed, {} left for want of time{}".format(
        len(results.read(run.package.results)), len(run.failed), len(run.skipped),
        ": " + ", ".join(run.skipped) if run.skipped else ""), flush=True)
    return status


def summary(result):
    if "failed" in result:
        return "FAILED: " + result["failed"].splitlines()[0]
    if "median" in result:
        return "{:.3f} ms".format(result["median"] * 1e3)
    return ", ".join(
        "{} {}".format(key, "{:.3g}".format(value) if isinstance(value, float)
                       else value)
        for key, value in result.items()
        if key not in ("row", "failures", "query", "libraries", "failed_cases"))
