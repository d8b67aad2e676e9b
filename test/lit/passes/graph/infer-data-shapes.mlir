// RUN: %brew-opt %s --brew-infer-data-shapes --split-input-file | FileCheck %s --check-prefixes=CHECK,NET
// RUN: %brew-opt %s --brew-infer-data-shapes='batch=7' --split-input-file | FileCheck %s --check-prefixes=CHECK,BATCH

// Input and DummyData specify their shapes; the config then also contains the shapes of the
// run.
// CHECK-LABEL: brew.program @input
brew.program @input test {
  // BATCH: shape { dim: 7 dim: 3 } shape { dim: 7 dim: 5 dim: 6 }
  // NET: tensor<2x3xf32>, tensor<4x5x6xf32>
  // BATCH-SAME: tensor<7x3xf32>, tensor<7x5x6xf32>
  %x, %y = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' top: 'y' input_param { shape { dim: 2 dim: 3 } shape { dim: 4 dim: 5 dim: 6 } }", folder = ".", tops = ["x", "y"]} : tensor<*xf32>, tensor<*xf32>
}

// -----

// One shape applies to all tops; the element type does not change.
// CHECK-LABEL: brew.program @one_shape
brew.program @one_shape test {
  // NET: tensor<2x3xf64>, tensor<2x3xf64>
  %x, %y = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' top: 'y' input_param { shape { dim: 2 dim: 3 } }", folder = ".", tops = ["x", "y"]} : tensor<*xf64>, tensor<*xf64>
}

// -----

// CHECK-LABEL: brew.program @dummy
brew.program @dummy test {
  // NET: tensor<5x4x3x2xf32>
  %x = brew.data_input "d" "DummyData" {config = "name: 'd' type: 'DummyData' top: 'x' dummy_data_param { num: 5 channels: 4 height: 3 width: 2 }", folder = ".", tops = ["x"]} : tensor<*xf32>
  // NET: tensor<8xf32>
  // BATCH: tensor<7xf32>
  %y = brew.data_input "e" "DummyData" {config = "name: 'e' type: 'DummyData' top: 'y' dummy_data_param { shape { dim: 8 } }", folder = ".", tops = ["y"]} : tensor<*xf32>
}

// -----

// CHECK-LABEL: brew.program @memory
brew.program @memory test {
  // NET: tensor<2x3x4x5xf32>, tensor<2xf32>
  // BATCH: tensor<7x3x4x5xf32>, tensor<7xf32>
  %x, %l = brew.data_input "m" "MemoryData" {config = "name: 'm' type: 'MemoryData' top: 'x' top: 'l' memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 }", folder = ".", tops = ["x", "l"]} : tensor<*xf32>, tensor<*xf32>
}
