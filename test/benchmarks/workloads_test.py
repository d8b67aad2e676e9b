#!/usr/bin/env python3
"""Tests the selection of nets, batches and modes, and the prototxts generated for them."""

import unittest

from common import Folder

import brew_side
import workloads
from workloads import Workload


class SelectedWorkloads(unittest.TestCase):
    def keys(self, *arguments, **named):
        return [workload.key for workload in workloads.select(*arguments, **named)]

    def test_everything_is_selected_by_default(self):
        keys = self.keys()
        self.assertEqual(len(keys), len(set(keys)))
        for key in ("lenet-64-train", "cifar10_quick-100-train",
                    "alexnet-32-train", "googlenet-16-train", "resnet50-8-train",
                    "resnet50-32-train", "vgg16-4-train", "mobilenet-16-train",
                    "squeezenet-16-train", "lstm-64-train"):
            self.assertIn(key, keys)
        for net in workloads.TITLES:
            for batch in (1, 8):
                self.assertIn("{}-{}-infer".format(net, batch), keys)

    def test_arguments_restrict_the_selection(self):
        self.assertEqual(self.keys(["resnet50"], "train"),
                         ["resnet50-8-train", "resnet50-32-train"])
        self.assertEqual(self.keys(["lenet"], "infer", quick=True),
                         ["lenet-1-infer"])
        self.assertEqual(self.keys(["vgg16", "lstm"], "both", [2, 3]),
                         ["vgg16-2-train", "vgg16-3-train", "lstm-2-train",
                          "lstm-3-train", "vgg16-2-infer", "lstm-2-infer",
                          "vgg16-3-infer", "lstm-3-infer"])
        self.assertNotIn("resnet50-32-train", self.keys(quick=True))

    def test_keys_identify_workloads(self):
        for workload in workloads.select():
            self.assertEqual(workloads.workload_of(workload.key), workload)

    def test_shapes_and_loops_depend_on_batch_and_mode(self):
        self.assertEqual(Workload("lenet", 3, "train").shapes,
                         {"data": (3, 1, 28, 28), "label": (3,)})
        self.assertEqual(Workload("lstm", 3, "infer").shapes,
                         {"data": (20, 3, 1000), "cont": (20, 3)})
        self.assertFalse(Workload("lstm", 1, "infer").images)
        self.assertTrue(Workload("lenet", 64, "train").has_loop)
        self.assertFalse(Workload("lenet", 32, "train").has_loop)
        self.assertFalse(Workload("vgg16", 4, "train").has_loop)


class Nets(Folder):
    def test_nets_have_inputs_and_only_timed_layers(self):
        for workload in workloads.select():
            text = (self.folder / workloads.write_net(workload,
                                                      self.folder)).read_text()
            for word in ("DummyData", "Accuracy", "source:"):
                self.assertNotIn(word, text)
            self.assertEqual("Loss" in text, workload.mode == "train")
            self.assertEqual('"prob"' in text, workload.mode == "infer")
            layers = workloads.parse(text)["layer"]
            inputs = [layer for layer in layers if layer["type"] == ["Input"]]
            self.assertEqual(
                {layer["top"][0]: tuple(layer["input_param"][0]["shape"][0]["dim"])
                 for layer in inputs}, workload.shapes)

    def test_lstm_computes_probabilities_of_every_time_step(self):
        workload = Workload("lstm", 1, "infer")
        name = workloads.write_net(workload, self.folder)
        layer = workloads.parse((self.folder / name).read_text())["layer"][-1]
        self.assertEqual(layer["softmax_param"], [{"axis": [2]}])

    def test_solver_tests_nets_with_a_test_phase(self):
        (self.folder / "a").write_text("layer { include { phase: TEST } }")
        (self.folder / "b").write_text("layer { }")
        for net, has_test in (("a", True), ("b", False)):
            brew_side.write_solver(self.folder, "solver", net, 7)
            solver = workloads.parse((self.folder / "solver").read_text())
            self.assertEqual(solver["net"], [net])
            self.assertEqual(solver["max_iter"], [7])
            self.assertEqual("test_iter" in solver, has_test)


if __name__ == "__main__":
    unittest.main()
