//===- CudaKernelTest.cpp - Values of CUDA C++ kernels --------------------===//
//
// EmitKernelsTest also runs its kernels on the simulated GPU; this file tests
// features specific to GPUs.
//
//===----------------------------------------------------------------------===//
#include "EmittedModule.h"
#include "KernelText.h"

#include "compiler/cuda/KernelImages.h"
#include "support/Error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace brew::test {
namespace {

/// Returns a kernel with one elementwise result per body. Bodies compute %r
/// from the arguments %a, %b and %c, all of `type`.
std::string elementwiseKernel(const std::vector<std::string> &bodies,
                              const std::string &type) {
  std::string t = "tensor<97x" + type + ">", map = "(i) -> (i)", nests;
  std::vector<std::pair<std::string, std::string>> results;
  std::string inPlace;
  for (const std::string &body : bodies) {
    std::string name = "%y" + std::to_string(results.size());
    nests += nestText({name, t, map}, "p", 1,
                      {{"%0", t, map}, {"%1", t, map}, {"%2", t, map}}, body);
    results.push_back({name, t});
    inPlace += std::string(inPlace.empty() ? "" : ", ") + "-1";
  }
  return kernelText("k", inPlace, {t, t, t}, nests, results);
}

/// Runs the kernel of the bodies on the CPU and on the simulated GPU, and
/// compares the results. Differences may be `tolerance` * max(1, |result|).
void expectSameAsCpu(
    const std::vector<std::string> &bodies, const std::string &type,
    double tolerance,
    const std::function<double(unsigned, std::size_t)> &values = sampleValue) {
  EmittedModule module(elementwiseKernel(bodies, type));
  std::vector<LaunchBuffer> onCpu = module.buffers("k", values),
                            onGpu = module.buffers("k", values);
  module.run("k", onCpu, 0, module.kernel("k").domain);
  module.runOnGpu("k", onGpu, 0);
  for (std::size_t body = 0; body < bodies.size(); ++body)
    for (std::size_t i = 0; i < 97; ++i) {
      double a = onCpu[3 + body].get(i), b = onGpu[3 + body].get(i);
      bool isEqual = (std::isnan(a) && std::isnan(b)) || a == b ||
                     std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a));
      ASSERT_TRUE(isEqual) << bodies[body] << "of " << values(0, i) << ", "
                           << values(1, i) << ": " << b << " instead of " << a
                           << "\n"
                           << module.cudaText("k", 0);
    }
}

TEST(CudaKernels, FloatingPointOperations) {
  for (std::string type : {"f32", "f64"}) {
    std::vector<std::string> bodies;
    // Inputs are limited to the functions' domains.
    for (std::string unary :
         {"exp", "expm1", "exp2", "tanh", "erf", "sin", "cos", "tan", "atan",
          "floor", "ceil", "round", "roundeven", "trunc", "absf", "sinh",
          "cosh", "cbrt"})
      bodies.push_back("%r = math." + unary + " %a : " + type + "\n");
    for (std::string positive :
         {"log", "log1p", "log2", "log10", "sqrt", "rsqrt"})
      bodies.push_back("%p = math.absf %a : " + type + "\n%r = math." +
                       positive + " %p : " + type + "\n");
    for (std::string binary : {"addf", "subf", "mulf", "divf", "maximumf",
                               "minimumf", "maxnumf", "minnumf", "remf"})
      bodies.push_back("%r = arith." + binary + " %a, %b : " + type + "\n");
    bodies.push_back("%p = math.absf %a : " + type +
                     "\n%r = math.powf %p, %b : " + type + "\n");
    for (std::string binary : {"atan2", "copysign"})
      bodies.push_back("%r = math." + binary + " %a, %b : " + type + "\n");
    bodies.push_back("%r = math.fma %a, %b, %c : " + type + "\n");
    bodies.push_back("%r = arith.negf %a : " + type + "\n");
    expectSameAsCpu(bodies, type, type == "f32" ? 1e-6 : 1e-12);
  }
}

