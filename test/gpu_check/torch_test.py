#!/usr/bin/env python3
"""Tests the PyTorch part of scripts/gpu-check, on the CPU."""

import json
import subprocess
import sys
import unittest
from unittest import mock

from common import ROOT, Folder

import prototxt
import timed_nets
import torch_server

try:
    import torch
    import torch_net
    import torch_step
except ImportError:
    torch = None


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TorchNet(unittest.TestCase):
    def build(self, name, phase, batch=None):
        shapes = {blob: (batch or shape[0],) + shape[1:]
                  for blob, shape in timed_nets.NETS[name].items()}
        return torch_net.CaffeNet(prototxt.parse(timed_nets.prototxt_of(name)), phase,
                                  shapes), shapes

    def test_nets_have_the_expected_parameters_and_initial_loss(self):
        for name, parameters in (("lenet", 431080), ("cifar10_quick", 145578)):
            net, shapes = self.build(name, "TRAIN")
            self.assertEqual(sum(p.numel() for p in net.parameters()),
                             parameters)
            inputs = {blob: torch.zeros(shape, dtype=torch.long)
                      if len(shape) == 1 else torch.rand(shape)
                      for blob, shape in shapes.items()}
            loss = net(inputs)
            self.assertAlmostEqual(loss.item(), 2.3, delta=0.3)  # log(10): ten classes
            loss.backward()

    def test_large_nets_have_their_papers_parameters(self):
        for name, parameters in (("alexnet", 60965224), ("vgg16", 138357544),
                                 ("googlenet", 6998552),
                                 ("resnet50", 25557032),
                                 ("squeezenet", 1248424),
                                 ("mobilenet", 4231976)):
            net, _ = self.build(name, "TEST", batch=1)
            self.assertEqual(sum(p.numel() for p in net.parameters()),
                             parameters, name)

    def test_norms_with_a_scale_are_one_layer(self):
        net, shapes = self.build("mobilenet", "TRAIN", batch=2)
        kinds = [type(module) for module in net.modules_by_name]
        self.assertEqual(kinds.count(torch.nn.BatchNorm2d), 27)
        self.assertNotIn(torch_net.Channelwise, kinds)
        for module in net.modules_by_name:
            if isinstance(module, torch.nn.BatchNorm2d):
                self.assertTrue(module.affine)
            elif isinstance(module, torch.nn.ReLU):
                self.assertTrue(module.inplace)
        loss = net({"data": torch.rand(2, 3, 32, 32),
                    "label": torch.zeros(2, dtype=torch.long)})
        loss.backward()  # fails if in-place layers overwrite needed values
        self.assertTrue(all(p.grad is not None for p in net.parameters()))

    def test_norms_that_others_read_keep_their_scale(self):
        norm = 'layer { type: "BatchNorm" bottom: "x" top: "n" }'
        scale = ('layer { type: "Scale" bottom: "n" top: "%s"'
                 ' scale_param { bias_term: %s } }')
        sum_up = 'layer { type: "Eltwise" bottom: "n" bottom: "s" top: "y" }'
        for text, norms in ((norm + scale % ("n", "true"), {0}),
                            (norm + scale % ("s", "true"), {0}),
                            (norm + scale % ("s", "false"), set()),
                            (norm + scale % ("s", "true") + sum_up, set()),
                            (norm, set())):
            layers = list(prototxt.layers_of(prototxt.parse(text), "TRAIN"))
            self.assertEqual(torch_net.scaled_norms(layers), norms, text)

    def test_losses_of_sequences_are_cross_entropies(self):
        net = torch_net.CaffeNet(prototxt.parse("""
            layer { name: "l" type: "LSTM" bottom: "data" bottom: "cont" top: "l"
                    recurrent_param { num_output: 4 } }
            layer { name: "p" type: "InnerProduct" bottom: "l" top: "p"
                    inner_product_param { num_output: 7 axis: 2 } }
            layer { name: "loss" type: "SoftmaxWithLoss" bottom: "p"
                    bottom: "label" top: "loss" softmax_param { axis: 2 } }"""),
            "TRAIN", {"data": (5, 3, 2), "cont": (5, 3), "label": (5, 3)})
        inputs = {"data": torch.rand(5, 3, 2), "cont": torch.ones(5, 3),
                  "label": torch.randint(0, 7, (5, 3))}
        loss = net(inputs)
        scores = net.steps[1][0](net.steps[0][0](inputs["data"], None))
        self.assertEqual(tuple(scores.shape), (5, 3, 7))
        expected_loss = torch.nn.functional.cross_entropy(
            scores.reshape(15, 7), inputs["label"].reshape(15))
        self.assertAlmostEqual(loss.item(), expected_loss.item(), places=5)

    def test_pooling_matches_caffe(self):
        # Windows may extend over the border, but must begin inside.
        pool = torch_net.Pooling(prototxt.parse(
            "pool: AVE kernel_size: 3 stride: 2 pad: 1"))
        x = torch.ones(1, 1, 6, 6)
        y = pool(x)
        self.assertEqual(tuple(y.shape), (1, 1, 4, 4))
        # Caffe divides by the size of the window, clipped to the padded image.
        self.assertAlmostEqual(y[0, 0, 0, 0].item(), 4 / 9, places=6)
        self.assertAlmostEqual(y[0, 0, 3, 3].item(), 1 / 4, places=6)

    def test_unsupported_layers_are_errors(self):
        net = prototxt.parse(
            'layer { name: "l" type: "Crop" bottom: "data" top: "y" }')
        with self.assertRaisesRegex(torch_net.Unsupported, "Crop"):
            torch_net.CaffeNet(net, "TRAIN", {"data": (1, 2, 3, 4)})

    def test_the_optimiser_uses_few_kernels(self):
        net = torch.nn.Linear(2, 3)
        class Gpu:
            type = "cuda"
        for foreach, kind in ((False, "fused"), (True, "foreach")):
            attempts = []
            def refuse(parameters, **options):
                attempts.append([name for name in ("fused", "foreach")
                                 if options.get(name)])
                if len(attempts) < 3 - foreach:
                    raise TypeError("an older PyTorch")
                return "the optimiser"
            with mock.patch.object(torch.optim, "SGD", refuse):
                self.assertEqual(torch_step.make_optimiser(net, foreach, Gpu),
                                 "the optimiser")
            self.assertEqual(attempts[0], [kind])
            self.assertEqual(attempts[-1], [])
        self.assertLessEqual({variant for variant in timed_nets.VARIANTS
                              if variant.startswith("compile")},
                             set(torch_step.MODES))

    def test_the_timer_runs_on_the_cpu(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarks/gpu/torch_step.py"),
             str(ROOT / "benchmarks/nets/lenet.prototxt"), "--input",
             "data=4,1,28,28", "--input", "label=4", "--device", "cpu",
             "--steps", "3", "--warm-up", "1", "--variant", "channels_last"],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["steps"], 3)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Server(Folder):
    def test_one_process_measures_several_rows(self):
        server = torch_server.TorchServer(ROOT / "benchmarks" / "nets",
                                          self.folder / "log")
        self.addCleanup(server.stop)
        words = ["lenet.prototxt", "--input", "data=4,1,28,28", "--input",
                 "label=4", "--device", "cpu", "--steps", "3", "--warm-up", "1"]
        self.assertEqual(server.ask(words, 60)["steps"], 3)
        with self.assertRaisesRegex(RuntimeError, "none.prototxt"):
            server.ask(["none.prototxt"] + words[1:], 60)
        self.assertEqual(server.ask(words + ["--mode", "infer"], 60)["steps"], 3)
        with self.assertRaisesRegex(RuntimeError, "out of time"):
            server.ask(words + ["--steps", "1000000"], 3)
        self.assertEqual(server.ask(words, 60)["steps"], 3)


if __name__ == "__main__":
    unittest.main()
