"""Writes the first N test digits of MNIST and their labels as IDX files to the working folder.

    first_digits.py FOLDER N
"""
import gzip
import sys

for kind, header, size in ("images-idx3", 16, 28 * 28), ("labels-idx1", 8, 1):
    n = int(sys.argv[2])
    data = gzip.open(f"{sys.argv[1]}/t10k-{kind}-ubyte.gz").read(header + n * size)
    with open(f"digits-{kind}-ubyte", "wb") as out:
        out.write(data[:4] + n.to_bytes(4, "big") + data[8:])
