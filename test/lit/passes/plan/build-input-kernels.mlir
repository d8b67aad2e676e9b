// RUN: %brew-opt %s --brew-build-input-kernels --split-input-file | FileCheck %s

// A mean that all channels share is a constant, as is the scale. The kernel writes the images in
// the layout of the buffer.
// CHECK: plan.kernel @in_1_pixels attributes {argument_names = ["pixels", "crop_and_mirror", "data"], in_place = array<i64: -1>, layers = ["in/1"]} {
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<2x3x4x5xi8>, %[[A:.*]]: tensor<2x3xi32>):
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4x5xf32, #brew.layout<0, 2, 3, 1>>)
// CHECK-SAME: {brew.grid_loops = 4 : i64, brew.layer = "in/1", brew.sub_kernel = 0 : i64}
// CHECK: %[[N:.*]] = linalg.index 0 : index
// CHECK: %[[C:.*]] = linalg.index 3 : index
// CHECK: %[[H:.*]] = linalg.index 1 : index
// CHECK: %[[W:.*]] = linalg.index 2 : index
// CHECK: %[[M:.*]] = tensor.extract %[[A]][%[[N]],
// CHECK: %[[MIRRORED:.*]] = arith.cmpi ne, %[[M]],
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[W]]
// CHECK: %[[COLUMN:.*]] = arith.select %[[MIRRORED]], %[[BACK]], %[[W]]
// CHECK: %[[BYTE:.*]] = tensor.extract %[[P]][%[[N]], %[[C]], %[[H]], %[[COLUMN]]]
// CHECK: %[[PIXEL:.*]] = arith.uitofp %[[BYTE]] : i8 to f32
// CHECK: %[[MEAN:.*]] = arith.constant 3.500000e+00 : f32
// CHECK: %[[REST:.*]] = arith.subf %[[PIXEL]], %[[MEAN]]
// CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: arith.mulf %[[REST]], %[[SCALE]]
// CHECK: plan.program @main
// CHECK: plan.data_input "in/1" "Data"
// CHECK-SAME: pixel_kernel = @in_1_pixels
// CHECK-NOT: mean_dims
plan.arena transient size 512
plan.program @main attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" transient[0] live [0, 0] : memref<2x3x4x5xf32, strided<[60, 1, 15, 3]>>
  plan.data_input "in/1" "Data"(%data) {config = "name: 'in/1' type: 'Data' top: 'data' transform_param { mean_value: 3.5 scale: 0.5 mirror: true }", folder = ""} : memref<2x3x4x5xf32, strided<[60, 1, 15, 3]>>
}

// -----

// The means of several channels are read from a buffer. Each program has its own kernel. In
// double precision the buffer of means is still f32.
// CHECK: plan.kernel @in_pixels
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<1x2x4x4xi8>, %{{.*}}: tensor<1x3xi32>, %[[MEAN:.*]]: tensor<2x1x1xf32>):
// CHECK: %[[ONE:.*]] = tensor.extract %[[MEAN]]
// CHECK: arith.extf %[[ONE]] : f32 to f64
// CHECK: plan.program @first
// CHECK: mean_dims = array<i64: 2, 1, 1>, pixel_kernel = @in_pixels
// CHECK: plan.kernel @in_pixels_0
// CHECK: plan.program @second
// CHECK: pixel_kernel = @in_pixels_0
plan.arena transient size 512
plan.program @first attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" transient[0] live [0, 0] : memref<1x2x4x4xf64>
  plan.data_input "in" "Data"(%data) {config = "name: 'in' type: 'Data' top: 'data' transform_param { mean_value: 1 mean_value: 2 }", folder = ""} : memref<1x2x4x4xf64>
}
plan.program @second attributes {arena_bytes = 512 : i64, lower_bound_bytes = 512 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" transient[0] live [0, 0] : memref<1x2x4x4xf64>
  plan.data_input "in" "Data"(%data) {config = "name: 'in' type: 'Data' top: 'data'", folder = ""} : memref<1x2x4x4xf64>
}

// -----

// The CPU converts the data of layers that are not Data layers, and images whose mean file is
// missing or whose means do not match the channels.
// CHECK: plan.arena
// CHECK-NOT: plan.kernel
// CHECK: plan.program @host
// CHECK-NOT: pixels
plan.arena transient size 1024
plan.program @host attributes {arena_bytes = 1024 : i64, lower_bound_bytes = 1024 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<1x2x4x4xf32>
  %b = plan.buffer "b" transient[128] live [0, 0] : memref<1x2x4x4xf32>
  %c = plan.buffer "c" transient[256] live [0, 0] : memref<1x2x4x4xf32>
  plan.data_input "h" "HDF5Data"(%a) {config = "name: 'h' type: 'HDF5Data' top: 'a'", folder = ""} : memref<1x2x4x4xf32>
  plan.data_input "m" "Data"(%b) {config = "name: 'm' type: 'Data' top: 'b' transform_param { mean_file: 'no.such.file' }", folder = ""} : memref<1x2x4x4xf32>
  plan.data_input "v" "Data"(%c) {config = "name: 'v' type: 'Data' top: 'c' transform_param { mean_value: 1 mean_value: 2 mean_value: 3 }", folder = ""} : memref<1x2x4x4xf32>
}

// -----

