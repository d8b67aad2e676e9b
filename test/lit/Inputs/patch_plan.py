"""Changes bytes of a plan and updates its checksum.

usage: patch_plan.py IN OUT version NUMBER      another format version
       patch_plan.py IN OUT replace OLD NEW     the first OLD after the header
       patch_plan.py IN OUT truncate BYTES      only the first BYTES
       patch_plan.py IN OUT flip OFFSET         one bit, checksum not corrected
"""
import struct
import sys
import zlib

source, target, action, *arguments = sys.argv[1:]
data = bytearray(open(source, "rb").read())
assert data[:8] == b"BREWPLAN"
if action == "version":
    data[8:12] = struct.pack("<I", int(arguments[0]))
elif action == "replace":
    old, new = (a.encode() for a in arguments)
    assert len(old) == len(new)
    position = data.index(old, 64)
    data[position : position + len(old)] = new
    data[12:16] = struct.pack("<I", zlib.crc32(bytes(data[64:])))
elif action == "truncate":
    del data[int(arguments[0]) :]
elif action == "flip":
    data[int(arguments[0])] ^= 1
else:
    sys.exit(__doc__)
open(target, "wb").write(data)
