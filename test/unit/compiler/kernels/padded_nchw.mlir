// All kernels of a LeNet-like net without library calls: convolutions, poolings, inner
// products, loss, their gradients and the solver's update. Written by regenerate.py.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d0, d1)>
#map10 = affine_map<(d0, d1) -> (d1)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map12 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map13 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map14 = affine_map<(d0, d1) -> (d0)>
#map15 = affine_map<(d0) -> (d0)>
#map16 = affine_map<(d0) -> ()>
#map17 = affine_map<() -> ()>
#map18 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map19 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map20 = affine_map<(d0, d1) -> (d1, d0)>
#map21 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d1, d2, d3)>
#map22 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0)>
#map23 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map24 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>
#map26 = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
#map27 = affine_map<(d0, d1, d2, d3) -> (d0)>
#map28 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6)>
#map29 = affine_map<(d0, d1, d2, d3) -> ()>
#map30 = affine_map<(d0, d1) -> ()>
module {
  plan.kernel @conv1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<3x1x14x14xf32>, %arg2: tensor<6xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x6x14x14xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x6x14x14xf32>) -> tensor<3x6x14x14xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<6x1x3x3xf32>) outs(%1 : tensor<3x6x14x14xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 4 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 5 : index
      %8 = arith.addi %6, %7 : index
      %c1 = arith.constant 1 : index
      %9 = arith.subi %8, %c1 : index
      %c14 = arith.constant 14 : index
      %10 = arith.cmpi slt, %9, %c14 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi sge, %9, %c0 : index
      %12 = arith.andi %10, %11 : i1
      %13 = arith.maxsi %9, %c0 : index
      %c13 = arith.constant 13 : index
      %14 = arith.minsi %13, %c13 : index
      %15 = linalg.index 3 : index
      %16 = linalg.index 6 : index
      %17 = arith.addi %15, %16 : index
      %18 = arith.subi %17, %c1 : index
      %19 = arith.cmpi slt, %18, %c14 : index
      %20 = arith.cmpi sge, %18, %c0 : index
      %21 = arith.andi %19, %20 : i1
      %22 = arith.andi %12, %21 : i1
      %23 = arith.maxsi %18, %c0 : index
      %24 = arith.minsi %23, %c13 : index
      %extracted = tensor.extract %arg1[%4, %5, %14, %24] : tensor<3x1x14x14xf32>
      %25 = arith.select %22, %extracted, %cst_0 : f32
      %26 = arith.mulf %25, %in fastmath<contract> : f32
      %27 = arith.addf %out, %26 fastmath<reassoc,contract> : f32
      linalg.yield %27 : f32
    } -> tensor<3x6x14x14xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x6x14x14xf32>, tensor<6xf32>) outs(%0 : tensor<3x6x14x14xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f32
      linalg.yield %4 : f32
    } -> tensor<3x6x14x14xf32>
    brew.yield %3 : tensor<3x6x14x14xf32>
  }
  plan.kernel @pool1 attributes {in_place = array<i64: -1, -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf32>):
    %0 = tensor.empty() : tensor<2x2xi8>
    %cst = arith.constant -3.40282347E+38 : f32
    %1 = tensor.empty() : tensor<3x6x7x7xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x7x7xf32>) -> tensor<3x6x7x7xf32>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x6x7x7xi8>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x6x7x7xi8>) -> tensor<3x6x7x7xi8>
    %5:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2, %4 : tensor<3x6x7x7xf32>, tensor<3x6x7x7xi8>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_0: i8):
      %6 = linalg.index 2 : index
      %7 = linalg.index 4 : index
      %c2 = arith.constant 2 : index
      %8 = arith.muli %6, %c2 : index
      %9 = arith.addi %8, %7 : index
      %10 = linalg.index 3 : index
      %11 = linalg.index 5 : index
      %12 = arith.muli %10, %c2 : index
      %13 = arith.addi %12, %11 : index
      %14 = linalg.index 0 : index
      %15 = linalg.index 1 : index
      %extracted = tensor.extract %arg0[%14, %15, %9, %13] : tensor<3x6x14x14xf32>
      %16 = arith.cmpf ogt, %extracted, %out : f32
      %17 = arith.select %16, %extracted, %out : f32
      %18 = arith.muli %7, %c2 : index
      %19 = arith.addi %18, %11 : index
      %20 = arith.index_cast %19 : index to i8
      %21 = arith.select %16, %20, %out_0 : i8
      linalg.yield %17, %21 : f32, i8
    } -> (tensor<3x6x7x7xf32>, tensor<3x6x7x7xi8>)
    brew.yield %5#0, %5#1 : tensor<3x6x7x7xf32>, tensor<3x6x7x7xi8>
  }
  plan.kernel @conv2_pool2 attributes {in_place = array<i64: -1, -1>, layers = ["conv2", "pool2"]} {
  ^bb0(%arg0: tensor<18x6x3x3xf32>, %arg1: tensor<3x6x7x7xf32>, %arg2: tensor<18xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x18x7x7xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x18x7x7xf32>) -> tensor<3x18x7x7xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<18x6x3x3xf32>) outs(%1 : tensor<3x18x7x7xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %10 = linalg.index 0 : index
      %11 = linalg.index 4 : index
      %12 = linalg.index 2 : index
      %13 = linalg.index 5 : index
      %14 = arith.addi %12, %13 : index
      %c1 = arith.constant 1 : index
      %15 = arith.subi %14, %c1 : index
      %c7 = arith.constant 7 : index
      %16 = arith.cmpi slt, %15, %c7 : index
      %c0 = arith.constant 0 : index
      %17 = arith.cmpi sge, %15, %c0 : index
      %18 = arith.andi %16, %17 : i1
      %19 = arith.maxsi %15, %c0 : index
      %c6 = arith.constant 6 : index
      %20 = arith.minsi %19, %c6 : index
      %21 = linalg.index 3 : index
      %22 = linalg.index 6 : index
      %23 = arith.addi %21, %22 : index
      %24 = arith.subi %23, %c1 : index
      %25 = arith.cmpi slt, %24, %c7 : index
      %26 = arith.cmpi sge, %24, %c0 : index
      %27 = arith.andi %25, %26 : i1
      %28 = arith.andi %18, %27 : i1
      %29 = arith.maxsi %24, %c0 : index
      %30 = arith.minsi %29, %c6 : index
      %extracted = tensor.extract %arg1[%10, %11, %20, %30] : tensor<3x6x7x7xf32>
      %31 = arith.select %28, %extracted, %cst_0 : f32
      %32 = arith.mulf %31, %in fastmath<contract> : f32
      %33 = arith.addf %out, %32 fastmath<reassoc,contract> : f32
      linalg.yield %33 : f32
    } -> tensor<3x18x7x7xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x18x7x7xf32>, tensor<18xf32>) outs(%0 : tensor<3x18x7x7xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %10 = arith.addf %in, %in_2 fastmath<contract> : f32
      linalg.yield %10 : f32
    } -> tensor<3x18x7x7xf32>
    %4 = tensor.empty() : tensor<2x2xi8>
    %cst_1 = arith.constant -3.40282347E+38 : f32
    %5 = tensor.empty() : tensor<3x18x4x4xf32>
    %6 = linalg.fill ins(%cst_1 : f32) outs(%5 : tensor<3x18x4x4xf32>) -> tensor<3x18x4x4xf32>
    %c0_i8 = arith.constant 0 : i8
    %7 = tensor.empty() : tensor<3x18x4x4xi8>
    %8 = linalg.fill ins(%c0_i8 : i8) outs(%7 : tensor<3x18x4x4xi8>) -> tensor<3x18x4x4xi8>
    %9:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%4 : tensor<2x2xi8>) outs(%6, %8 : tensor<3x18x4x4xf32>, tensor<3x18x4x4xi8>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_2: i8):
      %10 = linalg.index 2 : index
      %11 = linalg.index 4 : index
      %c2 = arith.constant 2 : index
      %12 = arith.muli %10, %c2 : index
      %13 = arith.addi %12, %11 : index
      %c7 = arith.constant 7 : index
      %14 = arith.cmpi slt, %13, %c7 : index
      %c0 = arith.constant 0 : index
      %15 = arith.maxsi %13, %c0 : index
      %c6 = arith.constant 6 : index
      %16 = arith.minsi %15, %c6 : index
      %17 = linalg.index 3 : index
      %18 = linalg.index 5 : index
      %19 = arith.muli %17, %c2 : index
      %20 = arith.addi %19, %18 : index
      %21 = arith.cmpi slt, %20, %c7 : index
      %22 = arith.andi %14, %21 : i1
      %23 = arith.maxsi %20, %c0 : index
      %24 = arith.minsi %23, %c6 : index
      %25 = linalg.index 0 : index
      %26 = linalg.index 1 : index
      %extracted = tensor.extract %3[%25, %26, %16, %24] : tensor<3x18x7x7xf32>
      %27 = arith.cmpf ogt, %extracted, %out : f32
      %28 = arith.andi %27, %22 : i1
      %29 = arith.select %28, %extracted, %out : f32
      %30 = arith.muli %11, %c2 : index
      %31 = arith.addi %30, %18 : index
      %32 = arith.index_cast %31 : index to i8
      %33 = arith.select %28, %32, %out_2 : i8
      linalg.yield %29, %33 : f32, i8
    } -> (tensor<3x18x4x4xf32>, tensor<3x18x4x4xi8>)
    brew.yield %9#0, %9#1 : tensor<3x18x4x4xf32>, tensor<3x18x4x4xi8>
  }
  plan.kernel @ip1_relu1 attributes {in_place = array<i64: -1>, layers = ["ip1+relu1"]} {
  ^bb0(%arg0: tensor<3x18x4x4xf32>, %arg1: tensor<40x18x4x4xf32>, %arg2: tensor<40xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x40xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %2 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x4x4xf32>, tensor<40x18x4x4xf32>) outs(%1 : tensor<3x40xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.mulf %in, %in_1 fastmath<contract> : f32
      %5 = arith.addf %out, %4 fastmath<reassoc,contract> : f32
      linalg.yield %5 : f32
    } -> tensor<3x40xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x40xf32>, tensor<40xf32>) outs(%0 : tensor<3x40xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f32
      %5 = arith.cmpf ogt, %4, %cst_0 : f32
      %6 = arith.mulf %4, %cst_0 fastmath<contract> : f32
      %7 = arith.select %5, %4, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<3x40xf32>
    brew.yield %3 : tensor<3x40xf32>
  }
  plan.kernel @ip2_loss attributes {in_place = array<i64: -1, -1, -1, -1, 0>, layers = ["ip2", "loss", "relu1"]} {
  ^bb0(%arg0: tensor<3x40xf32>, %arg1: tensor<10x40xf32>, %arg2: tensor<10xf32>, %arg3: tensor<3xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x10xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x10xf32>) -> tensor<3x10xf32>
    %2 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf32>, tensor<10x40xf32>) outs(%1 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f32
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f32
      linalg.yield %34 : f32
    } -> tensor<3x10xf32>
    %3 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x10xf32>, tensor<10xf32>) outs(%0 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.addf %in, %in_5 fastmath<contract> : f32
      linalg.yield %33 : f32
    } -> tensor<3x10xf32>
    %cst_0 = arith.constant -3.40282347E+38 : f32
    %4 = tensor.empty() : tensor<3xf32>
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<3xf32>) -> tensor<3xf32>
    %6 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<3x10xf32>) outs(%5 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.maximumf %out, %in fastmath<nnan,nsz> : f32
      linalg.yield %33 : f32
    } -> tensor<3xf32>
    %7 = tensor.empty() : tensor<3x10xf32>
    %8 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%3, %6 : tensor<3x10xf32>, tensor<3xf32>) outs(%7 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.subf %in, %in_5 fastmath<contract> : f32
      %34 = math.exp %33 : f32
      linalg.yield %34 : f32
    } -> tensor<3x10xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %9 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<3xf32>) -> tensor<3xf32>
    %10 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%8 : tensor<3x10xf32>) outs(%9 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %33 : f32
    } -> tensor<3xf32>
    %11 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<3x10xf32>, tensor<3xf32>) outs(%7 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.divf %in, %in_5 : f32
      linalg.yield %33 : f32
    } -> tensor<3x10xf32>
    %cst_2 = arith.constant 0.000000e+00 : f32
    %12 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = ["parallel"]} ins(%arg3 : tensor<3xf32>) outs(%4 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %cst_5 = arith.constant -1.000000e+00 : f32
      %33 = arith.cmpf ogt, %in, %cst_5 : f32
      %cst_6 = arith.constant 1.000000e+01 : f32
      %34 = arith.cmpf ogt, %cst_6, %in : f32
      %35 = arith.andi %33, %34 : i1
      %36 = arith.select %35, %in, %cst_2 : f32
      %37 = arith.fptosi %36 : f32 to i32
      %38 = arith.index_cast %37 : i32 to index
      %39 = linalg.index 0 : index
      %extracted = tensor.extract %11[%39, %38] : tensor<3x10xf32>
      %cst_7 = arith.constant 1.17549435E-38 : f32
      %40 = arith.cmpf ogt, %extracted, %cst_7 : f32
      %41 = arith.select %40, %extracted, %cst_7 : f32
      %42 = math.log %41 : f32
      %43 = arith.negf %42 : f32
      linalg.yield %43 : f32
    } -> tensor<3xf32>
    %13 = tensor.empty() : tensor<f32>
    %14 = linalg.fill ins(%cst_1 : f32) outs(%13 : tensor<f32>) -> tensor<f32>
    %15 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%12 : tensor<3xf32>) outs(%14 : tensor<f32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %33 : f32
    } -> tensor<f32>
    %16 = linalg.generic {indexing_maps = [#map17, #map17], iterator_types = []} ins(%15 : tensor<f32>) outs(%13 : tensor<f32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %cst_5 = arith.constant 3.000000e+00 : f32
      %33 = arith.divf %in, %cst_5 : f32
      linalg.yield %33 : f32
    } -> tensor<f32>
    %c0_i32 = arith.constant 0 : i32
    %17 = tensor.empty() : tensor<i32>
    %18 = linalg.fill ins(%c0_i32 : i32) outs(%17 : tensor<i32>) -> tensor<i32>
    %19 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%arg3 : tensor<3xf32>) outs(%18 : tensor<i32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: i32):
      %cst_5 = arith.constant -1.000000e+00 : f32
      %33 = arith.cmpf ogt, %in, %cst_5 : f32
      %cst_6 = arith.constant 1.000000e+01 : f32
      %34 = arith.cmpf ogt, %cst_6, %in : f32
      %35 = arith.andi %33, %34 : i1
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %36 = arith.muli %c0, %c3 : index
      %37 = linalg.index 0 : index
      %38 = arith.addi %36, %37 : index
      %c1 = arith.constant 1 : index
      %39 = arith.addi %38, %c1 : index
      %40 = arith.index_cast %39 : index to i32
      %c0_i32_7 = arith.constant 0 : i32
      %41 = arith.cmpi eq, %out, %c0_i32_7 : i32
      %42 = arith.select %35, %out, %40 : i32
      %43 = arith.select %41, %42, %out : i32
      linalg.yield %43 : i32
    } -> tensor<i32>
    %20 = tensor.empty() : tensor<3x10xf32>
    %cst_3 = arith.constant 1.000000e+00 : f32
    %21 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%11, %arg3 : tensor<3x10xf32>, tensor<3xf32>) outs(%20 : tensor<3x10xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %cst_6 = arith.constant 3.000000e+00 : f32
      %cst_7 = arith.constant -1.000000e+00 : f32
      %33 = arith.cmpf ogt, %in_5, %cst_7 : f32
      %cst_8 = arith.constant 1.000000e+01 : f32
      %34 = arith.cmpf ogt, %cst_8, %in_5 : f32
      %35 = arith.andi %33, %34 : i1
      %36 = arith.select %35, %in_5, %cst_2 : f32
      %37 = arith.fptosi %36 : f32 to i32
      %38 = arith.index_cast %37 : i32 to index
      %39 = linalg.index 1 : index
      %40 = arith.cmpi eq, %38, %39 : index
      %41 = arith.andi %40, %35 : i1
      %42 = arith.select %41, %cst_3, %cst_2 : f32
      %43 = arith.subf %in, %42 fastmath<contract> : f32
      %44 = arith.divf %cst_3, %cst_6 : f32
      %45 = arith.mulf %43, %44 fastmath<contract> : f32
      linalg.yield %45 : f32
    } -> tensor<3x10xf32>
    %cst_4 = arith.constant 0.000000e+00 : f32
    %22 = tensor.empty() : tensor<10x40xf32>
    %23 = linalg.fill ins(%cst_4 : f32) outs(%22 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %24 = linalg.generic {indexing_maps = [#map18, #map19, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %21 : tensor<3x40xf32>, tensor<3x10xf32>) outs(%23 : tensor<10x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f32
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f32
      linalg.yield %34 : f32
    } -> tensor<10x40xf32>
    %25 = tensor.empty() : tensor<10xf32>
    %26 = linalg.fill ins(%cst_4 : f32) outs(%25 : tensor<10xf32>) -> tensor<10xf32>
    %27 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%21 : tensor<3x10xf32>) outs(%26 : tensor<10xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %33 : f32
    } -> tensor<10xf32>
    %28 = tensor.empty() : tensor<3x40xf32>
    %29 = linalg.fill ins(%cst_4 : f32) outs(%28 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %30 = linalg.generic {indexing_maps = [#map11, #map18, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21, %arg1 : tensor<3x10xf32>, tensor<10x40xf32>) outs(%29 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f32
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f32
      linalg.yield %34 : f32
    } -> tensor<3x40xf32>
    %31 = tensor.empty() : tensor<3x40xf32>
    %32 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%30, %arg0 : tensor<3x40xf32>, tensor<3x40xf32>) outs(%31 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %33 = arith.cmpf ogt, %in_5, %cst_2 : f32
      %34 = arith.select %33, %cst_3, %cst_2 : f32
      %35 = arith.mulf %in, %34 fastmath<contract> : f32
      linalg.yield %35 : f32
    } -> tensor<3x40xf32>
    brew.yield %16, %19, %24, %27, %32 : tensor<f32>, tensor<i32>, tensor<10x40xf32>, tensor<10xf32>, tensor<3x40xf32>
  }
  plan.kernel @ip1_backward attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x18x4x4xf32>, %arg1: tensor<3x40xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<40x18x4x4xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<40x18x4x4xf32>) -> tensor<40x18x4x4xf32>
    %2 = linalg.generic {indexing_maps = [#map21, #map22, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x4x4xf32>, tensor<3x40xf32>) outs(%1 : tensor<40x18x4x4xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %3 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %4 = arith.addf %out, %3 fastmath<reassoc,contract> : f32
      linalg.yield %4 : f32
    } -> tensor<40x18x4x4xf32>
    brew.yield %2 : tensor<40x18x4x4xf32>
  }
  plan.kernel @ip1_backward_1 attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x40xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<40xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<40xf32>) -> tensor<40xf32>
    %2 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<3x40xf32>) outs(%1 : tensor<40xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<40xf32>
    brew.yield %2 : tensor<40xf32>
  }
  plan.kernel @ip1_pool2_backward attributes {in_place = array<i64: -1>, layers = ["ip1", "pool2"]} {
  ^bb0(%arg0: tensor<3x40xf32>, %arg1: tensor<40x18x4x4xf32>, %arg2: tensor<3x18x4x4xi8>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x18x4x4xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x18x4x4xf32>) -> tensor<3x18x4x4xf32>
    %2 = linalg.generic {indexing_maps = [#map24, #map21, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf32>, tensor<40x18x4x4xf32>) outs(%1 : tensor<3x18x4x4xf32>) attrs =  {brew.backward, brew.grid_loops = 2 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %7 = arith.mulf %in, %in_2 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<reassoc,contract> : f32
      linalg.yield %8 : f32
    } -> tensor<3x18x4x4xf32>
    %3 = tensor.empty() : tensor<1x1xi8>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<3x18x7x7xf32>
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<3x18x7x7xf32>) -> tensor<3x18x7x7xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %6 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%3 : tensor<1x1xi8>) outs(%5 : tensor<3x18x7x7xf32>) attrs =  {brew.backward, brew.grid_loops = 2 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %7 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %8 = arith.divui %7, %c2 : index
      %9 = arith.muli %8, %c2 : index
      %10 = arith.subi %7, %9 : index
      %11 = linalg.index 3 : index
      %12 = arith.divui %11, %c2 : index
      %13 = arith.muli %12, %c2 : index
      %14 = arith.subi %11, %13 : index
      %15 = linalg.index 0 : index
      %16 = linalg.index 1 : index
      %17 = arith.muli %10, %c2 : index
      %18 = arith.addi %17, %14 : index
      %extracted = tensor.extract %arg2[%15, %16, %8, %12] : tensor<3x18x4x4xi8>
      %19 = arith.index_cast %18 : index to i8
      %20 = arith.cmpi eq, %extracted, %19 : i8
      %extracted_2 = tensor.extract %2[%15, %16, %8, %12] : tensor<3x18x4x4xf32>
      %21 = arith.select %20, %extracted_2, %cst_1 : f32
      %22 = arith.addf %out, %21 fastmath<reassoc,contract> : f32
      linalg.yield %22 : f32
    } -> tensor<3x18x7x7xf32>
    brew.yield %6 : tensor<3x18x7x7xf32>
  }
  plan.kernel @conv2_backward attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf32>, %arg1: tensor<3x6x7x7xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<18x6x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<18x6x3x3xf32>) -> tensor<18x6x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x7x7xf32>) outs(%1 : tensor<18x6x3x3xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 4 : index
      %4 = linalg.index 1 : index
      %5 = linalg.index 5 : index
      %6 = linalg.index 2 : index
      %7 = arith.addi %5, %6 : index
      %c1 = arith.constant 1 : index
      %8 = arith.subi %7, %c1 : index
      %c7 = arith.constant 7 : index
      %9 = arith.cmpi slt, %8, %c7 : index
      %c0 = arith.constant 0 : index
      %10 = arith.cmpi sge, %8, %c0 : index
      %11 = arith.andi %9, %10 : i1
      %12 = arith.maxsi %8, %c0 : index
      %c6 = arith.constant 6 : index
      %13 = arith.minsi %12, %c6 : index
      %14 = linalg.index 6 : index
      %15 = linalg.index 3 : index
      %16 = arith.addi %14, %15 : index
      %17 = arith.subi %16, %c1 : index
      %18 = arith.cmpi slt, %17, %c7 : index
      %19 = arith.cmpi sge, %17, %c0 : index
      %20 = arith.andi %18, %19 : i1
      %21 = arith.andi %11, %20 : i1
      %22 = arith.maxsi %17, %c0 : index
      %23 = arith.minsi %22, %c6 : index
      %extracted = tensor.extract %arg1[%3, %4, %13, %23] : tensor<3x6x7x7xf32>
      %24 = arith.select %21, %extracted, %cst_0 : f32
      %25 = arith.mulf %24, %in fastmath<contract> : f32
      %26 = arith.addf %out, %25 fastmath<reassoc,contract> : f32
      linalg.yield %26 : f32
    } -> tensor<18x6x3x3xf32>
    brew.yield %2 : tensor<18x6x3x3xf32>
  }
  plan.kernel @conv2_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<18xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<18xf32>) -> tensor<18xf32>
    %2 = linalg.generic {indexing_maps = [#map26, #map27], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x7x7xf32>) outs(%1 : tensor<18xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<18xf32>
    brew.yield %2 : tensor<18xf32>
  }
  plan.kernel @conv2_backward_2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf32>, %arg1: tensor<18x6x3x3xf32>):
    %0 = tensor.empty() : tensor<18x3x3xi8>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<3x6x7x7xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x7x7xf32>) -> tensor<3x6x7x7xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map28, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0 : tensor<18x3x3xi8>) outs(%2 : tensor<3x6x7x7xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 1 : index
      %5 = linalg.index 0 : index
      %6 = linalg.index 4 : index
      %7 = linalg.index 2 : index
      %8 = linalg.index 5 : index
      %c1 = arith.constant 1 : index
      %9 = arith.addi %7, %c1 : index
      %10 = arith.subi %9, %8 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi sge, %10, %c0 : index
      %c7 = arith.constant 7 : index
      %12 = arith.cmpi slt, %10, %c7 : index
      %13 = arith.andi %11, %12 : i1
      %14 = arith.maxsi %10, %c0 : index
      %c6 = arith.constant 6 : index
      %15 = arith.minsi %14, %c6 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 6 : index
      %18 = arith.addi %16, %c1 : index
      %19 = arith.subi %18, %17 : index
      %20 = arith.cmpi sge, %19, %c0 : index
      %21 = arith.andi %13, %20 : i1
      %22 = arith.cmpi slt, %19, %c7 : index
      %23 = arith.andi %21, %22 : i1
      %24 = arith.maxsi %19, %c0 : index
      %25 = arith.minsi %24, %c6 : index
      %extracted = tensor.extract %arg0[%5, %6, %15, %25] : tensor<3x18x7x7xf32>
      %extracted_1 = tensor.extract %arg1[%6, %4, %8, %17] : tensor<18x6x3x3xf32>
      %26 = arith.mulf %extracted, %extracted_1 fastmath<contract> : f32
      %27 = arith.select %23, %26, %cst_0 : f32
      %28 = arith.addf %out, %27 fastmath<reassoc,contract> : f32
      linalg.yield %28 : f32
    } -> tensor<3x6x7x7xf32>
    brew.yield %3 : tensor<3x6x7x7xf32>
  }
  plan.kernel @pool1_backward attributes {in_place = array<i64: -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x7x7xi8>, %arg1: tensor<3x6x7x7xf32>):
    %0 = tensor.empty() : tensor<1x1xi8>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<3x6x14x14xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x14x14xf32>) -> tensor<3x6x14x14xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<1x1xi8>) outs(%2 : tensor<3x6x14x14xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %5 = arith.divui %4, %c2 : index
      %6 = arith.muli %5, %c2 : index
      %7 = arith.subi %4, %6 : index
      %8 = linalg.index 3 : index
      %9 = arith.divui %8, %c2 : index
      %10 = arith.muli %9, %c2 : index
      %11 = arith.subi %8, %10 : index
      %12 = linalg.index 0 : index
      %13 = linalg.index 1 : index
      %14 = arith.muli %7, %c2 : index
      %15 = arith.addi %14, %11 : index
      %extracted = tensor.extract %arg0[%12, %13, %5, %9] : tensor<3x6x7x7xi8>
      %16 = arith.index_cast %15 : index to i8
      %17 = arith.cmpi eq, %extracted, %16 : i8
      %extracted_1 = tensor.extract %arg1[%12, %13, %5, %9] : tensor<3x6x7x7xf32>
      %18 = arith.select %17, %extracted_1, %cst_0 : f32
      %19 = arith.addf %out, %18 fastmath<reassoc,contract> : f32
      linalg.yield %19 : f32
    } -> tensor<3x6x14x14xf32>
    brew.yield %3 : tensor<3x6x14x14xf32>
  }
  plan.kernel @conv1_backward attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf32>, %arg1: tensor<3x1x14x14xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<6x1x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6x1x3x3xf32>) -> tensor<6x1x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x14x14xf32>) outs(%1 : tensor<6x1x3x3xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 4 : index
      %4 = linalg.index 1 : index
      %5 = linalg.index 5 : index
      %6 = linalg.index 2 : index
      %7 = arith.addi %5, %6 : index
      %c1 = arith.constant 1 : index
      %8 = arith.subi %7, %c1 : index
      %c14 = arith.constant 14 : index
      %9 = arith.cmpi slt, %8, %c14 : index
      %c0 = arith.constant 0 : index
      %10 = arith.cmpi sge, %8, %c0 : index
      %11 = arith.andi %9, %10 : i1
      %12 = arith.maxsi %8, %c0 : index
      %c13 = arith.constant 13 : index
      %13 = arith.minsi %12, %c13 : index
      %14 = linalg.index 6 : index
      %15 = linalg.index 3 : index
      %16 = arith.addi %14, %15 : index
      %17 = arith.subi %16, %c1 : index
      %18 = arith.cmpi slt, %17, %c14 : index
      %19 = arith.cmpi sge, %17, %c0 : index
      %20 = arith.andi %18, %19 : i1
      %21 = arith.andi %11, %20 : i1
      %22 = arith.maxsi %17, %c0 : index
      %23 = arith.minsi %22, %c13 : index
      %extracted = tensor.extract %arg1[%3, %4, %13, %23] : tensor<3x1x14x14xf32>
      %24 = arith.select %21, %extracted, %cst_0 : f32
      %25 = arith.mulf %24, %in fastmath<contract> : f32
      %26 = arith.addf %out, %25 fastmath<reassoc,contract> : f32
      linalg.yield %26 : f32
    } -> tensor<6x1x3x3xf32>
    brew.yield %2 : tensor<6x1x3x3xf32>
  }
  plan.kernel @conv1_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<6xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
    %2 = linalg.generic {indexing_maps = [#map26, #map27], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x14x14xf32>) outs(%1 : tensor<6xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<6xf32>
    brew.yield %2 : tensor<6xf32>
  }
  plan.kernel @update_1 attributes {in_place = array<i64: 0, 2, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27>, layers = []} {
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<6x1x3x3xf32>, %arg2: tensor<6x1x3x3xf32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<6xf32>, %arg8: tensor<6xf32>, %arg9: tensor<6xf32>, %arg10: tensor<18x6x3x3xf32>, %arg11: tensor<18x6x3x3xf32>, %arg12: tensor<18x6x3x3xf32>, %arg13: tensor<18xf32>, %arg14: tensor<18xf32>, %arg15: tensor<18xf32>, %arg16: tensor<40x18x4x4xf32>, %arg17: tensor<40x18x4x4xf32>, %arg18: tensor<40x18x4x4xf32>, %arg19: tensor<40xf32>, %arg20: tensor<40xf32>, %arg21: tensor<40xf32>, %arg22: tensor<10x40xf32>, %arg23: tensor<10x40xf32>, %arg24: tensor<10x40xf32>, %arg25: tensor<10xf32>, %arg26: tensor<10xf32>, %arg27: tensor<10xf32>):
    %0 = tensor.empty() : tensor<6x1x3x3xf32>
    %1:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map29, #map29, #map29, #map29, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%0, %0 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>)
    %2 = tensor.empty() : tensor<6xf32>
    %3:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg7, %arg8, %arg9, %arg3, %arg4, %arg5, %arg6 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%2, %2 : tensor<6xf32>, tensor<6xf32>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 1 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<6xf32>, tensor<6xf32>)
    %4 = tensor.empty() : tensor<18x6x3x3xf32>
    %5:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map29, #map29, #map29, #map29, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg10, %arg11, %arg12, %arg3, %arg4, %arg5, %arg6 : tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%4, %4 : tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 2 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>)
    %6 = tensor.empty() : tensor<18xf32>
    %7:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg13, %arg14, %arg15, %arg3, %arg4, %arg5, %arg6 : tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%6, %6 : tensor<18xf32>, tensor<18xf32>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 3 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<18xf32>, tensor<18xf32>)
    %8 = tensor.empty() : tensor<40x18x4x4xf32>
    %9:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map29, #map29, #map29, #map29, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg16, %arg17, %arg18, %arg3, %arg4, %arg5, %arg6 : tensor<40x18x4x4xf32>, tensor<40x18x4x4xf32>, tensor<40x18x4x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%8, %8 : tensor<40x18x4x4xf32>, tensor<40x18x4x4xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 4 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<40x18x4x4xf32>, tensor<40x18x4x4xf32>)
    %10 = tensor.empty() : tensor<40xf32>
    %11:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg19, %arg20, %arg21, %arg3, %arg4, %arg5, %arg6 : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%10, %10 : tensor<40xf32>, tensor<40xf32>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 5 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<40xf32>, tensor<40xf32>)
    %12 = tensor.empty() : tensor<10x40xf32>
    %13:2 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map30, #map30, #map30, #map30, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%arg22, %arg23, %arg24, %arg3, %arg4, %arg5, %arg6 : tensor<10x40xf32>, tensor<10x40xf32>, tensor<10x40xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%12, %12 : tensor<10x40xf32>, tensor<10x40xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.sub_kernel = 6 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<10x40xf32>, tensor<10x40xf32>)
    %14 = tensor.empty() : tensor<10xf32>
    %15:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg25, %arg26, %arg27, %arg3, %arg4, %arg5, %arg6 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%14, %14 : tensor<10xf32>, tensor<10xf32>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 7 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<10xf32>, tensor<10xf32>)
    brew.yield %1#0, %1#1, %3#0, %3#1, %5#0, %5#1, %7#0, %7#1, %9#0, %9#1, %11#0, %11#1, %13#0, %13#1, %15#0, %15#1 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<18xf32>, tensor<18xf32>, tensor<40x18x4x4xf32>, tensor<40x18x4x4xf32>, tensor<40xf32>, tensor<40xf32>, tensor<10x40xf32>, tensor<10x40xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
