// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_75 --brew-split-reductions | FileCheck %s --check-prefix=SMALL
// RUN: %brew-opt %s --brew-attach-target=gpu-arch=sm_90 --brew-split-reductions | FileCheck %s --check-prefix=LARGE
// RUN: %brew-opt %s --brew-attach-target --brew-split-reductions | FileCheck %s --check-prefix=NONE

// A small GPU, whose memory delivers less during a launch, splits shorter sums, and into
// fewer partial sums. A CPU splits none of these.
// SMALL: tensor.empty() : tensor<80x3751xi8>
// SMALL: -> tensor<80xf32>
// LARGE-NOT: -> tensor<80xf32>
// LARGE: tensor.empty() : tensor<264x11364xi8>
// NONE-NOT: tensor.empty() : tensor<{{.*}}xi8>
#flat = affine_map<(k) -> (k)>
#none = affine_map<(k) -> ()>
brew.program @flat train {
  %x, %y = brew.data_input "in" "Input" {config = "", folder = "", tops = ["x", "y"]} : tensor<300007xf32>, tensor<3000007xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#flat, #none], iterator_types = ["reduction"]} ins(%x : tensor<300007xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %t = linalg.generic {indexing_maps = [#flat, #none], iterator_types = ["reduction"]} ins(%y : tensor<3000007xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.addf %o, %v fastmath<reassoc> : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  brew.pin data "s", %s : tensor<f32>
  brew.pin data "t", %t : tensor<f32>
}
