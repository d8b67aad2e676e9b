"""A net that scores windows of images."""
import importlib

import numpy as np

from . import io
from .classifier import ImageInputNet


class Detector(ImageInputNet):
    """Scores windows (ymin, xmin, ymax, xmax) of images, with an optional border of
    ``context_pad`` pixels of the net's input."""

    def __init__(self, model_file, pretrained_file, mean=None, input_scale=None, raw_scale=None, channel_swap=None,
                 context_pad=None):
        super().__init__(model_file, pretrained_file, mean, input_scale, raw_scale, channel_swap)
        self.configure_crop(context_pad)

    def configure_crop(self, context_pad):
        """Sets the size of crops, and the mean that fills crops beyond the edges of an image."""
        in_ = self.inputs[0]
        inverse_order = np.argsort(self.transformer.transpose[in_])
        self.crop_dims = np.array(self.blobs[in_].data.shape[1:])[inverse_order]
        self.context_pad = context_pad
        if not context_pad:
            return
        mean = self.transformer.mean.get(in_)
        if mean is None:
            self.crop_mean = np.zeros(self.crop_dims, dtype=np.float32)
            return
        mean = np.array(mean, dtype=np.float32).transpose(inverse_order)
        order = self.transformer.channel_swap.get(in_)
        if order is not None:
            mean = mean[:, :, np.argsort(order)]
        self.crop_mean = mean / (self.transformer.raw_scale.get(in_) or 1)

    def crop(self, im, window):
        """Returns the crop of an image in a window, with the context if set."""
        if not self.context_pad:
            top, left, bottom, right = (int(v) for v in window)
            return im[top: bottom, left: right]
        size = float(self.crop_dims[0])
        growth = size / (size - 2.0 * self.context_pad)
        window = np.asarray(window)
        half = (window[2:] - window[:2] + 1) / 2.0
        centre = window[:2] + half
        begin, end = np.round(centre - growth * half), np.round(centre + growth * half)
        scale = size / (end - begin + 1)
        # Pixels outside the image keep the mean.
        offset = [int(round(v)) for v in np.maximum(0, -begin) * scale]
        limit = np.array(im.shape[:2], dtype=float)
        begin, end = np.clip(begin, 0, limit), np.clip(end, 0, limit)
        extent = end - begin + 1
        assert (extent > 0).all(), "the window %s lies outside the image" % (window,)
        extent = [min(int(round(v)), int(size) - o) for v, o in zip(extent * scale, offset)]
        part = im[int(begin[0]): int(end[0]), int(begin[1]): int(end[1])]
        crop = np.ones(self.crop_dims, dtype=np.float32) * self.crop_mean
        crop[offset[0]: offset[0] + extent[0], offset[1]: offset[1] + extent[1]] = io.resize_image(part, extent)
        return crop

    def detect_windows(self, images_windows):
        """Scores [(file, [window, ...]), ...]. Returns dicts of filename, window, prediction."""
        detections, crops = [], []
        for filename, windows in images_windows:
            image = io.load_image(filename).astype(np.float32)
            for window in windows:
                detections.append({"window": window, "filename": filename})
                crops.append(self.crop(image, window))
        for detection, scores in zip(detections, self._scores(crops) if crops else []):
            detection["prediction"] = scores
        return detections

    def detect_selective_search(self, image_fnames):
        """Like detect_windows(), for the windows that selective search proposes. As in pycaffe, they come from
        the caller's module ``selective_search_ijcv_with_python``, whose
        ``get_windows(image_fnames, cmd="selective_search_rcnn")`` returns the windows of each image.
        Raises ImportError if there is no such module."""
        selective_search = importlib.import_module("selective_search_ijcv_with_python")
        image_fnames = list(image_fnames)
        windows = selective_search.get_windows(image_fnames, cmd="selective_search_rcnn")
        return self.detect_windows(zip(image_fnames, windows))
