#!/usr/bin/env python3
"""Checks the machine code of the benchmark nets' GPU kernels: registers that spill in loops,
loads of parameters, and instructions. Without nvdisasm or NVRTC, only the parser is tested.

usage: sass_test.py [--bin FOLDER] [--all]

--all includes three nets that take as long as the other six together (100 seconds)."""

import argparse
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks/gpu"))

import cubin
import sass

# Figures of a training step in bf16, at most: kernels that spill in loops, loads of parameters
# for each iteration of a loop, instructions for each element, and instructions of all kernels.
CEILINGS = {"lenet": (0, 0.1, 5.6, 3750), "cifar10_quick": (0, 0.1, 10.9, 5400),
            "alexnet": (0, 0.1, 4.5, 15300), "resnet50": (3, 0.5, 3.8, 61500),
            "mobilenet": (1, 1.3, 4.6, 62500), "lstm": (0, 0.1, 4.4, 3500)}
OTHER_CEILINGS = {"googlenet": (0, 10, 6.9, 60500), "vgg16": (0, 0.1, 3.2, 14100),
                  "squeezenet": (0, 0.2, 4.7, 20000)}
SAMPLE = """
        .type           k,@function
        /*0000*/                   IMAD.WIDE R2, R0, 0x2, R4 ;
        /*0010*/                   LEA R6, P0, R0, R7, 0x2 ;
.L_x_0:
        /*0020*/                   LDG.E.128 R8, desc[UR4][R2.64] ;
        /*0030*/                   LDG.E.128.CONSTANT R12, desc[UR4][R6.64+0x10] ;
        /*0040*/                   STL [R1], R8 ;
        /*0050*/              @!P0 BRA `(.L_x_0) ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0070*/                   STG.E.U16 desc[UR4][R2.64], R9 ;
        /*0080*/                   EXIT ;
.L_x_1:
        /*0090*/                   BRA `(.L_x_1);
        /*00a0*/                   NOP;
"""


class Parser(unittest.TestCase):
    def test_figures(self):
        figures = cubin.figures(SAMPLE)
        self.assertEqual(figures["instructions"], 10)
        self.assertEqual((figures["loads"], figures["stores"], figures["barriers"]), (2, 1, 1))
        self.assertEqual((figures["spills"], figures["loop_spills"]), (1, 1))
        self.assertEqual(figures["parameter_loads"], 1)
        self.assertEqual(figures["per_element"], 4 / 8)

    def test_resident_threads(self):
        def resident(registers, threads, shared=0):
            return cubin.resident_threads(argparse.Namespace(
                registers=registers, threads=threads, shared=shared))

        self.assertEqual(resident(32, 512), 2048)
        self.assertEqual(resident(64, 512), 1024)
        self.assertEqual(resident(57, 512), 1024)
        self.assertEqual(resident(16, 32), 1024)
        self.assertEqual(resident(16, 256, 100 << 10), 512)


class Nets(unittest.TestCase):
    brewc = None
    ceilings = CEILINGS

    def setUp(self):
        if not self.brewc:
            self.skipTest("no compiler is built")
        if not sass.find_nvdisasm():
            self.skipTest("nvdisasm is not installed")
        with tempfile.TemporaryDirectory() as folder:
            net = Path(folder, "net.prototxt")
            net.write_text('layer { name: "x" type: "Input" top: "x" '
                           'input_param { shape { dim: 8 } } }\n'
                           'layer { name: "r" type: "ReLU" bottom: "x" top: "y" }\n')
            if subprocess.run([self.brewc, net, "--target=cuda", "--gpu-arch=" + sass.ARCH, "-o",
                               Path(folder, "net.plan")], capture_output=True).returncode:
                self.skipTest("NVRTC is not installed")

    def test_ceilings(self):
        with tempfile.TemporaryDirectory() as folder:
            for net, ceilings in self.ceilings.items():
                plan = sass.compile_plan(self.brewc, net, Path(folder))
                totals = sass.totals(sass.kernels_of(plan, sass.find_nvdisasm()))
                figures = [totals[name] for name in (
                    "spilling", "parameter_loads", "per_element", "instructions")]
                with self.subTest(net=net):
                    for figure, ceiling in zip(figures, ceilings):
                        self.assertLessEqual(figure, ceiling, "{}: {}".format(net, figures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path)
    parser.add_argument("--all", action="store_true")
    options, arguments = parser.parse_known_args()
    if options.bin:
        Nets.brewc = str((options.bin / "brewc").resolve())
    if options.all:
        Nets.ceilings = {**CEILINGS, **OTHER_CEILINGS}
    unittest.main(argv=sys.argv[:1] + arguments)
