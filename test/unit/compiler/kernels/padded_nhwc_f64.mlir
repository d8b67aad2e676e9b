// All kernels of a LeNet-like net without library calls: convolutions, poolings, inner
// products, loss, their gradients and the solver's update. Written by regenerate.py.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2)>
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
#map21 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3, d1, d2)>
#map22 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0)>
#map23 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d2)>
#map24 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4)>
#map25 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>
#map26 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map27 = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
#map28 = affine_map<(d0, d1, d2, d3) -> (d0)>
#map29 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6)>
#map30 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map31 = affine_map<(d0, d1, d2, d3) -> ()>
#map32 = affine_map<(d0, d1) -> ()>
module {
  plan.kernel @conv1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<6x1x3x3xf64>, %arg1: tensor<3x1x14x14xf64>, %arg2: tensor<6xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<6x1x3x3xf64>) outs(%1 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = linalg.index 0 : index
      %12 = linalg.index 1 : index
      %13 = linalg.index 2 : index
      %14 = linalg.index 3 : index
      %15 = linalg.index 4 : index
      %16 = linalg.index 5 : index
      %17 = linalg.index 6 : index
      %18 = linalg.index 0 : index
      %19 = linalg.index 1 : index
      %20 = linalg.index 2 : index
      %21 = linalg.index 3 : index
      %22 = linalg.index 4 : index
      %23 = linalg.index 5 : index
      %24 = linalg.index 6 : index
      %25 = linalg.index 0 : index
      %26 = linalg.index 1 : index
      %27 = linalg.index 2 : index
      %28 = linalg.index 3 : index
      %29 = linalg.index 4 : index
      %30 = linalg.index 5 : index
      %31 = linalg.index 6 : index
      %32 = arith.addi %19, %30 : index
      %c1 = arith.constant 1 : index
      %33 = arith.subi %32, %c1 : index
      %c14 = arith.constant 14 : index
      %34 = arith.cmpi slt, %33, %c14 : index
      %c0 = arith.constant 0 : index
      %35 = arith.cmpi sge, %33, %c0 : index
      %36 = arith.andi %34, %35 : i1
      %37 = arith.maxsi %33, %c0 : index
      %c13 = arith.constant 13 : index
      %38 = arith.minsi %37, %c13 : index
      %39 = linalg.index 0 : index
      %40 = linalg.index 1 : index
      %41 = linalg.index 2 : index
      %42 = linalg.index 3 : index
      %43 = linalg.index 4 : index
      %44 = linalg.index 5 : index
      %45 = linalg.index 6 : index
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = linalg.index 4 : index
      %51 = linalg.index 5 : index
      %52 = linalg.index 6 : index
      %53 = arith.addi %41, %52 : index
      %54 = arith.subi %53, %c1 : index
      %55 = arith.cmpi slt, %54, %c14 : index
      %56 = arith.cmpi sge, %54, %c0 : index
      %57 = arith.andi %55, %56 : i1
      %58 = arith.andi %36, %57 : i1
      %59 = arith.maxsi %54, %c0 : index
      %60 = arith.minsi %59, %c13 : index
      %extracted = tensor.extract %arg1[%4, %15, %38, %60] : tensor<3x1x14x14xf64>
      %61 = arith.select %58, %extracted, %cst_0 : f64
      %62 = arith.mulf %61, %in fastmath<contract> : f64
      %63 = arith.addf %out, %62 fastmath<reassoc,contract> : f64
      linalg.yield %63 : f64
    } -> tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>, tensor<6xf64>) outs(%0 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_1: f64, %out: f64):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f64
      linalg.yield %4 : f64
    } -> tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool1 attributes {in_place = array<i64: -1, -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<2x2xi8>
    %cst = arith.constant -3.4028234663852886E+38 : f64
    %1 = tensor.empty() : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f64) outs(%1 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>
    %5:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2, %4 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f64, %out_0: i8):
      %6 = linalg.index 0 : index
      %7 = linalg.index 1 : index
      %8 = linalg.index 2 : index
      %9 = linalg.index 3 : index
      %10 = linalg.index 4 : index
      %11 = linalg.index 5 : index
      %12 = linalg.index 0 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 2 : index
      %15 = linalg.index 3 : index
      %16 = linalg.index 4 : index
      %17 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %18 = arith.muli %7, %c2 : index
      %19 = arith.addi %18, %16 : index
      %20 = linalg.index 0 : index
      %21 = linalg.index 1 : index
      %22 = linalg.index 2 : index
      %23 = linalg.index 3 : index
      %24 = linalg.index 4 : index
      %25 = linalg.index 5 : index
      %26 = linalg.index 0 : index
      %27 = linalg.index 1 : index
      %28 = linalg.index 2 : index
      %29 = linalg.index 3 : index
      %30 = linalg.index 4 : index
      %31 = linalg.index 5 : index
      %32 = arith.muli %22, %c2 : index
      %33 = arith.addi %32, %31 : index
      %34 = linalg.index 0 : index
      %35 = linalg.index 1 : index
      %36 = linalg.index 2 : index
      %37 = linalg.index 3 : index
      %38 = linalg.index 4 : index
      %39 = linalg.index 5 : index
      %40 = linalg.index 0 : index
      %41 = linalg.index 1 : index
      %42 = linalg.index 2 : index
      %43 = linalg.index 3 : index
      %44 = linalg.index 4 : index
      %45 = linalg.index 5 : index
      %extracted = tensor.extract %arg0[%34, %43, %19, %33] : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
      %46 = arith.cmpf ogt, %extracted, %out : f64
      %47 = arith.select %46, %extracted, %out : f64
      %48 = arith.muli %16, %c2 : index
      %49 = arith.addi %48, %31 : index
      %50 = arith.index_cast %49 : index to i8
      %51 = arith.select %46, %50, %out_0 : i8
      linalg.yield %47, %51 : f64, i8
    } -> (tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>)
    brew.yield %5#0, %5#1 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<18x6x3x3xf64>, %arg1: tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>, %arg2: tensor<18xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<18x6x3x3xf64>) outs(%1 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = linalg.index 0 : index
      %12 = linalg.index 1 : index
      %13 = linalg.index 2 : index
      %14 = linalg.index 3 : index
      %15 = linalg.index 4 : index
      %16 = linalg.index 5 : index
      %17 = linalg.index 6 : index
      %18 = linalg.index 0 : index
      %19 = linalg.index 1 : index
      %20 = linalg.index 2 : index
      %21 = linalg.index 3 : index
      %22 = linalg.index 4 : index
      %23 = linalg.index 5 : index
      %24 = linalg.index 6 : index
      %25 = linalg.index 0 : index
      %26 = linalg.index 1 : index
      %27 = linalg.index 2 : index
      %28 = linalg.index 3 : index
      %29 = linalg.index 4 : index
      %30 = linalg.index 5 : index
      %31 = linalg.index 6 : index
      %32 = arith.addi %19, %30 : index
      %c1 = arith.constant 1 : index
      %33 = arith.subi %32, %c1 : index
      %c7 = arith.constant 7 : index
      %34 = arith.cmpi slt, %33, %c7 : index
      %c0 = arith.constant 0 : index
      %35 = arith.cmpi sge, %33, %c0 : index
      %36 = arith.andi %34, %35 : i1
      %37 = arith.maxsi %33, %c0 : index
      %c6 = arith.constant 6 : index
      %38 = arith.minsi %37, %c6 : index
      %39 = linalg.index 0 : index
      %40 = linalg.index 1 : index
      %41 = linalg.index 2 : index
      %42 = linalg.index 3 : index
      %43 = linalg.index 4 : index
      %44 = linalg.index 5 : index
      %45 = linalg.index 6 : index
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = linalg.index 4 : index
      %51 = linalg.index 5 : index
      %52 = linalg.index 6 : index
      %53 = arith.addi %41, %52 : index
      %54 = arith.subi %53, %c1 : index
      %55 = arith.cmpi slt, %54, %c7 : index
      %56 = arith.cmpi sge, %54, %c0 : index
      %57 = arith.andi %55, %56 : i1
      %58 = arith.andi %36, %57 : i1
      %59 = arith.maxsi %54, %c0 : index
      %60 = arith.minsi %59, %c6 : index
      %extracted = tensor.extract %arg1[%4, %15, %38, %60] : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
      %61 = arith.select %58, %extracted, %cst_0 : f64
      %62 = arith.mulf %61, %in fastmath<contract> : f64
      %63 = arith.addf %out, %62 fastmath<reassoc,contract> : f64
      linalg.yield %63 : f64
    } -> tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %3 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>, tensor<18xf64>) outs(%0 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_1: f64, %out: f64):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f64
      linalg.yield %4 : f64
    } -> tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool2 attributes {in_place = array<i64: -1, -1>, layers = ["pool2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<2x2xi8>
    %cst = arith.constant -3.4028234663852886E+38 : f64
    %1 = tensor.empty() : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f64) outs(%1 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>
    %5:2 = linalg.generic {indexing_maps = [#map4, #map5, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2, %4 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f64, %out_0: i8):
      %6 = linalg.index 0 : index
      %7 = linalg.index 1 : index
      %8 = linalg.index 2 : index
      %9 = linalg.index 3 : index
      %10 = linalg.index 4 : index
      %11 = linalg.index 5 : index
      %12 = linalg.index 0 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 2 : index
      %15 = linalg.index 3 : index
      %16 = linalg.index 4 : index
      %17 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %18 = arith.muli %7, %c2 : index
      %19 = arith.addi %18, %16 : index
      %c7 = arith.constant 7 : index
      %20 = arith.cmpi slt, %19, %c7 : index
      %c0 = arith.constant 0 : index
      %21 = arith.maxsi %19, %c0 : index
      %c6 = arith.constant 6 : index
      %22 = arith.minsi %21, %c6 : index
      %23 = linalg.index 0 : index
      %24 = linalg.index 1 : index
      %25 = linalg.index 2 : index
      %26 = linalg.index 3 : index
      %27 = linalg.index 4 : index
      %28 = linalg.index 5 : index
      %29 = linalg.index 0 : index
      %30 = linalg.index 1 : index
      %31 = linalg.index 2 : index
      %32 = linalg.index 3 : index
      %33 = linalg.index 4 : index
      %34 = linalg.index 5 : index
      %35 = arith.muli %25, %c2 : index
      %36 = arith.addi %35, %34 : index
      %37 = arith.cmpi slt, %36, %c7 : index
      %38 = arith.andi %20, %37 : i1
      %39 = arith.maxsi %36, %c0 : index
      %40 = arith.minsi %39, %c6 : index
      %41 = linalg.index 0 : index
      %42 = linalg.index 1 : index
      %43 = linalg.index 2 : index
      %44 = linalg.index 3 : index
      %45 = linalg.index 4 : index
      %46 = linalg.index 5 : index
      %47 = linalg.index 0 : index
      %48 = linalg.index 1 : index
      %49 = linalg.index 2 : index
      %50 = linalg.index 3 : index
      %51 = linalg.index 4 : index
      %52 = linalg.index 5 : index
      %extracted = tensor.extract %arg0[%41, %50, %22, %40] : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
      %53 = arith.cmpf ogt, %extracted, %out : f64
      %54 = arith.andi %53, %38 : i1
      %55 = arith.select %54, %extracted, %out : f64
      %56 = arith.muli %16, %c2 : index
      %57 = arith.addi %56, %34 : index
      %58 = arith.index_cast %57 : index to i8
      %59 = arith.select %54, %58, %out_0 : i8
      linalg.yield %55, %59 : f64, i8
    } -> (tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>)
    brew.yield %5#0, %5#1 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @ip1_relu1 attributes {in_place = array<i64: -1>, layers = ["ip1+relu1"]} {
  ^bb0(%arg0: tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg2: tensor<40xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<3x40xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<3x40xf64>) -> tensor<3x40xf64>
    %2 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<3x40xf64>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_1: f64, %out: f64):
      %4 = arith.mulf %in, %in_1 fastmath<contract> : f64
      %5 = arith.addf %out, %4 fastmath<reassoc,contract> : f64
      linalg.yield %5 : f64
    } -> tensor<3x40xf64>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %3 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x40xf64>, tensor<40xf64>) outs(%0 : tensor<3x40xf64>) attrs =  {brew.grid_loops = 2 : i64, brew.layer = "ip1+relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_1: f64, %out: f64):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f64
      %5 = arith.cmpf ogt, %4, %cst_0 : f64
      %6 = arith.mulf %4, %cst_0 fastmath<contract> : f64
      %7 = arith.select %5, %4, %6 : f64
      linalg.yield %7 : f64
    } -> tensor<3x40xf64>
    brew.yield %3 : tensor<3x40xf64>
  }
  plan.kernel @ip2_loss attributes {in_place = array<i64: -1, -1, -1, -1, 0>, layers = ["ip2", "loss", "relu1"]} {
  ^bb0(%arg0: tensor<3x40xf64>, %arg1: tensor<10x40xf64>, %arg2: tensor<10xf64>, %arg3: tensor<3xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<3x10xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<3x10xf64>) -> tensor<3x10xf64>
    %2 = linalg.generic {indexing_maps = [#map11, #map12, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf64>, tensor<10x40xf64>) outs(%1 : tensor<3x10xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f64
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f64
      linalg.yield %34 : f64
    } -> tensor<3x10xf64>
    %3 = linalg.generic {indexing_maps = [#map9, #map10, #map9], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x10xf64>, tensor<10xf64>) outs(%0 : tensor<3x10xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.addf %in, %in_5 fastmath<contract> : f64
      linalg.yield %33 : f64
    } -> tensor<3x10xf64>
    %cst_0 = arith.constant -3.4028234663852886E+38 : f64
    %4 = tensor.empty() : tensor<3xf64>
    %5 = linalg.fill ins(%cst_0 : f64) outs(%4 : tensor<3xf64>) -> tensor<3xf64>
    %6 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<3x10xf64>) outs(%5 : tensor<3xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.maximumf %out, %in fastmath<nnan,nsz> : f64
      linalg.yield %33 : f64
    } -> tensor<3xf64>
    %7 = tensor.empty() : tensor<3x10xf64>
    %8 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%3, %6 : tensor<3x10xf64>, tensor<3xf64>) outs(%7 : tensor<3x10xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.subf %in, %in_5 fastmath<contract> : f64
      %34 = math.exp %33 : f64
      linalg.yield %34 : f64
    } -> tensor<3x10xf64>
    %cst_1 = arith.constant 0.000000e+00 : f64
    %9 = linalg.fill ins(%cst_1 : f64) outs(%4 : tensor<3xf64>) -> tensor<3xf64>
    %10 = linalg.generic {indexing_maps = [#map9, #map14], iterator_types = ["parallel", "reduction"]} ins(%8 : tensor<3x10xf64>) outs(%9 : tensor<3xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %33 : f64
    } -> tensor<3xf64>
    %11 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%8, %10 : tensor<3x10xf64>, tensor<3xf64>) outs(%7 : tensor<3x10xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.divf %in, %in_5 : f64
      linalg.yield %33 : f64
    } -> tensor<3x10xf64>
    %cst_2 = arith.constant 0.000000e+00 : f64
    %12 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = ["parallel"]} ins(%arg3 : tensor<3xf64>) outs(%4 : tensor<3xf64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %cst_5 = arith.constant -1.000000e+00 : f64
      %33 = arith.cmpf ogt, %in, %cst_5 : f64
      %cst_6 = arith.constant 1.000000e+01 : f64
      %34 = arith.cmpf ogt, %cst_6, %in : f64
      %35 = arith.andi %33, %34 : i1
      %36 = arith.select %35, %in, %cst_2 : f64
      %37 = arith.fptosi %36 : f64 to i32
      %38 = arith.index_cast %37 : i32 to index
      %39 = linalg.index 0 : index
      %extracted = tensor.extract %11[%39, %38] : tensor<3x10xf64>
      %cst_7 = arith.constant 1.1754943508222875E-38 : f64
      %40 = arith.cmpf ogt, %extracted, %cst_7 : f64
      %41 = arith.select %40, %extracted, %cst_7 : f64
      %42 = math.log %41 : f64
      %43 = arith.negf %42 : f64
      linalg.yield %43 : f64
    } -> tensor<3xf64>
    %13 = tensor.empty() : tensor<f64>
    %14 = linalg.fill ins(%cst_1 : f64) outs(%13 : tensor<f64>) -> tensor<f64>
    %15 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%12 : tensor<3xf64>) outs(%14 : tensor<f64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %33 : f64
    } -> tensor<f64>
    %16 = linalg.generic {indexing_maps = [#map17, #map17], iterator_types = []} ins(%15 : tensor<f64>) outs(%13 : tensor<f64>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %cst_5 = arith.constant 3.000000e+00 : f64
      %33 = arith.divf %in, %cst_5 : f64
      linalg.yield %33 : f64
    } -> tensor<f64>
    %c0_i32 = arith.constant 0 : i32
    %17 = tensor.empty() : tensor<i32>
    %18 = linalg.fill ins(%c0_i32 : i32) outs(%17 : tensor<i32>) -> tensor<i32>
    %19 = linalg.generic {indexing_maps = [#map15, #map16], iterator_types = ["reduction"]} ins(%arg3 : tensor<3xf64>) outs(%18 : tensor<i32>) attrs =  {brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: i32):
      %cst_5 = arith.constant -1.000000e+00 : f64
      %33 = arith.cmpf ogt, %in, %cst_5 : f64
      %cst_6 = arith.constant 1.000000e+01 : f64
      %34 = arith.cmpf ogt, %cst_6, %in : f64
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
    %20 = tensor.empty() : tensor<3x10xf64>
    %cst_3 = arith.constant 1.000000e+00 : f64
    %21 = linalg.generic {indexing_maps = [#map9, #map14, #map9], iterator_types = ["parallel", "parallel"]} ins(%11, %arg3 : tensor<3x10xf64>, tensor<3xf64>) outs(%20 : tensor<3x10xf64>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "loss", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %cst_6 = arith.constant 3.000000e+00 : f64
      %cst_7 = arith.constant -1.000000e+00 : f64
      %33 = arith.cmpf ogt, %in_5, %cst_7 : f64
      %cst_8 = arith.constant 1.000000e+01 : f64
      %34 = arith.cmpf ogt, %cst_8, %in_5 : f64
      %35 = arith.andi %33, %34 : i1
      %36 = arith.select %35, %in_5, %cst_2 : f64
      %37 = arith.fptosi %36 : f64 to i32
      %38 = arith.index_cast %37 : i32 to index
      %39 = linalg.index 1 : index
      %40 = arith.cmpi eq, %38, %39 : index
      %41 = arith.andi %40, %35 : i1
      %42 = arith.select %41, %cst_3, %cst_2 : f64
      %43 = arith.subf %in, %42 fastmath<contract> : f64
      %44 = arith.divf %cst_3, %cst_6 : f64
      %45 = arith.mulf %43, %44 fastmath<contract> : f64
      linalg.yield %45 : f64
    } -> tensor<3x10xf64>
    %cst_4 = arith.constant 0.000000e+00 : f64
    %22 = tensor.empty() : tensor<10x40xf64>
    %23 = linalg.fill ins(%cst_4 : f64) outs(%22 : tensor<10x40xf64>) -> tensor<10x40xf64>
    %24 = linalg.generic {indexing_maps = [#map18, #map19, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %21 : tensor<3x40xf64>, tensor<3x10xf64>) outs(%23 : tensor<10x40xf64>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f64
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f64
      linalg.yield %34 : f64
    } -> tensor<10x40xf64>
    %25 = tensor.empty() : tensor<10xf64>
    %26 = linalg.fill ins(%cst_4 : f64) outs(%25 : tensor<10xf64>) -> tensor<10xf64>
    %27 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%21 : tensor<3x10xf64>) outs(%26 : tensor<10xf64>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %33 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %33 : f64
    } -> tensor<10xf64>
    %28 = tensor.empty() : tensor<3x40xf64>
    %29 = linalg.fill ins(%cst_4 : f64) outs(%28 : tensor<3x40xf64>) -> tensor<3x40xf64>
    %30 = linalg.generic {indexing_maps = [#map11, #map18, #map13], iterator_types = ["parallel", "parallel", "reduction"]} ins(%21, %arg1 : tensor<3x10xf64>, tensor<10x40xf64>) outs(%29 : tensor<3x40xf64>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "ip2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.mulf %in, %in_5 fastmath<contract> : f64
      %34 = arith.addf %out, %33 fastmath<reassoc,contract> : f64
      linalg.yield %34 : f64
    } -> tensor<3x40xf64>
    %31 = tensor.empty() : tensor<3x40xf64>
    %32 = linalg.generic {indexing_maps = [#map9, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%30, %arg0 : tensor<3x40xf64>, tensor<3x40xf64>) outs(%31 : tensor<3x40xf64>) attrs =  {brew.backward, brew.grid_loops = 0 : i64, brew.layer = "relu1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %33 = arith.cmpf ogt, %in_5, %cst_2 : f64
      %34 = arith.select %33, %cst_3, %cst_2 : f64
      %35 = arith.mulf %in, %34 fastmath<contract> : f64
      linalg.yield %35 : f64
    } -> tensor<3x40xf64>
    brew.yield %16, %19, %24, %27, %32 : tensor<f64>, tensor<i32>, tensor<10x40xf64>, tensor<10xf64>, tensor<3x40xf64>
  }
  plan.kernel @ip1_backward attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x40xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.generic {indexing_maps = [#map21, #map22, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<3x40xf64>) outs(%1 : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_0: f64, %out: f64):
      %3 = arith.mulf %in, %in_0 fastmath<contract> : f64
      %4 = arith.addf %out, %3 fastmath<reassoc,contract> : f64
      linalg.yield %4 : f64
    } -> tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %2 : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @ip1_backward_1 attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x40xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<40xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<40xf64>) -> tensor<40xf64>
    %2 = linalg.generic {indexing_maps = [#map20, #map14], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<3x40xf64>) outs(%1 : tensor<40xf64>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %3 : f64
    } -> tensor<40xf64>
    brew.yield %2 : tensor<40xf64>
  }
  plan.kernel @ip1_backward_2 attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x40xf64>, %arg1: tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.generic {indexing_maps = [#map24, #map21, #map23], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf64>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "ip1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_0: f64, %out: f64):
      %3 = arith.mulf %in, %in_0 fastmath<contract> : f64
      %4 = arith.addf %out, %3 fastmath<reassoc,contract> : f64
      linalg.yield %4 : f64
    } -> tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %2 : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool2_backward attributes {in_place = array<i64: -1>, layers = ["pool2"]} {
  ^bb0(%arg0: tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<1x1xi8>
    %cst = arith.constant 0.000000e+00 : f64
    %1 = tensor.empty() : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f64) outs(%1 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %3 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<1x1xi8>) outs(%2 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "pool2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f64):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %10 = arith.divui %5, %c2 : index
      %11 = arith.muli %10, %c2 : index
      %12 = arith.subi %5, %11 : index
      %13 = linalg.index 0 : index
      %14 = linalg.index 1 : index
      %15 = linalg.index 2 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = arith.divui %15, %c2 : index
      %20 = arith.muli %19, %c2 : index
      %21 = arith.subi %15, %20 : index
      %22 = linalg.index 0 : index
      %23 = linalg.index 1 : index
      %24 = linalg.index 2 : index
      %25 = linalg.index 3 : index
      %26 = linalg.index 4 : index
      %27 = linalg.index 5 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = arith.muli %12, %c2 : index
      %35 = arith.addi %34, %21 : index
      %extracted = tensor.extract %arg0[%22, %31, %10, %19] : tensor<3x18x4x4xi8, #brew.layout<0, 2, 3, 1>>
      %36 = arith.index_cast %35 : index to i8
      %37 = arith.cmpi eq, %extracted, %36 : i8
      %extracted_1 = tensor.extract %arg1[%22, %31, %10, %19] : tensor<3x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
      %38 = arith.select %37, %extracted_1, %cst_0 : f64
      %39 = arith.addf %out, %38 fastmath<reassoc,contract> : f64
      linalg.yield %39 : f64
    } -> tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv2_backward attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<18x6x3x3xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<18x6x3x3xf64>) -> tensor<18x6x3x3xf64>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %2 = linalg.generic {indexing_maps = [#map25, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<18x6x3x3xf64>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
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
      %extracted = tensor.extract %arg1[%3, %4, %13, %23] : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
      %24 = arith.select %21, %extracted, %cst_0 : f64
      %25 = arith.mulf %24, %in fastmath<contract> : f64
      %26 = arith.addf %out, %25 fastmath<reassoc,contract> : f64
      linalg.yield %26 : f64
    } -> tensor<18x6x3x3xf64>
    brew.yield %2 : tensor<18x6x3x3xf64>
  }
  plan.kernel @conv2_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<18xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<18xf64>) -> tensor<18xf64>
    %2 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<18xf64>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %3 : f64
    } -> tensor<18xf64>
    brew.yield %2 : tensor<18xf64>
  }
  plan.kernel @conv2_backward_2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<18x6x3x3xf64>):
    %0 = tensor.empty() : tensor<18x3x3xi8>
    %cst = arith.constant 0.000000e+00 : f64
    %1 = tensor.empty() : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f64) outs(%1 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %3 = linalg.generic {indexing_maps = [#map29, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0 : tensor<18x3x3xi8>) outs(%2 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv2", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f64):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = linalg.index 0 : index
      %12 = linalg.index 1 : index
      %13 = linalg.index 2 : index
      %14 = linalg.index 3 : index
      %15 = linalg.index 4 : index
      %16 = linalg.index 5 : index
      %17 = linalg.index 6 : index
      %18 = linalg.index 0 : index
      %19 = linalg.index 1 : index
      %20 = linalg.index 2 : index
      %21 = linalg.index 3 : index
      %22 = linalg.index 4 : index
      %23 = linalg.index 5 : index
      %24 = linalg.index 6 : index
      %25 = linalg.index 0 : index
      %26 = linalg.index 1 : index
      %27 = linalg.index 2 : index
      %28 = linalg.index 3 : index
      %29 = linalg.index 4 : index
      %30 = linalg.index 5 : index
      %31 = linalg.index 6 : index
      %32 = linalg.index 0 : index
      %33 = linalg.index 1 : index
      %34 = linalg.index 2 : index
      %35 = linalg.index 3 : index
      %36 = linalg.index 4 : index
      %37 = linalg.index 5 : index
      %38 = linalg.index 6 : index
      %c1 = arith.constant 1 : index
      %39 = arith.addi %26, %c1 : index
      %40 = arith.subi %39, %37 : index
      %c0 = arith.constant 0 : index
      %41 = arith.cmpi sge, %40, %c0 : index
      %c7 = arith.constant 7 : index
      %42 = arith.cmpi slt, %40, %c7 : index
      %43 = arith.andi %41, %42 : i1
      %44 = arith.maxsi %40, %c0 : index
      %c6 = arith.constant 6 : index
      %45 = arith.minsi %44, %c6 : index
      %46 = linalg.index 0 : index
      %47 = linalg.index 1 : index
      %48 = linalg.index 2 : index
      %49 = linalg.index 3 : index
      %50 = linalg.index 4 : index
      %51 = linalg.index 5 : index
      %52 = linalg.index 6 : index
      %53 = linalg.index 0 : index
      %54 = linalg.index 1 : index
      %55 = linalg.index 2 : index
      %56 = linalg.index 3 : index
      %57 = linalg.index 4 : index
      %58 = linalg.index 5 : index
      %59 = linalg.index 6 : index
      %60 = arith.addi %48, %c1 : index
      %61 = arith.subi %60, %59 : index
      %62 = arith.cmpi sge, %61, %c0 : index
      %63 = arith.andi %43, %62 : i1
      %64 = arith.cmpi slt, %61, %c7 : index
      %65 = arith.andi %63, %64 : i1
      %66 = arith.maxsi %61, %c0 : index
      %67 = arith.minsi %66, %c6 : index
      %extracted = tensor.extract %arg0[%11, %22, %45, %67] : tensor<3x18x7x7xf64, #brew.layout<0, 2, 3, 1>>
      %extracted_1 = tensor.extract %arg1[%22, %7, %37, %59] : tensor<18x6x3x3xf64>
      %68 = arith.mulf %extracted, %extracted_1 fastmath<contract> : f64
      %69 = arith.select %65, %68, %cst_0 : f64
      %70 = arith.addf %out, %69 fastmath<reassoc,contract> : f64
      linalg.yield %70 : f64
    } -> tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool1_backward attributes {in_place = array<i64: -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<1x1xi8>
    %cst = arith.constant 0.000000e+00 : f64
    %1 = tensor.empty() : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f64) outs(%1 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %3 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<1x1xi8>) outs(%2 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "pool1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: i8, %out: f64):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %c2 = arith.constant 2 : index
      %10 = arith.divui %5, %c2 : index
      %11 = arith.muli %10, %c2 : index
      %12 = arith.subi %5, %11 : index
      %13 = linalg.index 0 : index
      %14 = linalg.index 1 : index
      %15 = linalg.index 2 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = arith.divui %15, %c2 : index
      %20 = arith.muli %19, %c2 : index
      %21 = arith.subi %15, %20 : index
      %22 = linalg.index 0 : index
      %23 = linalg.index 1 : index
      %24 = linalg.index 2 : index
      %25 = linalg.index 3 : index
      %26 = linalg.index 4 : index
      %27 = linalg.index 5 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = arith.muli %12, %c2 : index
      %35 = arith.addi %34, %21 : index
      %extracted = tensor.extract %arg0[%22, %31, %10, %19] : tensor<3x6x7x7xi8, #brew.layout<0, 2, 3, 1>>
      %36 = arith.index_cast %35 : index to i8
      %37 = arith.cmpi eq, %extracted, %36 : i8
      %extracted_1 = tensor.extract %arg1[%22, %31, %10, %19] : tensor<3x6x7x7xf64, #brew.layout<0, 2, 3, 1>>
      %38 = arith.select %37, %extracted_1, %cst_0 : f64
      %39 = arith.addf %out, %38 fastmath<reassoc,contract> : f64
      linalg.yield %39 : f64
    } -> tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv1_backward attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x1x14x14xf64>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<6x1x3x3xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<6x1x3x3xf64>) -> tensor<6x1x3x3xf64>
    %cst_0 = arith.constant 0.000000e+00 : f64
    %2 = linalg.generic {indexing_maps = [#map25, #map26], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<6x1x3x3xf64>) attrs =  {brew.backward, brew.grid_loops = 4 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
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
      %extracted = tensor.extract %arg1[%3, %4, %13, %23] : tensor<3x1x14x14xf64>
      %24 = arith.select %21, %extracted, %cst_0 : f64
      %25 = arith.mulf %24, %in fastmath<contract> : f64
      %26 = arith.addf %out, %25 fastmath<reassoc,contract> : f64
      linalg.yield %26 : f64
    } -> tensor<6x1x3x3xf64>
    brew.yield %2 : tensor<6x1x3x3xf64>
  }
  plan.kernel @conv1_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant 0.000000e+00 : f64
    %0 = tensor.empty() : tensor<6xf64>
    %1 = linalg.fill ins(%cst : f64) outs(%0 : tensor<6xf64>) -> tensor<6xf64>
    %2 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x14x14xf64, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<6xf64>) attrs =  {brew.backward, brew.grid_loops = 1 : i64, brew.layer = "conv1", brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %out: f64):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f64
      linalg.yield %3 : f64
    } -> tensor<6xf64>
    brew.yield %2 : tensor<6xf64>
  }
  plan.kernel @update_1 attributes {in_place = array<i64: 0, 2, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27>, layers = []} {
  ^bb0(%arg0: tensor<6x1x3x3xf64>, %arg1: tensor<6x1x3x3xf64>, %arg2: tensor<6x1x3x3xf64>, %arg3: tensor<f64>, %arg4: tensor<f64>, %arg5: tensor<f64>, %arg6: tensor<f64>, %arg7: tensor<6xf64>, %arg8: tensor<6xf64>, %arg9: tensor<6xf64>, %arg10: tensor<18x6x3x3xf64>, %arg11: tensor<18x6x3x3xf64>, %arg12: tensor<18x6x3x3xf64>, %arg13: tensor<18xf64>, %arg14: tensor<18xf64>, %arg15: tensor<18xf64>, %arg16: tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg17: tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg18: tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, %arg19: tensor<40xf64>, %arg20: tensor<40xf64>, %arg21: tensor<40xf64>, %arg22: tensor<10x40xf64>, %arg23: tensor<10x40xf64>, %arg24: tensor<10x40xf64>, %arg25: tensor<10xf64>, %arg26: tensor<10xf64>, %arg27: tensor<10xf64>):
    %0 = tensor.empty() : tensor<6x1x3x3xf64>
    %1:2 = linalg.generic {indexing_maps = [#map30, #map30, #map30, #map31, #map31, #map31, #map31, #map30, #map30], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 : tensor<6x1x3x3xf64>, tensor<6x1x3x3xf64>, tensor<6x1x3x3xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%0, %0 : tensor<6x1x3x3xf64>, tensor<6x1x3x3xf64>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 0 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<6x1x3x3xf64>, tensor<6x1x3x3xf64>)
    %2 = tensor.empty() : tensor<6xf64>
    %3:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg7, %arg8, %arg9, %arg3, %arg4, %arg5, %arg6 : tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%2, %2 : tensor<6xf64>, tensor<6xf64>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 1 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<6xf64>, tensor<6xf64>)
    %4 = tensor.empty() : tensor<18x6x3x3xf64>
    %5:2 = linalg.generic {indexing_maps = [#map30, #map30, #map30, #map31, #map31, #map31, #map31, #map30, #map30], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg10, %arg11, %arg12, %arg3, %arg4, %arg5, %arg6 : tensor<18x6x3x3xf64>, tensor<18x6x3x3xf64>, tensor<18x6x3x3xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%4, %4 : tensor<18x6x3x3xf64>, tensor<18x6x3x3xf64>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 2 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<18x6x3x3xf64>, tensor<18x6x3x3xf64>)
    %6 = tensor.empty() : tensor<18xf64>
    %7:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg13, %arg14, %arg15, %arg3, %arg4, %arg5, %arg6 : tensor<18xf64>, tensor<18xf64>, tensor<18xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%6, %6 : tensor<18xf64>, tensor<18xf64>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 3 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<18xf64>, tensor<18xf64>)
    %8 = tensor.empty() : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>
    %9:2 = linalg.generic {indexing_maps = [#map2, #map2, #map2, #map31, #map31, #map31, #map31, #map2, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg16, %arg17, %arg18, %arg3, %arg4, %arg5, %arg6 : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%8, %8 : tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid_loops = 4 : i64, brew.sub_kernel = 4 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>)
    %10 = tensor.empty() : tensor<40xf64>
    %11:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg19, %arg20, %arg21, %arg3, %arg4, %arg5, %arg6 : tensor<40xf64>, tensor<40xf64>, tensor<40xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%10, %10 : tensor<40xf64>, tensor<40xf64>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 5 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<40xf64>, tensor<40xf64>)
    %12 = tensor.empty() : tensor<10x40xf64>
    %13:2 = linalg.generic {indexing_maps = [#map9, #map9, #map9, #map32, #map32, #map32, #map32, #map9, #map9], iterator_types = ["parallel", "parallel"]} ins(%arg22, %arg23, %arg24, %arg3, %arg4, %arg5, %arg6 : tensor<10x40xf64>, tensor<10x40xf64>, tensor<10x40xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%12, %12 : tensor<10x40xf64>, tensor<10x40xf64>) attrs =  {brew.grid_loops = 2 : i64, brew.sub_kernel = 6 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<10x40xf64>, tensor<10x40xf64>)
    %14 = tensor.empty() : tensor<10xf64>
    %15:2 = linalg.generic {indexing_maps = [#map15, #map15, #map15, #map16, #map16, #map16, #map16, #map15, #map15], iterator_types = ["parallel"]} ins(%arg25, %arg26, %arg27, %arg3, %arg4, %arg5, %arg6 : tensor<10xf64>, tensor<10xf64>, tensor<10xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) outs(%14, %14 : tensor<10xf64>, tensor<10xf64>) attrs =  {brew.grid_loops = 1 : i64, brew.sub_kernel = 7 : i64} {
    ^bb0(%in: f64, %in_0: f64, %in_1: f64, %in_2: f64, %in_3: f64, %in_4: f64, %in_5: f64, %out: f64, %out_6: f64):
      %16 = arith.mulf %in_0, %in_4 fastmath<contract> : f64
      %cst = arith.constant 1.000000e+00 : f64
      %17 = arith.mulf %in_3, %cst fastmath<contract> : f64
      %18 = arith.mulf %17, %in fastmath<contract> : f64
      %19 = arith.addf %16, %18 fastmath<contract> : f64
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f64
      %21 = arith.mulf %in_5, %in_1 fastmath<contract> : f64
      %22 = arith.mulf %20, %19 fastmath<contract> : f64
      %23 = arith.addf %21, %22 fastmath<contract> : f64
      %24 = arith.subf %in, %23 fastmath<contract> : f64
      linalg.yield %24, %23 : f64, f64
    } -> (tensor<10xf64>, tensor<10xf64>)
    brew.yield %1#0, %1#1, %3#0, %3#1, %5#0, %5#1, %7#0, %7#1, %9#0, %9#1, %11#0, %11#1, %13#0, %13#1, %15#0, %15#1 : tensor<6x1x3x3xf64>, tensor<6x1x3x3xf64>, tensor<6xf64>, tensor<6xf64>, tensor<18x6x3x3xf64>, tensor<18x6x3x3xf64>, tensor<18xf64>, tensor<18xf64>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40x18x4x4xf64, #brew.layout<0, 2, 3, 1>>, tensor<40xf64>, tensor<40xf64>, tensor<10x40xf64>, tensor<10x40xf64>, tensor<10xf64>, tensor<10xf64>
  }
}
