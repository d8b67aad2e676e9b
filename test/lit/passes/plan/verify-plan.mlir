// RUN: %brew-opt %s --allow-unregistered-dialect --brew-verify-plan --verify-diagnostics --split-input-file

// A valid plan. Each buffer has 16 floats (64 bytes). y overwrites x, which is dead, and z
// overwrites a in place.
plan.arena transient size 128
plan.arena parameters size 64
plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%a: tensor<16xf32>):
  brew.yield %a : tensor<16xf32>
}
plan.kernel @same attributes {in_place = array<i64: 0>, layers = []} {
^bb0(%a: tensor<16xf32>):
  brew.yield %a : tensor<16xf32>
}
plan.program @good attributes {arena_bytes = 128 : i64, lower_bound_bytes = 128 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<16xf32>
  %a = plan.buffer "a" transient[64] live [0, 2] : memref<16xf32>
  plan.launch @k(%x, %a) : memref<16xf32>, memref<16xf32>
  %w = plan.buffer "w" parameters[0] : memref<16xf32>
  %y = plan.buffer "y" transient[0] live [1, 2] pinned : memref<16xf32>
  plan.copy %w to %y : memref<16xf32>, memref<16xf32>
  // A view of a has its name and offset; a sink in between reads it.
  %v = plan.buffer "a" transient[64] live [0, 2] : memref<4x4xf32>
  plan.pin data "v", %v : memref<4x4xf32>
  %z = plan.buffer "z" transient[64] live [2, 2] : memref<16xf32>
  plan.launch @same(%a, %z) : memref<16xf32>, memref<16xf32>
  plan.output %y "y" loss_weight 0.0 : memref<16xf32>
}

// -----

// b overlaps the second half of a, which is read afterwards.
plan.arena transient size 256
plan.program @overlap attributes {arena_bytes = 256 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %a = plan.buffer "a" transient[0] live [0, 1] : memref<32xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<32xf32>
  %b = plan.buffer "b" transient[64] live [0, 1] : memref<16xf32>
  plan.data_input "in2" "Data"(%b) {config = "", folder = ""} : memref<16xf32>
  %c = plan.buffer "c" transient[128] live [0, 1] : memref<32xf32>
  // expected-error @below {{reads buffer 'a', which contains no value here}}
  plan.copy %a to %c : memref<32xf32>, memref<32xf32>
}

// -----

// Nothing has written a.
plan.arena transient size 128
plan.program @dead attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  %b = plan.buffer "b" transient[64] live [0, 0] : memref<16xf32>
  // expected-error @below {{reads buffer 'a', which contains no value here}}
  plan.copy %a to %b : memref<16xf32>, memref<16xf32>
}

// -----

// An output must still be live at the end.
plan.arena transient size 64
plan.arena parameters size 64
plan.program @output attributes {arena_bytes = 64 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  %w = plan.buffer "w" parameters[0] : memref<16xf32>
  %b = plan.buffer "b" transient[0] live [0, 0] : memref<16xf32>
  plan.copy %w to %b : memref<16xf32>, memref<16xf32>
  // expected-error @below {{reads buffer 'a', which contains no value here}}
  plan.output %a "a" loss_weight 0.0 : memref<16xf32>
}

// -----

// A pinned buffer must not be overwritten, even if the program does not read it again.
plan.arena transient size 64
plan.arena parameters size 64
plan.program @pinned attributes {arena_bytes = 64 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] pinned : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  %w = plan.buffer "w" parameters[0] : memref<16xf32>
  %b = plan.buffer "b" transient[0] live [0, 0] : memref<16xf32>
  // expected-error @below {{overwrites pinned buffer 'a'}}
  plan.copy %w to %b : memref<16xf32>, memref<16xf32>
}

// -----

// 17 floats end at byte 68 of an arena of 64 bytes.
plan.arena transient size 64
plan.program @beyond attributes {arena_bytes = 64 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-error @below {{buffer reaches beyond its arena}}
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<17xf32>
}

// -----

plan.arena transient size 128
plan.program @below attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-error @below {{buffer reaches beyond its arena}}
  %a = plan.buffer "a" transient[-64] live [0, 0] : memref<16xf32>
}

// -----

// Strides count: 3 rows of 8 floats with a stride of 16 end at element 40, byte 160.
plan.arena transient size 128
plan.program @strides attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-error @below {{buffer reaches beyond its arena}}
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<3x8xf32, strided<[16, 1]>>
}

// -----

plan.arena transient size 128
plan.program @unaligned attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-error @below {{buffer is not aligned}}
  %a = plan.buffer "a" transient[32] live [0, 0] : memref<16xf32>
}

// -----

plan.program @arena attributes {arena_bytes = 0 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-error @below {{arena does not exist}}
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
}

// -----

