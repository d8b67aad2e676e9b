#!/usr/bin/python3
"""Checks that resuming from a snapshot does not change the results of training.

Trains nets on every kind of data layer, with iter_size and tests, in one uninterrupted run and in
runs that resume from its snapshots with other numbers of reader threads. The final weights and
solver states must be bitwise equal.
"""
import os
import sys

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../common'))
import checker  # noqa: E402
import pngs  # noqa: E402

TOPS = ' top: "data" top: "label" '
DUMMY_DATA = 'layer { name: "in" type: "DummyData"' + TOPS + ''' dummy_data_param {
  shape { dim: 3 dim: 3 dim: 7 dim: 7 } shape { dim: 3 }
  data_filler { type: "gaussian" std: 1 } data_filler { type: "constant" value: 1 } } }
'''
TRANSFORM = 'transform_param { mirror: true crop_size: 7 scale: 0.01 }'

# Besides weights, a resumed run must restore random numbers (Dropout) and running statistics
# (BatchNorm).
NET = '''
layer { name: "drop" type: "Dropout" bottom: "data" top: "data" }
layer { name: "bn" type: "BatchNorm" bottom: "data" top: "bn" }
layer { name: "ip" type: "InnerProduct" bottom: "bn" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.01 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''


def data_layer(kind, parameter, settings, more_settings=TRANSFORM):
    return 'layer { name: "in" type: "%s" %s %s { %s } %s }\n' % (
        kind, TOPS, parameter, settings, more_settings)


class ResumedTraining(checker.Checker):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        brew_data = os.path.join(os.path.dirname(os.path.abspath(options.brew_run)), 'brew-data')
        random = np.random.default_rng(5)
        os.mkdir(self.path('images'))
        for number in range(7):
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(pngs.png(random.integers(0, 256, (10, 12, 3), dtype=np.uint8)))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, i % 3) for i in range(7)))
        self.write('windows.txt', ''.join(
            '# %d\nimages/%d.png\n3 10 12\n2\n%d 1 2 1 9 8\n1 0 0 2 7 9\n' % (i, i, 1 + i % 2)
            for i in range(5)))
        for backend in 'lmdb', 'leveldb':
            self.run(brew_data, 'imageset', 'images/', 'list.txt', backend, '--backend', backend)
        for number, rows in enumerate((5, 4)):
            with h5py.File(self.path('%d.h5' % number), 'w') as file:
                file['data'] = random.standard_normal((rows, 3, 7, 7)).astype(np.float32)
                file['label'] = random.integers(0, 3, rows).astype(np.float32)
        self.write('files.txt', '0.h5\n1.h5\n')

    def check_source(self, name, layer, solver='', resumptions=((4, '4'), (6, '2')), flags=()):
        """Checks one data layer. `resumptions` has pairs of the iteration to resume from and the number
        of reader threads."""
        self.write('net.prototxt', layer + NET)
        self.write('solver.prototxt', 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" '
                   'momentum: 0.9 max_iter: 9 snapshot: 2 snapshot_prefix: "snap" '
                   'random_seed: 7 display: 0 average_loss: 3 iter_size: 2 test_iter: 2 '
                   'test_interval: 3 ' + solver)
        self.run(self.options.brewc, 'solver.prototxt', '-o', 'net.plan',
                 *self.options.brewc_flags.split())
        suffix = '.h5' if 'HDF5' in solver else ''

        def read_results():
            """Returns the final weights and the final solver state."""
            contents = []
            for kind in '.caffemodel', '.solverstate':
                with open(self.path('snap_iter_9' + kind + suffix), 'rb') as file:
                    contents.append(file.read())
            return contents

        self.run(self.options.brew_run, 'train', 'net.plan', '--reader-threads', '1', *flags)
        uninterrupted = read_results()
        for iteration, threads in resumptions:
            for kind in '.caffemodel', '.solverstate':
                os.remove(self.path('snap_iter_9' + kind + suffix))
            self.run(self.options.brew_run, 'train', 'net.plan', '--reader-threads', threads,
                     '--snapshot', 'snap_iter_%d.solverstate%s' % (iteration, suffix), *flags)
            resumed = read_results()
            self.expect(resumed[0] == uninterrupted[0],
                        '%s: other weights when resumed from iteration %d' % (name, iteration))
            self.expect(resumed[1] == uninterrupted[1],
                        '%s: another state when resumed from iteration %d' % (name, iteration))

    def check_databases(self):
        for backend in 'lmdb', 'leveldb':
            self.check_source(backend, data_layer(
                'Data', 'data_param', 'source: "%s" batch_size: 3 backend: %s' % (
                    backend, backend.upper())))

    def check_selection(self):
        for backend, options in (('lmdb', 'shuffle: true'),
                                 ('leveldb', 'balance: LABEL enable_random_selection: true')):
            self.check_source('%s %s' % (backend, options), data_layer(
                'Data', 'data_param', 'source: "%s" batch_size: 3 backend: %s %s' % (
                    backend, backend.upper(), options)), resumptions=((4, '4'),))

    def check_images(self):
        for options in '', 'shuffle: true', 'shuffle: true rand_skip: 5':
            self.check_source('images ' + options, data_layer(
                'ImageData', 'image_data_param',
                'source: "list.txt" batch_size: 3 root_folder: "images/" ' + options))

        with open(self.path('images/7.png'), 'wb') as file:
            file.write(b'no image')
        self.write('bad.txt', ''.join('%d.png %d\n' % (i, i % 3) for i in (0, 7, 3, 4, 7, 6)))
        self.check_source('images, some damaged', data_layer(
            'ImageData', 'image_data_param',
            'source: "bad.txt" batch_size: 3 root_folder: "images/" shuffle: true'),
            flags=('--skip-bad-records',))

    def check_windows(self):
        self.check_source('windows', data_layer(
            'WindowData', 'window_data_param',
            'source: "windows.txt" batch_size: 4 fg_fraction: 0.5',
            'transform_param { crop_size: 7 mirror: true }'))

    def check_hdf5(self):
        for options in '', 'shuffle: true':
            self.check_source('HDF5 ' + options, data_layer(
                'HDF5Data', 'hdf5_data_param', 'source: "files.txt" batch_size: 4 ' + options, ''))

    def check_fillers(self):
        self.check_source('fillers', DUMMY_DATA)

    def check_solver(self):
        images = data_layer('ImageData', 'image_data_param', 'source: "list.txt" batch_size: 3 '
                            'root_folder: "images/" shuffle: true')
        self.check_source('snapshots in HDF5', images, 'snapshot_format: HDF5')
        self.check_source('Adam', images, 'type: "Adam" momentum2: 0.99', ((4, '3'),))
        # Resumes from iteration 6, at which the net is tested, and from iteration 8.
        self.check_source('tests', images, 'test_initialization: false', ((6, '3'), (8, '3')))


checker.main(ResumedTraining, __doc__, 'check_databases', 'check_selection', 'check_images',
             'check_windows', 'check_hdf5', 'check_fillers', 'check_solver')
