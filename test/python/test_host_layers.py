"""Tests layers of compiled nets that Python classes implement."""
import gc
import unittest
import weakref

import brew
import caffe
import numpy as np

from common import Case, random_array

NET = """layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 4 dim: 6 } } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' inner_product_param { num_output: 3
  weight_filler { type: 'xavier' } } }
layer { name: 'own' type: 'Own' bottom: 'ip' top: 'own' python_param { param_str: '3' } }
layer { name: 'two' type: 'Power' bottom: 'own' top: 'two' power_param { scale: 2 } }
"""


class Own(brew.HostLayer):
    """Computes k * x * |x|. Stores the input of the forward pass for the backward pass."""

    def setup(self, bottom, top):
        self.factor = float(self.param_str)

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        self.x = bottom[0].data.copy()
        top[0].data[...] = self.factor * self.x * np.abs(self.x)

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            bottom[0].diff[...] = 2 * self.factor * np.abs(self.x) * top[0].diff


class PycaffeOwn(caffe.Layer):
    setup, reshape, forward, backward = Own.setup, Own.reshape, Own.forward, Own.backward


class HostLayers(Case):
    def run_once(self, layer_class, **options):
        plan = brew.compile(NET, host_layers={"Own": layer_class}, keep="all", output_gradient="two", **options)
        session = plan.session(seed=1)
        session._core.set_input(0, "data", random_array(1, 4, 6))
        session.forward()
        session.output_gradients["two"] = random_array(2, 4, 3)
        session.backward()
        return session

    def test_values_and_gradients(self):
        for layer_class in (Own, PycaffeOwn):
            for options in ({}, {"precision": "f64"}, {"without": "fuse-final-reduction"}):
                session = self.run_once(layer_class, **options)
                x = np.array(session.blobs["ip"])
                self.close(session.blobs["two"], 6 * x * np.abs(x))
                expected = (random_array(2, 4, 3) * 2 * 6 * np.abs(x)).sum(axis=0)
                self.close(session.gradients["ip"][1], expected)

    def test_exceptions_propagate(self):
        class Fails(Own):
            def forward(self, bottom, top):
                raise KeyError("oh")

        session = brew.compile(NET, host_layers={"Own": Own}, phase="test").session(host_layers={"Own": Fails})
        for _ in range(2):
            with self.assertRaisesRegex(KeyError, "oh"):
                session(data=random_array(1, 4, 6))
        with self.assertRaises(KeyError):
            session(nope=random_array(1, 4, 6))

    def test_wrong_layers_are_errors(self):
        def compile_with(**methods):
            return brew.compile(NET, phase="test", host_layers={"Own": type("Layer", (Own,), methods)})

        def fail(self, bottom, top):
            raise ValueError("no shape for this")

        with self.assertRaisesRegex(brew.CompileError, r"<text>:4:1: error: layer 'own' \(Own\): ValueError: no shape"):
            compile_with(reshape=fail)
        with self.assertRaisesRegex(brew.CompileError, "a layer with its own learnable parameters"):
            compile_with(setup=lambda self, bottom, top: setattr(self, "blobs", [1]))
        reshaping = compile_with(forward=lambda self, bottom, top: top[0].reshape(1)).session()
        with self.assertRaisesRegex(ValueError, "changed its shape"):
            reshaping(data=random_array(1, 4, 6))
        overwriting = compile_with(forward=lambda self, bottom, top: bottom[0].data.fill(0)).session()
        with self.assertRaisesRegex(ValueError, "read-only"):
            overwriting(data=random_array(1, 4, 6))
        with self.assertRaisesRegex(TypeError, "host_layers must be a dict"):
            brew.compile(NET, host_layers=[Own])
        with self.assertRaisesRegex(TypeError, "is not a class"):
            brew.compile(NET, host_layers={"Own": "Own"})
        with self.assertRaises(brew.CompileError):
            brew.compile(NET)

    def test_without_a_backward_pass(self):
        class Forward:
            reshape, forward, setup = Own.reshape, Own.forward, Own.setup

        plan = brew.compile(NET, phase="test", host_layers={"Own": Forward})
        self.assertEqual(plan.session()(data=random_array(1, 4, 6))["two"].shape, (4, 3))

    def test_opened_plans_need_host_layers(self):
        brew.compile(NET, phase="test", host_layers={"Own": Own}).save(self.path("own.plan"))
        plan = brew.Plan.open(self.path("own.plan"))
        with self.assertRaisesRegex(brew.Error, "Own"):
            plan.session()(data=random_array(1, 4, 6))
        plan.session(host_layers={"Own": Own})(data=random_array(1, 4, 6))

    def test_python_layers_by_module_and_class(self):
        net = NET.replace("type: 'Own'", "type: 'Python'").replace("param_str", "module: 'm' layer: 'Own' param_str")
        plan = brew.compile(net, phase="test", host_layers={"m.Own": Own})
        self.assertEqual(plan.session()(data=random_array(1, 4, 6))["two"].shape, (4, 3))

    def test_sessions_release_their_layers(self):
        instances = []

        class Counted(Own):
            def setup(self, bottom, top):
                super().setup(bottom, top)
                instances.append(weakref.ref(self))

        session = self.run_once(Counted)
        self.assertTrue(any(instance() for instance in instances))
        del session
        gc.collect()
        self.assertFalse(any(instance() for instance in instances))


if __name__ == "__main__":
    unittest.main()
