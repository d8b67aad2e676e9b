// RUN: %brew-opt %s --brew-pin-blobs='blobs=pool2' --verify-diagnostics --split-input-file

// expected-error @unknown {{--keep: the net has no blob 'pool2'}}
module {
  brew.program @deploy test {
    %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["data"]} : tensor<4xf32>
  }
}

// -----

// It suffices that one program has the blob.
module {
  brew.program @forward_backward train {
    %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["data"]} : tensor<4xf32>
  }
  brew.program @test_0 test {
    %x = brew.data_input "in" "Input" {config = "", folder = "", tops = ["pool2"]} : tensor<4xf32>
  }
}
