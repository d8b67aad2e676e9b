//===- KernelRunTest.cpp - Values of generated kernels --------------------===//

#include "KernelHarness.h"

#include <gtest/gtest.h>

#include <cmath>

namespace brew::test {
namespace {

/// Returns element `i` of a sequence of values in [-2, 2).
float sample(std::size_t i) {
  return static_cast<float>((i * 7919 + 13) % 1000) / 250.0f - 2.0f;
}

TEST(KernelRun, TouchesOnlyItsRange) {
  Kernels kernels(elementwise("k", "f32", 1000, R"(%z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %v, %z : f32
    %r = arith.select %p, %v, %z : f32)"));
  Buffer<float> x(1000), y(1000, -7.0f);
  for (std::size_t i = 0; i < 1000; ++i)
    x[i] = sample(i);
  for (auto [begin, end] :
       {std::pair<int, int>{3, 3}, {3, 4}, {17, 300}, {900, 1000}}) {
    kernels.run("k", {x.data(), y.data()}, begin, end);
    for (int i = begin; i < end; ++i)
      ASSERT_EQ(y[i], std::max(x[i], 0.0f)) << i;
  }
  for (int untouched : {0, 2, 4, 16, 300, 899})
    EXPECT_EQ(y[untouched], -7.0f) << untouched;
}

TEST(KernelRun, MaxPoolChannelsLastWithByteMask) {
  Kernels kernels(R"(
func.func private @pool(%x: memref<3x8x8x20xf32>, %y: memref<3x4x4x20xf32>,
                        %m: memref<3x4x4x20xi8>, %begin: index, %end: index)
    attributes {brew.kernel_entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c20 = arith.constant 20 : index
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i8
  scf.for %i = %begin to %end step %c1 {
    %n = arith.divui %i, %c4 : index
    %oh = arith.remui %i, %c4 : index
    scf.for %ow = %c0 to %c4 step %c1 {
      scf.for %c = %c0 to %c20 step %c1 {
        %best:2 = scf.for %k = %c0 to %c4 step %c1
            iter_args(%a = %lowest, %at = %zero) -> (f32, i8) {
          %kh = arith.divui %k, %c2 : index
          %kw = arith.remui %k, %c2 : index
          %h = affine.apply affine_map<(o, k) -> (o * 2 + k)>(%oh, %kh)
          %w = affine.apply affine_map<(o, k) -> (o * 2 + k)>(%ow, %kw)
          %v = memref.load %x[%n, %h, %w, %c] : memref<3x8x8x20xf32>
          %p = arith.cmpf ogt, %v, %a : f32
          %r = arith.select %p, %v, %a : f32
          %kb = arith.index_cast %k : index to i8
          %s = arith.select %p, %kb, %at : i8
          scf.yield %r, %s : f32, i8
        }
        memref.store %best#0, %y[%n, %oh, %ow, %c] : memref<3x4x4x20xf32>
        memref.store %best#1, %m[%n, %oh, %ow, %c] : memref<3x4x4x20xi8>
      }
    }
  }
  return
})");
  Buffer<float> x(3 * 8 * 8 * 20), y(3 * 4 * 4 * 20);
  Buffer<std::int8_t> mask(y.size(), 99);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = sample(i);
  kernels.run("pool", {x.data(), y.data(), mask.data()}, 0, 5);
  kernels.run("pool", {x.data(), y.data(), mask.data()}, 5, 12);
  for (int n = 0; n < 3; ++n)
    for (int h = 0; h < 4; ++h)
      for (int w = 0; w < 4; ++w)
        for (int c = 0; c < 20; ++c) {
          float best = -INFINITY;
          int at = 0;
          for (int k = 0; k < 4; ++k) {
            float v = x[((n * 8 + h * 2 + k / 2) * 8 + w * 2 + k % 2) * 20 + c];
            if (v > best)
              best = v, at = k;
          }
          std::size_t o = ((n * 4 + h) * 4 + w) * 20 + c;
          ASSERT_EQ(y[o], best);
          ASSERT_EQ(mask[o], at);
        }
}

TEST(KernelRun, StridedViews) {
  // A channel slice of an NHWC buffer, written in NCHW order.
  Kernels kernels(R"(
func.func private @copy(
    %x: memref<2x5x3xf32, strided<[40, 8, 1], offset: 4>> {brew.align = 16 : i64},
    %y: memref<2x5x3xf32, strided<[15, 1, 5]>>, %begin: index, %end: index)
    attributes {brew.kernel_entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  scf.for %n = %begin to %end step %c1 {
    scf.for %p = %c0 to %c5 step %c1 {
      scf.for %c = %c0 to %c3 step %c1 {
        %v = memref.load %x[%n, %p, %c] : memref<2x5x3xf32, strided<[40, 8, 1], offset: 4>>
        memref.store %v, %y[%n, %p, %c] : memref<2x5x3xf32, strided<[15, 1, 5]>>
      }
    }
  }
  return
})");
  Buffer<float> x(80), y(30);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = sample(i);
  kernels.run("copy", {x.data(), y.data()}, 0, 2);
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 5; ++p)
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(y[n * 15 + c * 5 + p], x[n * 40 + p * 8 + 4 + c]);
}

TEST(KernelRun, EquivalentKernelsAreAllCallable) {
  const std::string body = "%r = arith.addf %v, %v : f32";
  Kernels kernels(elementwise("first", "f32", 100, body) +
                  elementwise("shorter", "f32", 50, body) +
                  elementwise("second", "f32", 100, body));
  for (const char *name : {"first", "second"}) {
    Buffer<float> x(100, 3), y(100);
    kernels.run(name, {x.data(), y.data()}, 0, 100);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], 6) << name;
  }
}

