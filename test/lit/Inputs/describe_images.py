"""Prints the kernels and images of a CUDA plan, read without Brew's reader.

usage: describe_images.py PLAN
"""
import struct
import sys


def fields(message):
    """Yields (number, value) of the fields of a serialized protocol buffer."""
    position = 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            size = varint() if size is None else size
            value = message[position : position + size]
            position += size
        yield key >> 3, value


def values_of(message, number):
    """Returns the values of the fields with this number."""
    return [value for key, value in fields(message) if key == number]


data = open(sys.argv[1], "rb").read()
offset, size = struct.unpack("<QQ", data[24:40])
manifest = data[offset : offset + size]
# plan.proto: Manifest.target = 3, segments = 4, kernels = 8
(target,) = values_of(manifest, 3)
segments = [dict(fields(s)) for s in values_of(manifest, 4)]
kernels = values_of(manifest, 8)
print("archs", *(a.decode() for a in values_of(target, 6)))
print("NVRTC", *(v.decode() for v in values_of(target, 7)))
for kernel in kernels:
    kernel_fields = dict(fields(kernel))
    line = [kernel_fields[1].decode()]
    for image in values_of(kernel, 8):
        image = dict(fields(image))
        segment = segments[image[2]]
        code = data[segment[2] : segment[2] + segment[3]]
        kind = "ELF" if code[:4] == b"\x7fELF" else "PTX" if b".version" in code else "?"
        line.append("%s=%s" % (image[1].decode(), kind))
    print(*line, "blocks", kernel_fields[9], "threads", kernel_fields[10])
print(len(kernels), "kernels,", len(segments), "segments")