// Full records are copied to the device. They have the size of the mean image here, so both are
// cropped at the same offset.
// CHECK-LABEL: plan.kernel @cropped_pixels
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<2x1x4x5xi8>, %[[A:.*]]: tensor<2x3xi32>, %[[MEAN:.*]]: tensor<1x4x5xf32>):
// CHECK: %[[H:.*]] = linalg.index 2 : index
// CHECK: %[[W:.*]] = linalg.index 3 : index
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[W]]
// CHECK: %[[COLUMN:.*]] = arith.select %{{.*}}, %[[BACK]], %[[W]]
// CHECK: %[[TOP:.*]] = arith.index_cast
// CHECK: %[[ROW:.*]] = arith.addi %[[H]], %[[TOP]]
// CHECK: %[[LEFT:.*]] = arith.index_cast
// CHECK: %[[ACROSS:.*]] = arith.addi %[[COLUMN]], %[[LEFT]]
// CHECK: tensor.extract %[[P]][%{{.*}}, %{{.*}}, %[[ROW]], %[[ACROSS]]]
// CHECK: tensor.extract %[[MEAN]][%{{.*}}, %[[ROW]], %[[ACROSS]]]
// A record of 4 x 5 is more than twice as large as a crop of 3 x 3: only crops are copied, and
// the offset applies to the mean.
// CHECK-LABEL: plan.kernel @small_pixels
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<2x1x3x3xi8>, %{{.*}}: tensor<2x3xi32>, %[[MEAN:.*]]: tensor<1x4x5xf32>):
// CHECK: %[[ROW:.*]] = arith.addi %[[H:.*]], %{{.*}} : index
// CHECK: %[[ACROSS:.*]] = arith.addi %[[COLUMN:.*]], %{{.*}} : index
// CHECK: tensor.extract %[[P]][%{{.*}}, %{{.*}}, %[[H]], %[[COLUMN]]]
// CHECK: tensor.extract %[[MEAN]][%{{.*}}, %[[ROW]], %[[ACROSS]]]
// The first record of the database determines the size of `known`. Without a mean image the
// offset applies only to the pixels. The database of `unknown` is missing, so the CPU crops.
// CHECK-LABEL: plan.kernel @known_pixels
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<2x1x4x5xi8>, %{{.*}}: tensor<2x3xi32>):
// CHECK: tensor.extract %[[P]]
// CHECK-LABEL: plan.kernel @unknown_pixels
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x1x4x4xi8>,
plan.arena transient size 1024
plan.program @crops attributes {arena_bytes = 1024 : i64, lower_bound_bytes = 1024 : i64, caffe_bytes = 0 : i64} {
  %a = plan.buffer "a" transient[0] live [0, 0] : memref<2x1x4x4xf32>
  %b = plan.buffer "b" transient[128] live [0, 0] : memref<2x1x3x3xf32>
  %c = plan.buffer "c" transient[256] live [0, 0] : memref<2x1x4x4xf32>
  %d = plan.buffer "d" transient[384] live [0, 0] : memref<2x1x4x4xf32>
  plan.data_input "cropped" "Data"(%a) {config = "name: 'cropped' type: 'Data' top: 'a' transform_param { mean_file: 'mean.binaryproto' crop_size: 4 }", folder = "", mean_file_dims = array<i64: 1, 4, 5>} : memref<2x1x4x4xf32>
  plan.data_input "small" "Data"(%b) {config = "name: 'small' type: 'Data' top: 'b' transform_param { mean_file: 'mean.binaryproto' crop_size: 3 }", folder = "", mean_file_dims = array<i64: 1, 4, 5>} : memref<2x1x3x3xf32>
  plan.data_input "known" "Data"(%c) {config = "name: 'known' type: 'Data' top: 'c' data_param { source: 'db' backend: LMDB } transform_param { crop_size: 4 mean_value: 2 }", folder = "", record_dims = array<i64: 1, 4, 5>} : memref<2x1x4x4xf32>
  plan.data_input "unknown" "Data"(%d) {config = "name: 'unknown' type: 'Data' top: 'd' data_param { source: 'no.such.db' backend: LMDB } transform_param { crop_size: 4 }", folder = ""} : memref<2x1x4x4xf32>
}

// -----

// In a padded 16-bit blob the padding channels are zeros, and pixels are read only for the
// channels of the image.
// CHECK: plan.kernel @in_pixels
// CHECK-NEXT: ^bb0(%[[P:.*]]: tensor<2x3x4x5xi8>, %{{.*}}: tensor<2x3xi32>):
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x8x4x5xbf16, #brew.layout<0, 2, 3, 1>>)
// CHECK: %[[C:.*]] = linalg.index 3 : index
// CHECK: %[[IMAGE:.*]] = arith.cmpi slt, %[[C]],
// CHECK: %[[WITHIN:.*]] = arith.minsi
// CHECK: tensor.extract %[[P]][%{{.*}}, %[[WITHIN]],
// CHECK: %[[VALUE:.*]] = arith.select %[[IMAGE]], %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %[[VALUE]] : f32 to bf16
// CHECK: plan.program @padded
plan.arena transient size 1024
plan.program @padded attributes {arena_bytes = 1024 : i64, lower_bound_bytes = 1024 : i64, caffe_bytes = 0 : i64} {
  %data = plan.buffer "data" transient[0] live [0, 0] {padded = 8 : i64} : memref<2x3x4x5xbf16, strided<[160, 1, 40, 8]>>
  plan.data_input "in" "Data"(%data) {config = "name: 'in' type: 'Data' top: 'data'", folder = ""} : memref<2x3x4x5xbf16, strided<[160, 1, 40, 8]>>
}
