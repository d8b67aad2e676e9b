"""Lists the steps and operands of a plan, and checks that no step reads what was never written.

usage: read_plan.py PLAN_PROTO PLAN [--list] [--drop-write PROGRAM]

The script is written from docs/plan-format.md and plan.proto alone; it needs protobuf, its
compiler protoc, and NumPy. --list prints the steps. --drop-write leaves out the first step of a
program whose result a later step reads, so that the check must fail.
"""
import argparse
import importlib
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

HEADER = struct.Struct("<8sIIQQQ24x")
FORMAT_VERSION = 7


def load_schema(path):
    """Compiles plan.proto and returns the Python module."""
    folder = tempfile.TemporaryDirectory()
    subprocess.run(["protoc", "-I", os.path.dirname(path), "--python_out", folder.name, path],
                   check=True)
    sys.path.insert(0, folder.name)
    module = importlib.import_module("plan_pb2")
    folder.cleanup()
    return module


def load_manifest(schema, path):
    data = open(path, "rb").read()
    magic, version, checksum, size, offset, length = HEADER.unpack_from(data)
    assert magic == b"BREWPLAN" and version == FORMAT_VERSION, (magic, version)
    assert size == len(data) and checksum == zlib.crc32(data[HEADER.size:])
    return schema.Manifest.FromString(data[offset:offset + length])


class Checker:
    """Tracks which bytes of the arenas are written while a program runs."""

    def __init__(self, schema, manifest, program):
        self.schema, self.manifest, self.program = schema, manifest, program
        self.element_sizes = {schema.F32: 4, schema.F64: 8, schema.I32: 4, schema.U8: 1,
                              schema.BF16: 2, schema.F16: 2}
        self.written = [np.zeros(arena.size, bool) for arena in manifest.arenas]
        self.problems = []
        index = list(manifest.programs).index(program)
        # A buffer without a program outlives programs: its bytes are initialised once.
        for number, buffer in enumerate(manifest.buffers):
            if not buffer.HasField("program_index"):
                self.write(number)
            assert not buffer.HasField("program_index") or buffer.program_index != index or \
                buffer.first_step <= buffer.last_step, buffer
        for data_input in program.data_inputs:
            for number in data_input.buffer_indices:
                self.write(number)
        for gradient in program.output_gradients:
            self.write(gradient.buffer_index)

    def bytes_of(self, number):
        """Returns the positions of the bytes of a buffer's elements in its arena."""
        buffer = self.manifest.buffers[number]
        size = self.element_sizes[buffer.type]
        is_dense = buffer.size == size * np.prod(buffer.dims, dtype=np.int64)
        if is_dense or buffer.zero_gaps:
            return slice(buffer.offset, buffer.offset + buffer.size)
        elements = np.zeros(1, np.int64)
        for dim, stride in zip(buffer.dims, buffer.strides):
            elements = (elements[:, None] + np.arange(dim) * stride).reshape(-1)
        return (buffer.offset + elements[:, None] * size + np.arange(size)).reshape(-1)

    def write(self, number):
        self.written[self.manifest.buffers[number].arena_index][self.bytes_of(number)] = True

    def read(self, number, reader):
        buffer = self.manifest.buffers[number]
        if not self.written[buffer.arena_index][self.bytes_of(number)].all():
            self.problems.append("%s: %s reads '%s', which was never written" %
                                 (self.program.name, reader, buffer.name))

    def run(self, dropped=None):
        """Executes all steps except `dropped`; then the host reads the results."""
        Operand = self.schema.Operand
        for number, step in enumerate(self.program.steps):
            if number == dropped:
                continue
            for operand in step.operands:
                if operand.access != Operand.WRITE:
                    self.read(operand.buffer_index, "step %d" % number)
            for operand in step.operands:
                if operand.access != Operand.READ:
                    self.write(operand.buffer_index)
        for output in list(self.program.outputs) + list(self.program.unreported_losses):
            self.read(output.buffer_index, "output '%s'" % output.blob)
        for blob in list(self.program.blobs) + list(self.program.blob_gradients):
            self.read(blob.buffer_index, "blob '%s'" % blob.name)
        for check in self.program.checks:
            self.read(check.status_buffer_index, "a check")
        return self.problems


def first_needed_step(schema, manifest, program):
    """Returns a step that writes a buffer of the program which a later step reads."""
    steps = list(program.steps)
    for number, step in enumerate(steps):
        written = {o.buffer_index for o in step.operands if o.access == schema.Operand.WRITE and
                   manifest.buffers[o.buffer_index].HasField("program_index")}
        if any(o.buffer_index in written and o.access != schema.Operand.WRITE
               for later in steps[number + 1:] for o in later.operands):
            return number
    sys.exit("no step of '%s' writes what another one reads" % program.name)


def list_steps(schema, manifest, program):
    print("program %s" % program.name)
    for number, step in enumerate(program.steps):
        operands = ", ".join(
            "%s %s" % (schema.Operand.Access.Name(operand.access).lower(),
                       manifest.buffers[operand.buffer_index].name) for operand in step.operands)
        print("  %d %s (%s): %s" % (number, step.WhichOneof("action"), "+".join(step.layers),
                                    operands))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plan_proto")
    parser.add_argument("plan")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--drop-write", metavar="PROGRAM")
    options = parser.parse_args()
    schema = load_schema(options.plan_proto)
    manifest = load_manifest(schema, options.plan)
    problems = []
    for program in manifest.programs:
        if options.list:
            list_steps(schema, manifest, program)
        dropped = first_needed_step(schema, manifest, program) \
            if options.drop_write == program.name else None
        problems += Checker(schema, manifest, program).run(dropped)
    for problem in problems:
        print(problem)
    print("%d steps, %d problems" % (sum(len(p.steps) for p in manifest.programs), len(problems)))
    sys.exit(1 if problems else 0)


main()
