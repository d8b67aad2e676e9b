#!/usr/bin/python3
"""Checks which records data layers select (shuffle, balance, boost_file, pairs) through brew-data,
brewc and brew-run, that repeated kills of a training run do not change its result, and the values
of losses with class weights.
"""
import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../common'))
import checker  # noqa: E402
from pngs import png  # noqa: E402

COUNT = 12
# Labels of the images: eight of 0, two of 1 and two of 2.
LABELS = [0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 0, 2]


def layer(kind, settings, others='', phase=''):
    return 'layer { name: "in" type: "%s" top: "data" top: "label" %s { %s } %s %s }\n' % (
        kind, {'ImageData': 'image_data_param', 'Data': 'data_param'}[kind], settings, others,
        phase)


class RecordSelection(checker.Checker):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        data = os.path.join(os.path.dirname(os.path.abspath(options.brew_run)), 'brew-data')
        os.mkdir(self.path('images'))
        for number in range(COUNT):
            # All pixels are the number of their image, which identifies it.
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(png(np.full((4, 5, 3), number, np.uint8)))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, LABELS[i]) for i in range(COUNT)))
        for backend in 'lmdb', 'leveldb':
            self.run(data, 'imageset', 'images/', 'list.txt', backend, '--backend', backend)
        self.sources = [('ImageData', 'source: "list.txt" root_folder: "images/" ')] + [
            ('Data', 'source: "%s" backend: %s ' % (b, b.upper())) for b in ('lmdb', 'leveldb')]

    def read(self, net, batches, *flags, phase='train'):
        """Returns (numbers of images, labels) of each batch."""
        self.write('net.prototxt', net)
        self.run(self.options.brewc, 'net.prototxt', '--phase', phase, '--keep', 'all', '-o',
                 'net.plan', *self.options.brewc_flags.split())
        self.run(self.options.brew_run, 'eval', 'net.plan', '--from-source', '--batches',
                 str(batches), '--outputs', 'out.h5', *flags)
        with h5py.File(self.path('out.h5'), 'r') as file:
            found = [{name: blob[()] for name, blob in file['batch/%d' % i].items()}
                     for i in range(batches)]
        for batch in found:
            pixels = batch['data'].reshape(len(batch['data']), -1, 3, 4, 5)
            self.expect((pixels == pixels[:, :, :1, :1, :1]).all(), 'images are mixed up')
            batch['data'] = pixels[:, :, 0, 0, 0].astype(int)
        return [(batch['data'], batch['label'].astype(int)) for batch in found]

    def check_balance(self):
        for (kind, source), more in zip(
                self.sources, ('', 'shuffle: true', 'enable_random_selection: true')):
            for numbers, labels in self.read(
                    layer(kind, source + 'batch_size: 6 balance: LABEL ' + more), 4):
                self.expect(sorted(labels) == [0, 0, 1, 1, 2, 2],
                            '%s %s: labels %s' % (kind, more, labels))
                self.expect([LABELS[n] for n in numbers[:, 0]] == list(labels),
                            '%s %s: labels belong to other images' % (kind, more))

    def check_shuffle(self):
        passes = []
        for kind, source in self.sources[1:]:
            numbers = np.concatenate(
                [n[:, 0] for n, _ in self.read(layer(kind, source + 'batch_size: 4 shuffle: true'),
                                               6, '--reader-threads', '3')])
            for part in numbers[:COUNT], numbers[COUNT:]:
                self.expect(sorted(part) == list(range(COUNT)),
                            'not all records in a pass: %s' % part)
                passes.append(tuple(part))
        self.expect(passes[:2] == passes[2:] and len(set(passes)) == 2,
                    'LMDB and LevelDB differ, or two passes are equal: %s' % passes)

    def check_boosts(self):
        keys = ['%08d_%d.png' % (i, i) for i in range(COUNT)]
        for (kind, source), names in zip(
                self.sources, (['%d.png' % i for i in range(COUNT)], keys, keys)):
            self.write('boost.txt', '%s 1\n%s 2\n' % (names[4], names[7]))
            batches = self.read(layer(kind, source + 'batch_size: 8 boost_file: "boost.txt" '
                                      'boost_default: 0'), 12)
            numbers = np.concatenate([n[:, 0] for n, _ in batches])
            self.expect(set(numbers) == {4, 7} and 20 <= (numbers == 4).sum() <= 44,
                        '%s: boosted %s' % (kind, numbers))

    def check_pairs(self):
        for kind, source in self.sources:
            for numbers, labels in self.read(
                    layer(kind, source + 'batch_size: 4 images_per_blob: 2'), 6):
                for (a, b), label in zip(numbers, labels):
                    self.expect(label == (LABELS[a] == LABELS[b]), '%s: pair %d %d is %d' % (
                        kind, a, b, label))
                self.expect(labels.sum() == 2,
                            '%s: matching and other pairs are not balanced' % kind)
        kind, source = self.sources[1]
        (numbers, labels), = self.read(layer(
            kind, source + 'batch_size: 4 images_per_blob: 2 output_all_labels: true '
            'balance_matches: false'), 1)
        self.expect(np.array_equal(numbers, [[0, 1], [2, 3], [4, 5], [6, 7]]) and
                    np.array_equal(labels, [[0, 0], [0, 1], [2, 0], [0, 1]]),
                    'pairs are not in order')
        kind, source = self.sources[0]
        for numbers, _ in self.read(layer(kind, source + 'batch_size: 4 shuffle: true '
                                          'enable_pair_selection: true'), 3):
            a, b = numbers[::2, 0], numbers[1::2, 0]
            self.expect(np.array_equal(b, (a + 1) % COUNT), 'pairs are not neighbours')

    def check_weights(self):
        """Compares SoftmaxWithLoss with its definition, forward and backward."""
        random = np.random.default_rng(3)
        x = random.standard_normal((3, 4, 2)).astype(np.float32)
        labels = random.integers(0, 4, (3, 2)).astype(np.float32)
        labels[0, 0], labels[1, 1] = 3, 1
        weights = np.array([0.5, 2, 0, 3], np.float32)
        prob = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        for mode in 'VALID', 'FULL', 'BATCH_SIZE', 'NONE':
            net = ('layer { name: "in" type: "Input" top: "x" top: "label" input_param { '
                   'shape { dim: 3 dim: 4 dim: 2 } shape { dim: 3 dim: 2 } } } '
                   'layer { name: "p" type: "Scale" bottom: "x" top: "y" } '
                   'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "label" '
                   'top: "loss" loss_param { normalization: %s ignore_label: 1 '
                   'weight_by_label_freqs: true %s } }' % (
                       mode, ' '.join('class_weighting: %g' % w for w in weights)))
            self.compile(net, 'train', '--gradients')
            found = self.evaluate({'x': x, 'label': labels}, '--gradients')
            total, diff = 0., np.zeros(x.shape)
            for n, i in np.ndindex(3, 2):
                label = int(labels[n, i])
                if label == 1:
                    continue
                total -= weights[label] * np.log(prob[n, label, i])
                diff[n, :, i] = prob[n, :, i]
                diff[n, label, i] -= 1
                diff[n, :, i] *= weights[label]
            # VALID counts items regardless of their weights.
            normalizer = {'VALID': (labels != 1).sum(), 'FULL': 6, 'BATCH_SIZE': 3, 'NONE': 1}[mode]
            error = found['diff/y'].ravel() - (diff / normalizer).ravel()
            self.expect(abs(found['data/loss'] - total / normalizer) < 1e-5,
                        '%s: loss %s' % (mode, found['data/loss']))
            self.expect(np.abs(error).max() < 1e-6, '%s: gradients are wrong' % mode)

    def train(self, *flags, kill_after=None, threads=3):
        """Trains net.plan. With `kill_after`, kills the run this many seconds after its first new
        solver state, and returns whether it was still running."""
        command = [self.options.brew_run, 'train', 'net.plan', '--reader-threads', str(threads),
                   *flags]
        if kill_after is None:
            self.run(*command)
            return
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL)
        seen = set(os.listdir(self.folder))
        limit = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < limit:
            if any(name.endswith('.solverstate') for name in
                   set(os.listdir(self.folder)) - seen):
                time.sleep(kill_after)
                break
            time.sleep(0.002)
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL

    def check_kills(self):
        """Checks that the final weights do not depend on how often a run is killed."""
        learner = '''
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.01 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss"
  loss_param { class_weighting: 1 class_weighting: 2 class_weighting: 3 } }
'''
        self.write('boost.txt', '00000004_4.png 3\n')
        crop = 'transform_param { mirror: true crop_size: 3 scale: 0.01 }'
        for number, settings in enumerate((
                'shuffle: true', 'balance: LABEL shuffle: true images_per_blob: 2',
                'boost_file: "boost.txt" balance: LABEL')):
            kind, source = self.sources[1 + number % 2]
            net = layer(kind, source + 'batch_size: 5 ' + settings, crop)
            self.write('net.prototxt', net + learner)
            self.write('solver.prototxt', 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" '
                       'momentum: 0.9 max_iter: 60 snapshot: 2 snapshot_prefix: "run%d" '
                       'random_seed: 7 display: 0' % number)
            self.run(self.options.brewc, 'solver.prototxt', '-o', 'net.plan',
                     *self.options.brewc_flags.split())

            def last():
                with open(self.path('run%d_iter_60.solverstate' % number), 'rb') as file:
                    state = file.read()
                with open(self.path('run%d_iter_60.caffemodel' % number), 'rb') as file:
                    return state, file.read()

            def remove():
                for name in os.listdir(self.folder):
                    if name.startswith('run%d_' % number):
                        os.remove(self.path(name))

            self.train()
            uninterrupted = last()
            # On a busy machine the run may end before it is killed.
            for _ in range(10):
                remove()
                killed = [self.train('--resume', kill_after=delay) for delay in (0, 0.003)]
                if any(killed):
                    break
            self.expect(any(killed), '%s: the run ended before it was killed' % settings)
            self.train('--resume', threads=1)
            self.expect(last() == uninterrupted,
                        '%s: the killed and resumed run has other weights or state' % settings)


checker.main(RecordSelection, __doc__, 'check_balance', 'check_shuffle', 'check_boosts', 'check_pairs',
             'check_weights', 'check_kills')
