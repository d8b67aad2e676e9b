"""R-FCN's layers for online hard example mining, which only its training in Python uses: losses with the loss of
each region as a further top, and the choice of the regions with the largest losses."""
import numpy as np

from ._base import NetLayer, failure
from .proto import caffe_pb2


def _images(blob):
    """Returns the values of a blob as (items, channels, positions)."""
    return blob.data.reshape(blob.num, blob.channels, -1)


class _Layer(NetLayer):
    """A layer with limits of its numbers of bottoms and tops."""

    bottoms = tops = (1, 1)

    def setup(self, bottom, top):
        for blobs, kind, (low, high) in ((bottom, "bottoms", self.bottoms), (top, "tops", self.tops)):
            if not low <= len(blobs) <= high:
                limits = str(low) if low == high else "%d to %d" % (low, high)
                raise failure(self._param, "takes %s %s, but has %d" % (limits, kind, len(blobs)))


class _Loss(_Layer):
    """A loss with a divisor."""

    def divisor(self, items, positions, valid):
        """Returns the divisor for the numbers of items, of positions of an item, and of labels to learn."""
        settings, modes = self._param.loss_param, caffe_pb2.LossParameter
        mode = settings.normalization
        if not settings.HasField("normalization") and settings.HasField("normalize"):
            mode = modes.VALID if settings.normalize else modes.BATCH_SIZE
        counts = {modes.FULL: items * positions, modes.VALID: valid, modes.BATCH_SIZE: items, modes.NONE: 1,
                  modes.PRE_FIXED: settings.pre_fixed_normalizer}
        return max(1.0, counts[mode])


class SmoothL1LossOHEM(_Loss):
    """The smooth L1 loss of the difference of two bottoms, times the weights of a third; the second top is the
    loss of each item and position."""

    bottoms, tops = (2, 3), (1, 2)

    def reshape(self, bottom, top):
        if any(blob.count != bottom[0].count for blob in bottom):
            raise failure(self._param, "its bottoms have the shapes %s" % [blob.shape for blob in bottom])
        top[0].reshape()
        for blob in top[1:]:
            blob.reshape(bottom[0].num, 1, bottom[0].height, bottom[0].width)

    def forward(self, bottom, top):
        self.difference = bottom[0].data - bottom[1].data
        if len(bottom) > 2:
            self.difference *= bottom[2].data
        size = np.abs(self.difference)
        losses = np.where(size < 1, 0.5 * size ** 2, size - 0.5)
        losses = losses.reshape(bottom[0].num, bottom[0].channels, -1)
        items, _, positions = losses.shape
        self.scale = 1 / self.divisor(items, positions, items * positions)
        top[0].data[...] = losses.sum(dtype=np.float64) * self.scale
        for blob in top[1:]:
            blob.data[...] = losses.sum(axis=1).reshape(blob.shape)

    def backward(self, top, propagate_down, bottom):
        gradient = np.clip(self.difference, -1, 1) * np.float32(float(top[0].diff) * self.scale)
        for wanted, blob, sign in zip(propagate_down[:2], bottom, (1, -1)):
            if wanted:
                blob.diff[...] = sign * gradient


class SoftmaxWithLossOHEM(_Loss):
    """SoftmaxWithLoss, whose second top are the probabilities and whose third top is the loss of each label."""

    bottoms, tops = (2, 2), (1, 3)
    label_bottoms = (1,)

    def _axes(self, bottom):
        axis = self._param.softmax_param.axis
        axis += len(bottom[0].shape) if axis < 0 else 0
        shape = bottom[0].shape
        items = int(np.prod(shape[:axis], dtype=np.int64))
        return items, shape[axis], bottom[0].count // max(1, items * shape[axis])

    def reshape(self, bottom, top):
        items, _, positions = self._axes(bottom)
        if bottom[1].count != items * positions:
            raise failure(self._param, "the number of labels (%d) must match the number of predictions (%d)"
                          % (bottom[1].count, items * positions))
        for blob, shape in zip(top, ((), bottom[0].shape, bottom[1].shape)):
            blob.reshape(*shape)

    def forward(self, bottom, top):
        items, classes, positions = self._axes(bottom)
        scores = bottom[0].data.reshape(items, classes, positions)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        self.probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
        self.labels = bottom[1].data.reshape(items, 1, positions).astype(np.int64)
        settings = self._param.loss_param
        self.valid = self.labels != settings.ignore_label if settings.HasField("ignore_label") \
            else np.ones(self.labels.shape, bool)
        wrong = self.labels[self.valid & ((self.labels < 0) | (self.labels >= classes))]
        if wrong.size:
            raise failure(self._param, "label %d is not one of %d classes" % (wrong[0], classes))
        chosen = np.take_along_axis(self.probabilities, np.where(self.valid, self.labels, 0), axis=1)
        losses = np.where(self.valid, -np.log(np.maximum(chosen, np.finfo(np.float32).tiny)), 0)
        self.scale = 1 / self.divisor(items, positions, int(self.valid.sum()))
        top[0].data[...] = losses.sum(dtype=np.float64) * self.scale
        for blob, values in zip(top[1:], (self.probabilities, losses)):
            blob.data[...] = values.reshape(blob.shape)

    def backward(self, top, propagate_down, bottom):
        if propagate_down[1]:
            raise failure(self._param, "cannot backpropagate to label inputs")
        if propagate_down[0]:
            one_hot = np.arange(self.probabilities.shape[1])[:, np.newaxis] == self.labels
            gradient = np.where(self.valid, self.probabilities - one_hot, 0)
            bottom[0].diff[...] = gradient.reshape(bottom[0].shape) * np.float32(float(top[0].diff) * self.scale)


class BoxAnnotatorOHEM(_Layer):
    """Keeps the labels and the box weights of the regions of each image with the largest losses; other labels
    become ``ignore_label``, other weights 0. Bottoms: regions, losses, labels, box weights."""

    bottoms, tops = (4, 4), (2, 2)

    def setup(self, bottom, top):
        super().setup(bottom, top)
        if not self._param.box_annotator_ohem_param.roi_per_img:
            raise failure(self._param, "roi_per_img must be at least 1")

    def reshape(self, bottom, top):
        count = bottom[0].num * bottom[0].height * bottom[0].width
        if bottom[0].channels != 5 or bottom[1].count != count or bottom[2].count != count \
                or bottom[3].count != count * bottom[3].channels:
            raise failure(self._param, "its bottoms have the shapes %s" % [blob.shape for blob in bottom])
        for blob, channels in zip(top, (1, bottom[3].channels)):
            blob.reshape(bottom[0].num, channels, bottom[0].height, bottom[0].width)

    def forward(self, bottom, top):
        settings = self._param.box_annotator_ohem_param
        images = _images(bottom[0])[:, 0].ravel()
        order = np.argsort(-bottom[1].data.ravel(), kind="stable")
        kept = np.zeros(len(images), bool)
        for image in np.unique(images):
            kept[order[images[order] == image][: settings.roi_per_img]] = True
        top[0].data[...] = np.where(kept, bottom[2].data.ravel(), settings.ignore_label).reshape(top[0].shape)
        weights = _images(bottom[3]) * kept.reshape(bottom[0].num, 1, -1)
        top[1].data[...] = weights.reshape(top[1].shape)

    def backward(self, top, propagate_down, bottom):
        """Computes nothing: the choice has no gradient."""


LAYERS = {layer.__name__: layer for layer in (SmoothL1LossOHEM, SoftmaxWithLossOHEM, BoxAnnotatorOHEM)}