TEST(KernelRun, DispatchesCallSubKernelFunctions) {
  Kernels kernels(R"(
func.func private @fill(%y: memref<40xf32>, %begin: index, %end: index)
    attributes {brew.sub_kernel_function} {
  %step = arith.constant 1 : index
  %v = arith.constant 5.0 : f32
  scf.for %i = %begin to %end step %step {
    memref.store %v, %y[%i] : memref<40xf32>
  }
  return
}
func.func private @two(%x: memref<40xf32>, %y: memref<40xf32>, %begin: index,
                       %end: index)
    attributes {brew.kernel_dispatch, brew.kernel_entry} {
  %middle = arith.constant 40 : index
  %last = arith.minsi %end, %middle : index
  func.call @fill(%x, %begin, %last) : (memref<40xf32>, index, index) -> ()
  %first = arith.maxsi %begin, %middle : index
  %from = arith.subi %first, %middle : index
  %to = arith.subi %end, %middle : index
  %meets = arith.cmpi slt, %from, %to : index
  scf.if %meets {
    func.call @fill(%y, %from, %to) : (memref<40xf32>, index, index) -> ()
  }
  return
})");
  Buffer<float> x(40), y(40);
  kernels.run("two", {x.data(), y.data()}, 10, 50);
  for (std::size_t i = 0; i < 40; ++i) {
    ASSERT_EQ(x[i], i < 10 ? 0 : 5);
    ASSERT_EQ(y[i], i < 10 ? 5 : 0);
  }
}

/// Returns a kernel that reduces 5000 elements to one, from `start` on.
std::string reduction(const std::string &flags, const std::string &op,
                      const std::string &start) {
  return "func.func private @reduce(%x: memref<5000xf32>, %y: memref<f32>, "
         "%begin: index, %end: index) attributes {brew.kernel_entry} {\n"
         "  %step = arith.constant 1 : index\n  %start = arith.constant " +
         start +
         " : f32\n  %t = scf.for %i = %begin to %end step %step iter_args(%a = "
         "%start) "
         "-> f32 {\n    %v = memref.load %x[%i] : memref<5000xf32>\n    %r = " +
         op + " %v, %a " + flags +
         " : f32\n    scf.yield %r : f32\n  }\n"
         "  memref.store %t, %y[] : memref<f32>\n  return\n}\n";
}

TEST(KernelRun, ReductionsInOrderAndReassociated) {
  Buffer<float> x(5000), y(1);
  float inOrder = 0, largest = -INFINITY;
  double exact = 0, magnitude = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = sample(i) * 1.0001f;
    inOrder = x[i] + inOrder;
    exact += x[i];
    magnitude += std::fabs(x[i]);
    largest = std::max(largest, x[i]);
  }
  Kernels ordered(reduction("", "arith.addf", "0.0"));
  ordered.run("reduce", {x.data(), y.data()}, 0, 5000);
  // Without fast-math flags the sum has the order of the source, bit for bit.
  EXPECT_EQ(y[0], inOrder);

  Kernels reassociated(reduction("fastmath<reassoc>", "arith.addf", "0.0"));
  reassociated.run("reduce", {x.data(), y.data()}, 0, 5000);
  // There are dozens of partial sums. A bound of a hundred roundings of 6e-8
  // suffices.
  EXPECT_NEAR(y[0], exact, 100 * 6e-8 * magnitude);

  Kernels maximum(
      reduction("fastmath<nnan,nsz>", "arith.maximumf", "0xFF800000"));
  maximum.run("reduce", {x.data(), y.data()}, 0, 5000);
  EXPECT_EQ(y[0], largest);
}

