// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-fold-input-conversions --split-input-file | FileCheck %s
// RUN: %brew-opt %s --brew-attach-target=bf16=true --brew-fold-input-conversions --split-input-file | FileCheck %s --check-prefix=HOST

// Images are delivered rounded and padded, labels unchanged. On a CPU a kernel converts.
// HOST: brew.zero_pad
// HOST: brew.cast
// CHECK-LABEL: brew.program @padded
// CHECK-NEXT: %[[X:.*]]:2 = brew.data_input "in" "Data" {channels = 3 : i64, {{.*}} : tensor<4x8x6x6xbf16>, tensor<4xf32>
// CHECK-NEXT: brew.pin data "a", %[[X]]#0
// CHECK-NEXT: brew.pin data "b", %[[X]]#0
// CHECK-NEXT: brew.pin data "label", %[[X]]#1
brew.program @padded train {
  %x, %l = brew.data_input "in" "Data" {config = "name: 'in' type: 'Data'", folder = "", tops = ["x", "label"]} : tensor<4x3x6x6xf32>, tensor<4xf32>
  %p = brew.zero_pad "conv"(%x) {offsets = array<i64: 0, 0, 0, 0>} : (tensor<4x3x6x6xf32>) -> tensor<4x8x6x6xf32>
  %a = brew.cast "conv"(%p) : (tensor<4x8x6x6xf32>) -> tensor<4x8x6x6xbf16>
  %b = brew.cast "conv2"(%p) : (tensor<4x8x6x6xf32>) -> tensor<4x8x6x6xbf16>
  brew.pin data "a", %a : tensor<4x8x6x6xbf16>
  brew.pin data "b", %b : tensor<4x8x6x6xbf16>
  brew.pin data "label", %l : tensor<4xf32>
}

// -----

// Images that need no padding are only rounded.
// CHECK-LABEL: brew.program @rounded
// CHECK-NEXT: brew.data_input "in" "ImageData"
// CHECK-NOT: channels
// CHECK-SAME: tensor<4x3x6x6xf16>
// CHECK-NOT: brew.cast
brew.program @rounded train {
  %x = brew.data_input "in" "ImageData" {config = "name: 'in' type: 'ImageData'", folder = "", tops = ["x"]} : tensor<4x3x6x6xf32>
  %a = brew.cast "conv"(%x) : (tensor<4x3x6x6xf32>) -> tensor<4x3x6x6xf16>
  brew.pin data "a", %a : tensor<4x3x6x6xf16>
}

// -----

// Not applied to images that are also read in f32, images that are read in two forms, images
// from the caller, and pairs of images, which the CPU converts.
// CHECK-LABEL: brew.program @others
// CHECK-COUNT-5: -> tensor<{{.*}}xbf16>
brew.program @others train {
  %x = brew.data_input "x" "Data" {config = "name: 'x' type: 'Data'", folder = "", tops = ["x"]} : tensor<4x3x6x6xf32>
  %xn = brew.cast "conv"(%x) : (tensor<4x3x6x6xf32>) -> tensor<4x3x6x6xbf16>
  brew.pin data "x", %x : tensor<4x3x6x6xf32>
  brew.pin data "xn", %xn : tensor<4x3x6x6xbf16>
  %y = brew.data_input "y" "Data" {config = "name: 'y' type: 'Data'", folder = "", tops = ["y"]} : tensor<4x3x6x6xf32>
  %yn = brew.cast "conv"(%y) : (tensor<4x3x6x6xf32>) -> tensor<4x3x6x6xbf16>
  %p = brew.zero_pad "conv"(%y) {offsets = array<i64: 0, 0, 0, 0>} : (tensor<4x3x6x6xf32>) -> tensor<4x8x6x6xf32>
  %pn = brew.cast "conv"(%p) : (tensor<4x8x6x6xf32>) -> tensor<4x8x6x6xbf16>
  brew.pin data "yn", %yn : tensor<4x3x6x6xbf16>
  brew.pin data "pn", %pn : tensor<4x8x6x6xbf16>
  %z = brew.data_input "z" "Input" {config = "name: 'z' type: 'Input'", folder = "", tops = ["z"]} : tensor<4x3x6x6xf32>
  %zn = brew.cast "conv"(%z) : (tensor<4x3x6x6xf32>) -> tensor<4x3x6x6xbf16>
  brew.pin data "zn", %zn : tensor<4x3x6x6xbf16>
  %q = brew.data_input "q" "Data" {config = "name: 'q' type: 'Data' data_param { images_per_blob: 2 }", folder = "", tops = ["q"]} : tensor<4x6x6x6xf32>
  %qn = brew.cast "conv"(%q) : (tensor<4x6x6x6xf32>) -> tensor<4x6x6x6xbf16>
  brew.pin data "qn", %qn : tensor<4x6x6x6xbf16>
}
