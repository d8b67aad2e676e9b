// RUN: %brew-opt %s --brew-infer-data-shapes --verify-diagnostics --split-input-file
// RUN: not %brew-opt %s --brew-infer-data-shapes='input-shape=none=1,2' 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: not %brew-opt %s --brew-infer-data-shapes='input-shape=x=1,0' 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not %brew-opt %s --brew-infer-data-shapes='input-shape=x=1 input-shape=x=2' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not %brew-opt %s --brew-infer-data-shapes='input-shape=7' 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not %brew-opt %s --brew-infer-data-shapes='input-shape==7' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not %brew-opt %s --brew-infer-data-shapes='batch=-1' 2>&1 | FileCheck %s --check-prefix=BATCH

// TOP: --input-shape: no data layer or host layer has a top 'none'
// DIM: is not a dimension; write BLOB=d,d,... with dimensions from 1 to 2147483647
// TWICE: --input-shape: 'x=2' names a blob twice
// NAME: --input-shape: '=7' names no blob
// BATCH: --batch must be from 1 to 2147483647

// Two sources are missing: one run reports both.
brew.program @missing train {
  // expected-error @below {{layer 'a' (Data): LMDB database 'no_such_a' not found}}
  %a = brew.data_input "a" "Data" {config = "name: 'a' type: 'Data' top: 'data' data_param { source: 'no_such_a' batch_size: 64 backend: LMDB }", folder = ".", tops = ["data"]} : tensor<*xf32>
  // expected-error @below {{layer 'b' (HDF5Data): list of HDF5 files 'no_such_b' not found}}
  %b = brew.data_input "b" "HDF5Data" {config = "name: 'b' type: 'HDF5Data' top: 'b' hdf5_data_param { source: 'no_such_b' batch_size: 64 }", folder = ".", tops = ["b"]} : tensor<*xf32>
}

// -----

brew.program @unknown train {
  // expected-error @below {{layer 'w' (VideoData): data layers of type VideoData are not supported yet}}
  %a = brew.data_input "w" "VideoData" {config = "name: 'w' type: 'VideoData' top: 'data'", folder = ".", tops = ["data"]} : tensor<*xf32>
}

// -----

brew.program @no_shape train {
  // expected-error @below {{layer 'in' (Input): the shape of 'x' is not specified; write input_param { shape { ... } } or pass --input-shape x=N,...}}
  %a = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x'", folder = ".", tops = ["x"]} : tensor<*xf32>
  // expected-error @below {{layer 'd' (DummyData): the shape of 'y' is not specified}}
  %b = brew.data_input "d" "DummyData" {config = "name: 'd' type: 'DummyData' top: 'y'", folder = ".", tops = ["y"]} : tensor<*xf32>
}

// -----

brew.program @no_elements train {
  // expected-error @below {{layer 'in' (Input): 'x' has no elements: its shape is}}
  %a = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 0 } }", folder = ".", tops = ["x"]} : tensor<*xf32>
}

// -----

brew.program @too_many train {
  // expected-error @below {{layer 'in' (Input): 'x' has more than 2147483647 elements: its shape is}}
  %a = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 65536 dim: 65536 } }", folder = ".", tops = ["x"]} : tensor<*xf32>
}

// -----

brew.program @config train {
  // expected-error @below {{layer 'in' (Input): config belongs to a layer with other tops}}
  %a = brew.data_input "in" "Input" {config = "name: 'in' type: 'Input' top: 'x' top: 'y'", folder = ".", tops = ["x"]} : tensor<*xf32>
}