// The step does not declare whether it reads or writes its bias.
plan.arena transient size 320
plan.program @undeclared attributes {arena_bytes = 320 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %dy = plan.buffer "dy" transient[0] live [0, 0] : memref<1x1x4x4xf32>
  plan.data_input "in" "Data"(%dy) {config = "", folder = ""} : memref<1x1x4x4xf32>
  %w = plan.buffer "w" transient[64] live [0, 0] : memref<1x1x1x1xf32>
  plan.data_input "in2" "Data"(%w) {config = "", folder = ""} : memref<1x1x1x1xf32>
  %b = plan.buffer "b" transient[128] live [0, 0] : memref<1xf32>
  %dx = plan.buffer "dx" transient[192] live [0, 0] : memref<1x1x4x4xf32>
  // expected-error @below {{does not declare whether it reads or writes operand 2}}
  plan.convolution backward_data x %dx w %w b %b y %dy {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64, backward} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>, memref<1xf32>, memref<1x1x4x4xf32>
}

// -----

plan.arena transient size 128
plan.program @no_kernel attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  // expected-error @below {{kernel does not exist}}
  plan.launch @k(%a) : memref<16xf32>
}

// -----

plan.arena transient size 128
plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%a: tensor<16xf32>):
  brew.yield %a : tensor<16xf32>
}
plan.program @count attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  // expected-error @below {{passes 1 buffers to a kernel of 2}}
  plan.launch @k(%a) : memref<16xf32>
}

// -----

// The kernel works in place without declaring it.
plan.arena transient size 128
plan.kernel @k attributes {in_place = array<i64: -1>, layers = []} {
^bb0(%a: tensor<16xf32>):
  brew.yield %a : tensor<16xf32>
}
plan.program @undeclared attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  %b = plan.buffer "b" transient[0] live [0, 0] : memref<16xf32>
  // expected-error @below {{writes buffer 'b', which overlaps its argument 'a'}}
  plan.launch @k(%a, %b) : memref<16xf32>, memref<16xf32>
}

// -----

// The kernel may overwrite argument 0 in place, but not argument 1.
plan.arena transient size 192
plan.kernel @k attributes {in_place = array<i64: 0>, layers = []} {
^bb0(%a: tensor<16xf32>, %b: tensor<32xf32>):
  brew.yield %a : tensor<16xf32>
}
plan.program @other_argument attributes {arena_bytes = 192 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[64] live [0, 0] : memref<16xf32>
  %b = plan.buffer "b" transient[0] live [0, 0] : memref<32xf32>
  plan.data_input "in" "Data"(%a, %b) {config = "", folder = ""} : memref<16xf32>, memref<32xf32>
  %c = plan.buffer "c" transient[64] live [0, 0] : memref<16xf32>
  // expected-error @below {{writes buffer 'c', which overlaps its argument 'b'}}
  plan.launch @k(%a, %b, %c) : memref<16xf32>, memref<32xf32>, memref<16xf32>
}

// -----

// In place requires the same strides: otherwise elements have different offsets.
plan.arena transient size 128
plan.kernel @k attributes {in_place = array<i64: 0>, layers = []} {
^bb0(%a: tensor<4x4xf32>):
  brew.yield %a : tensor<4x4xf32>
}
plan.program @other_strides attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<4x4xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<4x4xf32>
  %b = plan.buffer "b" transient[0] live [0, 0] : memref<4x4xf32, strided<[1, 4]>>
  // expected-error @below {{writes buffer 'b', which overlaps its argument 'a'}}
  plan.launch @k(%a, %b) : memref<4x4xf32>, memref<4x4xf32, strided<[1, 4]>>
}

// -----

// Two results in the same bytes.
plan.arena transient size 128
plan.kernel @k attributes {in_place = array<i64: -1, -1>, layers = []} {
^bb0(%a: tensor<16xf32>):
  brew.yield %a, %a : tensor<16xf32>, tensor<16xf32>
}
plan.program @results attributes {arena_bytes = 128 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<16xf32>
  plan.data_input "in" "Data"(%a) {config = "", folder = ""} : memref<16xf32>
  %b = plan.buffer "b" transient[64] live [0, 0] : memref<16xf32>
  %c = plan.buffer "c" transient[64] live [0, 0] : memref<16xf32>
  // expected-error @below {{writes buffer 'b', which overlaps its argument 'c'}}
  plan.launch @k(%a, %b, %c) : memref<16xf32>, memref<16xf32>, memref<16xf32>
}

// -----

// A call's gradient overwrites dy, which is read again.
plan.arena transient size 192
plan.arena parameters size 64
plan.program @call attributes {arena_bytes = 192 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  // expected-note @below {{the buffer}}
  %dy = plan.buffer "dy" transient[0] live [0, 1] : memref<4x4xf32>
  %dz = plan.buffer "dz" transient[64] live [0, 1] : memref<4x4xf32>
  plan.data_input "in" "Data"(%dy, %dz) {config = "", folder = ""} : memref<4x4xf32>, memref<4x4xf32>
  %w = plan.buffer "w" parameters[0] : memref<4x4xf32>
  %dx = plan.buffer "dx" transient[0] live [0, 1] : memref<4x4xf32>
  plan.inner_product backward_data x %dx w %w y %dz {axis = 1 : i64} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
  %dw = plan.buffer "dw" transient[128] live [1, 1] : memref<4x4xf32>
  // expected-error @below {{reads buffer 'dy', which contains no value here}}
  plan.inner_product backward_weights x %dz w %dw y %dy {axis = 1 : i64} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
}

