// RUN: %brew-opt %s > %t.once
// RUN: %brew-opt %t.once | FileCheck %s
// RUN: %brew-opt %s --mlir-print-op-generic | %brew-opt | diff %t.once -
// RUN: %python %inputs/check_op_coverage.py %s brew %source/dialects/Brew/layers/detection/Detection.td

brew.program @main test {
  %x, %rois = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "rois"]} : tensor<2x8x4x5xf32>, tensor<7x5xf32>
  // CHECK: %[[Y:.*]], %[[A:.*]] = brew.roi_pooling "r"(%[[X:.*]], %[[ROIS:.*]]) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 6.250000e-02 : f32, tops = ["r"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> (tensor<7x8x2x3xf32>, tensor<7x8x2x3xi32>)
  %y, %argmax = brew.roi_pooling "r"(%x, %rois) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32, tops = ["r"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> (tensor<7x8x2x3xf32>, tensor<7x8x2x3xi32>)
  // CHECK: brew.roi_pooling "rp"({{.*}}) {pad_ratio = 2.500000e-01 : f32, pooled_h = 2 : i64
  %yp, %argmaxp = brew.roi_pooling "rp"(%x, %rois) {pad_ratio = 0.25 : f32, pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32, tops = ["rp"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> (tensor<7x8x2x3xf32>, tensor<7x8x2x3xi32>)
  // CHECK: brew.roi_pooling_backward "r"(%[[Y]], %[[ROIS]], %[[A]]) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 6.250000e-02 : f32} :
  %dx = brew.roi_pooling_backward "r"(%y, %rois, %argmax) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32} : (tensor<7x8x2x3xf32>, tensor<7x5xf32>, tensor<7x8x2x3xi32>) -> tensor<2x8x4x5xf32>
  // CHECK: %[[P:.*]] = brew.psroi_pooling "p"(%[[X]], %[[ROIS]]) {group_size = 2 : i64, output_dim = 2 : i64, spatial_scale = 5.000000e-01 : f32, tops = ["p"]}
  %p = brew.psroi_pooling "p"(%x, %rois) {output_dim = 2 : i64, group_size = 2 : i64, spatial_scale = 0.5 : f32, tops = ["p"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> tensor<7x2x2x2xf32>
  // CHECK: brew.psroi_pooling_backward "p"(%[[P]], %[[ROIS]]) {spatial_scale = 5.000000e-01 : f32} :
  %dp = brew.psroi_pooling_backward "p"(%p, %rois) {spatial_scale = 0.5 : f32} : (tensor<7x2x2x2xf32>, tensor<7x5xf32>) -> tensor<2x8x4x5xf32>
  // CHECK: %[[M:.*]] = brew.deformable_psroi_pooling "m"(%[[X]], %[[ROIS]], %[[O:.*]]) {group_size = 2 : i64, offset_scale = 1.250000e-01 : f32, output_dim = 2 : i64, parts = 2 : i64, samples = 4 : i64, spatial_scale = 5.000000e-01 : f32, tops = ["m"]}
  %off = brew.data_input "trans" "Input" {config = "", folder = "", tops = ["o"]} : tensor<7x2x2x2xf32>
  %m = brew.deformable_psroi_pooling "m"(%x, %rois, %off) {output_dim = 2 : i64, group_size = 2 : i64, spatial_scale = 0.5 : f32, samples = 4 : i64, offset_scale = 0.125 : f32, parts = 2 : i64, tops = ["m"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>, tensor<7x2x2x2xf32>) -> tensor<7x2x2x2xf32>
  // CHECK: brew.deformable_psroi_pooling_backward "m"(%[[M]], %[[ROIS]], %[[O]]) {group_size = 2 : i64
  %dm = brew.deformable_psroi_pooling_backward "m"(%m, %rois, %off) {output_dim = 2 : i64, group_size = 2 : i64, spatial_scale = 0.5 : f32, samples = 4 : i64, offset_scale = 0.125 : f32} : (tensor<7x2x2x2xf32>, tensor<7x5xf32>, tensor<7x2x2x2xf32>) -> tensor<2x8x4x5xf32>
  // CHECK: brew.deformable_psroi_pooling_backward_offsets "m"(%[[M]], %[[X]], %[[ROIS]], %[[O]]) {group_size = 2 : i64
  %do = brew.deformable_psroi_pooling_backward_offsets "m"(%m, %x, %rois, %off) {output_dim = 2 : i64, group_size = 2 : i64, spatial_scale = 0.5 : f32, samples = 4 : i64, offset_scale = 0.125 : f32} : (tensor<7x2x2x2xf32>, tensor<2x8x4x5xf32>, tensor<7x5xf32>, tensor<7x2x2x2xf32>) -> tensor<7x2x2x2xf32>
  // CHECK: %[[L:.*]] = brew.roi_align "l"(%[[X]], %[[ROIS]]) {pooled_h = 2 : i64, pooled_w = 3 : i64, samples = 0 : i64, spatial_scale = 6.250000e-02 : f32, tops = ["l"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> tensor<7x8x2x3xf32>
  %align = brew.roi_align "l"(%x, %rois) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32, samples = 0 : i64, tops = ["l"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> tensor<7x8x2x3xf32>
  // CHECK: brew.roi_align "g"({{.*}}) {corners, pad_ratio = 2.500000e-01 : f32, pooled_h = 2 : i64
  %grid = brew.roi_align "g"(%x, %rois) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32, pad_ratio = 0.25 : f32, samples = 1 : i64, corners, tops = ["g"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> tensor<*xf32>
  // CHECK: brew.roi_align "u"({{.*}}) {pooled_h = 2 : i64, pooled_w = 3 : i64, samples = 0 : i64, spatial_scale = 6.250000e-02 : f32, tops = ["u"], unit_steps}
  %unit = brew.roi_align "u"(%x, %rois) {pooled_h = 2 : i64, pooled_w = 3 : i64, spatial_scale = 0.0625 : f32, samples = 0 : i64, unit_steps, tops = ["u"]} : (tensor<2x8x4x5xf32>, tensor<7x5xf32>) -> tensor<*xf32>
  // CHECK: brew.roi_align_backward "l"(%[[L]], %[[ROIS]]) {pooled_h = 2 : i64, pooled_w = 3 : i64, samples = 0 : i64, spatial_scale = 6.250000e-02 : f32} :
  %da = brew.roi_align_backward "l"(%align, %rois) {pooled_h = 2 : i64, pooled_w = 3 : i64, samples = 0 : i64, spatial_scale = 0.0625 : f32} : (tensor<7x8x2x3xf32>, tensor<7x5xf32>) -> tensor<2x8x4x5xf32>
  // CHECK: brew.prior_box "b"(%[[X]], %[[X]]) {clip, heights = array<f32: 2.000000e+00>, image_size = array<i64: 30, 40>, offset = 5.000000e-01 : f32, step = array<f32: 0.000000e+00, 0.000000e+00>, tops = ["b"], variances = array<f32: 1.000000e-01>, widths = array<f32: 4.000000e+00>}
  %b = brew.prior_box "b"(%x, %x) {widths = array<f32: 4.0>, heights = array<f32: 2.0>, variances = array<f32: 0.1>, image_size = array<i64: 30, 40>, step = array<f32: 0.0, 0.0>, offset = 0.5 : f32, clip, tops = ["b"]} : (tensor<2x8x4x5xf32>, tensor<2x8x4x5xf32>) -> tensor<*xf32>
  // CHECK: brew.detection_output "d"(%{{.*}}, %{{.*}}, %{{.*}}) {background = 0 : i64, center_size, confidence_threshold = 1.000000e-01 : f32, eta = 1.000000e+00 : f32, keep_top_k = 5 : i64, nms_threshold = 4.500000e-01 : f32, num_classes = 3 : i64, share_location, top_k = 4 : i64, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x10x7xf32>, tensor<1x1xi32>)
  %l, %c, %o = brew.data_input "ssd" "Input" {config = "", folder = "", tops = ["l", "c", "o"]} : tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>
  %d, %n = brew.detection_output "d"(%l, %c, %o) {num_classes = 3 : i64, share_location, background = 0 : i64, center_size, nms_threshold = 0.45 : f32, eta = 1.0 : f32, top_k = 4 : i64, keep_top_k = 5 : i64, confidence_threshold = 0.1 : f32, tops = ["d"]} : (tensor<2x8xf32>, tensor<2x6xf32>, tensor<1x2x8xf32>) -> (tensor<1x1x10x7xf32>, tensor<1x1xi32>)
  // CHECK: brew.hard_regions "h"(%[[ROIS]], %{{.*}}, %{{.*}}, %{{.*}}) {count = 3 : i64, ignore_label = -1 : i64, tops = ["hl", "hw"]} : (tensor<7x5xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7x8xf32>) -> (tensor<7x1x1x1xf32>, tensor<7x8x1x1xf32>)
  %e, %hw = brew.data_input "ohem" "Input" {config = "", folder = "", tops = ["e", "hw"]} : tensor<7xf32>, tensor<7x8xf32>
  %hl, %hb = brew.hard_regions "h"(%rois, %e, %e, %hw) {count = 3 : i64, ignore_label = -1 : i64, tops = ["hl", "hw"]} : (tensor<7x5xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7x8xf32>) -> (tensor<7x1x1x1xf32>, tensor<7x8x1x1xf32>)
}
