"""Reads CUDA kernels from plans, and figures from their machine code for sm_90."""

import re
import struct
from types import SimpleNamespace

# Limits of a multiprocessor of sm_90: registers, threads, blocks, bytes of shared memory, and
# the bytes of it that CUDA reserves for each block.
REGISTERS, THREADS, BLOCKS, SHARED, RESERVED = 65536, 2048, 32, 228 << 10, 1 << 10
WARP, REGISTER_UNIT = 32, 8
# Attributes of .nv.info: the registers of a kernel (its symbol, their number).
FORMAT_VALUES, ATTRIBUTE_REGISTERS = 4, 0x2F
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?(\S.*?) *;")
LABEL = re.compile(r"^(\.L_x_\d+):")
ADDRESS = re.compile(r"\[U?R\w+\]\[(R\d+)|\[(R\d+)")


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
            value = message[position:position + size]
            position += size
        yield key >> 3, value


def values_of(message, number):
    return [value for key, value in fields(message) if key == number]


def kernels_of_plan(data, arch):
    """Yields the kernels of a plan file: symbol, bytes moved, threads, stages, machine code."""
    offset, size = struct.unpack("<QQ", data[24:40])
    manifest = data[offset:offset + size]
    # plan.proto: Manifest.segments = 4, kernels = 8
    segments = [dict(fields(segment)) for segment in values_of(manifest, 4)]
    for message in values_of(manifest, 8):
        kernel = dict(fields(message))
        for image in map(dict, map(fields, values_of(message, 8))):
            if image[1].decode() == arch:
                segment = segments[image[2]]
                yield SimpleNamespace(
                    symbol=kernel[1].decode(), bytes=kernel.get(7, 0), threads=kernel[10],
                    stages=kernel.get(11, 1), code=data[segment[2]:segment[2] + segment[3]])


def sections(elf):
    """Returns name -> (offset, size) of the sections of a 64-bit ELF file."""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    start = headers[names][4]
    return {elf[start + h[0]:elf.index(b"\0", start + h[0])].decode(): (h[4], h[5])
            for h in headers}


def resources(kernel):
    """Returns the registers of a thread and the shared memory of a block, from the cubin."""
    found = sections(kernel.code)
    position, size = found[".nv.info"]
    end, registers = position + size, 0
    while position < end:
        kind, attribute, length = struct.unpack_from("<BBH", kernel.code, position)
        if kind == FORMAT_VALUES and attribute == ATTRIBUTE_REGISTERS:
            registers = struct.unpack_from("<II", kernel.code, position + 4)[1]
        position += 4 + (length if kind == FORMAT_VALUES else 0)
    return {"registers": registers,
            "shared": found.get(".nv.shared." + kernel.symbol, (0, 0))[1]}


def resident_threads(kernel):
    """Returns the threads of a kernel that a multiprocessor runs at once."""
    registers = -(-kernel.registers // REGISTER_UNIT) * REGISTER_UNIT * kernel.threads
    return kernel.threads * min(REGISTERS // registers, THREADS // kernel.threads, BLOCKS,
                                SHARED // (kernel.shared + RESERVED))


def instructions_of(text):
    """Returns the instructions (address, text) of nvdisasm's output, and label -> address."""
    instructions, labels, pending = [], {}, []
    for line in text.splitlines():
        if label := LABEL.match(line):
            pending.append(label[1])
        elif instruction := INSTRUCTION.search(line):
            address = int(instruction[1], 16)
            labels.update({label: address for label in pending})
            pending = []
            if instruction[2] != "NOP":
                instructions.append((address, instruction[2]))
    return instructions, labels


def innermost_loops(instructions, labels):
    """Returns the ranges of addresses of loops that contain no other loop."""
    loops = []
    for address, text in instructions:
        target = re.search(r"BRA.*\((\.L_x_\d+)\)", text)
        if target and labels[target[1]] < address:
            loops.append((labels[target[1]], address))
    return [loop for loop in loops if not any(
        other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in loops)]


def access_bytes(text):
    """Returns the bytes that a load or store of a thread moves."""
    width = re.search(r"\.(U?8|U?S?16|64|128)\b", text.split(" ")[0])
    return int(width[1].strip("US")) // 8 if width else 4


def element_sizes(instructions):
    """Returns address -> element size of the accesses to global memory: the factor of the
    index in the access's address; 0 if unknown."""
    factors, sizes = {}, {}
    for address, text in instructions:
        operation, _, operands = text.partition(" ")
        names = re.findall(r"\bR\d+\b", operands)
        if operation.startswith(("LDG", "STG")):
            register = ADDRESS.search(text)
            sizes[address] = factors.get(register[1] or register[2], 0) if register else 0
        wide = re.match(r"IMAD\.WIDE(?:\.U32)? (R\d+), \S+, 0x([1248]),", text)
        lea = re.match(r"LEA (R\d+), \S+ \S+ \S+ 0x([0-3])", text)
        if wide:
            factors[wide[1]] = int(wide[2])
        elif lea:
            factors[lea[1]] = 1 << int(lea[2])
        elif names and not operation.startswith("ST"):
            copied = operation.startswith(("IADD3", "MOV")) and len(names) > 1
            factors[names[0]] = factors.get(names[1], 0) if copied else 0
    return sizes


def elements_moved(instructions, sizes):
    """Returns the 16-bit elements that a thread loads and stores."""
    return sum(access_bytes(text) // 2 for address, text in instructions
               if sizes.get(address) == 2)


def figures(text):
    """Returns the figures of a kernel's machine code.

    loop_spills: local loads and stores in innermost loops. parameter_loads: the most loads of
    4-byte elements in an innermost loop over 16-bit elements. per_element: instructions of
    these loops for each 16-bit element that they load or store."""
    instructions, labels = instructions_of(text)
    sizes = element_sizes(instructions)

    def count(prefixes, members=instructions):
        return sum(instruction.startswith(prefixes) for _, instruction in members)

    parameter_loads = loop_spills = executed = elements = 0
    for begin, end in innermost_loops(instructions, labels):
        body = [(a, t) for a, t in instructions if begin <= a <= end]
        loop_spills += count(("LDL", "STL"), body)
        moved = elements_moved(body, sizes)
        if moved:
            executed += len(body)
            elements += moved
            parameter_loads = max(parameter_loads, sum(
                sizes[a] == 4 and t.startswith("LDG") for a, t in body if a in sizes))
    if not elements:  # the threads compute one pack each, without a loop
        executed, elements = len(instructions), elements_moved(instructions, sizes)
    return {"instructions": len(instructions), "barriers": count(("BAR",)),
            "loads": count(("LDG",)), "stores": count(("STG",)),
            "spills": count(("LDL", "STL")), "loop_spills": loop_spills,
            "parameter_loads": parameter_loads,
            "per_element": executed / elements if elements else 0}
