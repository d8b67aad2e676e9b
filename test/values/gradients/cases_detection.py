"""Gradients of pyramids and of pooling over regions; see cases.py."""
from cases import Layer, add, add_layer

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
