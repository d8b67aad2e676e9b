"""Nets of one layer, for the tests of layers of Caffe's forks."""
import caffe

from common import Case


def blob_input(name, shape):
    return "layer { name: '%s' type: 'Input' top: '%s' input_param { shape { %s } } }\n" % (
        name, name, " ".join("dim: %d" % n for n in shape))


class ForkCase(Case):
    def net(self, kind, text, inputs, phase=caffe.TEST, force=True, tops=("y",)):
        """Returns a net of one layer, whose bottoms are `inputs` (name: array), filled with these arrays."""
        net = caffe.Net(self.write(
            "force_backward: %s\n" % str(force).lower() + "".join(
                blob_input(name, array.shape) for name, array in inputs.items()) +
            "layer { name: 'layer' type: '%s' %s %s }" % (
                kind, " ".join(["bottom: '%s'" % name for name in inputs] + ["top: '%s'" % top for top in tops]),
                text)), phase)
        for name, array in inputs.items():
            net.blobs[name].data[...] = array
        return net

    def check_loss(self, kind, text, inputs, loss, gradients, loss_weight=0.5):
        net = self.net(kind, "loss_weight: %g %s" % (loss_weight, text), inputs, caffe.TRAIN)
        self.close(net.forward()["y"], loss)
        net.backward()
        for name, gradient in gradients.items():
            self.close(net.blobs[name].diff, loss_weight * gradient)
        return net
