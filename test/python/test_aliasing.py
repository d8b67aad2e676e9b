"""In runs layer by layer, blobs alias the memory of the layers' sessions, without visible effects."""
import unittest

import caffe
import numpy as np
from caffe import _compiled

from common import Case, fill, numbers

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


class Copying(_compiled.Port):
    """A port whose tensors are copied instead of aliased."""

    __slots__ = ()
    is_fixed = property(lambda self: True, lambda self, value: None)


class Aliasing(Case):
    def nets(self):
        """Returns a net whose blobs alias memory of sessions, and one whose layers copy them."""
        path = self.write(NET)
        nets, port = [], _compiled.Port
        for kind in (port, Copying):
            _compiled.Port = kind
            try:
                net = caffe.Net(path, caffe.TEST)
                net.before_forward(lambda layer: None)
                fill(net, 4)
                net.forward(x=numbers(1, 2, 4, 6, 6))
                net.backward(sum=numbers(2, 2, 3))
            finally:
                _compiled.Port = port
            nets.append(net)
        return nets

    def same(self, one, two, what):
        for name in two.blobs:
            for part in ("data", "diff"):
                np.testing.assert_array_equal(getattr(one.blobs[name], part), getattr(two.blobs[name], part),
                                              "%s of %s after %s" % (part, name, what))

    def test_blobs_lie_where_layers_compute(self):
        one, two = self.nets()
        for net, moved in ((one, True), (two, False)):
            for name in ("c", "d", "cc", "ip", "sum"):
                self.assertEqual(net.blobs[name]._data.address is not None, moved, name)
            pooled = net._layers[list(net._layer_names).index("ip2")].current
            self.assertEqual(pooled.bottoms[0].bound_array is not None, moved)
        self.same(one, two, "both passes")

    def test_arbitrary_user_actions(self):
        """Forward and backward passes, complete and partial, retained arrays, and writes to blobs."""
        one, two = self.nets()
        layers = list(one._layer_names)
        rs = np.random.RandomState(3)
        held = []
        for step in range(120):
            what, seed = rs.randint(7), rs.randint(1000)
            start, end = sorted(rs.randint(1, len(layers), 2))
            blob = list(one.blobs)[rs.randint(len(one.blobs))]
            for i, net in enumerate((one, two)):
                if what == 0:
                    net.forward(x=numbers(seed, 2, 4, 6, 6))
                elif what == 1:
                    net.forward(start=layers[start], end=layers[end])
                elif what == 2:
                    net.blobs["sum"].diff[...] = numbers(seed, 2, 3)
                    net.forward()
                    net.backward()
                elif what == 3:
                    net.forward()
                    net.backward(start=layers[end], end=layers[start])
                elif what == 4:
                    net.blobs[blob].data[...] = numbers(seed, *net.blobs[blob].shape)
                elif what == 5:
                    held.append((i, blob, net.blobs[blob].data))
                elif what == 6:
                    held = [each for each in held if each[1] != blob]
            self.same(one, two, "step %d, %d from %s to %s, blob %s" % (step, what, layers[start], layers[end], blob))
            for i, name, array in held:
                np.testing.assert_array_equal(array, (one, two)[i].blobs[name].data)

    def test_other_shapes(self):
        one, two = self.nets()
        for batch in (2, 1, 3, 2, 5, 1):
            for net in (one, two):
                net.blobs["x"].reshape(batch, 4, 6, 6)
                net.forward(x=numbers(batch, batch, 4, 6, 6))
                net.backward(sum=numbers(9, batch, 3))
            self.same(one, two, "batch %d" % batch)


if __name__ == "__main__":
    unittest.main()
