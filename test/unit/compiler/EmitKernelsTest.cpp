//===- EmitKernelsTest.cpp - Values of emitted kernels --------------------===//

#include "EmittedModule.h"
#include "KernelText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace brew::test {
namespace {

/// Tolerance for reordered sums of some hundred products of numbers up to 2.
constexpr double kSumTolerance = 1e-4;
/// Tolerance for equal operations in equal order, except fused multiply-adds.
constexpr double kElementTolerance = 1e-6;

/// Compares each kernel with its interpretation (see compareWithInterpreter).
void expectCorrect(
    const std::string &text, double tolerance = kElementTolerance,
    const std::function<double(unsigned, std::size_t)> &values = sampleValue,
    const std::vector<unsigned> &teams = {0, 1, 32, 256}) {
  EmittedModule module(text);
  ASSERT_FALSE(module.kernels().empty());
  for (const compiler::cpu::EmittedKernel &kernel : module.kernels())
    EXPECT_EQ(
        compareWithInterpreter(module, kernel.symbol, tolerance, values, teams),
        "")
        << module.functions();
}

//===----------------------------------------------------------------------===//
// Nets
//===----------------------------------------------------------------------===//

class EmitNet : public testing::TestWithParam<const char *> {};

TEST_P(EmitNet, EqualsInterpreter) {
  std::ifstream file(std::string(KERNEL_FOLDER "/") + GetParam() + ".mlir");
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  expectCorrect(text.str(), kSumTolerance, sampleValue, {0, 32});
}

INSTANTIATE_TEST_SUITE_P(Kernels, EmitNet,
                         testing::Values("padded_nchw", "padded_nhwc",
                                         "padded_nhwc_f64", "strided_nchw",
                                         "strided_nhwc"));

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

const char relu[] = "%p = arith.cmpf ogt, %a, %zero : f32\n"
                    "%r = arith.select %p, %a, %zero : f32\n";

TEST(EmitKernels, EqualAccessesNeedOneLoopInAnyLayout) {
  for (std::string layout : {"", ", #brew.layout<0, 2, 3, 1>"}) {
    std::string t = "tensor<4x5x6x7xf32" + layout + ">";
    for (const char *inPlace : {"-1", "0"}) {
      EmittedModule module(kernelText(
          "k", inPlace, {t},
          "%zero = arith.constant 0.0 : f32\n" +
              nestText({"%y", t, "(n, c, h, w) -> (n, c, h, w)"}, "pppp", 4,
                       {{"%0", t, "(n, c, h, w) -> (n, c, h, w)"}}, relu),
          {{"%y", t}}));
      EXPECT_EQ(compareWithInterpreter(module, "k", 0, sampleValue), "");
      const compiler::cpu::EmittedKernel &kernel = module.kernel("k");
      EXPECT_EQ(kernel.domain, 4 * 5 * 6 * 7);
      EXPECT_EQ(kernel.argumentCount, inPlace[0] == '0' ? 1u : 2u);
      // Each element is read and written, in any layout.
      EXPECT_EQ(kernel.bytes, 840u * 4 * 2);
      EXPECT_EQ(kernel.flops, 840u); // the comparison
      // 840 elements are too few for a second thread.
      EXPECT_GE(kernel.grain, kernel.domain);
    }
  }
}

TEST(EmitKernels, TransposingCopiesAndBroadcasts) {
  std::string nchw = "tensor<3x5x6x7xf32>",
              nhwc = "tensor<3x5x6x7xf32, #brew.layout<0, 2, 3, 1>>";
  std::string body = "%r = arith.addf %a, %b : f32\n";
  for (const std::string &in : {nchw, nhwc})
    for (const std::string &out : {nchw, nhwc}) {
      std::string map = out == nchw ? "(n, c, h, w)" : "(n, h, w, c)";
      expectCorrect(
          kernelText("k", "-1", {in, "tensor<5xf32>"},
                     nestText({"%y", out, map + " -> (n, c, h, w)"}, "pppp", 4,
                              {{"%0", in, map + " -> (n, c, h, w)"},
                               {"%1", "tensor<5xf32>", map + " -> (c)"}},
                              body),
                     {{"%y", out}}));
    }
}

TEST(EmitKernels, FewLongRowsAreSplit) {
  // There are only two rows, so ranges must split the rows.
  std::string t = "tensor<2x6000xf32>";
  EmittedModule module(
      kernelText("k", "-1", {t, "tensor<2xf32>"},
                 nestText({"%y", t, "(n, c) -> (n, c)"}, "pp", 2,
                          {{"%0", t, "(n, c) -> (n, c)"},
                           {"%1", "tensor<2xf32>", "(n, c) -> (n)"}},
                          "%r = arith.mulf %a, %b : f32\n"),
                 {{"%y", t}}));
  EXPECT_EQ(compareWithInterpreter(module, "k", 0, sampleValue), "");
  EXPECT_GT(module.kernel("k").domain, 2);
}

TEST(EmitKernels, LongSumsForFewResults) {
  // Each thread computes the sums of a range of channels of a channels-last
  // tensor. The loop over these channels is innermost.
  for (const char *channels : {"64", "256"}) {
    std::string x = std::string("tensor<8000x") + channels + "xf32>",
                y = std::string("tensor<") + channels + "xf32>";
    EmittedModule module(kernelText(
        "k", "-1", {x},
        nestText({"%y", y, "(c, n) -> (c)", "0.0"}, "pr", 1,
                 {{"%0", x, "(c, n) -> (n, c)"}},
                 "%r = arith.addf %o, %a fastmath<reassoc,contract> : f32\n"),
        {{"%y", y}}));
    auto wholeNumbers = [](unsigned, std::size_t i) { return double(i % 5); };
    EXPECT_EQ(compareWithInterpreter(module, "k", 0, wholeNumbers), "");
    EXPECT_EQ(module.kernel("k").domain, 4);
  }
}

TEST(EmitKernels, SchedulesDependOnTheVectorWidth) {
  // 200 channels are five ranges of five vectors of 8 elements. Vectors of 16
  // elements do not divide 200 channels.
  std::string kernel = kernelText(
      "k", "-1", {"tensor<8000x200xf32>"},
      nestText({"%y", "tensor<200xf32>", "(c, n) -> (c)", "0.0"}, "pr", 1,
               {{"%0", "tensor<8000x200xf32>", "(c, n) -> (n, c)"}},
               "%r = arith.addf %o, %a fastmath<reassoc,contract> : f32\n"),
      {{"%y", "tensor<200xf32>"}});
  EmittedModule module(
      "module attributes {target.machine = #target.cpu<vector_bits = 256, "
      "l2_bytes = 262144, cores = 4, library = <channels_last = true, "
      "fused_leaky_relu = true, bf16 = false, f16 = false, tf32 = false, "
      "f32_weight_gradients = true, slow_bias_elements = 1048576>>} {\n" +
      kernel + "}\n");
  auto wholeNumbers = [](unsigned, std::size_t i) { return double(i % 5); };
  EXPECT_EQ(compareWithInterpreter(module, "k", 0, wholeNumbers, /*teams=*/{}),
            "");
  EXPECT_EQ(module.kernel("k").domain, 5);
  EXPECT_EQ(EmittedModule(kernel).kernel("k").domain, 2);
  // A module for a CPU has no GPU kernels.
  EXPECT_ANY_THROW(module.cudaText("k", 0));
}

/// Returns a kernel of four nests: the maximum of each row, exponentials, their
/// sum and quotients. `rowMap` maps the loops (n, c) to the row.
std::string softmaxKernel(const std::string &t, const std::string &rows,
                          const std::string &rowMap,
                          const std::string &iterators, int grid,
                          const char *inPlace) {
  std::string all = "(n, c) -> (n, c)";
  return kernelText(
      "softmax", inPlace, {t},
      nestText({"%m", rows, rowMap, "-3.0e38"}, iterators, grid,
               {{"%0", t, all}},
               "%p = arith.cmpf ogt, %a, %o : f32\n"
               "%r = arith.select %p, %a, %o : f32\n") +
          nestText({"%e", t, all}, "pp", grid,
                   {{"%0", t, all}, {"%m", rows, rowMap}},
                   "%d = arith.subf %a, %b : f32\n%r = math.exp %d : f32\n") +
          nestText({"%s", rows, rowMap, "0.0"}, iterators, grid,
                   {{"%e", t, all}},
                   "%r = arith.addf %o, %a fastmath<reassoc> : f32\n") +
          nestText({"%y", t, all}, "pp", grid,
                   {{"%e", t, all}, {"%s", rows, rowMap}},
                   "%r = arith.divf %a, %b : f32\n"),
      {{"%y", t}});
}

TEST(EmitKernels, RowsOfSeveralNests) {
  for (const char *inPlace : {"-1", "0"}) {
    for (const char *columns : {"3", "10", "37", "1000"}) {
      std::string t = std::string("tensor<40x") + columns + "xf32>";
      expectCorrect(softmaxKernel(t, "tensor<40xf32>", "(n, c) -> (n)", "pr", 1,
                                  inPlace));
      // The same without a grid, as in small losses.
      std::vector<unsigned> teams = {0, 1, 32, 256};
      if (std::string(columns) == "1000")
        teams.clear(); // too large for shared memory, as below
      expectCorrect(
          softmaxKernel(t, "tensor<40xf32>", "(n, c) -> (n)", "pr", 0, inPlace),
          kElementTolerance, sampleValue, teams);
    }
    // The temporaries are too large for the stack. brewc forms no such kernel
    // for GPUs, whose shared memory is small.
    expectCorrect(softmaxKernel("tensor<70x500xf32>", "tensor<70xf32>",
                                "(n, c) -> (n)", "pr", 0, inPlace),
                  kElementTolerance, sampleValue, /*teams=*/{});
  }
}

TEST(EmitKernels, OverwritingInputsOfLaterNests) {
  std::string t = "tensor<6x50xf32>", all = "(n, c) -> (n, c)";
  for (int grid : {2, 1, 0}) {
    std::string text =
        kernelText("k", "0, -1", {t},
                   nestText({"%y", t, all}, "pp", grid, {{"%0", t, all}},
                            "%r = arith.negf %a : f32\n") +
                       nestText({"%z", t, all}, "pp", grid, {{"%0", t, all}},
                                "%r = arith.addf %a, %a : f32\n"),
                   {{"%y", t}, {"%z", t}});
    expectCorrect(text);
  }
}

TEST(EmitKernels, SubKernelsOfDifferentWeight) {
  std::string big = "tensor<300x7xf32>", small = "tensor<11xf32>",
              table = "tensor<9x40x40xf32>";
  std::string flags = "fastmath<reassoc,contract>";
  expectCorrect(
      kernelText(
          "k", "0, -1, 1", {big, small, table},
          nestText({"%u", big, "(i, j) -> (i, j)"}, "pp", 2,
                   {{"%0", big, "(i, j) -> (i, j)"}},
                   "%r = arith.mulf %a, %a : f32\n", 0) +
              nestText({"%v", "tensor<9xf32>", "(i, j, k) -> (i)", "0.0"},
                       "prr", 1, {{"%2", table, "(i, j, k) -> (i, j, k)"}},
                       "%q = arith.mulf %a, %a " + flags +
                           " : f32\n%r = arith.addf %o, %q " + flags +
                           " : f32\n",
                       1) +
              nestText({"%w", small, "(i) -> (i)"}, "p", 1,
                       {{"%1", small, "(i) -> (i)"}},
                       "%r = math.exp %a : f32\n", 2),
          {{"%u", big}, {"%v", "tensor<9xf32>"}, {"%w", small}}),
      kSumTolerance);
}

TEST(EmitKernels, OrderedReductionsKeepTheirOrder) {
  // The position of the first element above 1 depends on the order.
  std::string t = "tensor<30x41xf32>", i = "tensor<i32>";
  auto position = [](const std::string &select) {
    return "%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n"
           "%c41 = arith.constant 41 : index\n"
           "%k = arith.muli %i, %c41 : index\n"
           "%l = arith.addi %k, %j : index\n"
           "%at = arith.index_cast %l : index to i32\n" +
           select;
  };
  expectCorrect(
      kernelText("first", "-1", {t},
                 nestText({"%y", i, "(n, c) -> ()", "0"}, "rr", 0,
                          {{"%0", t, "(n, c) -> (n, c)"}},
                          position("%one = arith.constant 1.0 : f32\n"
                                   "%none = arith.constant 0 : i32\n"
                                   "%big = arith.cmpf ogt, %a, %one : f32\n"
                                   "%free = arith.cmpi eq, %o, %none : i32\n"
                                   "%both = arith.andi %big, %free : i1\n"
                                   "%r = arith.select %both, %at, %o : i32\n")),
                 {{"%y", i}}));
}

TEST(EmitKernels, LabelsIndexTables) {
  std::string t = "tensor<20x10xf32>", l = "tensor<20xf32>";
  std::string text = kernelText(
      "k", "-1", {t, l},
      nestText({"%y", l, "(n) -> (n)"}, "p", 1, {{"%1", l, "(n) -> (n)"}},
               "%i = arith.fptosi %a : f32 to i32\n"
               "%c = arith.index_cast %i : i32 to index\n"
               "%n = linalg.index 0 : index\n"
               "%r = tensor.extract %0[%n, %c] : " +
                   t + "\n"),
      {{"%y", l}});
  expectCorrect(text, 0, [](unsigned argument, std::size_t i) {
    return argument == 1 ? static_cast<double>(i * 7 % 10)
                         : sampleValue(argument, i);
  });
}

TEST(EmitKernels, LoopsAreSplitAtConcatenatedOperands) {
  // Operands are concatenated along the columns, like the gates of an LSTM: the
  // first `divisor` columns read one operand, the others another one. Both
  // operands have `size` columns, which repeat.
  auto gates = [](int64_t columns, int64_t size, int64_t divisor) {
    std::string y = "tensor<6x" + std::to_string(columns) + "xf32>",
                x = "tensor<6x" + std::to_string(size) + "xf32>";
    return kernelText(
        "k", "-1", {x, x, "tensor<6xf32>"},
        "%p = arith.constant " + std::to_string(size) + " : index\n" +
            "%q = arith.constant " + std::to_string(divisor) + " : index\n" +
            "%first = arith.constant 0 : index\n" +
            nestText({"%y", y, "(n, c) -> (n, c)"}, "pp", 2,
                     {{"%2", "tensor<6xf32>", "(n, c) -> (n)"}},
                     "%n = linalg.index 0 : index\n"
                     "%c = linalg.index 1 : index\n"
                     "%gate = arith.divui %c, %q : index\n"
                     "%place = arith.remui %c, %p : index\n"
                     "%u = tensor.extract %0[%n, %place] : " +
                         x +
                         "\n"
                         "%v = tensor.extract %1[%n, %place] : " +
                         x +
                         "\n"
                         "%is = arith.cmpi eq, %gate, %first : index\n"
                         "%w = arith.select %is, %u, %v : f32\n"
                         "%r = arith.addf %w, %a : f32\n"),
        {{"%y", y}});
  };
  // There are few pieces, many, one, pieces of unequal size, and pieces that
  // are too short.
  expectCorrect(gates(160, 40, 40), 0);
  expectCorrect(gates(320, 16, 16), 0);
  expectCorrect(gates(40, 40, 40), 0);
  expectCorrect(gates(168, 40, 40), 0);
  expectCorrect(gates(160, 40, 20), 0);
  expectCorrect(gates(24, 6, 6), 0);
  // Operands are contiguous within a piece.
  EXPECT_NE(EmittedModule(gates(168, 48, 48)).functions().find("remui"),
            std::string::npos);
  for (int64_t pieces : {4, 12})
    EXPECT_EQ(
        EmittedModule(gates(pieces * 48, 48, 48)).functions().find("remui"),
        std::string::npos)
        << pieces;
}

TEST(EmitKernels, VectorCodeForContiguousInnerLoops) {
  std::string t = "tensor<8x12x12x64xf32>",
              all = "(n, h, w, c) -> (n, h, w, c)";
  EmittedModule module(
      kernelText("k", "-1", {t, "tensor<64xf32>"},
                 nestText({"%y", t, all}, "pppp", 4,
                          {{"%0", t, all},
                           {"%1", "tensor<64xf32>", "(n, h, w, c) -> (c)"}},
                          "%r = arith.addf %a, %b : f32\n"),
                 {{"%y", t}}));
  std::string registers = __builtin_cpu_supports("avx512f") ? "zmm"
                          : __builtin_cpu_supports("avx2")  ? "ymm"
                                                            : "xmm";
  EXPECT_NE(module.assembly().find(registers), std::string::npos);
}

} // namespace
} // namespace brew::test
