// As strided_nchw, channels last, with the index arithmetic that interchanging
// loops leaves behind.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d5)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d2)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d6)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map10 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1)>
#map13 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4)>
#map14 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2)>
#map15 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d5)>
#map16 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0)>
#map17 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
#map19 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map20 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>
#map21 = affine_map<(d0, d1) -> (d0, d1)>
#map22 = affine_map<(d0, d1) -> (d1)>
#map23 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map24 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map25 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map26 = affine_map<(d0, d1) -> (d0)>
#map27 = affine_map<(d0) -> (d0)>
#map28 = affine_map<(d0) -> ()>
#map29 = affine_map<() -> ()>
#map30 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map31 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map32 = affine_map<(d0, d1) -> (d1, d0)>
#map33 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3, d1, d2)>
#map34 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d0)>
#map35 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d2)>
#map36 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4)>
#map37 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d0, d5, d6)>
#map38 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map39 = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2, d3)>
#map40 = affine_map<(d0, d1, d2, d3) -> (d0)>
#map41 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6)>
#map42 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3)>
#map43 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map44 = affine_map<(d0, d1, d2, d3) -> ()>
#map45 = affine_map<(d0, d1) -> ()>
  plan.kernel @conv1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<3x1x21x19xf32>, %arg2: tensor<6xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<6x1x3x3xf32>) outs(%1 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "conv1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = affine.apply #map2(%4, %5, %6, %7, %8, %9, %10)
      %12 = linalg.index 0 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 2 : index
      %15 = linalg.index 3 : index
      %16 = linalg.index 4 : index
      %17 = linalg.index 5 : index
      %18 = linalg.index 6 : index
      %19 = affine.apply #map3(%12, %13, %14, %15, %16, %17, %18)
      %c2 = arith.constant 2 : index
      %20 = arith.muli %11, %c2 : index
      %21 = arith.addi %20, %19 : index
      %c1 = arith.constant 1 : index
      %22 = arith.subi %21, %c1 : index
      %23 = linalg.index 0 : index
      %24 = linalg.index 1 : index
      %25 = linalg.index 2 : index
      %26 = linalg.index 3 : index
      %27 = linalg.index 4 : index
      %28 = linalg.index 5 : index
      %29 = linalg.index 6 : index
      %30 = affine.apply #map4(%23, %24, %25, %26, %27, %28, %29)
      %31 = linalg.index 0 : index
      %32 = linalg.index 1 : index
      %33 = linalg.index 2 : index
      %34 = linalg.index 3 : index
      %35 = linalg.index 4 : index
      %36 = linalg.index 5 : index
      %37 = linalg.index 6 : index
      %38 = affine.apply #map5(%31, %32, %33, %34, %35, %36, %37)
      %39 = arith.muli %30, %c2 : index
      %40 = arith.addi %39, %38 : index
      %41 = arith.subi %40, %c1 : index
      %42 = linalg.index 0 : index
      %43 = linalg.index 1 : index
      %44 = linalg.index 2 : index
      %45 = linalg.index 3 : index
      %46 = linalg.index 4 : index
      %47 = linalg.index 5 : index
      %48 = linalg.index 6 : index
      %49 = affine.apply #map6(%42, %43, %44, %45, %46, %47, %48)
      %c0 = arith.constant 0 : index
      %50 = arith.cmpi sge, %22, %c0 : index
      %c21 = arith.constant 21 : index
      %51 = arith.cmpi slt, %22, %c21 : index
      %52 = arith.andi %50, %51 : i1
      %53 = arith.cmpi sge, %41, %c0 : index
      %c19 = arith.constant 19 : index
      %54 = arith.cmpi slt, %41, %c19 : index
      %55 = arith.andi %53, %54 : i1
      %56 = arith.andi %52, %55 : i1
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %61 = linalg.index 4 : index
      %62 = linalg.index 5 : index
      %63 = linalg.index 6 : index
      %64 = affine.apply #map7(%57, %58, %59, %60, %61, %62, %63)
      %65 = arith.maxsi %22, %c0 : index
      %c20 = arith.constant 20 : index
      %66 = arith.minsi %65, %c20 : index
      %67 = arith.maxsi %41, %c0 : index
      %c18 = arith.constant 18 : index
      %68 = arith.minsi %67, %c18 : index
      %extracted = tensor.extract %arg1[%64, %49, %66, %68] : tensor<3x1x21x19xf32>
      %69 = arith.select %56, %extracted, %cst_0 : f32
      %70 = arith.mulf %69, %in fastmath<contract> : f32
      %71 = arith.addf %out, %70 fastmath<reassoc,contract> : f32
      linalg.yield %71 : f32
    } -> tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    %3 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>, tensor<6xf32>) outs(%0 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "conv1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f32
      linalg.yield %4 : f32
    } -> tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool1 attributes {in_place = array<i64: -1, -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<3x3xi8>
    %cst = arith.constant -3.40282347E+38 : f32
    %1 = tensor.empty() : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>
    %5:2 = linalg.generic {indexing_maps = [#map10, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<3x3xi8>) outs(%2, %4 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "pool1", brew.part = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_0: i8):
      %6 = linalg.index 0 : index
      %7 = linalg.index 1 : index
      %8 = linalg.index 2 : index
      %9 = linalg.index 3 : index
      %10 = linalg.index 4 : index
      %11 = linalg.index 5 : index
      %12 = affine.apply #map12(%6, %7, %8, %9, %10, %11)
      %13 = linalg.index 0 : index
      %14 = linalg.index 1 : index
      %15 = linalg.index 2 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = affine.apply #map13(%13, %14, %15, %16, %17, %18)
      %c2 = arith.constant 2 : index
      %20 = arith.muli %12, %c2 : index
      %21 = arith.addi %20, %19 : index
      %c1 = arith.constant 1 : index
      %22 = arith.subi %21, %c1 : index
      %c11 = arith.constant 11 : index
      %23 = arith.cmpi slt, %22, %c11 : index
      %c0 = arith.constant 0 : index
      %24 = arith.cmpi sge, %22, %c0 : index
      %25 = arith.andi %23, %24 : i1
      %26 = arith.maxsi %22, %c0 : index
      %c10 = arith.constant 10 : index
      %27 = arith.minsi %26, %c10 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = affine.apply #map14(%28, %29, %30, %31, %32, %33)
      %35 = linalg.index 0 : index
      %36 = linalg.index 1 : index
      %37 = linalg.index 2 : index
      %38 = linalg.index 3 : index
      %39 = linalg.index 4 : index
      %40 = linalg.index 5 : index
      %41 = affine.apply #map15(%35, %36, %37, %38, %39, %40)
      %42 = arith.muli %34, %c2 : index
      %43 = arith.addi %42, %41 : index
      %44 = arith.subi %43, %c1 : index
      %45 = arith.cmpi slt, %44, %c10 : index
      %46 = arith.cmpi sge, %44, %c0 : index
      %47 = arith.andi %45, %46 : i1
      %48 = arith.andi %25, %47 : i1
      %49 = arith.maxsi %44, %c0 : index
      %c9 = arith.constant 9 : index
      %50 = arith.minsi %49, %c9 : index
      %51 = linalg.index 0 : index
      %52 = linalg.index 1 : index
      %53 = linalg.index 2 : index
      %54 = linalg.index 3 : index
      %55 = linalg.index 4 : index
      %56 = linalg.index 5 : index
      %57 = affine.apply #map16(%51, %52, %53, %54, %55, %56)
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = linalg.index 4 : index
      %63 = linalg.index 5 : index
      %64 = affine.apply #map17(%58, %59, %60, %61, %62, %63)
      %extracted = tensor.extract %arg0[%57, %64, %27, %50] : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
      %65 = arith.cmpf ogt, %extracted, %out : f32
      %66 = arith.andi %65, %48 : i1
      %67 = arith.select %66, %extracted, %out : f32
      %c3 = arith.constant 3 : index
      %68 = arith.muli %19, %c3 : index
      %69 = arith.addi %68, %41 : index
      %70 = arith.index_cast %69 : index to i8
      %71 = arith.select %66, %70, %out_0 : i8
      linalg.yield %67, %71 : f32, i8
    } -> (tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>)
    brew.yield %5#0, %5#1 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<18x6x3x3xf32>, %arg1: tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>, %arg2: tensor<18xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<18x6x3x3xf32>) outs(%1 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "conv2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = affine.apply #map2(%4, %5, %6, %7, %8, %9, %10)
      %12 = linalg.index 0 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 2 : index
      %15 = linalg.index 3 : index
      %16 = linalg.index 4 : index
      %17 = linalg.index 5 : index
      %18 = linalg.index 6 : index
      %19 = affine.apply #map3(%12, %13, %14, %15, %16, %17, %18)
      %c2 = arith.constant 2 : index
      %20 = arith.muli %11, %c2 : index
      %21 = arith.addi %20, %19 : index
      %c1 = arith.constant 1 : index
      %22 = arith.subi %21, %c1 : index
      %23 = linalg.index 0 : index
      %24 = linalg.index 1 : index
      %25 = linalg.index 2 : index
      %26 = linalg.index 3 : index
      %27 = linalg.index 4 : index
      %28 = linalg.index 5 : index
      %29 = linalg.index 6 : index
      %30 = affine.apply #map4(%23, %24, %25, %26, %27, %28, %29)
      %31 = linalg.index 0 : index
      %32 = linalg.index 1 : index
      %33 = linalg.index 2 : index
      %34 = linalg.index 3 : index
      %35 = linalg.index 4 : index
      %36 = linalg.index 5 : index
      %37 = linalg.index 6 : index
      %38 = affine.apply #map5(%31, %32, %33, %34, %35, %36, %37)
      %39 = arith.muli %30, %c2 : index
      %40 = arith.addi %39, %38 : index
      %41 = arith.subi %40, %c1 : index
      %42 = linalg.index 0 : index
      %43 = linalg.index 1 : index
      %44 = linalg.index 2 : index
      %45 = linalg.index 3 : index
      %46 = linalg.index 4 : index
      %47 = linalg.index 5 : index
      %48 = linalg.index 6 : index
      %49 = affine.apply #map6(%42, %43, %44, %45, %46, %47, %48)
      %c0 = arith.constant 0 : index
      %50 = arith.cmpi sge, %22, %c0 : index
      %c6 = arith.constant 6 : index
      %51 = arith.cmpi slt, %22, %c6 : index
      %52 = arith.andi %50, %51 : i1
      %53 = arith.cmpi sge, %41, %c0 : index
      %54 = arith.cmpi slt, %41, %c6 : index
      %55 = arith.andi %53, %54 : i1
      %56 = arith.andi %52, %55 : i1
      %57 = linalg.index 0 : index
      %58 = linalg.index 1 : index
      %59 = linalg.index 2 : index
      %60 = linalg.index 3 : index
      %61 = linalg.index 4 : index
      %62 = linalg.index 5 : index
      %63 = linalg.index 6 : index
      %64 = affine.apply #map7(%57, %58, %59, %60, %61, %62, %63)
      %65 = arith.maxsi %22, %c0 : index
      %c5 = arith.constant 5 : index
      %66 = arith.minsi %65, %c5 : index
      %67 = arith.maxsi %41, %c0 : index
      %68 = arith.minsi %67, %c5 : index
      %extracted = tensor.extract %arg1[%64, %49, %66, %68] : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
      %69 = arith.select %56, %extracted, %cst_0 : f32
      %70 = arith.mulf %69, %in fastmath<contract> : f32
      %71 = arith.addf %out, %70 fastmath<reassoc,contract> : f32
      linalg.yield %71 : f32
    } -> tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    %3 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %arg2 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>, tensor<18xf32>) outs(%0 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "conv2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %4 = arith.addf %in, %in_1 fastmath<contract> : f32
      linalg.yield %4 : f32
    } -> tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool2 attributes {in_place = array<i64: -1, -1>, layers = ["pool2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() : tensor<3x3xi8>
    %cst = arith.constant -3.40282347E+38 : f32
    %1 = tensor.empty() : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %c0_i8 = arith.constant 0 : i8
    %3 = tensor.empty() : tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>
    %4 = linalg.fill ins(%c0_i8 : i8) outs(%3 : tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>
    %5:2 = linalg.generic {indexing_maps = [#map10, #map11, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<3x3xi8>) outs(%2, %4 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.layer = "pool2", brew.part = 0 : i64} {
    ^bb0(%in: i8, %out: f32, %out_0: i8):
      %6 = linalg.index 0 : index
      %7 = linalg.index 1 : index
      %8 = linalg.index 2 : index
      %9 = linalg.index 3 : index
      %10 = linalg.index 4 : index
      %11 = linalg.index 5 : index
      %12 = affine.apply #map12(%6, %7, %8, %9, %10, %11)
      %13 = linalg.index 0 : index
      %14 = linalg.index 1 : index
      %15 = linalg.index 2 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = affine.apply #map13(%13, %14, %15, %16, %17, %18)
      %c2 = arith.constant 2 : index
      %20 = arith.muli %12, %c2 : index
      %21 = arith.addi %20, %19 : index
      %c1 = arith.constant 1 : index
      %22 = arith.subi %21, %c1 : index
      %c3 = arith.constant 3 : index
      %23 = arith.cmpi slt, %22, %c3 : index
      %c0 = arith.constant 0 : index
      %24 = arith.cmpi sge, %22, %c0 : index
      %25 = arith.andi %23, %24 : i1
      %26 = arith.maxsi %22, %c0 : index
      %27 = arith.minsi %26, %c2 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = affine.apply #map14(%28, %29, %30, %31, %32, %33)
      %35 = linalg.index 0 : index
      %36 = linalg.index 1 : index
      %37 = linalg.index 2 : index
      %38 = linalg.index 3 : index
      %39 = linalg.index 4 : index
      %40 = linalg.index 5 : index
      %41 = affine.apply #map15(%35, %36, %37, %38, %39, %40)
      %42 = arith.muli %34, %c2 : index
      %43 = arith.addi %42, %41 : index
      %44 = arith.subi %43, %c1 : index
      %45 = arith.cmpi slt, %44, %c3 : index
      %46 = arith.cmpi sge, %44, %c0 : index
      %47 = arith.andi %45, %46 : i1
      %48 = arith.andi %25, %47 : i1
      %49 = arith.maxsi %44, %c0 : index
      %50 = arith.minsi %49, %c2 : index
      %51 = linalg.index 0 : index
      %52 = linalg.index 1 : index
      %53 = linalg.index 2 : index
      %54 = linalg.index 3 : index
      %55 = linalg.index 4 : index
      %56 = linalg.index 5 : index
      %57 = affine.apply #map16(%51, %52, %53, %54, %55, %56)
      %58 = linalg.index 0 : index
      %59 = linalg.index 1 : index
      %60 = linalg.index 2 : index
      %61 = linalg.index 3 : index
      %62 = linalg.index 4 : index
      %63 = linalg.index 5 : index
      %64 = affine.apply #map17(%58, %59, %60, %61, %62, %63)
      %extracted = tensor.extract %arg0[%57, %64, %27, %50] : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
      %65 = arith.cmpf ogt, %extracted, %out : f32
      %66 = arith.andi %65, %48 : i1
      %67 = arith.select %66, %extracted, %out : f32
      %68 = arith.muli %19, %c3 : index
      %69 = arith.addi %68, %41 : index
      %70 = arith.index_cast %69 : index to i8
      %71 = arith.select %66, %70, %out_0 : i8
      linalg.yield %67, %71 : f32, i8
    } -> (tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>)
    brew.yield %5#0, %5#1 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @ip1_relu1_ip2 attributes {in_place = array<i64: -1, -1, -1, -1, -1>, layers = ["ip1+relu1", "ip2", "loss", "relu1"]} {
  ^bb0(%arg0: tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg2: tensor<40xf32>, %arg3: tensor<10x40xf32>, %arg4: tensor<10xf32>, %arg5: tensor<3xf32>):
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x40xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %2 = linalg.generic {indexing_maps = [#map18, #map19, #map20], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<3x40xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "ip1+relu1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x40xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map21, #map22, #map21], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<3x40xf32>, tensor<40xf32>) outs(%0 : tensor<3x40xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "ip1+relu1", brew.part = 0 : i64} {
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
    %6 = linalg.generic {indexing_maps = [#map23, #map24, #map25], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %arg3 : tensor<3x40xf32>, tensor<10x40xf32>) outs(%5 : tensor<3x10xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "ip2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x10xf32>
    %7 = linalg.generic {indexing_maps = [#map21, #map22, #map21], iterator_types = ["parallel", "parallel"]} ins(%6, %arg4 : tensor<3x10xf32>, tensor<10xf32>) outs(%4 : tensor<3x10xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "ip2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.addf %in, %in_6 fastmath<contract> : f32
      linalg.yield %37 : f32
    } -> tensor<3x10xf32>
    %cst_2 = arith.constant -3.40282347E+38 : f32
    %8 = tensor.empty() : tensor<3xf32>
    %9 = linalg.fill ins(%cst_2 : f32) outs(%8 : tensor<3xf32>) -> tensor<3xf32>
    %10 = linalg.generic {indexing_maps = [#map21, #map26], iterator_types = ["parallel", "reduction"]} ins(%7 : tensor<3x10xf32>) outs(%9 : tensor<3xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.maximumf %out, %in fastmath<nnan,nsz> : f32
      linalg.yield %37 : f32
    } -> tensor<3xf32>
    %11 = tensor.empty() : tensor<3x10xf32>
    %12 = linalg.generic {indexing_maps = [#map21, #map26, #map21], iterator_types = ["parallel", "parallel"]} ins(%7, %10 : tensor<3x10xf32>, tensor<3xf32>) outs(%11 : tensor<3x10xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.subf %in, %in_6 fastmath<contract> : f32
      %38 = math.exp %37 : f32
      linalg.yield %38 : f32
    } -> tensor<3x10xf32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    %13 = linalg.fill ins(%cst_3 : f32) outs(%8 : tensor<3xf32>) -> tensor<3xf32>
    %14 = linalg.generic {indexing_maps = [#map21, #map26], iterator_types = ["parallel", "reduction"]} ins(%12 : tensor<3x10xf32>) outs(%13 : tensor<3xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<3xf32>
    %15 = linalg.generic {indexing_maps = [#map21, #map26, #map21], iterator_types = ["parallel", "parallel"]} ins(%12, %14 : tensor<3x10xf32>, tensor<3xf32>) outs(%11 : tensor<3x10xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.divf %in, %in_6 : f32
      linalg.yield %37 : f32
    } -> tensor<3x10xf32>
    %16 = linalg.generic {indexing_maps = [#map27, #map27], iterator_types = ["parallel"]} ins(%arg5 : tensor<3xf32>) outs(%8 : tensor<3xf32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
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
    %19 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["reduction"]} ins(%16 : tensor<3xf32>) outs(%18 : tensor<f32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<f32>
    %20 = linalg.generic {indexing_maps = [#map29, #map29], iterator_types = []} ins(%19 : tensor<f32>) outs(%17 : tensor<f32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant 3.000000e+00 : f32
      %37 = arith.divf %in, %cst_6 : f32
      linalg.yield %37 : f32
    } -> tensor<f32>
    %c0_i32 = arith.constant 0 : i32
    %21 = tensor.empty() : tensor<i32>
    %22 = linalg.fill ins(%c0_i32 : i32) outs(%21 : tensor<i32>) -> tensor<i32>
    %23 = linalg.generic {indexing_maps = [#map27, #map28], iterator_types = ["reduction"]} ins(%arg5 : tensor<3xf32>) outs(%22 : tensor<i32>) attrs =  {brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: i32):
      %cst_6 = arith.constant -1.000000e+00 : f32
      %37 = arith.cmpf ogt, %in, %cst_6 : f32
      %cst_7 = arith.constant 1.000000e+01 : f32
      %38 = arith.cmpf ogt, %cst_7, %in : f32
      %39 = arith.andi %37, %38 : i1
      %40 = arith.select %39, %in, %cst_0 : f32
      %41 = arith.fptosi %40 : f32 to i32
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %42 = arith.muli %c0, %c3 : index
      %43 = linalg.index 0 : index
      %44 = arith.addi %42, %43 : index
      %c1 = arith.constant 1 : index
      %45 = arith.addi %44, %c1 : index
      %46 = arith.index_cast %45 : index to i32
      %c0_i32_8 = arith.constant 0 : i32
      %47 = arith.cmpi eq, %out, %c0_i32_8 : i32
      %48 = arith.select %39, %out, %46 : i32
      %49 = arith.select %47, %48, %out : i32
      linalg.yield %49 : i32
    } -> tensor<i32>
    %24 = tensor.empty() {brew.backward} : tensor<3x10xf32>
    %cst_4 = arith.constant 1.000000e+00 : f32
    %25 = linalg.generic {indexing_maps = [#map21, #map26, #map21], iterator_types = ["parallel", "parallel"]} ins(%15, %arg5 : tensor<3x10xf32>, tensor<3xf32>) outs(%24 : tensor<3x10xf32>) attrs =  {brew.backward, brew.grid = 0 : i64, brew.layer = "loss", brew.part = 0 : i64} {
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
    %cst_5 = arith.constant {brew.backward} 0.000000e+00 : f32
    %26 = tensor.empty() {brew.backward} : tensor<10x40xf32>
    %27 = linalg.fill {brew.backward} ins(%cst_5 : f32) outs(%26 : tensor<10x40xf32>) -> tensor<10x40xf32>
    %28 = linalg.generic {indexing_maps = [#map30, #map31, #map25], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3, %25 : tensor<3x40xf32>, tensor<3x10xf32>) outs(%27 : tensor<10x40xf32>) attrs =  {brew.backward, brew.grid = 0 : i64, brew.layer = "ip2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<10x40xf32>
    %29 = tensor.empty() {brew.backward} : tensor<10xf32>
    %30 = linalg.fill {brew.backward} ins(%cst_5 : f32) outs(%29 : tensor<10xf32>) -> tensor<10xf32>
    %31 = linalg.generic {indexing_maps = [#map32, #map26], iterator_types = ["parallel", "reduction"]} ins(%25 : tensor<3x10xf32>) outs(%30 : tensor<10xf32>) attrs =  {brew.backward, brew.grid = 0 : i64, brew.layer = "ip2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %37 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %37 : f32
    } -> tensor<10xf32>
    %32 = tensor.empty() {brew.backward} : tensor<3x40xf32>
    %33 = linalg.fill {brew.backward} ins(%cst_5 : f32) outs(%32 : tensor<3x40xf32>) -> tensor<3x40xf32>
    %34 = linalg.generic {indexing_maps = [#map23, #map30, #map25], iterator_types = ["parallel", "parallel", "reduction"]} ins(%25, %arg3 : tensor<3x10xf32>, tensor<10x40xf32>) outs(%33 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid = 0 : i64, brew.layer = "ip2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.mulf %in, %in_6 fastmath<contract> : f32
      %38 = arith.addf %out, %37 fastmath<reassoc,contract> : f32
      linalg.yield %38 : f32
    } -> tensor<3x40xf32>
    %35 = tensor.empty() {brew.backward} : tensor<3x40xf32>
    %36 = linalg.generic {indexing_maps = [#map21, #map21, #map21], iterator_types = ["parallel", "parallel"]} ins(%34, %3 : tensor<3x40xf32>, tensor<3x40xf32>) outs(%35 : tensor<3x40xf32>) attrs =  {brew.backward, brew.grid = 0 : i64, brew.layer = "relu1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %37 = arith.cmpf ogt, %in_6, %cst_0 : f32
      %38 = arith.select %37, %cst_4, %cst_0 : f32
      %39 = arith.mulf %in, %38 fastmath<contract> : f32
      linalg.yield %39 : f32
    } -> tensor<3x40xf32>
    brew.yield %20, %23, %28, %31, %36 : tensor<f32>, tensor<i32>, tensor<10x40xf32>, tensor<10xf32>, tensor<3x40xf32>
  }
  plan.kernel @ip1_backward attributes {in_place = array<i64: -1, -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x40xf32>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.generic {indexing_maps = [#map33, #map34, #map35], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<3x40xf32>) outs(%1 : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid = 1 : i64, brew.layer = "ip1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %6 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %7 = arith.addf %out, %6 fastmath<reassoc,contract> : f32
      linalg.yield %7 : f32
    } -> tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %3 = tensor.empty() {brew.backward} : tensor<40xf32>
    %4 = linalg.fill {brew.backward} ins(%cst : f32) outs(%3 : tensor<40xf32>) -> tensor<40xf32>
    %5 = linalg.generic {indexing_maps = [#map32, #map26], iterator_types = ["parallel", "reduction"]} ins(%arg1 : tensor<3x40xf32>) outs(%4 : tensor<40xf32>) attrs =  {brew.backward, brew.grid = 1 : i64, brew.layer = "ip1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %6 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %6 : f32
    } -> tensor<40xf32>
    brew.yield %2, %5 : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40xf32>
  }
  plan.kernel @ip1_backward_1 attributes {in_place = array<i64: -1>, layers = ["ip1"]} {
  ^bb0(%arg0: tensor<3x40xf32>, %arg1: tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.generic {indexing_maps = [#map36, #map33, #map35], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x40xf32>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "ip1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %3 = arith.mulf %in, %in_0 fastmath<contract> : f32
      %4 = arith.addf %out, %3 fastmath<reassoc,contract> : f32
      linalg.yield %4 : f32
    } -> tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %2 : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool2_backward attributes {in_place = array<i64: -1>, layers = ["pool2"]} {
  ^bb0(%arg0: tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() {brew.backward} : tensor<2x2xi8>
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %1 = tensor.empty() {brew.backward} : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill {brew.backward} ins(%cst : f32) outs(%1 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "pool2", brew.part = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = affine.apply #map12(%4, %5, %6, %7, %8, %9)
      %11 = linalg.index 0 : index
      %12 = linalg.index 1 : index
      %13 = linalg.index 2 : index
      %14 = linalg.index 3 : index
      %15 = linalg.index 4 : index
      %16 = linalg.index 5 : index
      %17 = affine.apply #map13(%11, %12, %13, %14, %15, %16)
      %c1 = arith.constant 1 : index
      %18 = arith.addi %10, %c1 : index
      %c2 = arith.constant 2 : index
      %19 = arith.divui %18, %c2 : index
      %20 = arith.subi %19, %17 : index
      %21 = arith.muli %20, %c2 : index
      %22 = arith.subi %18, %21 : index
      %c0 = arith.constant 0 : index
      %23 = arith.cmpi sge, %20, %c0 : index
      %c3 = arith.constant 3 : index
      %24 = arith.cmpi slt, %22, %c3 : index
      %25 = arith.andi %23, %24 : i1
      %26 = arith.maxsi %20, %c0 : index
      %27 = arith.minsi %26, %c1 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = affine.apply #map14(%28, %29, %30, %31, %32, %33)
      %35 = linalg.index 0 : index
      %36 = linalg.index 1 : index
      %37 = linalg.index 2 : index
      %38 = linalg.index 3 : index
      %39 = linalg.index 4 : index
      %40 = linalg.index 5 : index
      %41 = affine.apply #map15(%35, %36, %37, %38, %39, %40)
      %42 = arith.addi %34, %c1 : index
      %43 = arith.divui %42, %c2 : index
      %44 = arith.subi %43, %41 : index
      %45 = arith.muli %44, %c2 : index
      %46 = arith.subi %42, %45 : index
      %47 = arith.cmpi sge, %44, %c0 : index
      %48 = arith.andi %25, %47 : i1
      %49 = arith.cmpi slt, %46, %c3 : index
      %50 = arith.andi %48, %49 : i1
      %51 = arith.maxsi %44, %c0 : index
      %52 = arith.minsi %51, %c1 : index
      %53 = linalg.index 0 : index
      %54 = linalg.index 1 : index
      %55 = linalg.index 2 : index
      %56 = linalg.index 3 : index
      %57 = linalg.index 4 : index
      %58 = linalg.index 5 : index
      %59 = affine.apply #map16(%53, %54, %55, %56, %57, %58)
      %60 = linalg.index 0 : index
      %61 = linalg.index 1 : index
      %62 = linalg.index 2 : index
      %63 = linalg.index 3 : index
      %64 = linalg.index 4 : index
      %65 = linalg.index 5 : index
      %66 = affine.apply #map17(%60, %61, %62, %63, %64, %65)
      %67 = arith.muli %22, %c3 : index
      %68 = arith.addi %67, %46 : index
      %extracted = tensor.extract %arg0[%59, %66, %27, %52] : tensor<3x18x2x2xi8, #brew.layout<0, 2, 3, 1>>
      %69 = arith.index_cast %68 : index to i8
      %70 = arith.cmpi eq, %extracted, %69 : i8
      %71 = arith.andi %70, %50 : i1
      %extracted_1 = tensor.extract %arg1[%59, %66, %27, %52] : tensor<3x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
      %72 = arith.select %71, %extracted_1, %cst_0 : f32
      %73 = arith.addf %out, %72 fastmath<reassoc,contract> : f32
      linalg.yield %73 : f32
    } -> tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv2_backward attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<18x6x3x3xf32>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<18x6x3x3xf32>) -> tensor<18x6x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map37, #map38], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<18x6x3x3xf32>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "conv2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 5 : index
      %4 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %5 = arith.muli %3, %c2 : index
      %6 = arith.addi %5, %4 : index
      %c1 = arith.constant 1 : index
      %7 = arith.subi %6, %c1 : index
      %8 = linalg.index 6 : index
      %9 = linalg.index 3 : index
      %10 = arith.muli %8, %c2 : index
      %11 = arith.addi %10, %9 : index
      %12 = arith.subi %11, %c1 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 4 : index
      %c0 = arith.constant 0 : index
      %15 = arith.maxsi %7, %c0 : index
      %c5 = arith.constant 5 : index
      %16 = arith.minsi %15, %c5 : index
      %17 = arith.maxsi %12, %c0 : index
      %18 = arith.minsi %17, %c5 : index
      %extracted = tensor.extract %arg1[%14, %13, %16, %18] : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
      %19 = arith.cmpi sge, %7, %c0 : index
      %c6 = arith.constant 6 : index
      %20 = arith.cmpi slt, %7, %c6 : index
      %21 = arith.andi %19, %20 : i1
      %22 = arith.cmpi sge, %12, %c0 : index
      %23 = arith.cmpi slt, %12, %c6 : index
      %24 = arith.andi %22, %23 : i1
      %25 = arith.andi %21, %24 : i1
      %26 = arith.select %25, %extracted, %cst_0 : f32
      %27 = arith.mulf %26, %in fastmath<contract> : f32
      %28 = arith.addf %out, %27 fastmath<reassoc,contract> : f32
      linalg.yield %28 : f32
    } -> tensor<18x6x3x3xf32>
    brew.yield %2 : tensor<18x6x3x3xf32>
  }
  plan.kernel @conv2_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<18xf32>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<18xf32>) -> tensor<18xf32>
    %2 = linalg.generic {indexing_maps = [#map39, #map40], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<18xf32>) attrs =  {brew.backward, brew.grid = 1 : i64, brew.layer = "conv2", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<18xf32>
    brew.yield %2 : tensor<18xf32>
  }
  plan.kernel @conv2_backward_2 attributes {in_place = array<i64: -1>, layers = ["conv2"]} {
  ^bb0(%arg0: tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<18x6x3x3xf32>):
    %0 = tensor.empty() {brew.backward} : tensor<18x3x3xi8>
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %1 = tensor.empty() {brew.backward} : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill {brew.backward} ins(%cst : f32) outs(%1 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map41, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%0 : tensor<18x3x3xi8>) outs(%2 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "conv2", brew.part = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = linalg.index 6 : index
      %11 = affine.apply #map2(%4, %5, %6, %7, %8, %9, %10)
      %c1 = arith.constant 1 : index
      %12 = arith.addi %11, %c1 : index
      %13 = linalg.index 0 : index
      %14 = linalg.index 1 : index
      %15 = linalg.index 2 : index
      %16 = linalg.index 3 : index
      %17 = linalg.index 4 : index
      %18 = linalg.index 5 : index
      %19 = linalg.index 6 : index
      %20 = affine.apply #map3(%13, %14, %15, %16, %17, %18, %19)
      %21 = arith.subi %12, %20 : index
      %c0 = arith.constant 0 : index
      %22 = arith.cmpi sge, %21, %c0 : index
      %c6 = arith.constant 6 : index
      %23 = arith.cmpi slt, %21, %c6 : index
      %24 = arith.andi %22, %23 : i1
      %25 = arith.maxsi %21, %c0 : index
      %c5 = arith.constant 5 : index
      %26 = arith.minsi %25, %c5 : index
      %c2 = arith.constant 2 : index
      %27 = arith.divui %26, %c2 : index
      %28 = arith.remui %26, %c2 : index
      %29 = arith.cmpi eq, %28, %c0 : index
      %30 = arith.andi %24, %29 : i1
      %31 = linalg.index 0 : index
      %32 = linalg.index 1 : index
      %33 = linalg.index 2 : index
      %34 = linalg.index 3 : index
      %35 = linalg.index 4 : index
      %36 = linalg.index 5 : index
      %37 = linalg.index 6 : index
      %38 = affine.apply #map4(%31, %32, %33, %34, %35, %36, %37)
      %39 = arith.addi %38, %c1 : index
      %40 = linalg.index 0 : index
      %41 = linalg.index 1 : index
      %42 = linalg.index 2 : index
      %43 = linalg.index 3 : index
      %44 = linalg.index 4 : index
      %45 = linalg.index 5 : index
      %46 = linalg.index 6 : index
      %47 = affine.apply #map5(%40, %41, %42, %43, %44, %45, %46)
      %48 = arith.subi %39, %47 : index
      %49 = arith.cmpi sge, %48, %c0 : index
      %50 = arith.cmpi slt, %48, %c6 : index
      %51 = arith.andi %49, %50 : i1
      %52 = arith.maxsi %48, %c0 : index
      %53 = arith.minsi %52, %c5 : index
      %54 = arith.divui %53, %c2 : index
      %55 = arith.remui %53, %c2 : index
      %56 = arith.cmpi eq, %55, %c0 : index
      %57 = arith.andi %51, %56 : i1
      %58 = arith.andi %30, %57 : i1
      %59 = linalg.index 0 : index
      %60 = linalg.index 1 : index
      %61 = linalg.index 2 : index
      %62 = linalg.index 3 : index
      %63 = linalg.index 4 : index
      %64 = linalg.index 5 : index
      %65 = linalg.index 6 : index
      %66 = affine.apply #map6(%59, %60, %61, %62, %63, %64, %65)
      %67 = linalg.index 0 : index
      %68 = linalg.index 1 : index
      %69 = linalg.index 2 : index
      %70 = linalg.index 3 : index
      %71 = linalg.index 4 : index
      %72 = linalg.index 5 : index
      %73 = linalg.index 6 : index
      %74 = affine.apply #map42(%67, %68, %69, %70, %71, %72, %73)
      %75 = linalg.index 0 : index
      %76 = linalg.index 1 : index
      %77 = linalg.index 2 : index
      %78 = linalg.index 3 : index
      %79 = linalg.index 4 : index
      %80 = linalg.index 5 : index
      %81 = linalg.index 6 : index
      %82 = affine.apply #map7(%75, %76, %77, %78, %79, %80, %81)
      %extracted = tensor.extract %arg0[%82, %66, %27, %54] : tensor<3x18x3x3xf32, #brew.layout<0, 2, 3, 1>>
      %extracted_1 = tensor.extract %arg1[%66, %74, %20, %47] : tensor<18x6x3x3xf32>
      %83 = arith.mulf %extracted, %extracted_1 fastmath<contract> : f32
      %84 = arith.select %58, %83, %cst_0 : f32
      %85 = arith.addf %out, %84 fastmath<reassoc,contract> : f32
      linalg.yield %85 : f32
    } -> tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @pool1_backward attributes {in_place = array<i64: -1>, layers = ["pool1"]} {
  ^bb0(%arg0: tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>):
    %0 = tensor.empty() {brew.backward} : tensor<2x2xi8>
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %1 = tensor.empty() {brew.backward} : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    %2 = linalg.fill {brew.backward} ins(%cst : f32) outs(%1 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) -> tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %3 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%0 : tensor<2x2xi8>) outs(%2 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "pool1", brew.part = 0 : i64} {
    ^bb0(%in: i8, %out: f32):
      %4 = linalg.index 0 : index
      %5 = linalg.index 1 : index
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = linalg.index 4 : index
      %9 = linalg.index 5 : index
      %10 = affine.apply #map12(%4, %5, %6, %7, %8, %9)
      %11 = linalg.index 0 : index
      %12 = linalg.index 1 : index
      %13 = linalg.index 2 : index
      %14 = linalg.index 3 : index
      %15 = linalg.index 4 : index
      %16 = linalg.index 5 : index
      %17 = affine.apply #map13(%11, %12, %13, %14, %15, %16)
      %c1 = arith.constant 1 : index
      %18 = arith.addi %10, %c1 : index
      %c2 = arith.constant 2 : index
      %19 = arith.divui %18, %c2 : index
      %20 = arith.subi %19, %17 : index
      %21 = arith.muli %20, %c2 : index
      %22 = arith.subi %18, %21 : index
      %c0 = arith.constant 0 : index
      %23 = arith.cmpi sge, %20, %c0 : index
      %c3 = arith.constant 3 : index
      %24 = arith.cmpi slt, %22, %c3 : index
      %25 = arith.andi %23, %24 : i1
      %26 = arith.maxsi %20, %c0 : index
      %c5 = arith.constant 5 : index
      %27 = arith.minsi %26, %c5 : index
      %28 = linalg.index 0 : index
      %29 = linalg.index 1 : index
      %30 = linalg.index 2 : index
      %31 = linalg.index 3 : index
      %32 = linalg.index 4 : index
      %33 = linalg.index 5 : index
      %34 = affine.apply #map14(%28, %29, %30, %31, %32, %33)
      %35 = linalg.index 0 : index
      %36 = linalg.index 1 : index
      %37 = linalg.index 2 : index
      %38 = linalg.index 3 : index
      %39 = linalg.index 4 : index
      %40 = linalg.index 5 : index
      %41 = affine.apply #map15(%35, %36, %37, %38, %39, %40)
      %42 = arith.addi %34, %c1 : index
      %43 = arith.divui %42, %c2 : index
      %44 = arith.subi %43, %41 : index
      %45 = arith.muli %44, %c2 : index
      %46 = arith.subi %42, %45 : index
      %47 = arith.cmpi sge, %44, %c0 : index
      %48 = arith.andi %25, %47 : i1
      %49 = arith.cmpi slt, %46, %c3 : index
      %50 = arith.andi %48, %49 : i1
      %51 = arith.maxsi %44, %c0 : index
      %52 = arith.minsi %51, %c5 : index
      %53 = linalg.index 0 : index
      %54 = linalg.index 1 : index
      %55 = linalg.index 2 : index
      %56 = linalg.index 3 : index
      %57 = linalg.index 4 : index
      %58 = linalg.index 5 : index
      %59 = affine.apply #map16(%53, %54, %55, %56, %57, %58)
      %60 = linalg.index 0 : index
      %61 = linalg.index 1 : index
      %62 = linalg.index 2 : index
      %63 = linalg.index 3 : index
      %64 = linalg.index 4 : index
      %65 = linalg.index 5 : index
      %66 = affine.apply #map17(%60, %61, %62, %63, %64, %65)
      %67 = arith.muli %22, %c3 : index
      %68 = arith.addi %67, %46 : index
      %extracted = tensor.extract %arg0[%59, %66, %27, %52] : tensor<3x6x6x6xi8, #brew.layout<0, 2, 3, 1>>
      %69 = arith.index_cast %68 : index to i8
      %70 = arith.cmpi eq, %extracted, %69 : i8
      %71 = arith.andi %70, %50 : i1
      %extracted_1 = tensor.extract %arg1[%59, %66, %27, %52] : tensor<3x6x6x6xf32, #brew.layout<0, 2, 3, 1>>
      %72 = arith.select %71, %extracted_1, %cst_0 : f32
      %73 = arith.addf %out, %72 fastmath<reassoc,contract> : f32
      linalg.yield %73 : f32
    } -> tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
    brew.yield %3 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>
  }
  plan.kernel @conv1_backward attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>, %arg1: tensor<3x1x21x19xf32>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<6x1x3x3xf32>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<6x1x3x3xf32>) -> tensor<6x1x3x3xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %2 = linalg.generic {indexing_maps = [#map37, #map38], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<6x1x3x3xf32>) attrs =  {brew.backward, brew.grid = 4 : i64, brew.layer = "conv1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = linalg.index 5 : index
      %4 = linalg.index 2 : index
      %c2 = arith.constant 2 : index
      %5 = arith.muli %3, %c2 : index
      %6 = arith.addi %5, %4 : index
      %c1 = arith.constant 1 : index
      %7 = arith.subi %6, %c1 : index
      %8 = linalg.index 6 : index
      %9 = linalg.index 3 : index
      %10 = arith.muli %8, %c2 : index
      %11 = arith.addi %10, %9 : index
      %12 = arith.subi %11, %c1 : index
      %13 = linalg.index 1 : index
      %14 = linalg.index 4 : index
      %c0 = arith.constant 0 : index
      %15 = arith.maxsi %7, %c0 : index
      %c20 = arith.constant 20 : index
      %16 = arith.minsi %15, %c20 : index
      %17 = arith.maxsi %12, %c0 : index
      %c18 = arith.constant 18 : index
      %18 = arith.minsi %17, %c18 : index
      %extracted = tensor.extract %arg1[%14, %13, %16, %18] : tensor<3x1x21x19xf32>
      %19 = arith.cmpi sge, %7, %c0 : index
      %c21 = arith.constant 21 : index
      %20 = arith.cmpi slt, %7, %c21 : index
      %21 = arith.andi %19, %20 : i1
      %22 = arith.cmpi sge, %12, %c0 : index
      %c19 = arith.constant 19 : index
      %23 = arith.cmpi slt, %12, %c19 : index
      %24 = arith.andi %22, %23 : i1
      %25 = arith.andi %21, %24 : i1
      %26 = arith.select %25, %extracted, %cst_0 : f32
      %27 = arith.mulf %26, %in fastmath<contract> : f32
      %28 = arith.addf %out, %27 fastmath<reassoc,contract> : f32
      linalg.yield %28 : f32
    } -> tensor<6x1x3x3xf32>
    brew.yield %2 : tensor<6x1x3x3xf32>
  }
  plan.kernel @conv1_backward_1 attributes {in_place = array<i64: -1>, layers = ["conv1"]} {
  ^bb0(%arg0: tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>):
    %cst = arith.constant {brew.backward} 0.000000e+00 : f32
    %0 = tensor.empty() {brew.backward} : tensor<6xf32>
    %1 = linalg.fill {brew.backward} ins(%cst : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
    %2 = linalg.generic {indexing_maps = [#map39, #map40], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%arg0 : tensor<3x6x11x10xf32, #brew.layout<0, 2, 3, 1>>) outs(%1 : tensor<6xf32>) attrs =  {brew.backward, brew.grid = 1 : i64, brew.layer = "conv1", brew.part = 0 : i64} {
    ^bb0(%in: f32, %out: f32):
      %3 = arith.addf %out, %in fastmath<reassoc,contract> : f32
      linalg.yield %3 : f32
    } -> tensor<6xf32>
    brew.yield %2 : tensor<6xf32>
  }
  plan.kernel @update_1 attributes {in_place = array<i64: 0, 2, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27>, layers = []} {
  ^bb0(%arg0: tensor<6x1x3x3xf32>, %arg1: tensor<6x1x3x3xf32>, %arg2: tensor<6x1x3x3xf32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<6xf32>, %arg8: tensor<6xf32>, %arg9: tensor<6xf32>, %arg10: tensor<18x6x3x3xf32>, %arg11: tensor<18x6x3x3xf32>, %arg12: tensor<18x6x3x3xf32>, %arg13: tensor<18xf32>, %arg14: tensor<18xf32>, %arg15: tensor<18xf32>, %arg16: tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg17: tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg18: tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, %arg19: tensor<40xf32>, %arg20: tensor<40xf32>, %arg21: tensor<40xf32>, %arg22: tensor<10x40xf32>, %arg23: tensor<10x40xf32>, %arg24: tensor<10x40xf32>, %arg25: tensor<10xf32>, %arg26: tensor<10xf32>, %arg27: tensor<10xf32>):
    %0 = tensor.empty() : tensor<6x1x3x3xf32>
    %1:2 = linalg.generic {indexing_maps = [#map43, #map43, #map43, #map44, #map44, #map44, #map44, #map43, #map43], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%0, %0 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>) attrs =  {brew.grid = 4 : i64, brew.part = 0 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>)
    %2 = tensor.empty() : tensor<6xf32>
    %3:2 = linalg.generic {indexing_maps = [#map27, #map27, #map27, #map28, #map28, #map28, #map28, #map27, #map27], iterator_types = ["parallel"]} ins(%arg7, %arg8, %arg9, %arg3, %arg4, %arg5, %arg6 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%2, %2 : tensor<6xf32>, tensor<6xf32>) attrs =  {brew.grid = 1 : i64, brew.part = 1 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %cst_7 = arith.constant 2.000000e+00 : f32
      %20 = arith.mulf %in_2, %cst_7 fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<6xf32>, tensor<6xf32>)
    %4 = tensor.empty() : tensor<18x6x3x3xf32>
    %5:2 = linalg.generic {indexing_maps = [#map43, #map43, #map43, #map44, #map44, #map44, #map44, #map43, #map43], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg10, %arg11, %arg12, %arg3, %arg4, %arg5, %arg6 : tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%4, %4 : tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>) attrs =  {brew.grid = 4 : i64, brew.part = 2 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>)
    %6 = tensor.empty() : tensor<18xf32>
    %7:2 = linalg.generic {indexing_maps = [#map27, #map27, #map27, #map28, #map28, #map28, #map28, #map27, #map27], iterator_types = ["parallel"]} ins(%arg13, %arg14, %arg15, %arg3, %arg4, %arg5, %arg6 : tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%6, %6 : tensor<18xf32>, tensor<18xf32>) attrs =  {brew.grid = 1 : i64, brew.part = 3 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %cst_7 = arith.constant 2.000000e+00 : f32
      %20 = arith.mulf %in_2, %cst_7 fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<18xf32>, tensor<18xf32>)
    %8 = tensor.empty() : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>
    %9:2 = linalg.generic {indexing_maps = [#map8, #map8, #map8, #map44, #map44, #map44, #map44, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg16, %arg17, %arg18, %arg3, %arg4, %arg5, %arg6 : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%8, %8 : tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>) attrs =  {brew.grid = 4 : i64, brew.part = 4 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>)
    %10 = tensor.empty() : tensor<40xf32>
    %11:2 = linalg.generic {indexing_maps = [#map27, #map27, #map27, #map28, #map28, #map28, #map28, #map27, #map27], iterator_types = ["parallel"]} ins(%arg19, %arg20, %arg21, %arg3, %arg4, %arg5, %arg6 : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%10, %10 : tensor<40xf32>, tensor<40xf32>) attrs =  {brew.grid = 1 : i64, brew.part = 5 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %cst_7 = arith.constant 2.000000e+00 : f32
      %20 = arith.mulf %in_2, %cst_7 fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<40xf32>, tensor<40xf32>)
    %12 = tensor.empty() : tensor<10x40xf32>
    %13:2 = linalg.generic {indexing_maps = [#map21, #map21, #map21, #map45, #map45, #map45, #map45, #map21, #map21], iterator_types = ["parallel", "parallel"]} ins(%arg22, %arg23, %arg24, %arg3, %arg4, %arg5, %arg6 : tensor<10x40xf32>, tensor<10x40xf32>, tensor<10x40xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%12, %12 : tensor<10x40xf32>, tensor<10x40xf32>) attrs =  {brew.grid = 2 : i64, brew.part = 6 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %20 = arith.mulf %in_2, %cst fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<10x40xf32>, tensor<10x40xf32>)
    %14 = tensor.empty() : tensor<10xf32>
    %15:2 = linalg.generic {indexing_maps = [#map27, #map27, #map27, #map28, #map28, #map28, #map28, #map27, #map27], iterator_types = ["parallel"]} ins(%arg25, %arg26, %arg27, %arg3, %arg4, %arg5, %arg6 : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) outs(%14, %14 : tensor<10xf32>, tensor<10xf32>) attrs =  {brew.grid = 1 : i64, brew.part = 7 : i64} {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32, %out_6: f32):
      %16 = arith.mulf %in_0, %in_5 fastmath<contract> : f32
      %cst = arith.constant 1.000000e+00 : f32
      %17 = arith.mulf %in_4, %cst fastmath<contract> : f32
      %18 = arith.mulf %17, %in fastmath<contract> : f32
      %19 = arith.addf %16, %18 fastmath<contract> : f32
      %cst_7 = arith.constant 2.000000e+00 : f32
      %20 = arith.mulf %in_2, %cst_7 fastmath<contract> : f32
      %21 = arith.mulf %in_3, %in_1 fastmath<contract> : f32
      %22 = arith.mulf %20, %19 fastmath<contract> : f32
      %23 = arith.addf %21, %22 fastmath<contract> : f32
      %24 = arith.subf %in, %23 fastmath<contract> : f32
      linalg.yield %24, %23 : f32, f32
    } -> (tensor<10xf32>, tensor<10xf32>)
    brew.yield %1#0, %1#1, %3#0, %3#1, %5#0, %5#1, %7#0, %7#1, %9#0, %9#1, %11#0, %11#1, %13#0, %13#1, %15#0, %15#1 : tensor<6x1x3x3xf32>, tensor<6x1x3x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<18x6x3x3xf32>, tensor<18x6x3x3xf32>, tensor<18xf32>, tensor<18xf32>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40x18x2x2xf32, #brew.layout<0, 2, 3, 1>>, tensor<40xf32>, tensor<40xf32>, tensor<10x40xf32>, tensor<10x40xf32>, tensor<10xf32>, tensor<10xf32>
  }
