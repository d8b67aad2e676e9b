//===- ObjectCodeTest.cpp - Tests of machine code generation --------------===//

#include "KernelHarness.h"

#include "support/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace brew::test {
namespace {

bool contains(const std::string &text, const std::string &substring) {
  return text.find(substring) != std::string::npos;
}

/// Returns kernels of different sizes.
std::string differentKernels(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text +=
        elementwise("kernel_" + std::to_string(i), "f32", 1000 + i,
                    "%e = math.exp %v : f32\n %r = arith.mulf %e, %v : f32");
  return text;
}

TEST(ObjectCode, EqualInputsGiveEqualBytes) {
  std::string text = differentKernels(11);
  std::string bytes = compileText(text, "x86-64-v4");
  EXPECT_EQ(bytes.substr(0, 4), "\x7f"
                                "ELF");
  EXPECT_TRUE(bytes == compileText(text, "x86-64-v4"));
  EXPECT_TRUE(bytes == compileText(text, "x86-64-v4", Threading::Off));
  EXPECT_FALSE(bytes == compileText(text, "x86-64-v3"));
  // Neither temporary paths nor internal names leak into the file.
  EXPECT_FALSE(contains(bytes, ".body"));
  EXPECT_FALSE(contains(bytes, "brewc"));
  EXPECT_TRUE(contains(bytes, "kernel_10"));
}

TEST(ObjectCode, EquivalentKernelsShareCode) {
  std::string kernels;
  for (int i = 0; i < 40; ++i)
    kernels += elementwise("kernel_" + std::to_string(i), "f32", 1000,
                           "%e = math.exp %v : f32\n %r = arith.mulf %e, %v : "
                           "f32");
  std::string bytes = compileText(kernels);
  EXPECT_TRUE(contains(bytes, "kernel_39"));
  EXPECT_LT(2 * bytes.size(), compileText(differentKernels(40)).size());
}

TEST(ObjectCode, EmptyModulesCompile) {
  EXPECT_EQ(compileText("").substr(0, 4), "\x7f"
                                          "ELF");
}

TEST(ObjectCode, VectorWidthOfTheTarget) {
  std::string relu =
      elementwise("k", "f32", 1000, R"(%z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %v, %z : f32
    %r = arith.select %p, %v, %z : f32)");
  EXPECT_TRUE(contains(assemblyOf(relu, "x86-64-v4"), "zmm"));
  std::string v3 = assemblyOf(relu, "x86-64-v3");
  EXPECT_TRUE(contains(v3, "ymm"));
  EXPECT_FALSE(contains(v3, "zmm"));
  EXPECT_FALSE(contains(assemblyOf(relu, "x86-64"), "ymm"));
}

TEST(ObjectCode, PolynomialsOnlyWithFma) {
  std::string text = differentKernels(1);
  EXPECT_FALSE(contains(assemblyOf(text, "x86-64-v3"), "expf"));
  std::string baseline = assemblyOf(text, "x86-64");
  EXPECT_TRUE(contains(baseline, "expf"));
  EXPECT_FALSE(contains(baseline, "fmaf"));
}

TEST(ObjectCode, AMissingTemporaryFolderIsAnError) {
  const char *old = std::getenv("TMPDIR");
  std::string saved = old ? old : "";
  setenv("TMPDIR", "/nonexistent/folder", 1);
  try {
    compileText(differentKernels(1));
    ADD_FAILURE() << "linked without a temporary folder";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    EXPECT_TRUE(contains(error.what(), "temporary folder")) << error.what();
  }
  if (old)
    setenv("TMPDIR", saved.c_str(), 1);
  else
    unsetenv("TMPDIR");
}

} // namespace
} // namespace brew::test
