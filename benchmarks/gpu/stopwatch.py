"""Times steps by the CPU's clock. Uses only the standard library."""

import statistics
import time

# Minimum number of steps for a meaningful median.
MIN_STEPS = 3
# Warm-up time as a share of the measuring time. Caches, pages and thread pools are cold at
# first.
WARM_UP = 0.2


def time_steps(step, count):
    """Returns the seconds of each of `count` steps."""
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    return seconds


def time_for(step, seconds):
    """Returns the seconds of each step. Runs steps for about `seconds`, after a warm-up."""
    step()  # may compile and allocate
    warm = time_steps(step, 1)
    while sum(warm) < WARM_UP * seconds:
        warm += time_steps(step, 1)
    return time_steps(step, max(MIN_STEPS, round(seconds / min(warm))))


def peak_bytes():
    """Returns the peak memory of this process. getrusage's value would include its
    parent's."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return None


def summary(version, seconds):
    """Returns the result that a competitor's process prints as JSON."""
    return {"version": version, "median": statistics.median(seconds),
            "least": min(seconds), "mean": statistics.fmean(seconds), "steps": len(seconds),
            "peak_bytes": peak_bytes()}
