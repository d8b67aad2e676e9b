"""Writes images and their labels as idx files, MNIST's format.

usage: write_idx.py IMAGES LABELS COUNT ROWS COLUMNS
"""
import struct
import sys

count, rows, columns = map(int, sys.argv[3:])
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack(">4I", 0x803, count, rows, columns))
    file.write(bytes(i % 256 for i in range(count * rows * columns)))
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack(">2I", 0x801, count) + bytes(count))
