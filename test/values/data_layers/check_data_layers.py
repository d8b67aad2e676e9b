#!/usr/bin/python3
"""Checks data layers on generated images.

Compares the batches of ImageData, WindowData and Data, and the file of HDF5Output, with the layers'
definitions. Batches must depend neither on the number of threads nor on interruptions. Also checks
the databases and files that brew-data and brew-run write.
"""
import json
import os
import re
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../common'))
import checker  # noqa: E402
from pngs import png  # noqa: E402


def planes(image):
    """Returns the pixels as a blob stores them: channels B, G, R."""
    return image[:, :, ::-1].transpose(2, 0, 1).astype(np.float32)


def data_layer(layer_type, settings, other_fields='', tops=('data', 'label')):
    return 'layer { name: "in" type: "%s" %s %s { %s } %s }\n' % (
        layer_type, ' '.join('top: "%s"' % t for t in tops),
        {'ImageData': 'image_data_param', 'DenseImageData': 'dense_image_data_param', 'WindowData': 'window_data_param',
         'ImageSegData': 'image_data_param', 'ImageLabelmapData': 'image_data_param',
         'MultiLabelImageData': 'image_data_param', 'VideoData': 'video_data_param',
         'Data': 'data_param', 'HDF5Data': 'hdf5_data_param'}[layer_type], settings, other_fields)


