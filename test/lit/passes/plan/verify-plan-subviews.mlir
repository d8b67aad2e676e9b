// RUN: %brew-opt %s --brew-verify-plan --verify-diagnostics --split-input-file

// y (4 x 8) is the concatenation of its subviews a (4 x 3) and b (4 x 5). A kernel may read one
// subview while it writes the other. y is complete when both are written.
plan.arena transient size 192
plan.kernel @make attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%x: tensor<16xf32>):
  %0 = tensor.empty() : tensor<4x3xf32, {strides = array<i64: 8, 1>}>
  brew.yield %0 : tensor<4x3xf32, {strides = array<i64: 8, 1>}>
}
plan.kernel @other attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%a: tensor<4x3xf32, {strides = array<i64: 8, 1>}>):
  %0 = tensor.empty() : tensor<4x5xf32, {strides = array<i64: 8, 1>}>
  brew.yield %0 : tensor<4x5xf32, {strides = array<i64: 8, 1>}>
}
plan.program @good attributes {arena_bytes = 192 : i64, lower_bound_bytes = 192 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[128] : memref<16xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<16xf32>
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<4x3xf32, strided<[8, 1]>>
  plan.launch @make(%x, %a) : memref<16xf32>, memref<4x3xf32, strided<[8, 1]>>
  %b = plan.buffer "b" transient[12] {brew.base = ["y", 0]} : memref<4x5xf32, strided<[8, 1]>>
  plan.launch @other(%a, %b) : memref<4x3xf32, strided<[8, 1]>>, memref<4x5xf32, strided<[8, 1]>>
  %y = plan.buffer "y" transient[0] : memref<4x8xf32>
  plan.output %y "y" loss_weight 0.0 : memref<4x8xf32>
  // c covers the end of a and the start of b.
  %c = plan.buffer "c" transient[8] {brew.base = ["y", 0]} : memref<4x2xf32, strided<[8, 1]>>
  plan.output %c "c" loss_weight 0.0 : memref<4x2xf32, strided<[8, 1]>>
}

// -----

// One of the two slices of y is never written.
plan.arena transient size 128
plan.program @missing attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<4x3xf32, strided<[8, 1]>>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<4x3xf32, strided<[8, 1]>>
  // expected-note @below {{the buffer}}
  %y = plan.buffer "y" transient[0] : memref<4x8xf32>
  // expected-error @below {{reads buffer 'y', which contains no value here}}
  plan.output %y "y" loss_weight 0.0 : memref<4x8xf32>
}

// -----

// The slices overlap: writing the second one invalidates the first.
plan.arena transient size 128
plan.program @overlapping attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<4x3xf32, strided<[8, 1]>>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<4x3xf32, strided<[8, 1]>>
  %b = plan.buffer "b" transient[8] {brew.base = ["y", 0]} : memref<4x6xf32, strided<[8, 1]>>
  plan.data_input "in" "Data"(%b) {config = "", folder = ""} : memref<4x6xf32, strided<[8, 1]>>
  // expected-error @below {{reads buffer 'a', which contains no value here}}
  plan.output %a "a" loss_weight 0.0 : memref<4x3xf32, strided<[8, 1]>>
}

// -----

// Subviews of different bases overlap if their byte ranges do, even if no element is shared.
plan.arena transient size 128
plan.program @wholes attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<4x3xf32, strided<[8, 1]>>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<4x3xf32, strided<[8, 1]>>
  %b = plan.buffer "b" transient[12] {brew.base = ["z", 0]} : memref<4x5xf32, strided<[8, 1]>>
  plan.data_input "in" "Data"(%b) {config = "", folder = ""} : memref<4x5xf32, strided<[8, 1]>>
  // expected-error @below {{reads buffer 'a', which contains no value here}}
  plan.output %a "a" loss_weight 0.0 : memref<4x3xf32, strided<[8, 1]>>
}

// -----

// A launch must not read the full tensor while it writes a slice.
plan.arena transient size 128
plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%y: tensor<4x8xf32>):
  %0 = tensor.empty() : tensor<4x3xf32, {strides = array<i64: 8, 1>}>
  brew.yield %0 : tensor<4x3xf32, {strides = array<i64: 8, 1>}>
}
plan.program @race attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  %y = plan.buffer "y" transient[0] : memref<4x8xf32>
  plan.data_input "in" "Data"(%y) {config = "", folder = ""} : memref<4x8xf32>
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<4x3xf32, strided<[8, 1]>>
  // expected-error @below {{writes buffer 'a', which overlaps its argument 'y'}}
  plan.launch @k(%y, %a) : memref<4x8xf32>, memref<4x3xf32, strided<[8, 1]>>
}

// -----

