"""Gradients of pyramids and of pooling over regions; see cases.py."""
from cases import Layer, add, add_layer
from cases_random import random_cases

# --- SPP ----------------------------------------------------------------------
for name, shape, settings in (
        ('max', (2, 2, 9, 11), 'pyramid_height: 3'),
        ('ave', (1, 2, 6, 7), 'pyramid_height: 2 pool: AVE'),
        ('one_level', (2, 2, 3, 4), 'pyramid_height: 1')):
    add_layer('spp_' + name, shape, 'SPP', 'spp_param { %s }' % settings)


# --- Regions ------------------------------------------------------------------
def add_region_case(name, shape, kind, settings):
    """Adds a case with seven regions. Their corners are 0 or 1 before scaling, and so are the numbers
    of their images."""
    add(name, {'x': shape},
        [Layer('layer', kind, ['x', 'rois'], ['y'], settings + ' propagate_down: true '
               'propagate_down: false')], labels={'rois': ((7, 5), [0, 1])})


add_region_case('roi_pooling', (2, 3, 5, 6), 'ROIPooling',
                'roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 4 }')
add_region_case('roi_pooling_small', (2, 2, 4, 3), 'ROIPooling',
                'roi_pooling_param { pooled_h: 3 pooled_w: 2 spatial_scale: 0.6 }')
add_region_case('roi_pooling_padded', (2, 2, 5, 6), 'ROIPooling',
                'roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 3 pad_ratio: 0.25 }')
add_region_case('psroi_pooling', (2, 8, 5, 6), 'PSROIPooling',
                'psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 2.5 }')
for name, settings in (
        ('means', 'roi_align_param { pooled_h: 2 pooled_w: 3 spatial_scale: 3.7 sampling_ratio: 2 }'),
        ('adaptive', 'roi_align_param { pooled_h: 2 pooled_w: 1 spatial_scale: 4.3 }'),
        ('corners', 'roi_pooling_param { pooled_h: 2 pooled_w: 2 spatial_scale: 2.9 '
         'pad_ratio: 0.25 }')):
    add_region_case('roi_align_' + name, (2, 2, 5, 6), 'ROIAlign', settings)
add_region_case('roi_alignment', (2, 2, 5, 6), 'ROIAlignment',
                'roi_alignment_param { pooled_h: 2 pooled_w: 3 spatial_scale: 3.7 }')


# --- Deformable layers ------------------------------------------------------------
def add_deformable(name, shape, kernel=(3, 3), stride=(1, 1), pad=(0, 0), dilation=(1, 1), groups=1, text=''):
    """Adds a deformable convolution whose taps move by less than one element."""
    extents = [(size + 2 * p - (d * (k - 1) + 1)) // s + 1 for size, k, s, p, d in zip(
        shape[2:], kernel, stride, pad, dilation)]
    settings = ' '.join('%s_%s: %d' % (field, axis, value) for field, values in (
        ('kernel', kernel), ('stride', stride), ('pad', pad)) for axis, value in zip('hw', values))
    add(name, {'x': shape, 'o': (shape[0], 2 * groups * kernel[0] * kernel[1], *extents)}, [
        Layer('scale', 'Power', ['o'], ['offsets'], 'power_param { scale: 0.8 }'),
        Layer('layer', 'DeformableConvolution', ['x', 'offsets'], ['y'], 'deformable_convolution_param { '
              'deformable_group: %d %s dilation: %d dilation: %d %s }' % (groups, settings, *dilation, text))])


add_deformable('deformable_conv', (2, 3, 5, 6), pad=(1, 1), text='num_output: 4')
add_deformable('deformable_conv_groups', (1, 4, 5, 5), pad=(1, 0), groups=2, text='num_output: 6 group: 2 bias_term: false')
add_deformable('deformable_conv_rect', (2, 2, 7, 6), (2, 3), (2, 1), (0, 1), (2, 1), text='num_output: 3')
add('deformable_conv_defaults', {'x': (1, 4, 4, 4), 'o': (1, 32, 2, 2)}, [
    Layer('scale', 'Power', ['o'], ['offsets'], 'power_param { scale: 0.8 }'),
    Layer('layer', 'DeformableConvolution', ['x', 'offsets'], ['y'], 'deformable_convolution_param { num_output: 2 '
          'kernel_size: 2 stride: 2 pad: 0 }')])


@random_cases('DeformableConvolution')
def _(name, d):
    groups = d.size(1, 2)
    add_deformable(name, (d.size(1, 2), groups * d.size(1, 2), d.size(4, 6), d.size(4, 6)), (d.size(1, 3), d.size(1, 3)),
                   (d.size(1, 2), d.size(1, 2)), (d.size(0, 1), d.size(0, 1)), groups=groups,
                   text='num_output: %d' % d.size(1, 3))


def add_deformable_regions(name, shape, regions, outputs, group, scale, samples, parts, classes):
    down = ' propagate_down: true propagate_down: false'
    settings = 'output_dim: %d group_size: %d spatial_scale: %g sample_per_part: %d ' % (outputs, group, scale, samples)
    labels = {'rois': ((regions, 5), [0, 1])}
    x = (*shape[:1], outputs * group * group, *shape[1:])
    if not parts:
        add(name, {'x': x}, [Layer('layer', 'DeformablePSROIPooling', ['x', 'rois'], ['y'], 'deformable_psroi_pooling_param '
                                   '{ %s no_trans: true }' % settings + down)], labels=labels)
        return
    add(name, {'x': x, 'o': (regions, 2 * classes, parts, parts)}, [
        Layer('layer', 'DeformablePSROIPooling', ['x', 'rois', 'o'], ['y'], 'deformable_psroi_pooling_param { %s '
              'part_size: %d trans_std: 0.17 }' % (settings, parts) + down + ' propagate_down: true')], labels=labels)


add_deformable_regions('deformable_regions', (2, 5, 6), 7, 4, 2, 2.3, 2, 2, 2)
add_deformable_regions('deformable_regions_parts', (2, 4, 5), 5, 2, 3, 1.7, 3, 2, 1)
add_deformable_regions('deformable_regions_fixed', (2, 5, 4), 4, 2, 2, 2.9, 2, 0, 0)


@random_cases('DeformablePSROIPooling')
def _(name, d):
    classes = d.size(1, 2)
    add_deformable_regions(name, (2, d.size(3, 6), d.size(3, 6)), d.size(2, 5), classes * d.size(1, 2), d.size(1, 3),
                           d.real(0.5, 4), d.size(1, 3), d.size(1, 3), classes)
