#!/usr/bin/python3
"""Checks which records data layers select, and the values of losses with class weights.

The records are selected with shuffle, balance, boost_file and pairs. brew-data writes them, brewc
compiles the nets and brew-run runs them. The script also checks that repeatedly killing and
resuming a training run does not change its result.
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


def data_layer(kind, settings, transform='', phase=''):
    return 'layer { name: "in" type: "%s" top: "data" top: "label" %s { %s } %s %s }\n' % (
        kind, {'ImageData': 'image_data_param', 'Data': 'data_param'}[kind], settings, transform,
        phase)


class RecordSelection(checker.Checker):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        brew_data = os.path.join(os.path.dirname(os.path.abspath(options.brew_run)), 'brew-data')
        os.mkdir(self.path('images'))
        for number in range(COUNT):
            # All pixels are the number of their image, which identifies it.
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(png(np.full((4, 5, 3), number, np.uint8)))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, LABELS[i]) for i in range(COUNT)))
        for backend in 'lmdb', 'leveldb':
            self.run(brew_data, 'imageset', 'images/', 'list.txt', backend, '--backend', backend)
        # Pairs of a layer type and its settings.
        self.sources = [('ImageData', 'source: "list.txt" root_folder: "images/" ')] + [
            ('Data', 'source: "%s" backend: %s ' % (b, b.upper())) for b in ('lmdb', 'leveldb')]

    def read_batches(self, net, batches, *flags, phase='train'):
        """Returns [(numbers of images, labels)] with an element for each batch."""
        self.write('net.prototxt', net)
        self.run(self.options.brewc, 'net.prototxt', '--phase', phase, '--keep', 'all', '-o',
                 'net.plan', *self.options.brewc_flags.split())
        self.run(self.options.brew_run, 'eval', 'net.plan', '--from-source', '--batches',
                 str(batches), '--outputs', 'out.h5', *flags)
        with h5py.File(self.path('out.h5'), 'r') as file:
            results = [{name: blob[()] for name, blob in file['batch/%d' % i].items()}
                       for i in range(batches)]
        for batch in results:
            pixels = batch['data'].reshape(len(batch['data']), -1, 3, 4, 5)
            self.expect((pixels == pixels[:, :, :1, :1, :1]).all(), 'images are mixed up')
            batch['data'] = pixels[:, :, 0, 0, 0].astype(int)
        return [(batch['data'], batch['label'].astype(int)) for batch in results]

    def check_balance(self):
        for (kind, source), setting in zip(
                self.sources, ('', 'shuffle: true', 'enable_random_selection: true')):
            for numbers, labels in self.read_batches(
                    data_layer(kind, source + 'batch_size: 6 balance: LABEL ' + setting), 4):
                self.expect(sorted(labels) == [0, 0, 1, 1, 2, 2],
                            '%s %s: labels %s' % (kind, setting, labels))
                self.expect([LABELS[n] for n in numbers[:, 0]] == list(labels),
                            '%s %s: labels belong to other images' % (kind, setting))

    def check_shuffle(self):
        passes = []
        for kind, source in self.sources[1:]:
            numbers = np.concatenate(
                [n[:, 0] for n, _ in self.read_batches(
                    data_layer(kind, source + 'batch_size: 4 shuffle: true'),
                    6, '--reader-threads', '3')])
            for one_pass in numbers[:COUNT], numbers[COUNT:]:
                self.expect(sorted(one_pass) == list(range(COUNT)),
                            'not all records in a pass: %s' % one_pass)
                passes.append(tuple(one_pass))
        self.expect(passes[:2] == passes[2:] and len(set(passes)) == 2,
                    'LMDB and LevelDB differ, or two passes are equal: %s' % passes)

    def check_boosts(self):
        # The keys that brew-data gives the records.
        keys = ['%08d_%d.png' % (i, i) for i in range(COUNT)]
        for (kind, source), names in zip(
                self.sources, (['%d.png' % i for i in range(COUNT)], keys, keys)):
            self.write('boost.txt', '%s 1\n%s 2\n' % (names[4], names[7]))
            batches = self.read_batches(data_layer(
                kind, source + 'batch_size: 8 boost_file: "boost.txt" '
                'boost_default: 0'), 12)
            numbers = np.concatenate([n[:, 0] for n, _ in batches])
            # Record 4 has a third of the weight: 32 of 96 draws are expected.
            self.expect(set(numbers) == {4, 7} and 20 <= (numbers == 4).sum() <= 44,
                        '%s: boosted %s' % (kind, numbers))

    def check_pairs(self):
        for kind, source in self.sources:
            for numbers, labels in self.read_batches(
                    data_layer(kind, source + 'batch_size: 4 images_per_blob: 2'), 6):
                for (a, b), label in zip(numbers, labels):
                    self.expect(label == (LABELS[a] == LABELS[b]), '%s: pair %d %d is %d' % (
                        kind, a, b, label))
                self.expect(labels.sum() == 2,
                            '%s: matching and other pairs are not balanced' % kind)
        kind, source = self.sources[1]
        (numbers, labels), = self.read_batches(data_layer(
            kind, source + 'batch_size: 4 images_per_blob: 2 output_all_labels: true '
            'balance_matches: false'), 1)
        self.expect(np.array_equal(numbers, [[0, 1], [2, 3], [4, 5], [6, 7]]) and
                    np.array_equal(labels, [[0, 0], [0, 1], [2, 0], [0, 1]]),
                    'pairs are not in order')
        kind, source = self.sources[0]
        for numbers, _ in self.read_batches(data_layer(kind, source + 'batch_size: 4 shuffle: true '
                                                       'enable_pair_selection: true'), 3):
            a, b = numbers[::2, 0], numbers[1::2, 0]
            self.expect(np.array_equal(b, (a + 1) % COUNT), 'pairs are not neighbours')

    def check_class_weights(self):
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
            results = self.evaluate({'x': x, 'label': labels}, '--gradients')
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
            error = results['diff/y'].ravel() - (diff / normalizer).ravel()
            self.expect(abs(results['data/loss'] - total / normalizer) < 1e-5,
                        '%s: loss %s' % (mode, results['data/loss']))
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
        old_files = set(os.listdir(self.folder))
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if any(name.endswith('.solverstate') for name in
                   set(os.listdir(self.folder)) - old_files):
                time.sleep(kill_after)
                break
            time.sleep(0.002)
        process.kill()
        process.wait()
        return process.returncode == -signal.SIGKILL

    def check_kills(self):
        """Checks that the final weights do not depend on how often a run is killed."""
        learned_layers = '''
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
            net = data_layer(kind, source + 'batch_size: 5 ' + settings, crop)
            self.write('net.prototxt', net + learned_layers)
            self.write('solver.prototxt', 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" '
                       'momentum: 0.9 max_iter: 60 snapshot: 2 snapshot_prefix: "run%d" '
                       'random_seed: 7 display: 0' % number)
            self.run(self.options.brewc, 'solver.prototxt', '-o', 'net.plan',
                     *self.options.brewc_flags.split())

            def read_results():
                """Returns the final solver state and the final weights."""
                with open(self.path('run%d_iter_60.solverstate' % number), 'rb') as file:
                    state = file.read()
                with open(self.path('run%d_iter_60.caffemodel' % number), 'rb') as file:
                    return state, file.read()

            def remove_results():
                for name in os.listdir(self.folder):
                    if name.startswith('run%d_' % number):
                        os.remove(self.path(name))

            self.train()
            uninterrupted = read_results()
            # On a busy machine the run may end before it is killed.
            for _ in range(10):
                remove_results()
                killed = [self.train('--resume', kill_after=delay) for delay in (0, 0.003)]
                if any(killed):
                    break
            self.expect(any(killed), '%s: the run ended before it was killed' % settings)
            self.train('--resume', threads=1)
            self.expect(read_results() == uninterrupted,
                        '%s: the killed and resumed run has other weights or state' % settings)


checker.main(RecordSelection, __doc__, 'check_balance', 'check_shuffle', 'check_boosts',
             'check_pairs', 'check_class_weights', 'check_kills')
