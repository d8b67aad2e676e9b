"""Prints the values of datasets of an HDF5 file, a line for each dataset.

usage: show_h5.py FILE DATASET ...
"""
import sys

import h5py

with h5py.File(sys.argv[1], 'r') as file:
    for name in sys.argv[2:]:
        print(name, ' '.join('%.9g' % value for value in file[name][()].ravel()))
