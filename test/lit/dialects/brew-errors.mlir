// RUN: %brew-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{layout must name each dimension once}}
func.func private @repeated(tensor<1x2x3xf32, #brew.layout<0, 1, 1>>)

// -----

// expected-error @below {{layout must name each dimension once}}
func.func private @outside(tensor<1x2x3xf32, #brew.layout<0, 1, 3>>)

// -----

// expected-error @below {{layout must name each dimension once}}
func.func private @negative(tensor<1x2xf32, #brew.layout<-1, 0>>)

// -----

brew.program @count test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{'brew.reinterpret' op must keep element type and count}}
  %y = brew.reinterpret %x : tensor<2x3xf32> -> tensor<5xf32>
}

// -----

brew.program @element test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{'brew.reinterpret' op must keep element type and count}}
  %y = brew.reinterpret %x : tensor<2x3xf32> -> tensor<6xi32>
}

// -----

// Import phase: shapes are unknown, so the operation is valid.
brew.program @unranked test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<*xf32>
  %y = brew.reinterpret %x : tensor<*xf32> -> tensor<5xf32>
}

// -----

brew.program @arguments test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{'brew.kernel' op needs one block argument per input}}
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    brew.yield %a : tensor<2xf32>
  }
}

// -----

brew.program @argument_type test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{'brew.kernel' op block argument type differs from its input's}}
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    brew.yield %a : tensor<3xf32>
  }
}

// -----

brew.program @results test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{'brew.kernel' op must yield its results' types}}
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<2xf32>):
    brew.yield %a : tensor<2xf32>
  }
}

// -----

brew.program @yields_nothing test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  // expected-error @below {{'brew.kernel' op must yield its results' types}}
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    brew.yield
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @no_grid_loops test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{in a kernel needs brew.sub_kernel and brew.grid_loops}}
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %r : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @deep test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{grid is deeper than the nest}}
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 2 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %r : tensor<2xf32>
  }
}

// -----

#in = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
brew.program @reduction test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<2xf32>):
    %e = tensor.empty() : tensor<f32>
    // expected-error @below {{a grid loop must be parallel}}
    %r = linalg.generic {indexing_maps = [#in, #none], iterator_types = ["reduction"]} ins(%a : tensor<2xf32>) outs(%e : tensor<f32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%v: f32, %o: f32):
      linalg.yield %o : f32
    } -> tensor<f32>
    brew.yield %r : tensor<f32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @first_is_last test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{a stage can have one sub-kernel of the last block, after others}}
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.last_block} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %r : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @half_is_last test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    // expected-error @below {{all nests of a sub-kernel must run in the last block, or none}}
    %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%r : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.last_block} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %s : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @stages_skip test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    // expected-error @below {{stages must be consecutive, from 0 on}}
    %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%r : tensor<2xf32>) attrs = {brew.sub_kernel = 1 : i64, brew.grid_loops = 1 : i64, brew.stage = 2 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %s : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @half_a_stage test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    // expected-error @below {{a sub-kernel must belong to one stage}}
    %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%r : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64, brew.stage = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %s : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @stage_of_the_last_block test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    // expected-error @below {{a stage can have one sub-kernel of the last block, after others}}
    %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%r : tensor<2xf32>) attrs = {brew.sub_kernel = 1 : i64, brew.grid_loops = 1 : i64, brew.last_block, brew.stage = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %s : tensor<2xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @extents test {
  %x, %z = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "z"]} : tensor<2xf32>, tensor<3xf32>
  %y:2 = brew.kernel "k"(%x, %z) : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    // expected-error @below {{grid extents differ within the sub-kernel}}
    %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%b : tensor<3xf32>) attrs = {brew.sub_kernel = 0 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<3xf32>
    brew.yield %r, %s : tensor<2xf32>, tensor<3xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
brew.program @sub_kernels test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2xf32>
  %y = brew.kernel "k"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{sub-kernels must be consecutive}}
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : tensor<2xf32>) attrs = {brew.sub_kernel = 1 : i64, brew.grid_loops = 1 : i64} {
    ^bb1(%o: f32):
      linalg.yield %o : f32
    } -> tensor<2xf32>
    brew.yield %r : tensor<2xf32>
  }
}

// -----

brew.program @shape train {
  %x = brew.fill 1.0 : tensor<2x3xf32>
  // expected-error @below {{'brew.cast' op keeps the shape}}
  %y = brew.cast "ip"(%x) : (tensor<2x3xf32>) -> tensor<3x2xbf16>
}

// -----

brew.program @element train {
  %x = brew.fill 1.0 : tensor<2x3xf32>
  // expected-error @below {{'brew.cast' op is between floating-point types}}
  %y = brew.cast "ip"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi32>
}

// -----

// expected-error @below {{'brew.program' op of role 'deploy' has another name}}
brew.program @main test role deploy {
}

// -----

// expected-error @below {{'brew.program' op of role 'test' has another name}}
brew.program @test_first test role test {
}

// -----

brew.program @pin test {
  %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x"]} : tensor<2x3xf32>
  // expected-error @below {{expected ::brew::dialects::plan::BlobValue to be one of: data, diff, count}}
  // expected-error @below {{custom op 'brew.pin' failed to parse Plan_BlobValueAttr parameter}}
  brew.pin gradient "x", %x : tensor<2x3xf32>
}

// -----

brew.param @ip.0 : tensor<2xf32> {layer = "ip", index = 0 : i64}
brew.program @update train role update {
  %w = brew.param_value @ip.0 : tensor<2xf32>
  %s = brew.solver_scalar momentum : tensor<f32>
  // expected-error @below {{'brew.sgd_update' op local_rate and local_factor need each other}}
  %sgd:3 = brew.sgd_update(%w, %w, %w, %s, %s, %s, %s) {lr_mult = 2.0 : f32, decay_mult = 0.5 : f32, regularization = #brew<regularization L2>, local_rate = #brew<local_rate lars>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
}