// -----

// Calls do not work in place: this call reads dy while it writes dx.
plan.arena transient size 192
plan.arena parameters size 64
plan.program @call_in_place attributes {arena_bytes = 192 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %dy = plan.buffer "dy" transient[0] live [0, 1] : memref<4x4xf32>
  plan.data_input "in" "Data"(%dy) {config = "", folder = ""} : memref<4x4xf32>
  %w = plan.buffer "w" parameters[0] : memref<4x4xf32>
  %dx = plan.buffer "dx" transient[0] live [0, 1] : memref<4x4xf32>
  // expected-error @below {{writes buffer 'dx', which overlaps its argument 'dy'}}
  plan.inner_product backward_data x %dx w %w y %dy {axis = 1 : i64} : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
}

// -----

// Two results of one call in the same bytes.
plan.arena transient size 192
plan.program @call_results attributes {arena_bytes = 192 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 1] : memref<4x4xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<4x4xf32>
  %dw = plan.buffer "dw" transient[64] live [1, 1] : memref<4x4xf32>
  %db = plan.buffer "db" transient[64] live [1, 1] : memref<4xf32>
  // expected-error @below {{writes buffer 'dw', which overlaps its argument 'db'}}
  plan.inner_product backward_weights x %x w %dw b %db y %x {axis = 1 : i64} : memref<4x4xf32>, memref<4x4xf32>, memref<4xf32>, memref<4x4xf32>
}

// -----

// Copies do not work in place: this copy reads x while it writes y.
plan.arena transient size 192
plan.program @copy attributes {arena_bytes = 192 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 1] : memref<32xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<32xf32>
  %y = plan.buffer "y" transient[64] live [0, 1] : memref<32xf32>
  // expected-error @below {{writes buffer 'y', which overlaps its argument 'x'}}
  plan.copy %x to %y : memref<32xf32>, memref<32xf32>
}

// -----

// A convolution reads its bias.
plan.arena transient size 512
plan.program @bias attributes {arena_bytes = 512 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 1] : memref<1x1x4x4xf32>
  %w = plan.buffer "w" transient[64] live [0, 1] : memref<1x1x1x1xf32>
  plan.data_input "in" "Data"(%x, %w) {config = "", folder = ""} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>
  // expected-note @below {{the buffer}}
  %b = plan.buffer "b" transient[128] live [0, 1] : memref<1xf32>
  %y = plan.buffer "y" transient[192] live [0, 1] : memref<1x1x4x4xf32>
  // expected-error @below {{reads buffer 'b', which contains no value here}}
  plan.convolution forward x %x w %w b %b y %y {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0>, dilation = array<i64: 1, 1>, group = 1 : i64} : memref<1x1x4x4xf32>, memref<1x1x1x1xf32>, memref<1xf32>, memref<1x1x4x4xf32>
}

// -----

// An operation that does not declare its effects cannot be verified.
plan.arena transient size 64
plan.program @silent attributes {arena_bytes = 64 : i64, lower_bound_bytes = 0 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 1] : memref<16xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<16xf32>
  // expected-error @below {{phase plan: this operation does not declare what it reads and writes}}
  "test.call"(%x) : (memref<16xf32>) -> ()
}

// -----

plan.arena transient size 64
// expected-error @below {{duplicate arena 'transient'}}
plan.arena transient size 64

// -----

// A value may use the memory of a gradient until the gradient is written, as t does, but not
// afterwards, as u does.
plan.arena transient size 64
plan.arena gradients size 64
plan.program @gradients attributes {arena_bytes = 64 : i64, lower_bound_bytes = 64 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 4] : memref<16xf32>
  plan.data_input "in" "Data"(%x) {config = "", folder = ""} : memref<16xf32>
  %t = plan.buffer "t" gradients[0] live [0, 1] : memref<16xf32>
  plan.copy %x to %t : memref<16xf32>, memref<16xf32>
  plan.copy %t to %x : memref<16xf32>, memref<16xf32>
  %g = plan.buffer "w.gradient" gradients[0] : memref<16xf32>
  plan.copy %x to %g : memref<16xf32>, memref<16xf32>
  %u = plan.buffer "u" gradients[0] live [3, 4] : memref<16xf32>
  // expected-error @below {{overwrites buffer 'w.gradient', which the run has stored}}
  plan.copy %x to %u : memref<16xf32>, memref<16xf32>
}

// -----

// The memory of a gradient contains no value when the run begins.
plan.arena transient size 64
plan.arena gradients size 64
plan.program @gradients attributes {arena_bytes = 64 : i64, lower_bound_bytes = 64 : i64, caffe_bytes = 0 : i64} {
  %x = plan.buffer "x" transient[0] live [0, 4] : memref<16xf32>
  // expected-note @below {{the buffer}}
  %t = plan.buffer "t" gradients[0] live [0, 1] : memref<16xf32>
  // expected-error @below {{reads buffer 't', which contains no value here}}
  plan.copy %t to %x : memref<16xf32>, memref<16xf32>
}
