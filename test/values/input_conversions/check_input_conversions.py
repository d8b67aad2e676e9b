#!/usr/bin/python3
"""Checks images that data layers write in the format of a GPU plan's first convolution.

In a 16-bit plan, a data layer writes rounded images of eight channels, five of which are zeros.
Either the kernel that converts pixels or the host rounds and pads them. Training must result in
exactly the weights of the plan with f32 images of three channels, and in the CPU plan's weights up
to rounding.
"""
import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
import checker  # noqa: E402
import targets  # noqa: E402
from pngs import png  # noqa: E402

DATA = '''
layer { name: "in" type: "ImageData" top: "data" top: "label"
  image_data_param { source: "list.txt" batch_size: 4 root_folder: "images/" shuffle: true }
  transform_param { crop_size: 8 mirror: true mean_value: 100 mean_value: 110 mean_value: 120
    scale: 0.02 } }
'''
NET = '''
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: %d kernel_size: 3 pad: 1 stride: 2 bias_filler { type: "constant" value: 0.1 }
  weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip" inner_product_param {
  num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''
SOLVER = '''
net: "net.prototxt" base_lr: 0.05 lr_policy: "fixed" max_iter: 3 momentum: 0.9
snapshot: 0 snapshot_prefix: "out" snapshot_format: HDF5 random_seed: 3
'''
PRECISIONS = ('bf16', 'f16')
# For weights of magnitude 1 after three steps. Gradients are rounded to 8 or 11 bits after they are
# summed in a different order, so some are rounded in the other direction.
TOLERANCE = 2e-2


class InputConversions(targets.TargetChecker):
    def write_images_and_solver(self):
        random = np.random.default_rng(7)
        os.mkdir(self.path('images'))
        for number in range(9):
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(png(random.integers(0, 256, (10, 11, 3), dtype=np.uint8)))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, i % 5) for i in range(9)))
        self.write('solver.prototxt', SOLVER)

    def train(self, *flags):
        """Returns {layer/blob: values} of the weights after training."""
        self.run(self.options.brewc, 'solver.prototxt', '-o', 'net.plan', *flags)
        self.run(self.options.brew_run, 'train', 'net.plan', '--threads', '1')
        weights = {}
        with h5py.File(self.path('out_iter_3.caffemodel.h5')) as file:
            file.visititems(lambda name, item: weights.update({name: item[()]})
                            if isinstance(item, h5py.Dataset) else None)
        return weights

    def bytes_moved(self, *flags):
        """Returns the number of bytes that kernels read and write."""
        report = self.compile(DATA + NET % 16, *targets.GPU, *flags)
        return sum(report['programs']['main']['access_bytes'].values())

    def check_training(self):
        self.write_images_and_solver()
        # 20 channels do not suit tensor cores: images are rounded, but not padded.
        for outputs in 16, 20:
            self.write('net.prototxt', DATA + NET % outputs)
            for precision in PRECISIONS:
                flags = ('--precision', precision)
                name = '%d channels in %s' % (outputs, precision)
                weights = self.train(*targets.GPU, *flags)
                for passes in 'fold-input-conversions', 'fold-input-conversions,pad-channels':
                    without_pass = self.train(*targets.GPU, *flags, '--without', passes)
                    for key in without_pass:
                        self.expect(np.array_equal(weights[key], without_pass[key]),
                                    '%s: %s changes without %s' % (name, key, passes))
                cpu = self.train(*flags)
                self.expect(set(cpu) == set(weights) and cpu,
                            '%s: the plans have different weights' % name)
                for key in cpu:
                    error = np.abs(cpu[key] - weights[key]).max()
                    self.expect(error <= TOLERANCE, '%s: %s is off by %g' % (name, key, error))

    def check_bytes(self):
        """Checks that no kernel converts images from f32 to 16 bits."""
        for precision in PRECISIONS:
            flags = ('--precision', precision)
            saved = (self.bytes_moved(*flags, '--without', 'fold-input-conversions') -
                     self.bytes_moved(*flags))
            pixels = 4 * 8 * 8
            self.expect(saved == pixels * (3 * 4 + 8 * 2),
                        '%s: %d bytes are saved, not %d' %
                        (precision, saved, pixels * (3 * 4 + 8 * 2)))

    def check_caller_inputs(self):
        """Checks that the host converts inputs from the caller."""
        random = np.random.default_rng(8)
        inputs = {'data': random.standard_normal((4, 3, 8, 8)).astype(np.float32),
                  'label': random.integers(0, 5, 4).astype(np.float32)}
        self.compare_targets('inputs from the caller', DATA + NET % 16, 'bf16', inputs)
        # Earlier kernels have overwritten the memory of the zero channels.
        self.run(self.options.brew_run, 'eval', 'net.plan', '--from-source', '--batches', '3',
                 '--outputs', 'read.h5')
        self.run(self.options.brew_run, 'time', 'net.plan', '--iterations', '1',
                 '--random-input')


if __name__ == '__main__':
    checker.main(InputConversions, __doc__, 'check_training', 'check_bytes',
                 'check_caller_inputs')
