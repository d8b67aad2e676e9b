// RUN: %brew-opt %s --split-input-file --verify-diagnostics

brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error@+1 {{has 1 operands for 1 bottoms and 1 parameters}}
  %y = brew.expression "e"(%x) {expr = "x", names = ["x"], axes = array<i64: 0>, tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

brew.program @main test {
  // expected-error@+1 {{needs a bottom}}
  %y = brew.expression "e"() {expr = "1", names = [], axes = array<i64>, tops = ["y"]} : () -> tensor<2xf32>
}

// -----

brew.program @main test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error@+1 {{character 5 of the expression: 'z' is not a bottom of this layer}}
  %y = brew.expression "e"(%x) {expr = "x + z", names = ["x"], axes = array<i64>, tops = ["y"]} : (tensor<2xf32>) -> tensor<2xf32>
}
