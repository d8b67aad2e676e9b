"""Times steps by the CPU's clock; needs nothing but the standard library."""

import statistics
import time

# A median of fewer means little.
LEAST_STEPS = 3
# Share of the time for measuring that steps before it get: caches, pages and thread
# pools are cold at first.
WARM_UP = 0.2


def time_steps(step, count):
    """Seconds of each of `count` steps."""
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    return seconds


def time_for(step, seconds):
    """Seconds of each step, of as many as `seconds` take, after a warm-up."""
    step()  # which may compile, or allocate all it needs
    warm = time_steps(step, 1)
    while sum(warm) < WARM_UP * seconds:
        warm += time_steps(step, 1)
    return time_steps(step, max(LEAST_STEPS, round(seconds / min(warm))))


def peak_bytes():
    """The most memory that this process has held. Not getrusage's: that begins
    with what its parent held."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return None


def summary(version, seconds):
    """What a peer's process prints, as JSON."""
    return {"version": version, "median": statistics.median(seconds),
            "least": min(seconds), "steps": len(seconds),
            "peak_bytes": peak_bytes()}
