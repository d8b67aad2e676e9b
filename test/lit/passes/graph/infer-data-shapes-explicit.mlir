// RUN: %brew-opt %s --brew-infer-data-shapes='input-shape=data=1,3,8,9' | FileCheck %s --check-prefix=NET
// RUN: %brew-opt %s --brew-infer-data-shapes='input-shape=data=1,3,8,9 batch=5' | FileCheck %s --check-prefix=BATCH

// --input-shape replaces a missing source. For a Data layer it provides the image; the batch
// size stays the layer's own, so that one flag serves training and test program. --batch
// overrides both.
brew.program @forward_backward train {
  // NET: batch_size: 64{{.*}} : tensor<64x3x8x9xf32>, tensor<64xf32>
  // BATCH: batch_size: 5 {{.*}} : tensor<5x3x8x9xf32>, tensor<5xf32>
  %x, %l = brew.data_input "db" "Data" {config = "name: 'db' type: 'Data' top: 'data' top: 'label' data_param { source: 'not_there' batch_size: 64 backend: LMDB }", folder = ".", tops = ["data", "label"]} : tensor<*xf32>, tensor<*xf32>
}
brew.program @test_0 test {
  // NET: tensor<100x3x8x9xf32>{{$}}
  // BATCH: tensor<5x3x8x9xf32>{{$}}
  %x = brew.data_input "db" "Data" {config = "name: 'db' type: 'Data' top: 'data' data_param { source: 'not_there' batch_size: 100 backend: LMDB }", folder = ".", tops = ["data"]} : tensor<*xf32>
}
