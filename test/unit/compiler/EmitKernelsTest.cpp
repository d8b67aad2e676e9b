//===- EmitKernelsTest.cpp - Emitted kernels compute what nests say --------===//

#include "NestInterpreter.h"

#include "formats/Error.h"

#include <gtest/gtest.h>

namespace brew::test {
namespace {

/// Sums of a few hundred products in another order.
constexpr double kSumTolerance = 2e-5;
/// The same operations in the same order, save fused multiply-adds.
constexpr double kElementTolerance = 1e-6;

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void expectSame(const std::string &text, double tolerance = kElementTolerance,
                const std::function<double(unsigned, std::size_t)> &values =
                    sampleValue) {
  EmittedModule module(text);
  for (const compiler::EmittedKernel &kernel : module.kernels())
    EXPECT_EQ(compareWithInterpreter(module, kernel.symbol, tolerance, values),
              "")
        << module.functions();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

const char kRelu[] = R"(
#id = affine_map<(n, p, q, c) -> (n, c, p, q)>
plan.kernel @relu attributes {in_place = array<i64: -1>, layers = ["relu1"]} {
^bb0(%x: tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>) outs(%e : tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>)
      attrs = {brew.part = 0 : i64, brew.grid = 4 : i64} {
  ^bb0(%a: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %r = arith.select %p, %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>
  brew.yield %y : tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>>
})";

TEST(EmitKernels, FlatInAnyLayout) {
  expectSame(kRelu);
  expectSame(replaced(replaced(kRelu, ", #brew.layout<0, 2, 3, 1>", ""),
                      "(n, p, q, c)", "(n, c, p, q)"));
  expectSame(replaced(kRelu, "array<i64: -1>", "array<i64: 0>"));
  expectSame(replaced(kRelu, "f32", "f64"));
  // A layout the input does not share: not flat.
  expectSame(replaced(kRelu, "%x: tensor<4x5x6x7xf32, #brew.layout<0, 2, 3, 1>",
                      "%x: tensor<4x5x6x7xf32, #brew.layout<1, 3, 0, 2>"),
             kElementTolerance)
      ;
}

} // namespace
} // namespace brew::test
