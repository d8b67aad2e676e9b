"""Passes in parts after complete ones, and values that change between them, against NumPy."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

DEEP = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
layer { name: 'sq' type: 'Power' bottom: 'x' top: 'v' power_param { power: 2 } }
layer { name: 'sh' type: 'Power' bottom: 'v' top: 'v' power_param { power: 2 shift: 1 } }
layer { name: 'pool' type: 'Pooling' bottom: 'v' top: 'p' pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: 'ip' type: 'InnerProduct' bottom: 'p' top: 'ip' inner_product_param { num_output: 3 } }
"""


class Parts(Case):
    def make(self, text, phase=caffe.TEST):
        net = caffe.Net(self.write(text), phase)
        fill(net, 3)
        return net

    def test_backward_of_a_part_after_a_complete_pass(self):
        """The part's values count, not those of the complete pass before."""
        net = self.make(DEEP)
        a, b = random_array(1, 2, 3, 4, 4), random_array(2, 2, 3, 4, 4)
        net.forward(x=a)
        net.blobs["x"].data[...] = b
        net.forward(end="pool")
        gradient = random_array(3, 2, 3, 2, 2)
        net.blobs["p"].diff[...] = gradient
        net.backward(start="pool")
        v = b.astype(float) ** 2
        windows = ((v + 1) ** 2).reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(2, 3, 2, 2, 4)
        mask = (windows == windows.max(axis=-1, keepdims=True)) * gradient[..., None]
        mask = mask.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(2, 3, 4, 4)
        self.close(net.blobs["x"].diff, mask * 2 * (v + 1) * 2 * b, 1e-5)

    def test_gradients_of_sums_with_several_readers(self):
        """Later backward passes use the new gradients, though both bottoms of the sum have one gradient."""
        net = self.make("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 'y' type: 'Input' top: 'y' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 's' type: 'Eltwise' bottom: 'x' bottom: 'y' top: 's' }
            layer { name: 'q' type: 'Power' bottom: 's' top: 'q' power_param { power: 2 } }
            layer { name: 'c' type: 'Power' bottom: 's' top: 'c' power_param { power: 3 } }""")
        for seed in (1, 2, 3):
            x, y, dq, dc = (random_array(seed + k, 2, 3) for k in (0, 10, 20, 30))
            net.forward(x=x, y=y)
            net.backward(q=dq, c=dc)
            for name in ("x", "y"):
                self.close(net.blobs[name].diff, 2 * (x + y) * dq + 3 * (x + y) ** 2 * dc, 2e-5)

    def test_views_of_sources_whose_memory_changes(self):
        data, labels = random_array(1, 6, 1, 2, 2), np.zeros(6, np.float32)
        net = self.make("""
            layer { name: 'd' type: 'MemoryData' top: 'data' top: 'label'
              memory_data_param { batch_size: 2 channels: 1 height: 2 width: 2 } }
            layer { name: 'f' type: 'Flatten' bottom: 'data' top: 'f' }
            layer { name: 'a' type: 'Power' bottom: 'f' top: 'a' power_param { scale: 2 } }
            layer { name: 'b' type: 'Power' bottom: 'f' top: 'b' power_param { scale: 3 } }
            layer { name: 'l' type: 'Silence' bottom: 'label' }""")
        net.set_input_arrays(data, labels)
        for batch in (0, 2, 4):
            net.forward()
            expected = data[batch: batch + 2].reshape(2, 4)
            for name in net.blobs:
                if name.startswith("f"):
                    self.close(net.blobs[name].data, expected)
            self.close(net.blobs["b"].data, 3 * expected)

    def test_views_of_inputs_that_grow_and_shrink(self):
        net = self.make("""force_backward: true
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 'f' type: 'Flatten' bottom: 'x' top: 'f' }
            layer { name: 'q' type: 'Power' bottom: 'f' top: 'q' power_param { power: 2 } }""")
        net.blobs["x"].data[...] = 1
        net.forward()
        net.blobs["x"].reshape(4, 3)
        net.blobs["x"].reshape(2, 3)
        net.blobs["x"].data[...] = 5
        net.forward()
        self.close(net.blobs["f"].data, np.full((2, 3), 5))
        net.backward(q=np.ones((2, 3), np.float32))
        self.close(net.blobs["x"].diff, np.full((2, 3), 10))

    def test_layers_that_keep_their_bottom(self):
        """Their top is the input's own memory in the plan."""
        net = self.make("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 1 dim: 3 dim: 3 } } }
            layer { name: 'y' type: 'Input' top: 'y' input_param { shape { dim: 2 dim: 1 dim: 3 dim: 3 } } }
            layer { name: 'c' type: 'Crop' bottom: 'x' bottom: 'y' top: 'c' }
            layer { name: 'q' type: 'Power' bottom: 'c' top: 'q' power_param { power: 2 } }""")
        for seed in (1, 2):
            x = random_array(seed, 2, 1, 3, 3)
            net.forward(x=x, y=x)
            self.close(net.blobs["c"].data, x)
            self.close(net.blobs["q"].data, x ** 2, 1e-5)

    def test_read_only_arrays_of_the_caller(self):
        net = self.make("""force_backward: true
            layer { name: 'd' type: 'MemoryData' top: 'data' top: 'label'
              memory_data_param { batch_size: 2 channels: 1 height: 2 width: 2 } }
            layer { name: 'q' type: 'Power' bottom: 'data' top: 'q' power_param { power: 2 } }
            layer { name: 'l' type: 'Silence' bottom: 'label' }""")
        data, labels = random_array(1, 2, 1, 2, 2), np.zeros(2, np.float32)
        for array in (data, labels):
            array.setflags(write=False)
        net.set_input_arrays(data, labels)
        net.forward()
        net.backward(q=np.ones((2, 1, 2, 2), np.float32))
        self.close(net.blobs["data"].diff, 2 * data, 1e-5)

    def test_backward_after_a_step_of_a_solver(self):
        """Repeats the gradient of the step, and changes neither blobs nor statistics."""
        net = self.write("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 4 dim: 3 } } }
            layer { name: 't' type: 'Input' top: 't' input_param { shape { dim: 4 dim: 2 } } }
            layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' inner_product_param { num_output: 2 } }
            layer { name: 'bn' type: 'BatchNorm' bottom: 'a' top: 'a' }
            layer { name: 'sc' type: 'Scale' bottom: 'a' top: 'a' }
            layer { name: 'e' type: 'Exp' bottom: 'a' top: 'a' }
            layer { name: 'loss' type: 'EuclideanLoss' bottom: 'a' bottom: 't' top: 'loss' }""")
        solver = caffe.SGDSolver(self.write("train_net: '%s' base_lr: 0 lr_policy: 'fixed' snapshot_after_train: false"
                                            % net, "s.prototxt"))
        fill(solver.net, 4)
        for blob in solver.net.params["bn"]:
            blob.data[...] = 0
        solver.net.blobs["x"].data[...] = random_array(1, 4, 3)
        solver.net.blobs["t"].data[...] = random_array(2, 4, 2)
        gradients = []
        solver.add_callback(lambda: None, lambda: gradients.append(solver.net.params["a"][0].diff.copy()))
        solver.step(1)
        kept = [solver.net.blobs["a"].data.copy(), *(blob.data.copy() for blob in solver.net.params["bn"])]
        solver.net.clear_param_diffs()
        solver.net.backward()
        self.close(solver.net.params["a"][0].diff, gradients[0], 2e-6)
        for array, blob in zip(kept, [solver.net.blobs["a"], *solver.net.params["bn"]]):
            np.testing.assert_array_equal(array, blob.data)

    def test_fillers_that_do_not_fit_fail_each_time(self):
        net = caffe.Net(self.write("""
            layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } } }
            layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'ip'
              inner_product_param { num_output: 3 weight_filler { type: 'bilinear' } } }"""), caffe.TEST)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, r"layer 'ip' \(InnerProduct\): .*bilinear"):
                net.forward()

    def test_wrong_solver_fields_fail_each_time(self):
        net = self.write(DEEP.replace("force_backward: true", "")
                         + "layer { name: 'l' type: 'Reduction' bottom: 'ip' top: 'l' loss_weight: 1 }")
        solver = caffe.SGDSolver(self.write("train_net: '%s' base_lr: 0.1 lr_policy: 'fixed'" % net, "s.prototxt"))
        solver.param.regularization_type = "L3"
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "unknown regularization_type 'L3'"):
                solver.step(1)


if __name__ == "__main__":
    unittest.main()
