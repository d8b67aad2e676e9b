#!/usr/bin/python3
"""Checks that layers after a Filter compute the same as on only the selected items.

Each net is compiled after a Filter of N items, with library calls and, if the plan has any, also
without. For comparison, the net is compiled for the CPU with inputs of only the selected items.
Blobs and gradients must agree, in shape too. The gradients of items that were not selected must
be 0.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

# A loss whose gradient batch normalisation does not cancel.
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
    'views': ({'x': ((4, 3), None)},
              layer('Flatten', 'x', 'f', 'flatten_param { axis: 0 }') +
              layer('Reshape', 'f', 'r', 'reshape_param { shape { dim: 1 dim: -1 dim: 6 } }') +
              layer('TanH', 'r', 't') +
              layer('Flatten', 't', 'y', 'flatten_param { axis: 0 end_axis: 1 }') + SUMSQ),
    'items_in_one_blob': ({'x': ((3,), None), 'u': ((3,), None)},
                          layer('Parameter', '', 'p', 'parameter_param { shape { dim: 2 dim: 3 } }') +
                          layer('Bias', 'p', 'b', 'bias_param { axis: 0 num_axes: 2 filler { type: '
                                '"gaussian" } }') +
                          layer('Concat', 'x b u', 'c', 'concat_param { axis: 0 }') +
                          layer('InnerProduct', 'c', 'i', 'inner_product_param { num_output: 3 '
                                'weight_filler { type: "gaussian" } }') +
                          layer('Concat', 'i x', 'y', 'concat_param { axis: 0 }') + WEIGHTED),
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
        process = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        if process.returncode:
            raise RuntimeError('%s ended with status %d:\n%s' % (
                ' '.join(command), process.returncode, process.stderr[-2000:]))
        return process.stdout

    def compile(self, name, net, flags):
        """Compiles a net; returns the number of library calls in the plan."""
        with open(os.path.join(self.folder, name + '.prototxt'), 'w') as file:
            file.write(net)
        report = json.loads(self.run(
            self.options.brewc, name + '.prototxt', '--phase', 'train', '--gradients', '--keep',
            'all', '--report=json', '-o', name + '.plan', *flags))
        return sum(program['calls'] for program in report['programs'].values())

    def evaluate(self, name, values):
        with h5py.File(os.path.join(self.folder, 'in.h5'), 'w') as file:
            for blob, data in values.items():
                file['/inputs/' + blob] = data
        self.run(self.options.brew_run, 'eval', name + '.plan', '--inputs', 'in.h5', '--outputs',
                 'out.h5', '--gradients', '--random-seed', '1')
        results = {}
        with h5py.File(os.path.join(self.folder, 'out.h5')) as file:
            file.visititems(lambda name, item: results.update(
                {name: item[()]} if isinstance(item, h5py.Dataset) else {}))
        return results

    def report_differences(self, case_name, unfiltered_results, filtered_results):
        """Reports values of the filtered net that differ from the net of only the selected items."""
        for name, expected in unfiltered_results.items():
            actual = filtered_results.get(name)
            if actual is None:
                problem = 'is missing'
            elif actual.shape != expected.shape:
                problem = 'has shape %s, not %s' % (actual.shape, expected.shape)
            elif not np.allclose(actual, expected, self.options.tolerance, self.options.tolerance):
                problem = 'is off by %g' % np.max(abs(actual - expected))
            else:
                continue
            self.failures += 1
            print('FAIL %s: %s %s' % (case_name, name, problem))

    def check_net(self, name, inputs, layers, flags):
        random = np.random.RandomState(3)
        values = {blob: random.uniform(-1, 1, (ITEMS,) + shape) if not classes
                  else random.randint(0, classes, (ITEMS,) + shape).astype(float)
                  for blob, (shape, classes) in inputs.items()}
        with_gradient = [blob for blob, (_, classes) in inputs.items() if classes is None]
        without_gradient = [blob for blob in inputs if blob not in with_gradient]

        def input_layers(prefix, items):
            """Returns input layers, with a Bias after each input that needs a gradient."""
            text = ''
            for blob, data in values.items():
                start = ('raw_' if blob in with_gradient else '') + prefix + blob
                text += input_layer(start, (items,) + data.shape[1:])
                if blob in with_gradient:
                    text += layer('Bias', start, prefix + blob, 'bias_param { axis: 0 num_axes: 0 }')
            return text

        def input_values(prefix, items):
            return {('raw_' if blob in with_gradient else '') + prefix + blob: data[items]
                    for blob, data in values.items()}

        unfiltered_results, compiled = {}, set()
        for selection, selector in SELECTORS.items():
            selected = np.flatnonzero(selector)
            if len(selected):
                unfiltered = 'plain_%d' % len(selected)
                if unfiltered not in compiled:
                    self.compile(unfiltered, input_layers('', len(selected)) + layers, [])
                    compiled.add(unfiltered)
                unfiltered_results[selection] = self.evaluate(unfiltered, input_values('', selected))

        filtered = input_layers('all_', ITEMS) + input_layer('sel', (ITEMS, 1))
        for number, blobs in enumerate((with_gradient, without_gradient)):
            if blobs:
                filtered += 'layer { name: "filter%d" type: "Filter" %s bottom: "sel" %s }\n' % (
                    number, ' '.join('bottom: "all_%s"' % blob for blob in blobs),
                    ' '.join('top: "%s"' % blob for blob in blobs))
        for library_flags in ([], ['--no-library']):
            calls = self.compile('filtered', filtered + layers, library_flags + flags)
            runs = {selection: self.evaluate('filtered', dict(input_values('all_', slice(None)),
                                                              sel=np.array(selector, float)[:, None]))
                    for selection, selector in SELECTORS.items()}
            for selection, selector in SELECTORS.items():
                self.compare('%s %s %s' % (name, selection, library_flags), values, with_gradient,
                             np.flatnonzero(selector), unfiltered_results.get(selection), runs[selection], runs)
            if not calls:
                break

    def compare(self, case_name, values, with_gradient, selected, unfiltered_results, filtered_results, runs):
        """Compares the run of the filtered net for one selector with the net of only the selected items.

        `runs` has the values of the filtered net for every selector.
        """
        for blob in values:
            diff = filtered_results.get('diff/all_' + blob)
            if diff is not None and np.any(np.delete(diff, selected, 0)):
                self.failures += 1
                print('FAIL %s: diff/all_%s is not 0 for items that were not selected' % (case_name, blob))
        if not len(selected):
            # Running statistics keep their initial value 0. Only statistics that another run changes are
            # compared.
            self.report_differences(case_name, {n: 0 * v for n, v in runs['some'].items() if n.startswith(
                'param_after/') and np.any(v != runs['all'][n])}, filtered_results)
            not_finite = [n for n, v in filtered_results.items() if not np.all(np.isfinite(v))]
            wrong = [b for b in values if filtered_results['data/' + b].shape[0] or np.any(
                filtered_results.get('diff/all_' + b, 0))] + not_finite
            if wrong:
                self.failures += 1
                print('FAIL %s: blobs with items or gradients, or values that are not finite: %s' % (case_name, wrong))
            return
        for blob in with_gradient:
            self.report_differences(case_name, {'gradient of ' + blob: unfiltered_results['diff/' + blob]},
                                    {'gradient of ' + blob: filtered_results['diff/all_' + blob][selected]})
        # The inputs are compared above. All other values must be equal, since the layers have the same
        # seeds and parameters.
        self.report_differences(case_name, {n: v for n, v in unfiltered_results.items() if 'raw_' not in n and not
                                            n.startswith(('param_diff/', 'param_after/'))}, filtered_results)
        for n, v in unfiltered_results.items():
            if n.startswith(('param_diff/', 'param_after/')):
                kind, owner, index = n.split('/')
                owner = 'all_' + owner if owner in with_gradient else owner
                self.report_differences(case_name, {n: v}, {n: filtered_results.get('%s/%s/%s' % (kind, owner, index))})


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
                checker.check_net(name, inputs, layers, options.brewc_flags.split())
            except RuntimeError as error:
                checker.failures += 1
                print('FAIL %s: %s' % (name, error))
    print('%d failures' % checker.failures)
    sys.exit(checker.failures != 0)


if __name__ == '__main__':
    main()
