"""A net that classifies images."""
import numpy as np

from . import io
from .proto import caffe_pb2
from .pycaffe import Net


def centre_crop(images, size):
    """Returns the centre crops of images (items, height, width, channels)."""
    begin = [int(v) for v in np.array(images.shape[1:3]) / 2.0 - np.array(size) / 2.0]
    end = [int(v) for v in np.array(images.shape[1:3]) / 2.0 + np.array(size) / 2.0]
    return images[:, begin[0]: end[0], begin[1]: end[1], :]


class ImageInputNet(Net):
    """A net with a Transformer for its first input."""

    def __init__(self, model_file, pretrained_file, mean=None, input_scale=None, raw_scale=None, channel_swap=None):
        super().__init__(model_file, caffe_pb2.TEST, weights=pretrained_file)
        in_ = self.inputs[0]
        self.transformer = io.Transformer({in_: self.blobs[in_].data.shape})
        self.transformer.set_transpose(in_, (2, 0, 1))
        for value, setter in ((mean, self.transformer.set_mean), (input_scale, self.transformer.set_input_scale),
                              (raw_scale, self.transformer.set_raw_scale),
                              (channel_swap, self.transformer.set_channel_swap)):
            if value is not None:
                setter(in_, value)

    def _scores(self, images):
        """Returns the first output for images, resized to the input's height and width."""
        in_ = self.inputs[0]
        batch = np.array([self.transformer.preprocess(in_, image) for image in images], dtype=np.float32)
        return self.forward_all(**{in_: batch})[self.outputs[0]]


class Classifier(ImageInputNet):
    """Classifies images, after resizing them to ``image_dims`` and cropping them to the net's input."""

    def __init__(self, model_file, pretrained_file, image_dims=None, mean=None, input_scale=None, raw_scale=None,
                 channel_swap=None):
        super().__init__(model_file, pretrained_file, mean, input_scale, raw_scale, channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].data.shape[2:])
        self.image_dims = self.crop_dims if image_dims is None or len(image_dims) == 0 else image_dims

    def predict(self, inputs, oversample=True):
        """Returns scores (images, classes) of images (height, width, channels): means over ten
        crops, or of the centre crop."""
        images = np.array([io.resize_image(image, self.image_dims) for image in inputs], dtype=np.float32)
        if not oversample:
            return self._scores(centre_crop(images, self.crop_dims))
        scores = self._scores(io.oversample(images, self.crop_dims))
        return scores.reshape(len(scores) // 10, 10, -1).mean(axis=1)
