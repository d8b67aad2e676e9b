"""Writes float datasets to an HDF5 file.

usage: write_h5.py FILE (NAME DIMS VALUES)...    comma-separated; one value fills"""
import sys

import h5py
import numpy

path, *rest = sys.argv[1:]
with h5py.File(path, "w") as file:
    for name, dims, values in zip(rest[::3], rest[1::3], rest[2::3]):
        shape = [int(d) for d in dims.split(",")]
        data = numpy.array([float(v) for v in values.split(",")], numpy.float32)
        file[name] = numpy.broadcast_to(data, shape) if data.size == 1 else data.reshape(shape)
