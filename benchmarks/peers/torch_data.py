#!/usr/bin/env python3
"""Times a PyTorch DataLoader on the files of data.py, and prints JSON.

Each image is cropped and mirrored at random, and the mean is subtracted; batches are floats
in NCHW order, like the batches of Caffe's data layers. torchvision decodes and resizes the
images.
"""

import argparse
import json
import random
import time

import lmdb
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms.v2 import functional

CROP = 227
MEAN = torch.tensor([104.0, 117.0, 123.0]).reshape(3, 1, 1)


def read_varint(data, offset):
    """Returns (value, offset after it) of a protobuf integer."""
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, offset


def datum(data):
    """Returns {number: value} of the fields of a Datum; values of type bytes are views."""
    fields, offset = {}, 0
    while offset < len(data):
        tag, offset = read_varint(data, offset)
        size, offset = read_varint(data, offset)
        if tag & 7 == 2:
            size, offset = data[offset:offset + size], offset + size
        fields[tag >> 3] = size
    return fields


class Pictures(Dataset):
    """The images of a case, randomly cropped and mirrored, with their labels."""

    def __init__(self, case, form):
        self.case, self.is_float = case, form == "float"
        self.transaction = None
        with open("list.txt") as file:
            self.lines = [line.rsplit(" ", 1) for line in file]
        if case != "list":
            with lmdb.open(case + "_lmdb", readonly=True, lock=False) as database, \
                    database.begin() as transaction:
                self.keys = [bytes(key) for key in
                             transaction.cursor().iternext(values=False)]

    def __len__(self):
        return len(self.lines)

    def picture(self, index):
        if self.case == "list":
            name, label = self.lines[index]
            image = decode_jpeg(read_file("large/" + name), ImageReadMode.RGB)
            return functional.resize(image, [256, 256],
                                     antialias=False), int(label)
        if self.transaction is None:  # each worker opens its own environment
            self.transaction = lmdb.open(self.case + "_lmdb", readonly=True, lock=False,
                                         readahead=False).begin(buffers=True)
        fields = datum(self.transaction.get(self.keys[index]))
        pixels = torch.frombuffer(bytearray(fields[4]), dtype=torch.uint8)
        if self.case == "jpeg":
            return decode_jpeg(pixels, ImageReadMode.RGB), fields[5]
        return pixels.view(3, 256, 256), fields.get(5, 0)

    def __getitem__(self, index):
        image, label = self.picture(index)
        top = random.randrange(image.shape[1] - CROP + 1)
        left = random.randrange(image.shape[2] - CROP + 1)
        image = image[:, top:top + CROP, left:left + CROP]
        if random.random() < 0.5:
            image = image.flip(2)
        if self.is_float:
            return image - MEAN, label
        return image.contiguous(), label


def batches(loader, is_float):
    """Yields float batches without end."""
    while True:
        for images, labels in loader:
            yield images if is_float else images.float().sub_(MEAN), labels


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=("raw", "jpeg", "list"))
    parser.add_argument("form", choices=("float", "byte"))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.workers)
    # Databases are read in order, as in Caffe.
    loader = DataLoader(Pictures(options.case, options.form),
                        batch_size=options.batch, drop_last=True,
                        shuffle=options.case == "list", num_workers=options.workers,
                        prefetch_factor=4, persistent_workers=True)
    batch_iterator = batches(loader, options.form == "float")
    for _ in range(4 * options.workers + 2):  # skips the batches that were read ahead
        next(batch_iterator)
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < options.seconds:
        next(batch_iterator)
        count += options.batch
    elapsed = time.perf_counter() - begin
    print(json.dumps({"version": torch.__version__,
                      "records_per_second": count / elapsed}))


if __name__ == "__main__":
    main()
