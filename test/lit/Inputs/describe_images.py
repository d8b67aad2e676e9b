"""Prints the kernels and images of a CUDA plan, read without Brew's reader.

usage: describe_images.py PLAN
"""
import struct
import sys


def fields(message):
    """Yields (number, value) of the fields of a serialized protocol buffer."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            size = varint() if size is None else size
            value = message[at : at + size]
            at += size
        yield key >> 3, value


def only(message, number):
    return [value for key, value in fields(message) if key == number]


data = open(sys.argv[1], "rb").read()
offset, size = struct.unpack("<QQ", data[24:40])
manifest = data[offset : offset + size]
# plan.proto: Manifest.target = 3, segments = 4, kernels = 8
(target,) = only(manifest, 3)
segments = [dict(fields(s)) for s in only(manifest, 4)]
kernels = only(manifest, 8)
print("archs", *(a.decode() for a in only(target, 6)))
print("NVRTC", *(v.decode() for v in only(target, 7)))
for kernel in kernels:
    known = dict(fields(kernel))
    line = [known[1].decode()]
    for image in only(kernel, 8):
        image = dict(fields(image))
        segment = segments[image[2]]
        code = data[segment[2] : segment[2] + segment[3]]
        kind = "ELF" if code[:4] == b"\x7fELF" else "PTX" if b".version" in code else "?"
        line.append("%s=%s" % (image[1].decode(), kind))
    print(*line, "blocks", known[9], "threads", known[10])
print(len(kernels), "kernels,", len(segments), "segments")