TEST(KernelRun, ArgmaxTakesTheFirst) {
  Kernels kernels(R"(
func.func private @argmax(%x: memref<4x100xf32>, %y: memref<4xi64>, %begin: i64, %end: i64)
    attributes {brew.kernel_entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %b = arith.index_cast %begin : i64 to index
  %e = arith.index_cast %end : i64 to index
  scf.for %i = %b to %e step %c1 {
    %first = memref.load %x[%i, %c0] : memref<4x100xf32>
    %t:2 = scf.for %j = %c1 to %c100 step %c1 iter_args(%a = %first, %k = %c0) -> (f32, index) {
      %v = memref.load %x[%i, %j] : memref<4x100xf32>
      %p = arith.cmpf ogt, %v, %a : f32
      %r = arith.select %p, %v, %a : f32
      %q = arith.select %p, %j, %k : index
      scf.yield %r, %q : f32, index
    }
    %s = arith.index_cast %t#1 : index to i64
    memref.store %s, %y[%i] : memref<4xi64>
  }
  return
})");
  Buffer<float> x(400, 1.0f);
  Buffer<std::int64_t> y(4, -1);
  x[100 + 57] = x[100 + 90] = 2; // of equal maxima, the first counts
  x[200 + 99] = 3;
  x[300] = 5;
  kernels.run("argmax", {x.data(), y.data()}, 0, 4);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 57);
  EXPECT_EQ(y[2], 99);
  EXPECT_EQ(y[3], 0);
}

TEST(KernelRun, DoublePrecisionWithoutContraction) {
  // (1 + e)(1 - e) - 1 is 0 if the product is rounded, -e^2 if fused.
  auto body = [](const std::string &flags) {
    return "%one = arith.constant 1.0 : f64\n %e = arith.subf %v, %one : f64\n"
           "%w = arith.subf %one, %e : f64\n %p = arith.mulf %v, %w " +
           flags + " : f64\n %r = arith.subf %p, %one " + flags + " : f64";
  };
  Buffer<double> x(64, 1.0 + 0x1p-30), y(64, 5.0);
  Kernels strict(elementwise("k", "f64", 64, body("")));
  strict.run("k", {x.data(), y.data()}, 0, 64);
  EXPECT_EQ(y[63], 0.0);
  if (__builtin_cpu_supports("fma")) {
    Kernels fused(elementwise("k", "f64", 64, body("fastmath<contract>")));
    fused.run("k", {x.data(), y.data()}, 0, 64);
    EXPECT_EQ(y[63], -0x1p-60);
  }
}

TEST(KernelRun, InPlaceThroughTwoArguments) {
  Kernels kernels(R"(
func.func private @shift(%x: memref<1000xf32> {brew.may_alias},
                         %y: memref<1000xf32> {brew.may_alias},
                         %begin: index, %end: index) attributes {brew.kernel_entry} {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %j = arith.addi %i, %c1 : index
    %v = memref.load %x[%i] : memref<1000xf32>
    memref.store %v, %y[%j] : memref<1000xf32>
  }
  return
})");
  Buffer<float> x(1000);
  x[0] = 4.0f;
  // Each element depends on the one stored before it.
  kernels.run("shift", {x.data(), x.data()}, 0, 999);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(x[i], 4.0f) << i;
}

TEST(KernelRun, HelpersConstantsVectorsAndManyKernels) {
  std::string text = R"(
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>
func.func private @pick(%i: index) -> f32 {
  %t = memref.get_global @table : memref<4xf32>
  %c4 = arith.constant 4 : index
  %j = arith.floordivsi %i, %c4 : index
  %k = arith.remui %i, %c4 : index
  %v = memref.load %t[%k] : memref<4xf32>
  %f0 = arith.index_cast %j : index to i64
  %f1 = arith.sitofp %f0 : i64 to f32
  %r = arith.addf %v, %f1 : f32
  return %r : f32
}
func.func private @vector(%x: memref<64xf32>, %y: memref<64xf32>, %begin: index, %end: index)
    attributes {brew.kernel_entry} {
  %c8 = arith.constant 8 : index
  scf.for %i = %begin to %end step %c8 {
    %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
    %r = arith.addf %v, %v : vector<8xf32>
    vector.store %r, %y[%i] : memref<64xf32>, vector<8xf32>
  }
  return
}
)";
  // More kernels than fit in one LLVM module.
  for (int i = 0; i < 9; ++i)
    text +=
        elementwise("k" + std::to_string(i), "f32", 64,
                    "%c = arith.constant " + std::to_string(i) +
                        ".0 : f32\n %t = func.call @pick(%i) : (index) -> f32\n"
                        "%s = arith.addf %t, %c : f32\n"
                        "%r = arith.addf %v, %s : f32");
  Kernels kernels(text);
  Buffer<float> x(64, 0.5f), y(64);
  for (int k = 0; k < 9; ++k) {
    kernels.run("k" + std::to_string(k), {x.data(), y.data()}, 0, 64);
    for (int i = 0; i < 64; ++i)
      ASSERT_EQ(y[i], 0.5f + (1 << (i % 4)) + i / 4 + k);
  }
  kernels.run("vector", {x.data(), y.data()}, 0, 64);
  EXPECT_EQ(y[63], 1.0f);
}

} // namespace
} // namespace brew::test
