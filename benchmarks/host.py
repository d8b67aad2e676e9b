"""Describes the machine that runs the benchmarks."""

import os
import platform
from datetime import date
from pathlib import Path

# CPU flags that determine the speed of matrix products.
RELEVANT_FLAGS = ("avx2", "avx512f", "avx_vnni", "avx512_bf16", "amx_bf16")


def processor():
    """Returns (name, relevant flags) of the CPU."""
    name, flags = platform.machine(), ()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            title, _, value = line.partition(":")
            if title.strip() == "model name":
                name = value.strip()
            elif title.strip() == "flags":
                cpu_flags = set(value.split())
                flags = tuple(flag for flag in RELEVANT_FLAGS if flag in cpu_flags)
    except OSError:
        pass
    return name, flags


def describe(threads):
    """Returns the properties of the machine and the date, for records and headings."""
    name, flags = processor()
    return {"cpu": name, "flags": list(flags), "cpus": os.cpu_count(),
            "threads": threads, "load": round(os.getloadavg()[0], 2),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE")
            * os.sysconf("SC_PHYS_PAGES"),
            "date": date.today().isoformat()}


def is_busy(load, cpus):
    """Returns whether other processes distort the measured times."""
    return load > 0.25 * cpus