TEST(CudaKernels, ComparisonsOfNumbersAndNaN) {
  std::vector<std::string> bodies;
  for (std::string predicate :
       {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge",
        "ult", "ule", "une", "uno"})
    bodies.push_back("%p = arith.cmpf " + predicate +
                     ", %a, %b : f32\n"
                     "%r = arith.select %p, %a, %c : f32\n");
  for (std::string constant : {"0x7F800000", "0xFF800000", "0x7FC00000",
                               "1.0e-30", "16777216.0", "3.40282347E+38"})
    bodies.push_back("%k = arith.constant " + constant +
                     " : f32\n%r = arith.addf %a, %k : f32\n");
  expectSameAsCpu(bodies, "f32", 0, [](unsigned argument, std::size_t i) {
    if (i % 5 == argument)
      return std::nan("");
    return static_cast<double>(i * (argument + 3) % 4);
  });
}

TEST(CudaKernels, IntegerOperations) {
  std::vector<std::string> bodies;
  auto integers = [&](const std::string &type, const std::string &operation) {
    bodies.push_back("%k = arith.constant 7.5 : f32\n"
                     "%m = arith.mulf %a, %k : f32\n"
                     "%n = arith.mulf %b, %k : f32\n"
                     "%s = arith.fptosi %m : f32 to " +
                     type +
                     "\n"
                     "%n2 = arith.fptosi %n : f32 to " +
                     type +
                     "\n"
                     "%one = arith.constant 1 : " +
                     type +
                     "\n"
                     "%t = arith.ori %n2, %one : " +
                     type + "\n" + operation);
  };
  for (std::string type : {"i8", "i32", "i64"}) {
    for (std::string binary :
         {"addi", "subi", "muli", "divsi", "remsi", "divui", "remui",
          "floordivsi", "ceildivsi", "andi", "ori", "xori", "maxsi", "minsi",
          "maxui", "minui"})
      integers(type, "%u = arith." + binary + " %s, %t : " + type +
                         "\n%r = arith.sitofp %u : " + type + " to f32\n");
    for (std::string shift : {"shli", "shrsi", "shrui"})
      integers(type, "%two = arith.constant 2 : " + type + "\n%u = arith." +
                         shift + " %s, %two : " + type +
                         "\n%r = arith.sitofp %u : " + type + " to f32\n");
    for (std::string predicate :
         {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
      integers(type, "%p = arith.cmpi " + predicate + ", %s, %t : " + type +
                         "\n%r = arith.uitofp %p : i1 to f32\n");
  }
  integers("i8", "%u = arith.extsi %s : i8 to i32\n"
                 "%r = arith.sitofp %u : i32 to f32\n");
  integers("i8", "%u = arith.extui %s : i8 to i32\n"
                 "%r = arith.sitofp %u : i32 to f32\n");
  integers("i8", "%r = arith.uitofp %s : i8 to f32\n");
  integers("i32", "%u = arith.trunci %s : i32 to i8\n"
                  "%r = arith.sitofp %u : i8 to f32\n");
  integers("i32", "%u = arith.index_cast %s : i32 to index\n"
                  "%v = arith.index_cast %u : index to i32\n"
                  "%r = arith.sitofp %v : i32 to f32\n");
  // Products and sums wrap around. A compiler that assumed no overflow would
  // know the sign of this hash of a subscript.
  bodies.push_back("%i = linalg.index 0 : index\n"
                   "%n = arith.index_cast %i : index to i32\n"
                   "%k = arith.constant -1640531527 : i32\n"
                   "%m = arith.constant 569420461 : i32\n"
                   "%half = arith.constant 16 : i32\n"
                   "%p = arith.muli %n, %k : i32\n"
                   "%q = arith.addi %p, %k : i32\n"
                   "%h = arith.shrui %q, %half : i32\n"
                   "%x = arith.xori %q, %h : i32\n"
                   "%y = arith.muli %x, %m : i32\n"
                   "%z = arith.subi %y, %k : i32\n"
                   "%w = arith.shrui %z, %half : i32\n"
                   "%r = arith.sitofp %w : i32 to f32\n");
  expectSameAsCpu(bodies, "f32", 0);
}

TEST(CudaKernels, UnsupportedOperationsAreErrors) {
  EmittedModule module(
      elementwiseKernel({"%i = arith.fptosi %a : f32 to i32\n"
                         "%n = math.ctpop %i : i32\n"
                         "%r = arith.sitofp %n : i32 to f32\n"},
                        "f32"));
  try {
    module.cudaText("k", 0);
    FAIL() << "the operation was emitted";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Bug);
    EXPECT_STREQ(error.what(), "kernel 'k' cannot be emitted: there is no CUDA "
                               "code for math.ctpop");
  }
}

TEST(CudaKernels, LargeArgumentsNeedRecentCompilersAndGpus) {
  auto errorWith = [](unsigned arguments, int version, const char *arch) {
    compiler::cuda::EmittedKernel kernel;
    kernel.symbol = "update";
    kernel.argumentCount = arguments;
    try {
      compiler::cuda::checkArgumentSize(kernel, version, {arch});
    } catch (const Error &error) {
      return std::to_string(static_cast<int>(error.status())) + ": " +
             error.what();
    }
    return std::string();
  };
  const std::string prefix =
      "kernel 'update' has 4104 bytes of arguments; more "
      "than 4096 need ";
  EXPECT_EQ(errorWith(512, 12000, "sm_60"), "");
  EXPECT_EQ(errorWith(513, 12010, "sm_70"), "");
  EXPECT_EQ(errorWith(4095, 13000, "sm_90a"), "");
  EXPECT_EQ(errorWith(513, 12000, "sm_90"),
            "3: " + prefix + "NVRTC 12.1 or later, and this one is 12.0");
  EXPECT_EQ(errorWith(513, 12080, "sm_61"),
            "2: --gpu-arch: " + prefix + "an sm_70 or later, and not sm_61");
  EXPECT_EQ(errorWith(4096, 13000, "sm_90"),
            "70: kernel 'update' has 32768 bytes of arguments; GPUs take 32764 "
            "at most");
}

/// Sums and maxima of rows that one lane, a warp or several warps compute, also
/// in several rounds.
TEST(CudaKernels, LongReductions) {
  std::string flags = "fastmath<reassoc>";
  for (auto [rows, columns] : {std::pair<std::string, std::string>("1", "5000"),
                               {"3", "1000"},
                               {"70", "33"}}) {
    std::string t = "tensor<" + rows + "x" + columns + "xf32>",
                v = "tensor<" + rows + "xf32>", all = "(i, j) -> (i, j)",
                row = "(i, j) -> (i)";
    for (int grid : {0, 1}) {
      EmittedModule module(kernelText(
          "k", "-1, -1, 0", {t},
          nestText({"%m", v, row, "-3.0e38"}, "pr", grid, {{"%0", t, all}},
                   "%r = arith.maximumf %o, %a : f32\n") +
              nestText({"%s", v, row, "0.5"}, "pr", grid,
                       {{"%0", t, all}, {"%m", v, row}},
                       "%d = arith.subf %a, %b : f32\n"
                       "%r = arith.addf %o, %d " +
                           flags + " : f32\n") +
              nestText({"%y", t, all}, "pp", grid,
                       {{"%0", t, all}, {"%s", v, row}},
                       "%r = arith.divf %a, %b : f32\n"),
          {{"%m", v}, {"%s", v}, {"%y", t}}));
      EXPECT_EQ(compareWithInterpreter(module, "k", 1e-4, sampleValue), "");
    }
  }
}

/// Sums of columns: a block computes neighbouring sums, several threads compute
/// each sum, and the following nests run once per sum, also in place.
TEST(CudaKernels, NeighbouringSums) {
  // There are fewer or more sums than a block has columns. Each thread has one
  // column or a pack of four columns.
  for (auto [count, columns] :
       {std::pair("5", "8u"), {"32", "8u"}, {"40", "8u"}, {"77", "32u"}}) {
    std::string t = std::string("tensor<500x") + count + "xf32>",
                v = std::string("tensor<") + count + "xf32>",
                all = "(j, i) -> (i, j)", sum = "(j, i) -> (j)",
                perSum = "(j) -> (j)";
    for (std::string inPlace : {"-1, -1, -1", "-1, -1, 1"}) {
      EmittedModule module(kernelText(
          "k", inPlace, {t, v},
          nestText({"%s", v, sum, "0.5"}, "pr", 1, {{"%0", t, all}},
                   "%r = arith.addf %o, %a fastmath<reassoc> : f32\n") +
              nestText({"%y", v, perSum}, "p", 1,
                       {{"%s", v, perSum}, {"%1", v, perSum}},
                       "%r = arith.divf %a, %b : f32\n") +
              nestText({"%z", v, perSum}, "p", 1,
                       {{"%y", v, perSum}, {"%1", v, perSum}},
                       "%r = arith.subf %a, %b : f32\n"),
          {{"%s", v}, {"%y", v}, {"%z", v}}));
      EXPECT_NE(
          module.cudaText("k", 512).find(std::string("= lane / ") + columns),
          std::string::npos)
          << module.cudaText("k", 512);
      EXPECT_EQ(
          compareWithInterpreter(module, "k", 1e-4, sampleValue, {0, 512}), "");
    }
    // A maximum is idempotent, so combining adds no error.
    EmittedModule maximum(kernelText(
        "k", "-1", {t},
        nestText({"%m", v, sum, "-3.0e38"}, "pr", 1, {{"%0", t, all}},
                 "%r = arith.maximumf %o, %a : f32\n"),
        {{"%m", v}}));
    EXPECT_EQ(compareWithInterpreter(maximum, "k", 0, sampleValue, {512}), "");
  }
}

/// 16-bit numbers are widened when read and rounded when written, with equal
/// bits on every target. Tests all 65536 numbers and the midpoints between
/// them.
TEST(CudaKernels, SixteenBitNumbers) {
  for (std::string type : {"bf16", "f16"}) {
    std::string n = "tensor<65536x" + type + ">", w = "tensor<65536xf32>",
                map = "(i) -> (i)",
                widen = "%e = arith.extf %a : " + type + " to f32\n";
    EmittedModule module(
        kernelText("k", "-1, -1, -1", {n, w},
                   nestText({"%wide", w, map}, "p", 1, {{"%0", n, map}},
                            "%r = arith.extf %a : " + type + " to f32\n") +
                       nestText({"%half", n, map}, "p", 1,
                                {{"%0", n, map}, {"%1", w, map}},
                                widen +
                                    "%h = arith.mulf %e, %b : f32\n"
                                    "%r = arith.truncf %h : f32 to " +
                                    type + "\n") +
                       nestText({"%round", n, map}, "p", 1, {{"%1", w, map}},
                                "%r = arith.truncf %a : f32 to " + type + "\n"),
                   {{"%wide", w}, {"%half", n}, {"%round", n}}));
    auto fill = [&](std::vector<LaunchBuffer> &buffers) {
      for (std::uint32_t i = 0; i < 65536; ++i) {
        auto bits = static_cast<std::uint16_t>(i);
        std::memcpy(static_cast<char *>(buffers[0].data()) + 2 * i, &bits, 2);
        // All exponents occur, with fractions on both sides of the midpoints.
        std::uint32_t word = i << 16 | (i * 40503u & 0xffff);
        if (i % 7 == 0)
          word = i << 16 | 0x8000;
        if (i % 11 == 0)
          word = (0x38000000u - (i % 3 << 23)) | (i & 0x3ff) << 13 | 0x1000;
        std::memcpy(static_cast<char *>(buffers[1].data()) + 4 * i, &word, 4);
      }
    };
    auto values = [](unsigned, std::size_t) { return 0.0; };
    std::vector<LaunchBuffer> onCpu = module.buffers("k", values),
                              onGpu = module.buffers("k", values);
    fill(onCpu);
    fill(onGpu);
    module.run("k", onCpu, 0, module.kernel("k").domain);
    module.runOnGpu("k", onGpu, 0);
    for (std::size_t buffer = 2; buffer < 5; ++buffer)
      for (std::size_t i = 0; i < 65536; ++i) {
        double a = onCpu[buffer].get(i), b = onGpu[buffer].get(i);
        ASSERT_TRUE((std::isnan(a) && std::isnan(b)) || a == b)
            << type << " " << i << ", result " << buffer - 2 << ": " << b
            << " on the GPU, " << a << " on the CPU";
      }
  }
}

/// A sum of 16-bit numbers has an f32 accumulator and is rounded once.
TEST(CudaKernels, SixteenBitSums) {
  for (auto [type, pack] :
       {std::pair<std::string, std::string>("bf16", "__nv_bfloat16, 8"),
        {"f16", "__half, 8"}}) {
    std::string t = "tensor<9x4096x" + type + ">", s = "tensor<9xf32>",
                v = "tensor<9x" + type + ">", all = "(i, j) -> (i, j)",
                widen = "%e = arith.extf %a : " + type + " to f32\n";
    EmittedModule sums(kernelText(
        "k", "-1", {t},
        nestText({"%s", s, "(i, j) -> (i)", "0.0"}, "pr", 1, {{"%0", t, all}},
                 widen + "%r = arith.addf %o, %e fastmath<reassoc> : f32\n") +
            nestText({"%y", v, "(i) -> (i)"}, "p", 1, {{"%s", s, "(i) -> (i)"}},
                     "%r = arith.truncf %a : f32 to " + type + "\n"),
        {{"%y", v}}));
    // A 16-bit sum of 4096 numbers would stop growing.
    auto large = [](unsigned, std::size_t i) { return i % 2 ? 1.0 : 1.5; };
    EXPECT_EQ(compareWithInterpreter(sums, "k", 0, large), "");
    EmittedModule doubled(
        kernelText("k", "-1", {t},
                   nestText({"%y", t, all}, "pp", 2, {{"%0", t, all}},
                            widen +
                                "%d = arith.addf %e, %e : f32\n"
                                "%r = arith.truncf %d : f32 to " +
                                type + "\n"),
                   {{"%y", t}}));
    EXPECT_NE(doubled.cudaText("k", 0).find("BREW_LOAD(BREW_VECTOR(" + pack),
              std::string::npos)
        << doubled.cudaText("k", 0);
    EXPECT_EQ(compareWithInterpreter(doubled, "k", 0, sampleValue), "");
  }
}

TEST(CudaKernels, LargeBuffersNeed64BitIndices) {
  std::string t = "tensor<40000x60000xi8>", all = "(i, j) -> (i, j)";
  EmittedModule module(
      kernelText("k", "0", {t},
                 nestText({"%y", t, all}, "pp", 2, {{"%0", t, all}},
                          "%one = arith.constant 1 : i8\n"
                          "%r = arith.addi %a, %one : i8\n"),
                 {{"%y", t}}));
  std::string text = module.cudaText("k", 0);
  EXPECT_NE(text.find("const unsigned long long point"), std::string::npos)
      << text;
  EXPECT_NE(text.find("const long long i"), std::string::npos) << text;
}

} // namespace
} // namespace brew::test
