"""Runs rows of scripts/gpu-check on a machine with a GPU.

The result of each row is appended to results/results.jsonl at once; a later run continues
with the missing rows.
"""

import re
import time

import processes
import results
import rows
import schedule
from package import Package, RowFailed

# Seconds reserved for saving the last result.
MARGIN = 5
# Exit statuses.
PASSED, FAILED, SMOKE_FAILED = 0, 1, 3


class Run:
    """Runs rows until its time is over. Copies the results to the folder `copy` (or None)
    after every row. `again` repeats rows that failed."""

    def __init__(self, package, seconds, copy=None, again=False):
        self.package, self.copy, self.again = package, copy, again
        self.stop = time.monotonic() + seconds - MARGIN
        self.finished_rows = results.read(package.results)
        self.failed, self.skipped = [], []
        self.saving_failed = False
        self.others = []  # IDs of processes that used the GPU before the run

    def rows(self, wanted):
        """Runs the rows and returns the exit status."""
        device_files = processes.keep_driver_loaded()
        self.others = processes.pids_on_gpu(self.package.environment()) or []
        try:
            for row in wanted:
                if row.name in self.finished_rows and not self.must_repeat(
                        self.finished_rows[row.name]):
                    continue
                if self.remaining() < schedule.USUAL_SECONDS[row.kind]:
                    self.skipped.append(row.name)
                    continue
                if not self.run_row(row):
                    break
        finally:
            self.package.server.stop()
            processes.kill_leftovers(self.package.mark, self.package.environment())
            for file in device_files:
                file.close()
        return self.status()

    def must_repeat(self, result):
        """Returns whether to repeat a row with a result: if it ran out of time, if it is a failed
        smoke test, or if failures are repeated (`again`)."""
        return "failed" in result and (
            self.again or result["row"] in schedule.SMOKE_TEST
            or is_out_of_time(result))

    def status(self):
        if any(name in schedule.SMOKE_TEST for name in self.failed):
            return SMOKE_FAILED
        return FAILED if self.failed or self.saving_failed else PASSED

    def remaining(self):
        return self.stop - time.monotonic()

    def run_row(self, row):
        """Runs a row and saves its result. Returns whether to continue."""
        package = self.package
        package.row = row.name
        print(row.name, flush=True)
        begin = time.monotonic()
        engine_count = results.engines(package.results)
        result, lacked_time = self.within_limit(row)
        if (is_out_of_time(result) and not lacked_time
                and results.engines(package.results) > engine_count):
            # The row measured engines, which are now in the timing cache: run it again.
            processes.kill_leftovers(package.mark, package.environment(),
                                     package.server.processes() + self.others)
            print("  repeating with the engines measured so far", flush=True)
            result, lacked_time = self.within_limit(row)
        busy = processes.kill_leftovers(package.mark, package.environment(),
                                        package.server.processes() + self.others)
        seconds_taken = time.monotonic() - begin
        if lacked_time:
            self.skipped.append(row.name)
            print("  skipped: no time left", flush=True)
            self.save()
            return True
        result.update(row=row.name, took=round(seconds_taken, 1))
        self.save_result(result)
        print("  " + summary(result), flush=True)
        if "failed" in result:
            self.failed.append(row.name)
        if busy:
            print("gpu-check: processes {} still use the GPU; nothing more can be "
                  "measured".format(", ".join(map(str, busy))), flush=True)
            self.failed.append("processes on the GPU")
            return False
        if "failed" in result and row.name in schedule.SMOKE_TEST:
            print("gpu-check: the smoke test failed; nothing else is run", flush=True)
            return False
        return True

    def within_limit(self, row):
        """Returns the row's result, and whether it failed because it had less time than the
        limit of its kind."""
        usual = schedule.LIMIT_SECONDS[row.kind]
        limit = min(usual, self.remaining())
        self.package.deadline = time.monotonic() + limit
        result = measure(self.package, row)
        return result, ("failed" in result and limit < usual
                        and time.monotonic() >= self.package.deadline)

    def save_result(self, result):
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
        """Reports the error once. The run continues; its output remains."""
        if not self.saving_failed:
            print("gpu-check: the results cannot be saved: {}".format(error), flush=True)
        self.saving_failed = True


def measure(package, row):
    """Returns the row's result, with `failed` if it did not pass."""
    try:
        return rows.KINDS[row.kind](package, row)
    except RowFailed as error:
        return dict(error.result, failed=str(error))
    except Exception as error:  # any failure is a result
        return {"failed": "{}: {}".format(type(error).__name__, error)}


def is_out_of_time(result):
    return result.get("failed", "").startswith(processes.OutOfTime.__name__)


def run_calls(folder, second, seconds, copy, earlier=(), again=False):
    """Runs the rows of the first call, or the rows of the second followed by all others that
    are missing, within `seconds`. Returns the exit status."""
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
    """Runs all rows, or the rows that match one of the regular expressions `only`, in the
    order of the expressions, within `seconds`. Returns the exit status."""
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
    """Returns the index of the first pattern that matches, or their number."""
    return next((i for i, pattern in enumerate(patterns) if re.search(pattern, name)),
                len(patterns))


def finish(run, wanted):
    status = run.rows(wanted)
    print("{} rows have results, {} failed, {} skipped for lack of time{}".format(
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
