// RUN: %brew-opt %s --verify-diagnostics --split-input-file

// The verifier of brew.loop.

brew.program @iterations test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2xf32>
  // expected-error @below {{needs one item of every sequence per iteration}}
  brew.loop "l" 4 sequences(%x : tensor<3x2xf32>) {
  ^bb0(%item: tensor<1x2xf32, {strides = array<i64: 2, 1>}>):
    brew.yield
  }
}

// -----

brew.program @results test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2xf32>
  // expected-error @below {{must yield one value per result}}
  %y = brew.loop "l" 3 sequences(%x : tensor<3x2xf32>) stacked(tensor<3x2xf32>) {
  ^bb0(%item: tensor<1x2xf32, {strides = array<i64: 2, 1>}>):
    brew.yield
  }
}

// -----

brew.program @arguments test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<3x2xf32>
  // expected-error @below {{has block arguments of other types than its operands}}
  brew.loop "l" 3 sequences(%x : tensor<3x2xf32>) {
  ^bb0(%item: tensor<1x2xf32>):
    brew.yield
  }
}

// -----

brew.program @carried test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2xf32>
  // expected-error @below {{must yield values of its steps, each once}}
  %y = brew.loop "l" 3 initial(%x : tensor<1x2xf32>) carried(tensor<1x2xf32>) {
  ^bb0(%value: tensor<1x2xf32>):
    brew.yield %value : tensor<1x2xf32>
  }
}

// -----

brew.program @types test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<1x2xf32>
  // expected-error @below {{carries values of other types than the initial ones}}
  %y = brew.loop "l" 3 initial(%x : tensor<1x2xf32>) carried(tensor<2x2xf32>) {
  ^bb0(%value: tensor<1x2xf32>):
    %k = brew.kernel "k"(%value) : (tensor<1x2xf32>) -> tensor<2x2xf32> {
    ^bb0(%a: tensor<1x2xf32>):
      %e = tensor.empty() : tensor<2x2xf32>
      brew.yield %e : tensor<2x2xf32>
    }
    brew.yield %k : tensor<2x2xf32>
  }
}
