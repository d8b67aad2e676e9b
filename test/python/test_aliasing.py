"""In runs layer by layer, sessions compute on the memory of the blobs. Users see no difference to copies."""
import unittest

import caffe
import numpy as np
from caffe import _compiled

from common import Case, fill, random_array

NET = """force_backward: true
layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 4 dim: 6 dim: 6 } } }
layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layer { name: 's' type: 'Scale' bottom: 'c' top: 'c' scale_param { bias_term: true } }
layer { name: 'g' type: 'Sigmoid' bottom: 'c' top: 'c' }
layer { name: 'd' type: 'Dropout' bottom: 'c' top: 'd' }
layer { name: 'e' type: 'ELU' bottom: 'd' top: 'd' }
layer { name: 'cut' type: 'Slice' bottom: 'c' top: 'c1' top: 'c2' slice_param { axis: 1 } }
layer { name: 'put' type: 'Concat' bottom: 'c2' bottom: 'c1' top: 'cc' }
layer { name: 'f' type: 'Flatten' bottom: 'cc' top: 'f' }
layer { name: 't' type: 'TanH' bottom: 'f' top: 'f' }
layer { name: 'ip' type: 'InnerProduct' bottom: 'd' top: 'ip' inner_product_param { num_output: 3 } }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'f' top: 'ip2' inner_product_param { num_output: 3 } }
layer { name: 'sum' type: 'Eltwise' bottom: 'ip' bottom: 'ip2' top: 'sum' }
layer { name: 'p' type: 'Softmax' bottom: 'sum' top: 'sum' }
"""


class Copying(_compiled.Tensor):
    """A tensor that is always copied."""

    __slots__ = ()
    can_be_bound = property(lambda self: False, lambda self, value: None)


class Aliasing(Case):
    def make_nets(self):
        """Returns a net whose layers compute on the memory of the blobs, and a net whose layers copy them."""
        path = self.write(NET)
        nets, tensor = [], _compiled.Tensor
        for kind in (tensor, Copying):
            _compiled.Tensor = kind
            try:
                net = caffe.Net(path, caffe.TEST)
                net.before_forward(lambda layer: None)
                fill(net, 4)
                net.forward(x=random_array(1, 2, 4, 6, 6))
                net.backward(sum=random_array(2, 2, 3))
            finally:
                _compiled.Tensor = tensor
            nets.append(net)
        return nets

    def assert_same_blobs(self, aliasing, copying, context):
        for name in copying.blobs:
            for part in ("data", "diff"):
                np.testing.assert_array_equal(getattr(aliasing.blobs[name], part), getattr(copying.blobs[name], part),
                                              "%s of %s after %s" % (part, name, context))

    def test_sessions_compute_on_the_memory_of_blobs(self):
        aliasing, copying = self.make_nets()
        for net, is_bound in ((aliasing, True), (copying, False)):
            for layer in ("c", "put", "ip", "sum"):
                number = list(net._layer_names).index(layer)
                program, = net._layers[number].programs.values()
                for tensors, blobs in ((program.bottoms.values(), net._bottoms(number)), (program.tops, net._tops(number))):
                    for tensor, blob in zip(tensors, blobs):
                        self.assertEqual(tensor.is_in(blob._data), is_bound, (layer, tensor.key))
        self.assert_same_blobs(aliasing, copying, "both passes")

    def test_random_user_actions_give_equal_blobs(self):
        """Forward and backward passes, complete and partial, retained arrays, and writes to blobs."""
        aliasing, copying = self.make_nets()
        layers = list(aliasing._layer_names)
        rs = np.random.RandomState(3)
        retained = []
        for step in range(120):
            action, seed = rs.randint(7), rs.randint(1000)
            start, end = sorted(rs.randint(1, len(layers), 2))
            blob = list(aliasing.blobs)[rs.randint(len(aliasing.blobs))]
            for i, net in enumerate((aliasing, copying)):
                if action == 0:
                    net.forward(x=random_array(seed, 2, 4, 6, 6))
                elif action == 1:
                    net.forward(start=layers[start], end=layers[end])
                elif action == 2:
                    net.blobs["sum"].diff[...] = random_array(seed, 2, 3)
                    net.forward()
                    net.backward()
                elif action == 3:
                    net.forward()
                    net.backward(start=layers[end], end=layers[start])
                elif action == 4:
                    net.blobs[blob].data[...] = random_array(seed, *net.blobs[blob].shape)
                elif action == 5:
                    retained.append((i, blob, net.blobs[blob].data))
                elif action == 6:
                    retained = [entry for entry in retained if entry[1] != blob]
            self.assert_same_blobs(aliasing, copying, "step %d, %d from %s to %s, blob %s"
                                   % (step, action, layers[start], layers[end], blob))
            for i, name, array in retained:
                np.testing.assert_array_equal(array, (aliasing, copying)[i].blobs[name].data)

    def test_reshaped_nets_give_equal_blobs(self):
        aliasing, copying = self.make_nets()
        for batch in (2, 1, 3, 2, 5, 1):
            for net in (aliasing, copying):
                net.blobs["x"].reshape(batch, 4, 6, 6)
                net.forward(x=random_array(batch, batch, 4, 6, 6))
                net.backward(sum=random_array(9, batch, 3))
            self.assert_same_blobs(aliasing, copying, "batch %d" % batch)


if __name__ == "__main__":
    unittest.main()