class DataLayers(checker.Checker):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.brew_data = os.path.join(os.path.dirname(os.path.abspath(options.brew_run)),
                                      'brew-data')
        random = np.random.default_rng(5)
        self.images = [random.integers(0, 256, (10, 12, 3), dtype=np.uint8) for _ in range(7)]
        os.mkdir(self.path('images'))
        for number, image in enumerate(self.images):
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(png(image))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, i % 3) for i in range(7)))

    def read(self, net, batches=3, phase='test', flags=(), keep_flags=('--keep', 'all')):
        """Runs a net and returns its batches, a list of {blob: values}."""
        self.write('net.prototxt', net)
        self.run(self.options.brewc, 'net.prototxt', '--phase', phase, *keep_flags,
                 *self.options.brewc_flags.split(), '-o', 'net.plan')
        self.run(self.options.brew_run, 'eval', 'net.plan', '--from-source', '--batches',
                 str(batches), '--outputs', 'out.h5', *flags)
        with h5py.File(self.path('out.h5'), 'r') as file:
            return [{name: blob[()] for name, blob in file['batch/%d' % i].items()}
                    for i in range(batches)]

    def expect_equal(self, name, actual, expected, tolerance=0.0):
        actual, expected = np.asarray(actual), np.asarray(expected)
        is_equal = actual.shape == expected.shape and np.abs(
            actual.astype(np.float64) - expected).max(initial=0) <= tolerance
        self.expect(is_equal, '%s: shape %s, expected %s, or other values' % (
            name, actual.shape, expected.shape))

    def check_images(self):
        batches = self.read(data_layer('ImageData', 'source: "list.txt" batch_size: 4 '
                                       'root_folder: "images/"'))
        for i, batch in enumerate(batches):
            rows = [(4 * i + row) % 7 for row in range(4)]
            self.expect_equal('images', batch['data'], [planes(self.images[r]) for r in rows])
            self.expect_equal('labels', batch['label'], [r % 3 for r in rows])
        batches = self.read(data_layer(
            'ImageData', 'source: "list.txt" batch_size: 7 root_folder: "images/"',
            'transform_param { crop_size: 5 scale: 0.25 mean_value: 10 mean_value: 20 '
            'mean_value: 30 }'), batches=1)
        mean = np.array([10, 20, 30], np.float32)[:, None, None]
        self.expect_equal('crop, mean and scale', batches[0]['data'],
                          [(planes(i)[:, 2:7, 3:8] - mean) * .25 for i in self.images])

    def write_labels(self):
        """Writes an image of labels for each image. Returns their pixels."""
        random = np.random.default_rng(6)
        labels = [random.integers(0, 256, (10, 12), dtype=np.uint8) for _ in range(7)]
        for number, image in enumerate(labels):
            with open(self.path('images/l%d.png' % number), 'wb') as file:
                file.write(png(image))
        return labels

    def check_labeled_pixels(self):
        labels = self.write_labels()
        labels, names = labels[1:], ['%d.png l%d.png\n' % (i, i) for i in range(1, 7)]
        self.write('pairs.txt', ''.join(names))
        fields = 'source: "pairs.txt" root_folder: "images/" '
        mean = np.float32([10, 20, 30])[:, None, None]
        for i, batch in enumerate(self.read(data_layer(
                'DenseImageData', fields + 'batch_size: 4',
                'transform_param { scale: 0.5 mean_value: 10 mean_value: 20 mean_value: 30 }'))):
            rows = [(4 * i + row) % 6 for row in range(4)]
            self.expect_equal('images with labels', batch['data'],
                              [(planes(self.images[r + 1]) - mean) * .5 for r in rows])
            self.expect_equal('labels of pixels', batch['label'], [labels[r][None] for r in rows])
        # Labels of resized images are labels of single pixels.
        batch = self.read(data_layer('DenseImageData', fields + 'batch_size: 6 new_height: 5 new_width: 7 '
                                     'is_color: false'), batches=1)[0]
        self.expect(batch['data'].shape == (6, 1, 5, 7), 'images have the shape %s' % (batch['data'].shape,))
        columns = [int(x * (12 / 7)) for x in range(7)]
        self.expect_equal('resized labels', batch['label'], [image[::2][:, columns][None] for image in labels])
        # Each pass has its own order, in which images keep their labels.
        batches = self.read(data_layer('DenseImageData', fields + 'batch_size: 6 shuffle: true'), phase='train')
        orders = []
        for batch in batches:
            order = [next(r for r in range(6) if np.array_equal(image, planes(self.images[r + 1])))
                     for image in batch['data']]
            self.expect_equal('labels of shuffled images', batch['label'], [labels[r][None] for r in order])
            orders.append(order)
        self.expect(all(sorted(order) == list(range(6)) for order in orders), 'a pass lacks images')
        self.expect(len({tuple(order) for order in orders}) > 1, 'passes have the same order')
        self.write('bad_pairs.txt', names[0] + '2.png\n')
        for source, extra, message in (
                ('bad_pairs.txt', '', 'bad_pairs.txt:2'),
                ('pairs.txt', 'transform_param { mirror: true }', 'mirror in transform_param is not supported'),
                ('pairs.txt', 'transform_param { crop_size: 4 }', 'crop_size in transform_param is not supported')):
            self.write('net.prototxt', data_layer('DenseImageData', 'source: "%s" root_folder: "images/" batch_size: 2'
                                                  % source, extra))
            done = subprocess.run([self.options.brewc, 'net.prototxt', '--phase', 'test', '-o', 'net.plan'],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.expect(done.returncode == 1 and message in done.stderr,
                        'no error for %s %s: %s' % (source, extra, done.stderr))

    def check_several_labels(self):
        self.write('several.txt', ''.join('%d.png %d 0.25 -%d\n' % (i, i, i) for i in range(7)))
        fields = 'source: "several.txt" root_folder: "images/" batch_size: 4'
        for i, batch in enumerate(self.read(data_layer('MultiLabelImageData', fields, 'transform_param { scale: 0.5 }'))):
            rows = [(4 * i + row) % 7 for row in range(4)]
            self.expect_equal('images with several labels', batch['data'], [planes(self.images[r]) / 2 for r in rows])
            self.expect_equal('several labels', batch['label'], [[r, 0.25, -r] for r in rows])
        for text, message in (('0.png 1 2\n1.png 3\n', 'several.txt:2: has 1 labels, but the first image has 2'),
                              ('0.png 1 two\n', 'several.txt:1')):
            self.write('several.txt', text)
            self.write('net.prototxt', data_layer('MultiLabelImageData', fields))
            done = subprocess.run([self.options.brewc, 'net.prototxt', '--phase', 'test', '-o', 'net.plan'],
                                  cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.expect(done.returncode == 1 and message in done.stderr, 'no error for %r: %s' % (text, done.stderr))

    def check_labels_of_forks(self):
        """Checks the layers of HED and DeepLab."""
        labels = self.write_labels()
        self.write('pairs.txt', ''.join('%d.png l%d.png\n' % (i, i) for i in range(7)))
        fields = 'source: "pairs.txt" root_folder: "images/" batch_size: 7 '
        batch = self.read(data_layer('ImageLabelmapData', fields, 'transform_param { crop_size: 6 }'), batches=1)[0]
        self.expect_equal('cropped images', batch['data'], [planes(image)[:, 2:8, 3:9] for image in self.images])
        self.expect_equal('edges', batch['label'], [image[None, 2:8, 3:9] > 127 for image in labels])
        # Mirrored images have mirrored labels.
        batch = self.read(data_layer('ImageSegData', fields + 'label_type: PIXEL', 'transform_param { mirror: true }',
                                     tops=('data', 'label', 'size')), phase='train', batches=1)[0]
        self.expect_equal('sizes', batch['size'], np.broadcast_to([10, 12], (7, 1, 1, 2)))
        mirrored = [not np.array_equal(data, planes(image)) for data, image in zip(batch['data'], self.images)]
        self.expect(any(mirrored) and not all(mirrored), 'all images are mirrored, or none')
        for row, is_mirrored in enumerate(mirrored):
            step = -1 if is_mirrored else 1
            self.expect_equal('mirrored image', batch['data'][row], planes(self.images[row])[:, :, ::step])
            self.expect_equal('mirrored labels', batch['label'][row], labels[row][None, :, ::step])
        # Images smaller than the crop are extended by the mean, and their labels by the ignored label.
        batch = self.read(data_layer('ImageSegData', fields + 'label_type: PIXEL ignore_label: 9',
                                     'transform_param { crop_size: 11 mean_value: 10 mean_value: 20 mean_value: 30 }',
                                     tops=('data', 'label', 'size')), batches=1)[0]
        mean = np.float32([10, 20, 30])[:, None, None]
        self.expect_equal('padded images', batch['data'],
                          [np.pad((planes(image) - mean)[:, :, :11], ((0, 0), (0, 1), (0, 0))) for image in self.images])
        self.expect_equal('padded labels', batch['label'],
                          [np.pad(image[:, :11], ((0, 1), (0, 0)), constant_values=9)[None] for image in labels])
        self.expect_equal('sizes of padded images', batch['size'], np.broadcast_to([10, 11], (7, 1, 1, 2)))
        resized = data_layer('ImageSegData', fields + 'label_type: NONE new_height: 20 new_width: 6', tops=('x', 'l', 'size'))
        self.expect_equal('resized sizes', self.read(resized, batches=1)[0]['size'].reshape(7, 2), [[20, 6]] * 7)
        # A factor of 2, then a crop of the size of a plane.
        batch = self.read(data_layer('ImageSegData', fields + 'label_type: PIXEL', 'transform_param { crop_size: 20 '
                                     'scale_factors: 2 }'), batches=1)[0]
        self.expect_equal('scaled labels', batch['label'],
                          [image.repeat(2, 0).repeat(2, 1)[None, :, 2:22] for image in labels])
        # Labels of complete images, and none.
        self.write('labels.txt', ''.join('%d.png %d\n' % (i, 3 * i) for i in range(7)))
        batch = self.read(data_layer('ImageSegData', fields.replace('pairs', 'labels')), batches=1)[0]
        self.expect_equal('labels of images', batch['label'], np.broadcast_to(
            3 * np.arange(7)[:, None, None, None], (7, 1, 10, 12)))
        self.write('names.txt', ''.join('%d.png\n' % i for i in range(7)))
        batch = self.read(data_layer('ImageSegData', fields.replace('pairs', 'names') + 'label_type: NONE'), batches=1)[0]
        self.expect_equal('no labels', batch['label'], np.full((7, 1, 10, 12), 255))
        # A crop of different sides, smaller and larger than an image.
        batch = self.read(data_layer('ImageSegData', fields + 'label_type: PIXEL', 'transform_param { crop_height: 6 '
                                     'crop_width: 13 }'), batches=1)[0]
        self.expect_equal('images of a crop', batch['data'],
                          [np.pad(planes(image)[:, 2:8], ((0, 0), (0, 0), (0, 1))) for image in self.images])
        self.expect_equal('labels of a crop', batch['label'],
                          [np.pad(image[2:8], ((0, 0), (0, 1)), constant_values=255)[None] for image in labels])
        self.write('net.prototxt', data_layer('ImageSegData', fields))
        self.run(self.options.brewc, 'net.prototxt', '--phase', 'test', '--keep', 'all', '-o', 'net.plan')
        done = subprocess.run([self.options.brew_run, 'eval', 'net.plan', '--from-source', '--outputs', 'out.h5'], cwd=self.folder,
                              capture_output=True, text=True, timeout=120)
        self.expect(done.returncode == 1 and "'l0.png' is not a label from 0 to 255" in done.stderr,
                    'no error for a name instead of a label: %s' % done.stderr)

    def write_videos(self):
        """Writes the frames of three videos, numbered from 1. Returns them, video x frame."""
        random = np.random.default_rng(8)
        videos = random.integers(0, 256, (3, 9, 10, 12, 3), dtype=np.uint8)
        for video, frames in enumerate(videos):
            os.makedirs(self.path('frames/v%d' % video), exist_ok=True)
            for number, frame in enumerate(frames, 1):
                with open(self.path('frames/v%d/%06d.jpg' % (video, number)), 'wb') as file:
                    file.write(png(frame))  # the contents determine the format
        return videos

    VIDEO = 'root_folder: "frames/" use_image: true new_length: 3 '

    def clip(self, videos, video, first, step=1):
        return np.stack([planes(videos[video, first - 1 + i * step]) for i in range(3)], 1)

    def fails(self, net, message, *flags, phase='test'):
        """Expects that the net cannot be compiled, or read."""
        self.write('net.prototxt', net)
        commands = [[self.options.brewc, 'net.prototxt', '--phase', phase, '--keep', 'all', '-o', 'net.plan'],
                    [self.options.brew_run, 'eval', 'net.plan', '--from-source', '--outputs', 'out.h5', *flags]]
        for command in commands:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
            if done.returncode:
                break
        self.expect(done.returncode and message in done.stderr, 'not the error "%s": %s' % (message, done.stderr))

    def check_videos(self):
        videos = self.write_videos()
        clips = [(0, 1), (1, 4), (2, 5), (0, 3)]
        self.write('clips.txt', ''.join('v%d/ %d %d\n' % (video, first, 5 - i) for i, (video, first) in enumerate(clips)))
        fields = self.VIDEO + 'source: "clips.txt" '
        for i, batch in enumerate(self.read(data_layer('VideoData', fields + 'batch_size: 3'))):
            rows = [(3 * i + row) % 4 for row in range(3)]
            self.expect_equal('clips', batch['data'], [self.clip(videos, *clips[row]) for row in rows])
            self.expect_equal("clips' labels", batch['label'], [5 - row for row in rows])
        batch = self.read(data_layer('VideoData', fields + 'batch_size: 4 sampling_rate: 2', 'transform_param { crop_size: 5 '
                                     'scale: 0.25 mean_value: 10 mean_value: 20 mean_value: 30 }'), batches=1)[0]
        self.expect_equal('crop, mean and scale of clips', batch['data'], [
            (self.clip(videos, *c, step=2)[:, :, 2:7, 3:8] - np.float32([10, 20, 30])[:, None, None, None]) * .25
            for c in clips])
        # Frames are resized as images are.
        self.write('frames.txt', ''.join('v1/%06d.jpg 0\n' % number for number in (4, 5, 6)))
        size = ' new_height: 7 new_width: 8 '
        images = self.read(data_layer('ImageData', 'source: "frames.txt" root_folder: "frames/" batch_size: 3' + size),
                           batches=1)[0]['data']
        batch = self.read(data_layer('VideoData', fields + 'batch_size: 2' + size, tops=('data',)), batches=1)[0]
        self.expect_equal('resized frames', batch['data'][1], images.transpose(1, 0, 2, 3))
        # video-caffe names frames differently, and may read them in grey.
        os.mkdir(self.path('frames/w'))
        for number in range(1, 4):
            os.symlink('../v0/%06d.jpg' % number, self.path('frames/w/image_%04d.jpg' % number))
        self.write('other.txt', 'w 1 7\n')
        self.write('frames.txt', ''.join('v0/%06d.jpg 0\n' % number for number in (1, 2, 3)))
        images = self.read(data_layer('ImageData', 'source: "frames.txt" root_folder: "frames/" batch_size: 3 is_color: false'),
                           batches=1)[0]['data']
        batch = self.read(data_layer('VideoData', 'source: "other.txt" root_folder: "frames/" new_length: 3 is_color: false'),
                          batches=1)[0]
        self.expect_equal('grey frames', batch['data'], images.transpose(1, 0, 2, 3)[None])
        self.write('other.txt', 'v0/000001.jpg 1 7\n')
        self.fails(data_layer('VideoData', 'source: "other.txt" root_folder: "frames/" new_length: 3'),
                   "'frames/v0/000001.jpg' is a file; a video is a folder of images of its frames")
        self.check_clip_means(videos, clips, fields)
        self.check_random_clips(videos, clips, fields)

    def check_clip_means(self, videos, clips, fields):
        """Checks mean files with five extents, in the formats of both versions of C3D."""
        mean = np.random.default_rng(9).uniform(0, 99, (3, 3, 10, 12)).astype('<f4')
        header = b''.join(bytes([number << 3, extent]) for number, extent in enumerate((1,) + mean.shape, 1))
        length = bytes([mean.nbytes & 127 | 128, mean.nbytes >> 7 & 127 | 128, mean.nbytes >> 14])
        shape = bytes([0x0a, 5, 1]) + bytes(mean.shape)
        for name, content in (('v10', header + b'\x32' + length + mean.tobytes()),
                              ('v11', b'\x3a' + bytes([len(shape)]) + shape + b'\x2a' + length + mean.tobytes())):
            with open(self.path(name + '.binaryproto'), 'wb') as file:
                file.write(content)
            batch = self.read(data_layer('VideoData', fields + 'batch_size: 4', 'transform_param { crop_size: 4 mean_file: "%s'
                                         '.binaryproto" }' % name), batches=1)[0]
            self.expect_equal('mean of clips ' + name, batch['data'],
                              [(self.clip(videos, *c) - mean)[:, :, 3:7, 4:8] for c in clips])
        self.fails(data_layer('VideoData', fields.replace('length: 3', 'length: 2'), 'transform_param { mean_file: '
                              '"v10.binaryproto" }'), 'the mean image in v10.binaryproto is 3x3x10x12, but the images of '
                   'clips.txt are 3x2x10x12')

    def check_random_clips(self, videos, clips, fields):
        batches = self.read(data_layer('VideoData', fields + 'batch_size: 4', 'transform_param { crop_size: 8 mirror: true }'),
                            batches=4, phase='train')
        found = set()
        for batch in batches:
            for row, data in enumerate(batch['data']):
                places = [(top, left, step) for top in range(3) for left in range(5) for step in (1, -1) if np.array_equal(
                    data, self.clip(videos, *clips[row])[:, :, top:top + 8, left:left + 8][:, :, :, ::step])]
                self.expect(len(places) == 1, 'a crop is not the same in all frames')
                found.update(places)
        self.expect(len(found) > 8 and len({place[2] for place in found}) == 2, 'crops are not random')
        # The number in the list is that of the frames; the first one and the step between frames are random.
        self.write('counts.txt', 'v0 9 0\nv1 8 1\nv2 5 2\n')
        net = data_layer('VideoData', self.VIDEO + 'source: "counts.txt" batch_size: 4 use_temporal_jitter: true '
                         'use_sampling_rate_jitter: true max_sampling_rate: 3')
        found = set()
        for batch in self.read(net, batches=8, phase='train'):
            for data, label in zip(batch['data'], batch['label']):
                count = (9, 8, 5)[int(label)]
                places = [(first, step) for step in (1, 2, 3) for first in range(1, count - 3 * step + 2)
                          if np.array_equal(data, self.clip(videos, int(label), first, step))]
                self.expect(len(places) == 1, 'not a clip of the video')
                found.update(places)
        self.expect(len(found) > 8 and len({place[1] for place in found}) == 3, 'clips are not random')
        self.fails(net, 'frames/v0/000000.jpg')  # testing begins at frame 0

    def check_labels_and_errors_of_videos(self):
        self.write_videos()
        self.write('classes.txt', 'v0 1 2\nv1 1 0,4\n')
        fields = self.VIDEO + 'source: "classes.txt" batch_size: 2 use_multiple_label: true num_of_labels: %d'
        batch = self.read(data_layer('VideoData', fields % 5), batches=1)[0]
        self.expect_equal('several classes', batch['label'], [[0, 0, 1, 0, 0], [1, 0, 0, 0, 1]])
        self.fails(data_layer('VideoData', fields % 4), 'classes.txt:2: not a line of FOLDER FRAME LABEL,LABEL... with labels '
                   'from 0 to 3')
        # Training skips clips without all frames, as C3D does; testing fails.
        self.write('clips.txt', 'v0 8 0\nv1 1 1\n')
        fields = self.VIDEO + 'source: "clips.txt" batch_size: 2'
        batch = self.read(data_layer('VideoData', fields), batches=1, phase='train')[0]
        self.expect_equal('labels of complete clips', batch['label'], [1, 1])
        self.fails(data_layer('VideoData', fields), "clips.txt:1: frame 'frames/v0/000010.jpg' not found")
        self.write('clips.txt', 'v0 8 0\n')
        self.fails(data_layer('VideoData', fields), 'no intact record is left; the first error: clips.txt:1: frame', phase='train')
        self.write('clips.txt', 'v0 1 0\n')
        with open(self.path('frames/v0/000002.jpg'), 'wb') as file:
            file.write(png(np.zeros((4, 4, 3), np.uint8)))
        self.fails(data_layer('VideoData', fields), 'frames/v0/000002.jpg has another size than the first frame of its clip')
        for text, message in (('v0 1\n', 'clips.txt:1: not a line of FOLDER FRAME LABEL'), ('', 'the list of clips is empty'),
                              ('v0 -1 0\n', 'clips.txt:1: not a line'), ('v0 1 cat\n', 'clips.txt:1: not a line')):
            self.write('clips.txt', text)
            self.fails(data_layer('VideoData', fields), message)

    def check_training_of_videos(self):
        """Trains a net for videos, whose classes are the brightness of all frames."""
        for video, value in enumerate((40, 200)):
            os.makedirs(self.path('frames/t%d' % video), exist_ok=True)
            for number in range(1, 6):
                with open(self.path('frames/t%d/%06d.jpg' % (video, number)), 'wb') as file:
                    file.write(png(np.full((8, 8, 3), value, np.uint8)))
        self.write('train.txt', 'frames/t0 1 0\nframes/t1 2 1\nframes/t0 3 0\nframes/t1 1 1\n')
        self.write('train.prototxt', """
layers { name: "data" type: VIDEO_DATA top: "data" top: "label" image_data_param { source: "train.txt" use_image: true
  batch_size: 4 crop_size: 6 mirror: true show_data: 0 new_height: 8 new_width: 8 new_length: 3 shuffle: true mean_value: 120
  scale: 0.01 } }
layers { name: "conv" type: CONVOLUTION3D bottom: "data" top: "conv" convolution_param { num_output: 4 kernel_size: 3
  kernel_depth: 3 pad: 1 temporal_pad: 1 weight_filler { type: "gaussian" std: 0.1 } } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING3D bottom: "conv" top: "pool" pooling_param { pool: MAX kernel_size: 2 kernel_depth: 1
  stride: 2 temporal_stride: 1 } }
layers { name: "ip" type: INNER_PRODUCT bottom: "pool" top: "ip" inner_product_param { num_output: 2
  weight_filler { type: "gaussian" std: 0.01 } } }
layers { name: "loss" type: SOFTMAX_LOSS bottom: "ip" bottom: "label" }
""")
        self.write('solver.prototxt', 'net: "train.prototxt" base_lr: 0.05 lr_policy: "fixed" max_iter: 40 display: 40 '
                   'random_seed: 3 snapshot_after_train: false')
        self.run(self.options.brewc, 'solver.prototxt', '-o', 'train.plan', *self.options.brewc_flags.split())
        lines = self.run(self.options.brew_run, 'train', 'train.plan')
        losses = [float(word) for word in re.findall(r'loss = ([-+.e0-9]+)', lines.stderr + lines.stdout)]
        self.expect(losses and losses[-1] < 0.1 < losses[0], 'the loss does not fall: %s' % losses)

    def check_threads(self):
        """Checks that training reads the same batches with any number of threads."""
        results = []
        for threads in '1', '2', '5':
            results.append(self.read(
                data_layer('ImageData', 'source: "list.txt" batch_size: 5 shuffle: true '
                           'root_folder: "images/" new_height: 9 new_width: 8',
                           'transform_param { mirror: true crop_size: 6 mean_value: 3 }'),
                batches=4, phase='train', flags=('--reader-threads', threads)))
        for result in results[1:]:
            for a, b in zip(results[0], result):
                self.expect_equal('threads', b['data'], a['data'])
                self.expect_equal("threads' labels", b['label'], a['label'])
        self.expect(any(not np.array_equal(a['data'], b['data'])
                        for a, b in zip(results[0], results[0][1:])), 'batches are all the same')

    def check_windows(self):
        self.write('windows.txt', '# 0\nimages/3.png\n3 10 12\n2\n4 1 2 1 9 8\n1 0 0 2 7 9\n')
        batch = self.read(data_layer(
            'WindowData', 'source: "windows.txt" batch_size: 4 fg_fraction: 0.5 scale: 0.5',
            'transform_param { crop_size: 8 mean_value: 7 }'), batches=1)[0]
        image = (planes(self.images[3]) - 7) * np.float32(.5)
        self.expect_equal('windows', batch['data'],
                          [image[:, 2:10, :8]] * 2 + [image[:, 1:9, 2:10]] * 2)
        self.expect_equal("windows' labels", batch['label'], [0, 0, 4, 4])

    def check_databases(self):
        for flags, tolerance in ((), 0), (('--encoded',), 0), (('--encode_type=jpg',), None):
            for backend in 'lmdb', 'leveldb':
                self.run(self.brew_data, 'imageset', 'images/', 'list.txt', 'db', '--overwrite',
                         '--backend', backend, *flags)
                batches = self.read(data_layer('Data', 'source: "db" batch_size: 7 backend: '
                                               + backend.upper()), batches=2)
                if tolerance is None:
                    self.expect(batches[0]['data'].shape == (7, 3, 10, 12),
                                'JPEG records have another shape')
                    continue
                for batch in batches:
                    self.expect_equal('records ' + backend, batch['data'],
                                      [planes(i) for i in self.images])
                    self.expect_equal('labels ' + backend, batch['label'],
                                      [i % 3 for i in range(7)])
        self.run(self.brew_data, 'verify', 'db')
        summary = json.loads(self.run(self.brew_data, 'inspect', 'db', '--json', '--sheet',
                                      'sheet.png').stdout)
        self.expect(summary['records'] == 7 and summary['labels'] == {'0': 3, '1': 2, '2': 2}
                    and summary['shapes'] == {'3x10x12': 7}, 'inspect printed %s' % summary)
        with open(self.path('sheet.png'), 'rb') as file:
            self.expect(file.read(8) == b'\x89PNG\r\n\x1a\n', 'sheet.png is not a PNG file')
        self.run(self.brew_data, 'imageset', 'images/', 'list.txt', 'db', '--overwrite')
        self.run(self.brew_data, 'split', 'db', 'most=0.7', 'rest=0.3', '--random', '--seed', '4')
        self.run(self.brew_data, 'merge', 'rest', 'most', '-o', 'all', '--backend', 'leveldb')
        self.run(self.brew_data, 'shuffle', 'all', 'mixed', '--seed', '9')
        image_sums = lambda batch: sorted(batch['data'].sum((1, 2, 3)).tolist())
        mixed = self.read(data_layer('Data', 'source: "mixed" batch_size: 7 backend: LMDB'),
                          batches=1)[0]
        self.expect_equal('split, merged, shuffled', image_sums(mixed),
                          sorted(planes(i).sum() for i in self.images))
        most = json.loads(self.run(self.brew_data, 'inspect', 'most', '--json').stdout)
        self.expect(most['records'] == 5, 'split wrote %d of 7 records' % most['records'])

    def check_missing_images(self):
        self.write('incomplete.txt', '0.png 1\nabsent.png 2\n2.png 3\n')
        process = self.run(self.brew_data, 'convert_imageset', '-resize_height=4', '-resize_width',
                           '6', 'images/', 'incomplete.txt', 'incomplete')
        self.expect('Could not open or find file absent.png (incomplete.txt:2' in process.stderr,
                    'the missing image is not reported: ' + process.stderr)
        listed = self.run(self.brew_data, 'list', 'incomplete').stdout
        self.expect('key \'00000000_0.png\'' in listed, 'keys differ from Caffe\'s')
        failed = subprocess.run([self.brew_data, 'convert_imageset', '--check_size', 'images/',
                                 'sizes.txt', 'sizes'], cwd=self.folder, capture_output=True,
                                text=True)
        self.expect(failed.returncode == 3 and not os.path.exists(self.path('sizes')),
                    'a missing list: status %d' % failed.returncode)

    def check_output(self):
        values = np.arange(4 * 2 * 3, dtype=np.float32).reshape(4, 2, 3)
        with h5py.File(self.path('rows.h5'), 'w') as file:
            file['x'] = values
            file['y'] = np.arange(4, dtype=np.float32)
        self.write('rows.txt', 'rows.h5\n')
        self.read(data_layer('HDF5Data', 'source: "rows.txt" batch_size: 2', tops=('x', 'y')) +
                  'layer { name: "p" type: "Power" bottom: "x" top: "p" power_param { shift: 1 } }'
                  'layer { name: "o" type: "HDF5Output" bottom: "p" bottom: "y" '
                  'hdf5_output_param { file_name: "written.h5" } }', batches=2, keep_flags=())
        with h5py.File(self.path('written.h5'), 'r') as file:
            self.expect_equal('HDF5Output', file['data'][()], values.reshape(4, 2, 3, 1) + 1)
            self.expect_equal("HDF5Output's label", file['label'][()],
                              np.arange(4).reshape(4, 1, 1, 1))

    def check_bad_records(self):
        with open(self.path('images/0.png'), 'rb') as file:
            good = file.read()
        with open(self.path('images/bad.png'), 'wb') as file:
            file.write(good[:70])
        self.write('bad.txt', '0.png 0\nbad.png 1\n2.png 2\n')
        net = data_layer('ImageData', 'source: "bad.txt" batch_size: 2 root_folder: "images/" '
                         'new_height: 10 new_width: 12')
        batches = self.read(net, batches=2, flags=('--skip-bad-records',))
        self.expect_equal('labels with bad images skipped', [b['label'] for b in batches],
                          [[0, 2], [0, 2]])
        for flags, status, text in ((), 1, 'bad.txt:2'), (('--skip-bad-records',), 0, 'bad.txt:2'):
            process = subprocess.run([self.options.brew_run, 'eval', 'net.plan', '--from-source',
                                      '--outputs', 'bad.h5', *flags], cwd=self.folder,
                                     capture_output=True, text=True)
            self.expect(process.returncode == status and text in process.stderr,
                        'a bad image: %d, %s' % (process.returncode, process.stderr))

    NET = 'layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param ' \
          '{ num_output: 3 weight_filler { type: "gaussian" std: 0.01 } } }\n' \
          'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "l" }\n'

    def check_resumed(self):
        """Checks that a resumed run results in the weights of an uninterrupted run."""
        self.write('train.prototxt', data_layer(
            'ImageData', 'source: "list.txt" batch_size: 3 shuffle: true root_folder: "images/"',
            'transform_param { mirror: true crop_size: 7 scale: 0.01 }') + self.NET)
        self.write('solver.prototxt', 'net: "train.prototxt" base_lr: 0.1 lr_policy: "fixed" '
                   'momentum: 0.9 max_iter: 9 snapshot: 4 snapshot_prefix: "full" '
                   'random_seed: 7 display: 0')
        self.run(self.options.brewc, 'solver.prototxt', '-o', 'train.plan',
                 *self.options.brewc_flags.split())
        self.run(self.options.brew_run, 'train', 'train.plan', '--reader-threads', '1')
        self.run(self.options.brew_run, 'train', 'train.plan', '--snapshot',
                 'full_iter_4.solverstate', '--snapshot-prefix', 'resumed', '--reader-threads', '4')
        with open(self.path('full_iter_9.caffemodel'), 'rb') as a, \
                open(self.path('resumed_iter_9.caffemodel'), 'rb') as b:
            self.expect(a.read() == b.read(), 'a resumed run has other weights')

    def check_features(self):
        net = data_layer('ImageData', 'source: "list.txt" batch_size: 3 root_folder: "images/"') + \
            self.NET.splitlines()[0] + '\n'
        self.write('features.prototxt', net)
        self.write('weights.prototxt', net)
        self.run(self.options.brewc, 'features.prototxt', '--phase', 'test', '--keep', 'ip',
                 '-o', 'features.plan', *self.options.brewc_flags.split())
        # The fillers' initial weights are sufficient. A training step with learning rate 0
        # writes them.
        self.write('one.prototxt', net + self.NET.splitlines()[1])
        self.write('one_solver.prototxt', 'net: "one.prototxt" base_lr: 0 lr_policy: "fixed" '
                   'max_iter: 1 snapshot_prefix: "one" random_seed: 3')
        self.run(self.options.brewc, 'one_solver.prototxt', '-o', 'one.plan')
        self.run(self.options.brew_run, 'train', 'one.plan')
        for file_format in 'npy', 'hdf5', 'lmdb', 'leveldb':
            self.run(self.options.brew_run, 'features', 'features.plan', '--weights',
                     'one_iter_1.caffemodel', '--blobs', 'ip', '--outputs', 'ip_' + file_format,
                     '--batches', '2', '--format', file_format)
        expected = np.load(self.path('ip_npy'))
        self.expect(expected.shape == (6, 3) and np.abs(expected).max() > 0, 'features are zero')
        with h5py.File(self.path('ip_hdf5'), 'r') as file:
            self.expect_equal('features in HDF5', file['ip'][()], expected)
        names = ['ip_lmdb', 'ip_leveldb']
        if not self.options.brewc_flags:
            self.run(self.brew_data, 'extract_features', 'one_iter_1.caffemodel',
                     'features.prototxt', 'ip', 'ip_caffe', '2', 'leveldb', 'CPU')
            names.append('ip_caffe')
        for name in names:
            kind = 'LMDB' if name == 'ip_lmdb' else 'LEVELDB'
            batch = self.read(data_layer('Data', 'source: "%s" batch_size: 6 backend: %s' % (
                name, kind), tops=('data',)), batches=1)[0]
            self.expect_equal('features in ' + name, batch['data'].reshape(6, 3), expected)

    def check_infer(self):
        """Checks `infer` on a folder, with JSON output, and with ten crops of one image.

        The net is linear, so the mean score of the crops is the score of their mean.
        """
        self.write('deploy.prototxt', 'layer { name: "data" type: "Input" top: "data" '
                   'input_param { shape { dim: 4 dim: 3 dim: 10 dim: 12 } } }\n' +
                   self.NET.splitlines()[0])
        self.run(self.options.brewc, 'deploy.prototxt', '-o', 'deploy.plan', '--weights',
                 'one_iter_1.caffemodel', *self.options.brewc_flags.split())
        os.mkdir(self.path('folder'))
        os.mkdir(self.path('folder/more'))
        large = np.random.default_rng(2).integers(0, 256, (16, 19, 3), dtype=np.uint8)
        for name, image in ('b.png', self.images[1]), ('more/a.png', self.images[2]), \
                ('a.png', self.images[0]):
            with open(self.path('folder/' + name), 'wb') as file:
                file.write(png(image))
        lines = self.run(self.options.brew_run, 'infer', 'deploy.plan', 'folder', '--json',
                         '--top', '2').stdout.splitlines()
        predicted = [json.loads(line) for line in lines]
        self.expect([t['name'] for t in predicted] ==
                    ['folder/a.png', 'folder/b.png', 'folder/more/a.png'],
                    'infer printed %s' % predicted)
        self.expect(all(len(t['predictions']) == 2 and t['predictions'][0]['score'] >=
                        t['predictions'][1]['score'] for t in predicted),
                    'infer printed %s' % predicted)
        with open(self.path('large.png'), 'wb') as file:
            file.write(png(large))
        image = planes(large)
        crops = [image[:, y:y + 10, x:x + 12] for y, x in ((0, 0), (0, 7), (6, 0), (6, 7), (3, 3))]
        with h5py.File(self.path('mean.h5'), 'w') as file:
            file['data'] = np.mean(crops + [c[:, :, ::-1] for c in crops], 0, keepdims=True)
        self.run(self.options.brew_run, 'infer', 'deploy.plan', 'large.png', '--oversample',
                 '--image-dims', '16,19', '--outputs', 'ten.h5')
        self.run(self.options.brew_run, 'infer', 'deploy.plan', 'mean.h5', '--outputs', 'one.h5')
        with h5py.File(self.path('ten.h5')) as ten, h5py.File(self.path('one.h5')) as one:
            # The scores are sums of 360 products of about 128 and 0.01.
            self.expect_equal('ten crops', ten['ip'][()], one['ip'][()], tolerance=1e-4)


checker.main(DataLayers, __doc__, 'check_images', 'check_labeled_pixels', 'check_labels_of_forks', 'check_several_labels', 'check_videos',
             'check_labels_and_errors_of_videos', 'check_training_of_videos', 'check_threads', 'check_windows',
             'check_databases', 'check_missing_images', 'check_bad_records', 'check_output',
             'check_resumed', 'check_features', 'check_infer')
