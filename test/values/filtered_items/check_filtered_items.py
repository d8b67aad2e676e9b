#!/usr/bin/python3
"""Checks that layers after a Filter compute the same as on only the selected items.

Each net is compiled after a Filter of N items, with library calls and, if the plan has any,
without; and, for the CPU, with inputs of only the selected items. Blobs and gradients of the two
must agree, in shape too; the gradients of items that were not selected must be 0.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

# A gradient that batch normalisation does not cancel.
WEIGHTED = 'layer { name: "w" type: "TanH" bottom: "y" top: "w" } ' \
    'layer { name: "s" type: "Reduction" bottom: "w" top: "s" loss_weight: 1 }'
SUMSQ = 'layer { name: "s" type: "Reduction" bottom: "y" top: "s" loss_weight: 1 ' \
    'reduction_param { operation: SUMSQ } }'


def layer(kind, bottoms, top, text=''):
    return 'layer { name: "%s" type: "%s" %s top: "%s" %s }\n' % (
        top, kind, ' '.join('bottom: "%s"' % b for b in bottoms.split()), top, text)


# name: inputs {blob: (shape of an item, kind of its elements)}, layers. The kind is None for
# numbers with a gradient, 0 for numbers without, or the number of classes.
NETS = {
    'filter': ({'x': ((3, 2), None)}, layer('ReLU', 'x', 'y') + SUMSQ),
    'mean': ({'x': ((3, 2), None)}, layer('Reduction', 'x', 'y',
             'loss_weight: 2 reduction_param { operation: MEAN coeff: 3 }')),
    'mean_of_items': ({'x': ((3, 2), None)}, layer('Reduction', 'x', 'y',
                      'reduction_param { operation: MEAN axis: 1 }') + SUMSQ),
    'convolution': ({'x': ((2, 6, 5), None)},
                    layer('Convolution', 'x', 'c', 'convolution_param { num_output: 4 kernel_size: 3 }') +
                    layer('LRN', 'c', 'l') +
                    layer('Pooling', 'l', 'p', 'pooling_param { kernel_size: 2 stride: 2 }') +
                    layer('InnerProduct', 'p', 'y', 'inner_product_param { num_output: 3 }') + SUMSQ),
    'shapes': ({'x': ((4, 3), None)},
               layer('Flatten', 'x', 'f') +
               layer('Reshape', 'f', 'r', 'reshape_param { shape { dim: 0 dim: 3 dim: -1 } }') +
               layer('Permute', 'r', 'p', 'permute_param { order: 0 order: 2 order: 1 }') +
               layer('Reshape', 'p', 'q', 'reshape_param { shape { dim: -1 dim: 2 dim: 6 } }') +
               layer('Tile', 'q', 't', 'tile_param { axis: 2 tiles: 2 }') +
               layer('Softmax', 't', 'y', 'softmax_param { axis: 2 }') + SUMSQ),
    'softmax_loss': ({'x': ((4,), None), 't': ((), 4)},
                     layer('SoftmaxWithLoss', 'x t', 'y') + layer('Accuracy', 'x t', 'a') +
                     layer('ArgMax', 'x', 'm', 'argmax_param { axis: 1 }')),
    'softmax_loss_batch': ({'x': ((4, 2, 2), None), 't': ((1, 2, 2), 4)},
                           layer('SoftmaxWithLoss', 'x t', 'y',
                                 'loss_param { normalization: BATCH_SIZE ignore_label: 2 }')),
    'softmax_loss_full': ({'x': ((4,), None), 't': ((), 4)},
                          layer('SoftmaxWithLoss', 'x t', 'y',
                                'loss_param { normalization: FULL } loss_weight: 3')),
    'infogain': ({'x': ((3,), None), 't': ((), 3)},
                 'layer { name: "h" type: "DummyData" top: "h" dummy_data_param { shape { dim: 1 dim: 1 '
                 'dim: 3 dim: 3 } data_filler { value: 0.5 } } }\n' +
                 layer('InfogainLoss', 'x t h', 'y')),
    'euclidean': ({'x': ((4,), None), 't': ((4,), None)}, layer('EuclideanLoss', 'x t', 'y')),
    'smooth_l1': ({'x': ((4,), None), 't': ((4,), None), 'u': ((4,), 0), 'v': ((4,), 0)},
                  layer('SmoothL1Loss', 'x t u v', 'y')),
    'sigmoid': ({'x': ((4,), None), 't': ((4,), 2)},
                layer('SigmoidCrossEntropyLoss', 'x t', 'y', 'loss_weight: 0.5')),
    'contrastive': ({'x': ((4,), None), 't': ((4,), None), 'u': ((), 2)},
                    layer('ContrastiveLoss', 'x t u', 'y')),
    'hinge': ({'x': ((4,), None), 't': ((), 4)}, layer('HingeLoss', 'x t', 'y')),
    'hinge_squared': ({'x': ((2, 2), None), 't': ((1,), 4)},
                      layer('HingeLoss', 'x t', 'y', 'loss_weight: 2 hinge_loss_param { norm: L2 }')),
    'multinomial': ({'x': ((4,), None), 't': ((), 4)},
                    layer('Softmax', 'x', 'p') + layer('MultinomialLogisticLoss', 'p t', 'y')),
    'batch_norm': ({'x': ((3, 4, 2), None)},
                   layer('BatchNorm', 'x', 'y', 'batch_norm_param { moving_average_fraction: 0.7 }') +
                   WEIGHTED),
    'batch_norm_vectors': ({'x': ((3,), None)},
                           layer('InnerProduct', 'x', 'i', 'inner_product_param { num_output: 4 '
                                 'weight_filler { type: "gaussian" } bias_filler { value: 0.3 } }') +
                           layer('BatchNorm', 'i', 'b', 'batch_norm_param { eps: 0.1 }') +
                           layer('Scale', 'b', 'y', 'scale_param { bias_term: true }') + WEIGHTED),
    'batch_norm_twice': ({'x': ((2, 5, 4), None)},
                         layer('Convolution', 'x', 'c', 'convolution_param { num_output: 3 '
                               'kernel_size: 3 weight_filler { type: "gaussian" } }') +
                         layer('BatchNorm', 'c', 'b', 'batch_norm_param { eps: 0.1 }') +
                         layer('ReLU', 'b', 'r') +
                         layer('BatchNorm', 'r', 'y', 'batch_norm_param { eps: 0.1 }') + WEIGHTED),
    'batch_norm_forks': ({'x': ((3, 2), None)},
                         layer('BN', 'x', 'b', 'bn_param { momentum: 0.8 }') +
                         layer('BatchNorm', 'b', 'y', 'batch_norm_param { scale_bias: true }') +
                         WEIGHTED),
    'batch_norm_global': ({'x': ((3, 2), None)},
                          layer('BN', 'x', 'y', 'bn_param { frozen: true }') + WEIGHTED),
    'pyramid': ({'x': ((3, 4, 4), None)},
                layer('SPP', 'x', 'y', 'spp_param { pyramid_height: 2 }') + WEIGHTED),
    'squeeze': ({'x': ((1, 3, 1), None)},
                layer('Squeeze', 'x', 'z', 'squeeze_param { axis: 1 axis: -1 }') +
                layer('Softmax', 'z', 'y') + SUMSQ),
    'interp': ({'x': ((2, 3, 4), None), 't': ((1, 5, 2), 0)},
               layer('Interp', 'x', 'i', 'interp_param { height: 5 width: 6 }') +
               layer('Interp', 'i t', 'y') + WEIGHTED),
    'crop': ({'x': ((2, 5, 4), None), 't': ((7, 3, 2), 0)},
             layer('Crop', 'x t', 'y', 'crop_param { offset: 1 offset: 2 }') + SUMSQ),
    'crop_items': ({'x': ((4,), None), 't': ((3,), 0)},
                   layer('Crop', 'x t', 'y', 'crop_param { axis: 0 offset: 0 }') + SUMSQ),
    'crop_like': ({'x': ((3, 2), None)},
                  layer('Parameter', '', 'p', 'parameter_param { shape { dim: 2 dim: 4 dim: 3 } }') +
                  layer('Crop', 'p x', 'q', 'crop_param { axis: 1 offset: 1 }') +
                  layer('Reduction', 'q', 'n', 'loss_weight: 1') + layer('TanH', 'x', 'y') + SUMSQ),
    'reindex': ({'x': ((3,), None), 't': ((), 4)},
                layer('Parameter', '', 'p', 'parameter_param { shape { dim: 4 dim: 3 } }') +
                layer('Bias', 'p', 'b', 'bias_param { axis: 0 num_axes: 2 filler { type: "gaussian" } }') +
                layer('BatchReindex', 'b t', 'r') +
                layer('Eltwise', 'r x', 'y', 'eltwise_param { operation: PROD }') + SUMSQ),
    'regions': ({'x': ((2, 3, 3), None), 't': ((5,), 4)},
                layer('Parameter', '', 'p', 'parameter_param { shape { dim: 4 dim: 2 dim: 4 dim: 5 } }') +
                layer('Bias', 'p', 'b', 'bias_param { axis: 0 num_axes: 4 filler { type: "gaussian" } }') +
                layer('ROIPooling', 'b t', 'r', 'roi_pooling_param { pooled_h: 3 pooled_w: 3 }') +
                layer('Eltwise', 'r x', 'y', 'eltwise_param { operation: PROD }') + SUMSQ),
    'sensitive_regions': ({'x': ((2, 2, 2), None), 't': ((5,), 4)},
                          layer('Parameter', '', 'p',
                                'parameter_param { shape { dim: 4 dim: 8 dim: 4 dim: 5 } }') +
                          layer('Bias', 'p', 'b',
                                'bias_param { axis: 0 num_axes: 4 filler { type: "gaussian" } }') +
                          layer('PSROIPooling', 'b t', 'r', 'psroi_pooling_param { spatial_scale: 1 '
                                'output_dim: 2 group_size: 2 }') +
                          layer('Eltwise', 'r x', 'y', 'eltwise_param { operation: PROD }') + SUMSQ),
    'boxes': ({'x': ((2, 3, 3), None), 't': ((1, 20, 30), 0)},
              layer('PriorBox', 'x t', 'b', 'prior_box_param { min_size: 4 }') +
              layer('TanH', 'x', 'y') + SUMSQ),
}
ITEMS = 7
SELECTORS = {'some': [0, 1, 1, 0, 1, 0, 0], 'first': [1, 0, 0, 0, 0, 0, 0],
             'last': [0, 0, 0, 0, 0, 0, -3], 'all': [1] * 7, 'none': [0] * 7}


def input_layer(name, shape):
    return 'layer { name: "in_%s" type: "Input" top: "%s" input_param { shape { %s } } }\n' % (
        name, name, ' '.join('dim: %d' % d for d in shape))


class Checker:
    def __init__(self, options, folder):
        self.options, self.folder, self.failures = options, folder, 0

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError('%s ended with status %d:\n%s' % (
                ' '.join(command), done.returncode, done.stderr[-2000:]))
        return done.stdout

    def compile(self, name, net, flags):
        """Compiles a net; returns the number of library calls in the plan."""
        with open(os.path.join(self.folder, name + '.prototxt'), 'w') as file:
            file.write(net)
        report = json.loads(self.run(
            self.options.brewc, name + '.prototxt', '--phase', 'train', '--gradients', '--keep',
            'all', '--report=json', '-o', name + '.plan', *flags))
        return sum(program['calls'] for program in report['programs'].values())

    def eval(self, name, values):
        with h5py.File(os.path.join(self.folder, 'in.h5'), 'w') as file:
            for blob, data in values.items():
                file['/inputs/' + blob] = data
        self.run(self.options.brew_run, 'eval', name + '.plan', '--inputs', 'in.h5', '--outputs',
                 'out.h5', '--gradients', '--random-seed', '1')
        found = {}
        with h5py.File(os.path.join(self.folder, 'out.h5')) as file:
            file.visititems(lambda name, item: found.update(
                {name: item[()]} if isinstance(item, h5py.Dataset) else {}))
        return found

    def differ(self, what, wanted, found):
        """Reports differences between the net of only the selected items and the filtered net."""
        for name, want in wanted.items():
            got = found.get(name)
            if got is None:
                problem = 'is missing'
            elif got.shape != want.shape:
                problem = 'has shape %s, not %s' % (got.shape, want.shape)
            elif not np.allclose(got, want, self.options.tolerance, self.options.tolerance):
                problem = 'is off by %g' % np.max(abs(got - want))
            else:
                continue
            self.failures += 1
            print('FAIL %s: %s %s' % (what, name, problem))

    def net(self, name, inputs, layers, flags):
        random = np.random.RandomState(3)
        values = {blob: random.uniform(-1, 1, (ITEMS,) + shape) if not classes
                  else random.randint(0, classes, (ITEMS,) + shape).astype(float)
                  for blob, (shape, classes) in inputs.items()}
        learnt = [blob for blob, (_, classes) in inputs.items() if classes is None]
        still = [blob for blob in inputs if blob not in learnt]

        def sources(prefix, items):
            """Returns the inputs, some of them with a gradient."""
            text = ''
            for blob, data in values.items():
                start = ('raw_' if blob in learnt else '') + prefix + blob
                text += input_layer(start, (items,) + data.shape[1:])
                if blob in learnt:
                    text += layer('Bias', start, prefix + blob, 'bias_param { axis: 0 num_axes: 0 }')
            return text

        def given(prefix, items):
            return {('raw_' if blob in learnt else '') + prefix + blob: data[items]
                    for blob, data in values.items()}

        wanted, compiled = {}, set()
        for which, selector in SELECTORS.items():
            kept = np.flatnonzero(selector)
            if len(kept):
                plain = 'plain_%d' % len(kept)
                if plain not in compiled:
                    self.compile(plain, sources('', len(kept)) + layers, [])
                    compiled.add(plain)
                wanted[which] = self.eval(plain, given('', kept))

        filtered = sources('all_', ITEMS) + input_layer('sel', (ITEMS, 1))
        for number, blobs in enumerate((learnt, still)):
            if blobs:
                filtered += 'layer { name: "filter%d" type: "Filter" %s bottom: "sel" %s }\n' % (
                    number, ' '.join('bottom: "all_%s"' % blob for blob in blobs),
                    ' '.join('top: "%s"' % blob for blob in blobs))
        for route in ([], ['--no-library']):
            calls = self.compile('filtered', filtered + layers, route + flags)
            runs = {which: self.eval('filtered', dict(given('all_', slice(None)),
                                                      sel=np.array(selector, float)[:, None]))
                    for which, selector in SELECTORS.items()}
            for which, selector in SELECTORS.items():
                self.compare('%s %s %s' % (name, which, route), values, learnt,
                             np.flatnonzero(selector), wanted.get(which), runs[which], runs)
            if not calls:
                break

    def compare(self, what, values, learnt, kept, wanted, found, runs):
        """Compares a selector's run with the run of only the selected items."""
        for blob in values:
            diff = found.get('diff/all_' + blob)
            if diff is not None and np.any(np.delete(diff, kept, 0)):
                self.failures += 1
                print('FAIL %s: diff/all_%s is not 0 where nothing is chosen' % (what, blob))
        if not len(kept):
            # Running statistics keep their value, 0; other batches change them.
            self.differ(what, {n: 0 * v for n, v in runs['some'].items() if n.startswith(
                'param_after/') and np.any(v != runs['all'][n])}, found)
            bad = [n for n, v in found.items() if not np.all(np.isfinite(v))]
            wrong = [b for b in values if found['data/' + b].shape[0] or np.any(
                found.get('diff/all_' + b, 0))] + bad
            if wrong:
                self.failures += 1
                print('FAIL %s: %s of nothing' % (what, wrong))
            return
        for blob in learnt:
            self.differ(what, {'gradient of ' + blob: wanted['diff/' + blob]},
                        {'gradient of ' + blob: found['diff/all_' + blob][kept]})
        # The inputs are compared above; the layers' seeds and parameters are the same.
        self.differ(what, {n: v for n, v in wanted.items() if 'raw_' not in n and not
                           n.startswith(('param_diff/', 'param_after/'))}, found)
        for n, v in wanted.items():
            if n.startswith(('param_diff/', 'param_after/')):
                kind, owner, index = n.split('/')
                owner = 'all_' + owner if owner in learnt else owner
                self.differ(what, {n: v}, {n: found.get('%s/%s/%s' % (kind, owner, index))})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--brewc', required=True)
    parser.add_argument('--brew-run', required=True)
    parser.add_argument('--brewc-flags', default='', help='options for the nets after a Filter')
    parser.add_argument('--only', nargs='*', help='names of nets')
    parser.add_argument('--tolerance', type=float, default=2e-5)
    options = parser.parse_args()
    options.brewc = os.path.abspath(options.brewc)
    options.brew_run = os.path.abspath(options.brew_run)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(options, folder)
        for name, (inputs, layers) in NETS.items():
            if options.only and name not in options.only:
                continue
            try:
                checker.net(name, inputs, layers, options.brewc_flags.split())
            except RuntimeError as error:
                checker.failures += 1
                print('FAIL %s: %s' % (name, error))
    print('%d failures' % checker.failures)
    sys.exit(checker.failures != 0)


if __name__ == '__main__':
    main()
