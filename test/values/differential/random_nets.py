"""Random nets: chains of layers, with branches, in-place layers and shared parameters.

A net depends only on its number. A drawn layer is kept if the net still compiles with it, so this
file needs no rules on shapes.
"""
import brew
import numpy as np
from caffe.proto import caffe_pb2
from google.protobuf import text_format

from case_nets import POSITIVE, shapes_of
from ways import PASSES, Net

#: Types whose parameters another layer of the type may share.
SHARED = ('Convolution', 'Deconvolution', 'InnerProduct', 'BatchNorm', 'Scale', 'Bias', 'PReLU', 'BN', 'LSTM', 'RNN')
IN_PLACE = ('ReLU', 'Sigmoid', 'TanH', 'ELU', 'Power', 'BatchNorm', 'Scale', 'Bias', 'PReLU', 'Clip', 'BNLL', 'BN')
#: Types of forks with two bottoms that broadcast.
BROADCASTS = ('Add', 'Maximum', 'Mul', 'Sub')
#: Types whose tops are reshaped bottoms.
VIEWS = ('Flatten', 'Reshape')


class RandomNet:
    """A random net, with those attributes of case_nets.CaseNet that a sweep uses."""

    random_layers = ()
    may_be_refused = False

    def __init__(self, number):
        self.random = np.random.RandomState(number)
        self.phase = self.choose('train', 'train', 'test')
        self.message = caffe_pb2.NetParameter(name='random_%d' % number)
        self.name = 'net %d' % number
        self.readers = {}   # blob: how many layers read it
        self.inputs = set()
        # Caffe's views share their bottom's memory, so an in-place layer on either side of a view
        # changes the values of other readers; in Brew's plans it does not (docs/coming-from-caffe.md).
        self.not_in_place, self.rewritten = set(), set()
        self.count = 0
        image = (self.draw_size(2, 4), self.draw_size(1, 4), self.draw_size(4, 8), self.draw_size(4, 8))
        for blob in ('x', 'z')[:self.draw_size(1, 2)]:
            self.add_input(blob, image)
        for _ in range(self.draw_size(4, 12)):
            self.try_layer()
        self.add_losses()
        if self.draw_flag(0.3):
            self.message.force_backward = True
        shapes, params = shapes_of(self.message, self.phase)
        self.name += ' (%s%s: %s)' % (self.phase, ', force_backward' * self.message.force_backward, ' '.join(
            layer.type for layer in self.message.layer if layer.type != 'Input'))
        self.net = Net(text_format.MessageToString(self.message), self.phase, self.values_of_params(params),
                       [self.values_of_inputs() for _ in PASSES])

    # --- drawing

    def draw_size(self, low, high):
        return int(self.random.randint(low, high + 1))

    def draw_flag(self, probability=0.5):
        return self.random.uniform() < probability

    def choose(self, *choices):
        return choices[self.random.randint(len(choices))]

    # --- building

    def add_input(self, blob, shape):
        self.message.layer.add(name='in_' + blob, type='Input', top=[blob]).input_param.shape.add().dim.extend(shape)
        self.readers[blob] = 0
        self.inputs.add(blob)

    def add(self, kind, bottoms, tops, text=''):
        """Adds a layer if the net compiles with it. Returns whether the layer was added."""
        layer = text_format.Parse(text, caffe_pb2.LayerParameter())
        layer.name, layer.type = 'l%d' % self.count, kind
        layer.bottom.extend(bottoms)
        layer.top.extend(tops)
        before = caffe_pb2.NetParameter()
        before.CopyFrom(self.message)
        if kind in SHARED and self.draw_flag(0.4):
            self.share(layer)
        self.message.layer.add().CopyFrom(layer)
        try:
            self.shapes = shapes_of(self.message, self.phase)[0]
        except brew.CompileError:
            self.message = before
            return False
        for blob in bottoms:
            self.readers[blob] += 1
        if kind in VIEWS:
            self.not_in_place.update(tops)
        self.rewritten.update(blob for blob in tops if blob in bottoms)
        for blob in tops:
            self.readers[blob] = 0  # in place: a version without readers
        self.count += 1
        return True

    def share(self, layer):
        """Shares the settings and parameters of an earlier layer of the same type."""
        earlier = [other for other in self.message.layer if other.type == layer.type]
        if not earlier:
            return
        owner = earlier[self.random.randint(len(earlier))]
        if not owner.param:
            counts = {'BatchNorm': 3, 'BN': 2, 'LSTM': 3, 'RNN': 5, 'PReLU': 1, 'Bias': 1}
            has_bias = owner.scale_param.bias_term if owner.type == 'Scale' else True
            for i in range(counts.get(owner.type, 2 if has_bias else 1)):
                owner.param.add(name='%s_%d' % (owner.name, i))
        settings = caffe_pb2.LayerParameter()
        settings.CopyFrom(owner)
        for field in ('bottom', 'top', 'name'):
            settings.ClearField(field)
        name, bottoms, tops = layer.name, list(layer.bottom), list(layer.top)
        layer.CopyFrom(settings)
        layer.name = name
        layer.bottom.extend(bottoms)
        layer.top.extend(tops)

    def choose_blob(self):
        """Returns a blob to read, often one without readers."""
        unread = [blob for blob, count in self.readers.items() if count == 0]
        return self.choose(*unread) if unread and self.draw_flag(0.7) else self.choose(*self.readers)

    def choose_top(self, kind, bottom):
        """Returns a new name, or the bottom's name if the layer may be in place."""
        if kind in IN_PLACE and self.readers[bottom] == 0 and self.draw_flag(0.5) and \
                bottom not in self.inputs | self.not_in_place:
            return bottom
        return 'b%d' % self.count

    def try_layer(self):
        kind = self.choose(
            'Convolution', 'Convolution', 'Deconvolution', 'InnerProduct', 'Pooling', 'Pooling', 'LRN', 'BatchNorm',
            'BatchNorm', 'Scale', 'Bias', 'PReLU', 'ReLU', 'ReLU', 'Sigmoid', 'TanH', 'ELU', 'Power', 'BNLL', 'Clip', 'MVN',
            'Softmax', 'Eltwise', 'Eltwise', 'Concat', 'Slice', 'Flatten', 'Reshape', 'Tile', 'Reduction', 'LSTM', 'RNN',
            'Permute', 'BN', 'Crop', 'GELU', 'LayerNorm', 'Normalize', 'GRN', 'Flip', 'Pad', 'Resize', 'Atan', *BROADCASTS)
        bottom = self.choose_blob()
        if kind in VIEWS and bottom in self.rewritten:
            return
        bottoms, tops = [bottom], [self.choose_top(kind, bottom)]
        if kind in ('Eltwise', 'Concat', 'Crop', *BROADCASTS):
            bottoms.append(self.choose(*self.readers))
        if kind == 'Slice':
            tops.append('b%d_1' % self.count)
        shape = self.current_shapes()[bottom] if kind in ('LSTM', 'RNN', 'MVN') else ()
        if kind == 'MVN' and np.prod(shape[2:]) < 4:
            return  # if a variance is 0, rounding errors are divided by 1e-9
        if kind in ('LSTM', 'RNN'):
            if len(shape) < 3 or shape[0] * shape[1] > 40:
                return
            self.add_input('cont%d' % self.count, shape[:2])
            bottoms.append('cont%d' % self.count)
        if not self.add(kind, bottoms, tops, self.settings(kind)) and kind in ('LSTM', 'RNN'):
            del self.readers[bottoms[1]]
            del self.message.layer[-1]

    def current_shapes(self):
        return shapes_of(self.message, self.phase)[0]

    def settings(self, kind):
        window = 'kernel_size: %d stride: %d pad: %d' % (self.draw_size(1, 3), self.draw_size(1, 2), self.draw_size(0, 1))
        return {
            'Convolution': 'convolution_param { num_output: %d %s bias_term: true }' % (self.draw_size(1, 6), window),
            'Deconvolution': 'convolution_param { num_output: %d %s }' % (self.draw_size(1, 4), window),
            'InnerProduct': 'inner_product_param { num_output: %d }' % self.draw_size(1, 8),
            'Pooling': 'pooling_param { pool: %s %s }' % (self.choose('MAX', 'AVE'), window),
            'LRN': 'lrn_param { local_size: 3 norm_region: %s }' % self.choose('ACROSS_CHANNELS', 'WITHIN_CHANNEL'),
            'Scale': 'scale_param { bias_term: %s }' % self.choose('true', 'false'),
            'Power': 'power_param { power: %d scale: 0.5 shift: 0.3 }' % self.draw_size(1, 2),
            'Clip': 'clip_param { min: -0.6 max: 0.7 }',
            'ReLU': self.choose('', 'relu_param { negative_slope: 0.1 }'),
            'Eltwise': 'eltwise_param { operation: %s }' % self.choose('SUM', 'PROD', 'MAX'),
            'Slice': 'slice_param { slice_point: 1 }',
            'Reshape': 'reshape_param { shape { dim: 0 dim: -1 } }',
            'Tile': 'tile_param { axis: %d tiles: 2 }' % self.draw_size(0, 1),
            'Reduction': 'reduction_param { axis: 1 operation: %s }' % self.choose('SUM', 'MEAN', 'SUMSQ'),
            'LSTM': 'recurrent_param { num_output: %d }' % self.draw_size(1, 4),
            'RNN': 'recurrent_param { num_output: %d }' % self.draw_size(1, 4),
            'Permute': 'permute_param { order: 0 order: 2 order: 1 }',
            'BatchNorm': self.choose('', '', 'batch_norm_param { use_global_stats: true }'),
            'Crop': 'crop_param { axis: %d }' % self.draw_size(1, 3),
            'GELU': 'gelu_param { enable_bert_version: %s }' % self.choose('true', 'false'),
            # Large values of eps keep rounding errors small where all values are nearly equal.
            'LayerNorm': 'layer_norm_param { %s: 0.1 }' % self.choose('eps', 'epsilon'),
            'GRN': 'grn_param { bias: 0.1 }',
            'Pad': 'pad_param { %s }' % ' '.join('paddings: %d' % self.draw_size(0, 1) for _ in range(8)),
            'Resize': 'resize_param { height: %d width: %d }' % (self.draw_size(2, 8), self.draw_size(2, 8)),
        }.get(kind, '')

    def add_losses(self):
        """Adds a loss for each blob without readers."""
        shapes = self.current_shapes()
        for blob in [b for b, count in self.readers.items() if count == 0]:
            shape, number = shapes[blob], self.count
            if len(shape) == 2 and shape[1] > 1 and self.draw_flag(0.5):
                self.add_input('label%d' % number, shape[:1])
                self.add('SoftmaxWithLoss', [blob, 'label%d' % number], ['loss%d' % number], self.choose(
                    '', 'loss_weight: 0.5'))
                self.classes = getattr(self, 'classes', {})
                self.classes['label%d' % number] = shape[1]
                continue
            self.add_input('target%d' % number, shape)
            if self.draw_flag(0.5) and len(shape) > 1:
                self.add('EuclideanLoss', [blob, 'target%d' % number], ['loss%d' % number])
            else:
                self.add('Eltwise', [blob, 'target%d' % number], ['prod%d' % number], 'eltwise_param { operation: PROD }')
                self.add('Reduction', ['prod%d' % number], ['loss%d' % number], 'loss_weight: 1')

    # --- values

    def values_of_params(self, shapes):
        types = {layer.name: layer.type for layer in self.message.layer}
        names = {}
        for layer in self.message.layer:
            for i, spec in enumerate(layer.param):
                names[layer.name, i] = spec.name
        values, shared = {}, {}
        for layer, blobs in shapes.items():
            for i, shape in enumerate(blobs):
                is_positive = types[layer] in POSITIVE
                array = np.float32(self.random.uniform(0.5, 1.5, shape) if is_positive else
                                   self.random.uniform(-0.6, 0.6, shape))
                name = names.get((layer, i))
                values[layer, i] = shared.setdefault(name, array) if name else array
        return values

    def values_of_inputs(self):
        values = {}
        for layer in self.message.layer:
            if layer.type != 'Input':
                continue
            shape = tuple(layer.input_param.shape[0].dim)
            blob = layer.top[0]
            if blob.startswith('label'):
                array = self.random.randint(0, self.classes[blob], shape)
            elif blob.startswith('cont'):
                array = self.random.randint(0, 3, shape) > 0
            else:
                array = self.random.uniform(-1, 1, shape)
            values[blob] = np.float32(array)
        return values
