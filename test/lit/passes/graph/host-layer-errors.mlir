// RUN: %brew-opt %s --brew-infer-shapes --verify-diagnostics --split-input-file

brew.program @main train {
  %x = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } }", folder = ".", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{layer 'mine': its type 'm.Mine' is computed by the program that runs the plan, which does not provide the shape of 'y'; pass --input-shape y=d,d,... (the command caffe and Python's package caffe run layers of type "Python" themselves)}}
  %y = brew.host_layer "mine"(%x) {kind = "m.Mine", settings = "", param_str = "", tops = ["y"]} : (tensor<2x3xf32>) -> tensor<*xf32>
}

// -----

brew.program @tops train {
  %x = brew.fill 0.0 : tensor<2xf32>
  // expected-error @below {{has gradients of 0 of 1 tops}}
  %dx = "brew.host_layer_backward"(%x, %x) {layer = "m", kind = "M", settings = "", param_str = "", bottoms = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
}

// -----

brew.program @bottoms train {
  %x = brew.fill 0.0 : tensor<2xf32>
  // expected-error @below {{must number existing bottoms in ascending order}}
  %dx = "brew.host_layer_backward"(%x, %x, %x) {layer = "m", kind = "M", settings = "", param_str = "", bottoms = array<i64: 1>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
}

// -----

brew.program @shape train {
  %x = brew.fill 0.0 : tensor<2xf32>
  // expected-error @below {{has a gradient of another shape than bottom 0}}
  %dx = "brew.host_layer_backward"(%x, %x, %x) {layer = "m", kind = "M", settings = "", param_str = "", bottoms = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
}