// Vendor calls and kernels without support for slices require alignment.
plan.arena transient size 192
plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%y: tensor<4x8xf32>):
  %0 = tensor.empty() : tensor<1x3xf32>
  brew.yield %0 : tensor<1x3xf32>
}
plan.program @unaligned attributes {arena_bytes = 192 : i64, lower_bound_bytes = 192 : i64, caffe_bytes = 0 : i64} {
  %y = plan.buffer "y" transient[0] : memref<4x8xf32>
  plan.data_input "in" "Data"(%y) {config = "", folder = ""} : memref<4x8xf32>
  %a = plan.buffer "a" transient[140] {brew.base = ["z", 128]} : memref<1x3xf32>
  // expected-error @below {{needs buffer 'a' aligned, which is a subview of another}}
  plan.launch @k(%y, %a) : memref<4x8xf32>, memref<1x3xf32>
}

// -----

// Convolutions accept only slices whose pixels begin at multiples of 16 bytes.
plan.arena transient size 1024
plan.program @parts attributes {arena_bytes = 1024 : i64, lower_bound_bytes = 1024 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] : memref<1x8x2x2xbf16, strided<[32, 1, 16, 8]>>
  %w = plan.buffer "w" transient[64] : memref<8x8x1x1xbf16>
  plan.data_input "in" "Data"(%x, %w) {config = "", folder = ""} : memref<1x8x2x2xbf16, strided<[32, 1, 16, 8]>>, memref<8x8x1x1xbf16>
  %a = plan.buffer "a" transient[272] {brew.base = ["y", 256]} : memref<1x8x2x2xbf16, strided<[96, 1, 48, 24]>>
  plan.convolution forward x %x w %w y %a {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : memref<1x8x2x2xbf16, strided<[32, 1, 16, 8]>>, memref<8x8x1x1xbf16>, memref<1x8x2x2xbf16, strided<[96, 1, 48, 24]>>
  %b = plan.buffer "b" transient[264] {brew.base = ["y", 256]} : memref<1x4x2x2xbf16, strided<[96, 1, 48, 24]>>
  %v = plan.buffer "v" transient[512] : memref<4x8x1x1xbf16>
  plan.data_input "more" "Data"(%v) {config = "", folder = ""} : memref<4x8x1x1xbf16>
  // expected-error @below {{needs buffer 'b' aligned, which is a subview of another}}
  plan.convolution forward x %x w %v y %b {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : memref<1x8x2x2xbf16, strided<[32, 1, 16, 8]>>, memref<4x8x1x1xbf16>, memref<1x4x2x2xbf16, strided<[96, 1, 48, 24]>>
}

// -----

// After Flatten a reader sees the full tensor (2 x 3 x 2 x 2) as 2 x 12: a concatenation of
// channels may be sliced anywhere.
plan.arena transient size 128
plan.program @flattened attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] {brew.base = ["y", 0]} : memref<2x1x2x2xf32, strided<[12, 4, 2, 1]>>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<2x1x2x2xf32, strided<[12, 4, 2, 1]>>
  %b = plan.buffer "b" transient[16] {brew.base = ["y", 0]} : memref<2x2x2x2xf32, strided<[12, 4, 2, 1]>>
  plan.data_input "in" "Data"(%b) {config = "", folder = ""} : memref<2x2x2x2xf32, strided<[12, 4, 2, 1]>>
  // c covers the end of a and the start of b.
  %c = plan.buffer "c" transient[12] {brew.base = ["y", 0]} : memref<2x6xf32, strided<[12, 1]>>
  plan.output %c "c" loss_weight 0.0 : memref<2x6xf32, strided<[12, 1]>>
}

// -----

// Nothing has written the first channel, of which d contains the last element.
plan.arena transient size 128
plan.program @flattened_missing attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  %b = plan.buffer "b" transient[16] {brew.base = ["y", 0]} : memref<2x2x2x2xf32, strided<[12, 4, 2, 1]>>
  plan.data_input "in" "Data"(%b) {config = "", folder = ""} : memref<2x2x2x2xf32, strided<[12, 4, 2, 1]>>
  %c = plan.buffer "c" transient[16] {brew.base = ["y", 0]} : memref<2x6xf32, strided<[12, 1]>>
  plan.output %c "c" loss_weight 0.0 : memref<2x6xf32, strided<[12, 1]>>
  // expected-note @below {{the buffer}}
  %d = plan.buffer "d" transient[12] {brew.base = ["y", 0]} : memref<2x6xf32, strided<[12, 1]>>
  // expected-error @below {{reads buffer 'd', which contains no value here}}
  plan.output %d "d" loss_weight 0.0 : memref<2x6xf32, strided<[12, 1]>>
}
