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
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<3x1x21x19xf32>, %arg2: tensor<6xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x6x11x10xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x6x11x10xf32>) -> tensor<3x6x11x10xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<6x1x3x3xf32>) outs(%1 : tensor<3x6x11x10xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 4 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %8 = arith.muli %6, %c2 : index
      %9 = arith.addi %8, %7 : index
      %c1 = arith.constant 1 : index
      %10 = arith.subi %9, %c1 : index
      %c21 = arith.constant 21 : index
      %11 = arith.cmpi slt, %10, %c21 : index
      %c0 = arith.constant 0 : index
      %12 = arith.cmpi sge, %10, %c0 : index
      %13 = arith.andi %11, %12 : i1
      %14 = arith.maxsi %10, %c0 : index
      %c20 = arith.constant 20 : index
      %15 = arith.minsi %14, %c20 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 6 : index
      %18 = arith.muli %16, %c2 : index
      %19 = arith.addi %18, %17 : index
      %20 = arith.subi %19, %c1 : index
      %c19 = arith.constant 19 : index
      %21 = arith.cmpi slt, %20, %c19 : index
      %22 = arith.cmpi sge, %20, %c0 : index
      %23 = arith.andi %21, %22 : i1
      %24 = arith.andi %13, %23 : i1
      %25 = arith.maxsi %20, %c0 : index
      %c18 = arith.constant 18 : index
      %26 = arith.minsi %25, %c18 : index
      %extracted = tensor.extract %arg1[%4, %5, %15, %26] : tensor<3x1x21x19xf32>
      %27 = arith.select %24, %extracted, %cst_0 : f32
      %28 = arith.mulf %27, %in fastmath<contract> : f32
      %29 = arith.addf %out, %28 fastmath<reassoc,contract> : f32
      linalg.yield %29 : f32
    } -> tensor<3x6x11x10xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x6x11x10xf32>, tensor<6xf32>) outs(%0 : tensor<3x6x11x10xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f32
      linalg.yield %4 : f32
    } -> tensor<3x6x11x10xf32>
    brew.yield %3 : tensor<3x6x11x10xf32>
  }
  plan.kernel @pool1 attributes {in_place = array<i64: -1, -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32>):
    %0 = tensor.empty() : tensor<3x3xi8>
    %cst = arith.constant -3.40282347E+38 : f32
    %1 = tensor.empty() : tensor<3x6x6x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x6x6xf32>) -> tensor<3x6x6x6xf32>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x6x6x6xi8>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x6x6x6xi8>) -> tensor<3x6x6x6xi8>
    %5:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<3x3xi8>) outs(%2, %4 : tensor<3x6x6x6xf32>, tensor<3x6x6x6xi8>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_0: i8):
      %6 = linalg.index 2 : index
      %7 = linalg.index 4 : index
      %c2 = arith.constant 2 : index
      %8 = arith.muli %6, %c2 : index
      %9 = arith.addi %8, %7 : index
      %c1 = arith.constant 1 : index
      %10 = arith.subi %9, %c1 : index
      %c11 = arith.constant 11 : index
      %11 = arith.cmpi slt, %10, %c11 : index
      %c0 = arith.constant 0 : index
      %12 = arith.cmpi sge, %10, %c0 : index
      %13 = arith.andi %11, %12 : i1
      %14 = arith.maxsi %10, %c0 : index
      %c10 = arith.constant 10 : index
      %15 = arith.minsi %14, %c10 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 5 : index
      %18 = arith.muli %16, %c2 : index
      %19 = arith.addi %18, %17 : index
      %20 = arith.subi %19, %c1 : index
      %21 = arith.cmpi slt, %20, %c10 : index
      %22 = arith.cmpi sge, %20, %c0 : index
      %23 = arith.andi %21, %22 : i1
      %24 = arith.andi %13, %23 : i1
      %25 = arith.maxsi %20, %c0 : index
      %c9 = arith.constant 9 : index
      %26 = arith.minsi %25, %c9 : index
      %27 = linalg.index 0 : index
      %28 = linalg.index 1 : index
      %extracted = tensor.extract %arg0[%27, %28, %15, %26] : tensor<3x6x11x10xf32>
      %29 = arith.cmpf ogt, %extracted, %out : f32
      %30 = arith.andi %29, %24 : i1
      %31 = arith.select %30, %extracted, %out : f32
      %c3 = arith.constant 3 : index
      %32 = arith.muli %7, %c3 : index
      %33 = arith.addi %32, %17 : index
      %34 = arith.index_cast %33 : index to i8
      %35 = arith.select %30, %34, %out_0 : i8
      linalg.yield %31, %35 : f32, i8
    } -> (tensor<3x6x6x6xf32>, tensor<3x6x6x6xi8>)
    brew.yield %5#0, %5#1 : tensor<3x6x6x6xf32>, tensor<3x6x6x6xi8>
  }
  plan.kernel @conv2_pool2 attributes {in_place = array<i64: -1, -1>, layers = ["conv2", "pool2"]} {
  ^bb0(%arg0: tensor<18x6x3x3xf32>, %arg1: tensor<3x6x6x6xf32>, %arg2: tensor<18xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x18x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x18x3x3xf32>) -> tensor<3x18x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<18x6x3x3xf32>) outs(%1 : tensor<3x18x3x3xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %10 = linalg.index 0 : index
      %11 = linalg.index 4 : index
      %12 = linalg.index 2 : index
      %13 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %14 = arith.muli %12, %c2 : index
      %15 = arith.addi %14, %13 : index
      %c1 = arith.constant 1 : index
      %16 = arith.subi %15, %c1 : index
      %c6 = arith.constant 6 : index
      %17 = arith.cmpi slt, %16, %c6 : index
      %c0 = arith.constant 0 : index
      %18 = arith.cmpi sge, %16, %c0 : index
      %19 = arith.andi %17, %18 : i1
      %20 = arith.maxsi %16, %c0 : index
      %c5 = arith.constant 5 : index
      %21 = arith.minsi %20, %c5 : index
      %22 = linalg.index 3 : index
      %23 = linalg.index 6 : index
      %24 = arith.muli %22, %c2 : index
      %25 = arith.addi %24, %23 : index
      %26 = arith.subi %25, %c1 : index
      %27 = arith.cmpi slt, %26, %c6 : index
      %28 = arith.cmpi sge, %26, %c0 : index
      %29 = arith.andi %27, %28 : i1
      %30 = arith.andi %19, %29 : i1
      %31 = arith.maxsi %26, %c0 : index
      %32 = arith.minsi %31, %c5 : index
      %extracted = tensor.extract %arg1[%10, %11, %21, %32] : tensor<3x6x6x6xf32>
      %33 = arith.select %30, %extracted, %cst_0 : f32
      %34 = arith.mulf %33, %in fastmath<contract> : f32
      %35 = arith.addf %out, %34 fastmath<reassoc,contract> : f32
      linalg.yield %35 : f32
    } -> tensor<3x18x3x3xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x18x3x3xf32>, tensor<18xf32>) outs(%0 : tensor<3x18x3x3xf32>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %10 = arith.addf %in, %in_2 fastmath<contract> : f32
      linalg.yield %10 : f32
    } -> tensor<3x18x3x3xf32>
    %4 = tensor.empty() : tensor<3x3xi8>
    %cst_1 = arith.constant -3.40282347E+38 : f32
    %5 = tensor.empty() : tensor<3x18x2x2xf32>
    %6 = linalg.fill ins(%cst_1 : f32) outs(%5 : tensor<3x18x2x2xf32>) -> tensor<3x18x2x2xf32>
    %c0_i8 = arith.constant 0 : i8
    %7 = tensor.empty() : tensor<3x18x2x2xi8>
    %8 = linalg.fill ins(%c0_i8 : i8) outs(%7 : tensor<3x18x2x2xi8>) -> tensor<3x18x2x2xi8>
    %9:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%4 : tensor<3x3xi8>) outs(%6, %8 : tensor<3x18x2x2xf32>, tensor<3x18x2x2xi8>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_2: i8):
      %10 = linalg.index 2 : index
      %11 = linalg.index 4 : index
      %c2 = arith.constant 2 : index
      %12 = arith.muli %10, %c2 : index
      %13 = arith.addi %12, %11 : index
      %c1 = arith.constant 1 : index
      %14 = arith.subi %13, %c1 : index
      %c3 = arith.constant 3 : index
      %15 = arith.cmpi slt, %14, %c3 : index
      %c0 = arith.constant 0 : index
      %16 = arith.cmpi sge, %14, %c0 : index
      %17 = arith.andi %15, %16 : i1
      %18 = arith.maxsi %14, %c0 : index
      %19 = arith.minsi %18, %c2 : index
      %20 = linalg.index 3 : index
      %21 = linalg.index 5 : index
      %22 = arith.muli %20, %c2 : index
      %23 = arith.addi %22, %21 : index
      %24 = arith.subi %23, %c1 : index
      %25 = arith.cmpi slt, %24, %c3 : index
      %26 = arith.cmpi sge, %24, %c0 : index
      %27 = arith.andi %25, %26 : i1
      %28 = arith.andi %17, %27 : i1
      %29 = arith.maxsi %24, %c0 : index
      %30 = arith.minsi %29, %c2 : index
      %31 = linalg.index 0 : index
      %32 = linalg.index 1 : index
      %extracted = tensor.extract %3[%31, %32, %19, %30] : tensor<3x18x3x3xf32>
      %33 = arith.cmpf ogt, %extracted, %out : f32
      %34 = arith.andi %33, %28 : i1
      %35 = arith.select %34, %extracted, %out : f32
      %36 = arith.muli %11, %c3 : index
      %37 = arith.addi %36, %21 : index
      %38 = arith.index_cast %37 : index to i8
      %39 = arith.select %34, %38, %out_2 : i8
      linalg.yield %35, %39 : f32, i8
    } -> (tensor<3x18x2x2xf32>, tensor<3x18x2x2xi8>)
    brew.yield %9#0, %9#1 : tensor<3x18x2x2xf32>, tensor<3x18x2x2xi8>
  }
  plan.kernel @ip1_relu1_ip2 attributes {in_place = array<i64: -1, -1, -1, -1, -1>, layers = ["ip1+relu1", "ip2", "loss", "relu1"]} {
  ^bb0(%arg0: tensor<3x18x2x2xf32>, %arg1: tensor<40x18x2x2xf32>, %arg2: tensor<40xf32>, %arg3: tensor<10x40xf32>, %arg4: tensor<10xf32>, %arg5: tensor<3xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x40xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %2 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x2x2xf32>, tensor<40x18x2x2xf32>) outs(%1 : tensor<3x40xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x40xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x40xf32>, tensor<40xf32>) outs(%0 : tensor<3x40xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.addf %in, %in_6 fastmath<contract> : f32
      %38 = arith.cmpf ogt, %37, %cst_0 : f32
      %39 = arith.mulf %37, %cst_0 fastmath<contract> : f32
      %40 = arith.select %38, %37, %39 : f32
      linalg.yield %40 : f32
    } -> tensor<3x40xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<3x10xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<3x10xf32>) -> tensor<3x10xf32>
    %6 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %arg3 : tensor<3x40xf32>, tensor<10x40xf32>) outs(%5 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x10xf32>
    %7 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%6, %arg4 : tensor<3x10xf32>, tensor<10xf32>) outs(%4 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.addf %in, %in_6 fastmath<contract> : f32
      linalg.yield %37 : f32
    } -> tensor<3x10xf32>
    %cst_2 = arith.constant -3.40282347E+38 : f32
    %8 = tensor.empty() : tensor<3xf32>
    %9 = linalg.fill ins(%cst_2 : f32) outs(%8 : tensor<3xf32>) -> tensor<3xf32>
    %10 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<3x10xf32>) outs(%9 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.maximumf %out, %in fastmath<nnan,nsz> : f32
      linalg.yield %37 : f32
    } -> tensor<3xf32>
    %11 = tensor.empty() : tensor<3x10xf32>
    %12 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%7, %10 : tensor<3x10xf32>, tensor<3xf32>) outs(%11 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.subf %in, %in_6 fastmath<contract> : f32
      %38 = math.exp %37 : f32
      linalg.yield %38 : f32
    } -> tensor<3x10xf32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    %13 = linalg.fill ins(%cst_3 : f32) outs(%8 : tensor<3xf32>) -> tensor<3xf32>
    %14 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%12 : tensor<3x10xf32>) outs(%13 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<3xf32>
    %15 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%12, %14 : tensor<3x10xf32>, tensor<3xf32>) outs(%11 : tensor<3x10xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.divf %in, %in_6 : f32
      linalg.yield %37 : f32
    } -> tensor<3x10xf32>
    %16 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = ["parallel"]} ins(%arg5 : tensor<3xf32>) outs(%8 : tensor<3xf32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant -1.000000e+00 : f32
      %37 = arith.cmpf ogt, %in, %cst_6 : f32
      %cst_7 = arith.constant 1.000000e+01 : f32
      %38 = arith.cmpf ogt, %cst_7, %in : f32
      %39 = arith.andi %37, %38 : i1
      %40 = arith.select %39, %in, %cst_0 : f32
      %41 = arith.fptosi %40 : f32 to i32
      %42 = arith.index_cast %41 : i32 to index
      %43 = linalg.index 0 : index
      %extracted = tensor.extract %15[%43, %42] : tensor<3x10xf32>
      %cst_8 = arith.constant 1.17549435E-38 : f32
      %44 = arith.cmpf ogt, %extracted, %cst_8 : f32
      %45 = arith.select %44, %extracted, %cst_8 : f32
      %46 = math.log %45 : f32
      %47 = arith.negf %46 : f32
      linalg.yield %47 : f32
    } -> tensor<3xf32>
    %17 = tensor.empty() : tensor<f32>
    %18 = linalg.fill ins(%cst_3 : f32) outs(%17 : tensor<f32>) -> tensor<f32>
    %19 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%16 : tensor<3xf32>) outs(%18 : tensor<f32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<f32>
    %20 = linalg.generic {indexing_maps = [#map17, #map17], iterator_types = []} ins(%19 : tensor<f32>) outs(%17 : tensor<f32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant 3.000000e+00 : f32
      %37 = arith.divf %in, %cst_6 : f32
      linalg.yield %37 : f32
    } -> tensor<f32>
    %c0_i32 = arith.constant 0 : i32
    %21 = tensor.empty() : tensor<i32>
    %22 = linalg.fill ins(%c0_i32 : i32) outs(%21 : tensor<i32>) -> tensor<i32>
    %23 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%arg5 : tensor<3xf32>) outs(%22 : tensor<i32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: i32):
      %cst_6 = arith.constant -1.000000e+00 : f32
      %37 = arith.cmpf ogt, %in, %cst_6 : f32
      %cst_7 = arith.constant 1.000000e+01 : f32
      %38 = arith.cmpf ogt, %cst_7, %in : f32
      %39 = arith.andi %37, %38 : i1
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %40 = arith.muli %c0, %c3 : index
      %41 = linalg.index 0 : index
      %42 = arith.addi %40, %41 : index
      %c1 = arith.constant 1 : index
      %43 = arith.addi %42, %c1 : index
      %44 = arith.index_cast %43 : index to i32
      %c0_i32_8 = arith.constant 0 : i32
      %45 = arith.cmpi eq, %out, %c0_i32_8 : i32
      %46 = arith.select %39, %out, %44 : i32
      %47 = arith.select %45, %46, %out : i32
      linalg.yield %47 : i32
    } -> tensor<i32>
    %24 = tensor.empty() : tensor<3x10xf32>
    %cst_4 = arith.constant 1.000000e+00 : f32
    %25 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%15, %arg5 : tensor<3x10xf32>, tensor<3xf32>) outs(%24 : tensor<3x10xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %cst_7 = arith.constant 3.000000e+00 : f32
      %cst_8 = arith.constant -1.000000e+00 : f32
      %37 = arith.cmpf ogt, %in_6, %cst_8 : f32
      %cst_9 = arith.constant 1.000000e+01 : f32
      %38 = arith.cmpf ogt, %cst_9, %in_6 : f32
      %39 = arith.andi %37, %38 : i1
      %40 = arith.select %39, %in_6, %cst_0 : f32
      %41 = arith.fptosi %40 : f32 to i32
      %42 = arith.index_cast %41 : i32 to index
      %43 = linalg.index 1 : index
      %44 = arith.cmpi eq, %42, %43 : index
      %45 = arith.andi %44, %39 : i1
      %46 = arith.select %45, %cst_4, %cst_0 : f32
      %47 = arith.subf %in, %46 fastmath<contract> : f32
      %48 = arith.divf %cst_4, %cst_7 : f32
      %49 = arith.mulf %47, %48 fastmath<contract> : f32
      linalg.yield %49 : f32
    } -> tensor<3x10xf32>
    %cst_5 = arith.constant 0.000000e+00 : f32
    %26 = tensor.empty() : tensor<10x40xf32>
    %27 = linalg.fill ins(%cst_5 : f32) outs(%26 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %28 = linalg.generic {indexing_maps = [#map18, #map19, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %25 : tensor<3x40xf32>, tensor<3x10xf32>) outs(%27 : tensor<10x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<10x40xf32>
    %29 = tensor.empty() : tensor<10xf32>
    %30 = linalg.fill ins(%cst_5 : f32) outs(%29 : tensor<10xf32>) -> tensor<10xf32>
    %31 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%25 : tensor<3x10xf32>) outs(%30 : tensor<10xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<10xf32>
    %32 = tensor.empty() : tensor<3x40xf32>
    %33 = linalg.fill ins(%cst_5 : f32) outs(%32 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %34 = linalg.generic {indexing_maps = [#map11, #map18, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%25, %arg3 : tensor<3x10xf32>, tensor<10x40xf32>) outs(%33 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x40xf32>
    %35 = tensor.empty() : tensor<3x40xf32>
    %36 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%34, %3 : tensor<3x40xf32>, tensor<3x40xf32>) outs(%35 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.cmpf ogt, %in_6, %cst_0 : f32
      %38 = arith.select %37, %cst_4, %cst_0 : f32
      %39 = arith.mulf %in, %38 fastmath<contract> : f32
      linalg.yield %39 : f32
    } -> tensor<3x40xf32>
    brew.yield %20, %23, %28, %31, %36 : tensor<f32>, tensor<i32>, tensor<10x40xf32>, tensor<10xf32>, tensor<3x40xf32>
  }
  plan.kernel @ip1_backward attributes {in_place = array<i64: -1, -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x18x2x2xf32>, %arg1: tensor<3x40xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<40x18x2x2xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<40x18x2x2xf32>) -> tensor<40x18x2x2xf32>
    %2 = linalg.generic {indexing_maps = [#map21, #map22, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x2x2xf32>, tensor<3x40xf32>) outs(%1 : tensor<40x18x2x2xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %6 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %7 = arith.addf %out, %6 fastmath<reassoc,contract> : f32
      linalg.yield %7 : f32
    } -> tensor<40x18x2x2xf32>
    %3 = tensor.empty() : tensor<40xf32>
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<40xf32>) -> tensor<40xf32>
    %5 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%arg1 : tensor<3x40xf32>) outs(%4 : tensor<40xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %6 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %6 : f32
    } -> tensor<40xf32>
    brew.yield %2, %5 : tensor<40x18x2x2xf32>, tensor<40xf32>
  }
  plan.kernel @ip1_pool2_backward attributes {in_place = array<i64: -1>, layers = ["ip1", "pool2"]} {
  ^bb0(%arg0: tensor<3x40xf32>, %arg1: tensor<40x18x2x2xf32>, %arg2: tensor<3x18x2x2xi8>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x18x2x2xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x18x2x2xf32>) -> tensor<3x18x2x2xf32>
    %2 = linalg.generic {indexing_maps = [#map24, #map21, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf32>, tensor<40x18x2x2xf32>) outs(%1 : tensor<3x18x2x2xf32>) attrs =  {brew.backward, brew.grid_loops = 2 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %7 = arith.mulf %in, %in_2 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<reassoc,contract> : f32
      linalg.yield %8 : f32
    } -> tensor<3x18x2x2xf32>
    %3 = tensor.empty() : tensor<2x2xi8>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %4 = tensor.empty() : tensor<3x18x3x3xf32>
    %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<3x18x3x3xf32>) -> tensor<3x18x3x3xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %6 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%3 : tensor<2x2xi8>) outs(%5 : tensor<3x18x3x3xf32>) attrs =  {brew.backward, brew.grid_loops = 2 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %7 = linalg.index 2 : index
      %8 = linalg.index 4 : index
      %c1 = arith.constant 1 : index
      %9 = arith.addi %7, %c1 : index
      %c2 = arith.constant 2 : index
      %10 = arith.divui %9, %c2 : index
      %11 = arith.subi %10, %8 : index
      %12 = arith.muli %11, %c2 : index
      %13 = arith.subi %9, %12 : index
      %c0 = arith.constant 0 : index
      %14 = arith.cmpi sge, %11, %c0 : index
      %c3 = arith.constant 3 : index
      %15 = arith.cmpi slt, %13, %c3 : index
      %16 = arith.andi %14, %15 : i1
      %17 = arith.maxsi %11, %c0 : index
      %18 = arith.minsi %17, %c1 : index
      %19 = linalg.index 3 : index
      %20 = linalg.index 5 : index
      %21 = arith.addi %19, %c1 : index
      %22 = arith.divui %21, %c2 : index
      %23 = arith.subi %22, %20 : index
      %24 = arith.muli %23, %c2 : index
      %25 = arith.subi %21, %24 : index
      %26 = arith.cmpi sge, %23, %c0 : index
      %27 = arith.andi %16, %26 : i1
      %28 = arith.cmpi slt, %25, %c3 : index
      %29 = arith.andi %27, %28 : i1
      %30 = arith.maxsi %23, %c0 : index
      %31 = arith.minsi %30, %c1 : index
      %32 = linalg.index 0 : index
      %33 = linalg.index 1 : index
      %34 = arith.muli %13, %c3 : index
      %35 = arith.addi %34, %25 : index
      %extracted = tensor.extract %arg2[%32, %33, %18, %31] : tensor<3x18x2x2xi8>
      %36 = arith.index_cast %35 : index to i8
      %37 = arith.cmpi eq, %extracted, %36 : i8
      %38 = arith.andi %37, %29 : i1
      %extracted_2 = tensor.extract %2[%32, %33, %18, %31] : tensor<3x18x2x2xf32>
      %39 = arith.select %38, %extracted_2, %cst_1 : f32
      %40 = arith.addf %out, %39 fastmath<reassoc,contract> : f32
      linalg.yield %40 : f32
    } -> tensor<3x18x3x3xf32>
    brew.yield %6 : tensor<3x18x3x3xf32>
  }
  plan.kernel @conv2_backward attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32>, %arg1: tensor<3x6x6x6xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<18x6x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<18x6x3x3xf32>) -> tensor<18x6x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x3x3xf32>) outs(%1 : tensor<18x6x3x3xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 4 : index
      %4 = linalg.index 1 : index
      %5 = linalg.index 5 : index
      %6 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %7 = arith.muli %5, %c2 : index
      %8 = arith.addi %7, %6 : index
      %c1 = arith.constant 1 : index
      %9 = arith.subi %8, %c1 : index
      %c6 = arith.constant 6 : index
      %10 = arith.cmpi slt, %9, %c6 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi sge, %9, %c0 : index
      %12 = arith.andi %10, %11 : i1
      %13 = arith.maxsi %9, %c0 : index
      %c5 = arith.constant 5 : index
      %14 = arith.minsi %13, %c5 : index
      %15 = linalg.index 6 : index
      %16 = linalg.index 3 : index
      %17 = arith.muli %15, %c2 : index
      %18 = arith.addi %17, %16 : index
      %19 = arith.subi %18, %c1 : index
      %20 = arith.cmpi slt, %19, %c6 : index
      %21 = arith.cmpi sge, %19, %c0 : index
      %22 = arith.andi %20, %21 : i1
      %23 = arith.andi %12, %22 : i1
      %24 = arith.maxsi %19, %c0 : index
      %25 = arith.minsi %24, %c5 : index
      %extracted = tensor.extract %arg1[%3, %4, %14, %25] : tensor<3x6x6x6xf32>
      %26 = arith.select %23, %extracted, %cst_0 : f32
      %27 = arith.mulf %26, %in fastmath<contract> : f32
      %28 = arith.addf %out, %27 fastmath<reassoc,contract> : f32
      linalg.yield %28 : f32
    } -> tensor<18x6x3x3xf32>
    brew.yield %2 : tensor<18x6x3x3xf32>
  }
  plan.kernel @conv2_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<18xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<18xf32>) -> tensor<18xf32>
    %2 = linalg.generic {indexing_maps = [#map26, #map27], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x3x3xf32>) outs(%1 : tensor<18xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<18xf32>
    brew.yield %2 : tensor<18xf32>
  }
  plan.kernel @conv2_backward_2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32>, %arg1: tensor<18x6x3x3xf32>):
    %0 = tensor.empty() : tensor<18x2x2xi8>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<3x6x6x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x6x6xf32>) -> tensor<3x6x6x6xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map28, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0 : tensor<18x2x2xi8>) outs(%2 : tensor<3x6x6x6xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 1 : index
      %5 = linalg.index 0 : index
      %6 = linalg.index 4 : index
      %7 = linalg.index 2 : index
      %8 = linalg.index 5 : index
      %c1 = arith.constant 1 : index
      %9 = arith.addi %7, %c1 : index
      %c2 = arith.constant 2 : index
      %10 = arith.divui %9, %c2 : index
      %11 = arith.subi %10, %8 : index
      %12 = arith.muli %11, %c2 : index
      %13 = arith.subi %9, %12 : index
      %c0 = arith.constant 0 : index
      %14 = arith.cmpi sge, %11, %c0 : index
      %c3 = arith.constant 3 : index
      %15 = arith.cmpi slt, %11, %c3 : index
      %16 = arith.andi %14, %15 : i1
      %17 = arith.cmpi slt, %13, %c3 : index
      %18 = arith.andi %16, %17 : i1
      %19 = arith.maxsi %11, %c0 : index
      %20 = arith.minsi %19, %c2 : index
      %21 = arith.maxsi %13, %c0 : index
      %22 = arith.minsi %21, %c2 : index
      %23 = linalg.index 3 : index
      %24 = linalg.index 6 : index
      %25 = arith.addi %23, %c1 : index
      %26 = arith.divui %25, %c2 : index
      %27 = arith.subi %26, %24 : index
      %28 = arith.muli %27, %c2 : index
      %29 = arith.subi %25, %28 : index
      %30 = arith.cmpi sge, %27, %c0 : index
      %31 = arith.andi %18, %30 : i1
      %32 = arith.cmpi slt, %27, %c3 : index
      %33 = arith.andi %31, %32 : i1
      %34 = arith.cmpi slt, %29, %c3 : index
      %35 = arith.andi %33, %34 : i1
      %36 = arith.maxsi %27, %c0 : index
      %37 = arith.minsi %36, %c2 : index
      %38 = arith.maxsi %29, %c0 : index
      %39 = arith.minsi %38, %c2 : index
      %extracted = tensor.extract %arg0[%5, %6, %20, %37] : tensor<3x18x3x3xf32>
      %extracted_1 = tensor.extract %arg1[%6, %4, %22, %39] : tensor<18x6x3x3xf32>
      %40 = arith.mulf %extracted, %extracted_1 fastmath<contract> : f32
      %41 = arith.select %35, %40, %cst_0 : f32
      %42 = arith.addf %out, %41 fastmath<reassoc,contract> : f32
      linalg.yield %42 : f32
    } -> tensor<3x6x6x6xf32>
    brew.yield %3 : tensor<3x6x6x6xf32>
  }
  plan.kernel @pool1_backward attributes {in_place = array<i64: -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x6x6xi8>, %arg1: tensor<3x6x6x6xf32>):
    %0 = tensor.empty() : tensor<2x2xi8>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = tensor.empty() : tensor<3x6x11x10xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x11x10xf32>) -> tensor<3x6x11x10xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2 : tensor<3x6x11x10xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 2 : index
      %5 = linalg.index 4 : index
      %c1 = arith.constant 1 : index
      %6 = arith.addi %4, %c1 : index
      %c2 = arith.constant 2 : index
      %7 = arith.divui %6, %c2 : index
      %8 = arith.subi %7, %5 : index
      %9 = arith.muli %8, %c2 : index
      %10 = arith.subi %6, %9 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi sge, %8, %c0 : index
      %c3 = arith.constant 3 : index
      %12 = arith.cmpi slt, %10, %c3 : index
      %13 = arith.andi %11, %12 : i1
      %14 = arith.maxsi %8, %c0 : index
      %c5 = arith.constant 5 : index
      %15 = arith.minsi %14, %c5 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 5 : index
      %18 = arith.addi %16, %c1 : index
      %19 = arith.divui %18, %c2 : index
      %20 = arith.subi %19, %17 : index
      %21 = arith.muli %20, %c2 : index
      %22 = arith.subi %18, %21 : index
      %23 = arith.cmpi sge, %20, %c0 : index
      %24 = arith.andi %13, %23 : i1
      %25 = arith.cmpi slt, %22, %c3 : index
      %26 = arith.andi %24, %25 : i1
      %27 = arith.maxsi %20, %c0 : index
      %28 = arith.minsi %27, %c5 : index
      %29 = linalg.index 0 : index
      %30 = linalg.index 1 : index
      %31 = arith.muli %10, %c3 : index
      %32 = arith.addi %31, %22 : index
      %extracted = tensor.extract %arg0[%29, %30, %15, %28] : tensor<3x6x6x6xi8>
      %33 = arith.index_cast %32 : index to i8
      %34 = arith.cmpi eq, %extracted, %33 : i8
      %35 = arith.andi %34, %26 : i1
      %extracted_1 = tensor.extract %arg1[%29, %30, %15, %28] : tensor<3x6x6x6xf32>
      %36 = arith.select %35, %extracted_1, %cst_0 : f32
      %37 = arith.addf %out, %36 fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<3x6x11x10xf32>
    brew.yield %3 : tensor<3x6x11x10xf32>
  }
  plan.kernel @conv1_backward attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32>, %arg1: tensor<3x1x21x19xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<6x1x3x3xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6x1x3x3xf32>) -> tensor<6x1x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map25, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x11x10xf32>) outs(%1 : tensor<6x1x3x3xf32>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 4 : index
      %4 = linalg.index 1 : index
      %5 = linalg.index 5 : index
      %6 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %7 = arith.muli %5, %c2 : index
      %8 = arith.addi %7, %6 : index
      %c1 = arith.constant 1 : index
      %9 = arith.subi %8, %c1 : index
      %c21 = arith.constant 21 : index
      %10 = arith.cmpi slt, %9, %c21 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi sge, %9, %c0 : index
      %12 = arith.andi %10, %11 : i1
      %13 = arith.maxsi %9, %c0 : index
      %c20 = arith.constant 20 : index
      %14 = arith.minsi %13, %c20 : index
      %15 = linalg.index 6 : index
      %16 = linalg.index 3 : index
      %17 = arith.muli %15, %c2 : index
      %18 = arith.addi %17, %16 : index
      %19 = arith.subi %18, %c1 : index
      %c19 = arith.constant 19 : index
      %20 = arith.cmpi slt, %19, %c19 : index
      %21 = arith.cmpi sge, %19, %c0 : index
      %22 = arith.andi %20, %21 : i1
      %23 = arith.andi %12, %22 : i1
      %24 = arith.maxsi %19, %c0 : index
      %c18 = arith.constant 18 : index
      %25 = arith.minsi %24, %c18 : index
      %extracted = tensor.extract %arg1[%3, %4, %14, %25] : tensor<3x1x21x19xf32>
      %26 = arith.select %23, %extracted, %cst_0 : f32
      %27 = arith.mulf %26, %in fastmath<contract> : f32
      %28 = arith.addf %out, %27 fastmath<reassoc,contract> : f32
      linalg.yield %28 : f32
    } -> tensor<6x1x3x3xf32>
    brew.yield %2 : tensor<6x1x3x3xf32>
  }
  plan.kernel @conv1_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<6xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
    %2 = linalg.generic {indexing_maps = [#map26, #map27], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x11x10xf32>) outs(%1 : tensor<6xf32>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<6xf32>
    brew.yield %2 : tensor<6xf32>
  }
  plan.kernel @update_1 attributes {in_place = array<i64: 0, 2, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27>, layers = []} {
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<6x1x3x3xf32>, %arg2: tensor<6x1x3x3xf32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<6xf32>, %arg8: tensor<6xf32>, %arg9: tensor<6xf32>, %arg10: tensor<18x6x3x3xf32>, %arg11: tensor<18x6x3x3xf32>, %arg12: tensor<18x6x3x3xf32>, %arg13: tensor<18xf32>, %arg14: tensor<18xf32>, %arg15: tensor<18xf32>, %arg16: tensor<40x18x2x2xf32>, %arg17: tensor<40x18x2x2xf32>, %arg18: tensor<40x18x2x2xf32>, %arg19: tensor<40xf32>, %arg20: tensor<40xf32>, %arg21: tensor<40xf32>, %arg22: tensor<10x40xf32>, %arg23: tensor<10x40xf32>, %arg24: tensor<10x40xf32>, %arg25: tensor<10xf32>, %arg26: tensor<10xf32>, %arg27: tensor<10xf32>):
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
    %8 = tensor.empty() : tensor<40x18x2x2xf32>
    %9:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map29, #map29, #map29, #map29, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg16, %arg17, %arg18, %arg3, %arg4, %arg5, %arg6 : tensor<40x18x2x2xf32>, tensor<40x18x2x2xf32>, tensor<40x18x2x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%8, %8 : tensor<40x18x2x2xf32>, tensor<40x18x2x2xf32>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 4 : i64} {
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
    } -> (tensor<40x18x2x2xf32>, tensor<40x18x2x2xf32>)
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
    brew.yield %1#0, %1#1, %3#0, %3#1, %5#0, %5#1, %7#0, %7#1, %9#0, %9#1, %11#0, %11#1, %13#0, %13#1, %15#0, %15#1 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<18xf32>, tensor<18xf32>, tensor<40x18x2x2xf32>, tensor<40x18x2x2xf32>, tensor<40xf32>, tensor<40xf32>, tensor<10x40xf32>, tensor<10x40xf32>, tensor<10xf32>, tensor<10xf32>
  }
}
