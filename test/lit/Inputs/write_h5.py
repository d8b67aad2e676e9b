"""Writes float datasets to an HDF5 file.

usage: write_h5.py FILE (NAME DIMS VALUES)...
DIMS and VALUES are comma-separated. A single value fills the dataset."""
import sys

import h5py
import numpy

path, *datasets = sys.argv[1:]
with h5py.File(path, "w") as file:
    for name, dims, values in zip(datasets[::3], datasets[1::3], datasets[2::3]):
        shape = [int(d) for d in dims.split(",")]
        data = numpy.array([float(v) for v in values.split(",")], numpy.float32)
        file[name] = numpy.broadcast_to(data, shape) if data.size == 1 else data.reshape(shape)
