// RUN: %brew-opt %s --allow-unregistered-dialect --brew-plan-memory --verify-diagnostics --split-input-file

// An operation that is neither a step nor a view, a read or a sink is an error.
brew.program @step test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16xf32>
  // expected-error @below {{phase plan: this operation is not a step}}
  %y = "test.call"(%x) : (tensor<16xf32>) -> tensor<16xf32>
  brew.output %y "y" loss_weight 0.0 : tensor<16xf32>
}

// -----

brew.program @no_results test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<16xf32>
  // expected-error @below {{phase plan: this operation is not a step}}
  "test.sink"(%x) : (tensor<16xf32>) -> ()
}
