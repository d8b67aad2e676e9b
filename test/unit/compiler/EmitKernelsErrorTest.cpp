//===- EmitKernelsErrorTest.cpp - Tests of rejected kernels ---------------===//
//
// A kernel that violates the rules of brew.kernel would have different results
// with different schedules. Each rule is checked before emission.
//
//===----------------------------------------------------------------------===//

#include "EmittedModule.h"
#include "KernelText.h"

#include "support/Error.h"

#include <gtest/gtest.h>

namespace brew::test {
namespace {

const std::string t = "tensor<6x8xf32>", v = "tensor<6xf32>",
                  all = "(i, j) -> (i, j)";

/// Returns the error of emitting a kernel.
std::string emissionError(const std::string &text) {
  try {
    EmittedModule module(text);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Bug);
    EXPECT_NE(std::string(error.what()).find("kernel 'k'"), std::string::npos)
        << error.what();
    return error.what();
  }
  ADD_FAILURE() << "the kernel was emitted: " << text;
  return "";
}

void expectError(const std::string &text, const std::string &expected) {
  std::string message = emissionError(text);
  EXPECT_NE(message.find(expected), std::string::npos) << message;
}

const char negate[] = "%r = arith.negf %a : f32\n";

TEST(EmitKernelsErrors, ReadingAnotherGridPoint) {
  std::string square = "tensor<6x6xf32>";
  expectError(
      kernelText("k", "-1", {square},
                 nestText({"%y", square, all}, "pp", 2, {{"%0", square, all}},
                          negate) +
                     nestText({"%z", square, all}, "pp", 2,
                              {{"%y", square, "(i, j) -> (j, i)"}}, negate),
                 {{"%z", square}}),
      "another grid point");
}

TEST(EmitKernelsErrors, DependentSubKernels) {
  expectError(
      kernelText(
          "k", "-1", {t},
          nestText({"%y", t, all}, "pp", 2, {{"%0", t, all}}, negate) +
              nestText({"%z", t, all}, "pp", 2, {{"%y", t, all}}, negate, 1),
          {{"%z", t}}),
      "reads the result of another one");
}

TEST(EmitKernelsErrors, OverwritingInputsOfOtherPoints) {
  std::string square = "tensor<6x6xf32>";
  expectError(kernelText("k", "0", {square},
                         nestText({"%y", square, all}, "pp", 2,
                                  {{"%0", square, "(i, j) -> (j, i)"}}, negate),
                         {{"%y", square}}),
              "overwritten while it is still read");
  expectError(
      kernelText(
          "k", "0, -1", {t},
          nestText({"%y", t, all}, "pp", 2, {{"%0", t, all}}, negate) +
              nestText({"%z", t, all}, "pp", 2, {{"%0", t, all}}, negate, 1),
          {{"%y", t}, {"%z", t}}),
      "overwritten while it is still read");
}

TEST(EmitKernelsErrors, MismatchedInPlaceResults) {
  expectError(kernelText("k", "0", {v},
                         nestText({"%y", t, all}, "pp", 2,
                                  {{"%0", v, "(i, j) -> (i)"}}, negate),
                         {{"%y", t}}),
              "cannot be in the place of argument 0");
  expectError(
      kernelText("k", "0, -1", {t},
                 nestText({"%y", t, all}, "pp", 2, {{"%0", t, all}}, negate),
                 {{"%y", t}}),
      "in_place");
}

TEST(EmitKernelsErrors, ReductionsWithoutInitialValue) {
  expectError(
      kernelText("k", "-1", {t},
                 nestText({"%y", v, "(i, j) -> (i)"}, "pr", 1, {{"%0", t, all}},
                          "%r = arith.addf %a, %o : f32\n"),
                 {{"%y", v}}),
      "no initial value");
}

TEST(EmitKernelsErrors, SeveralWritersOfOneElement) {
  expectError(kernelText("k", "-1", {t},
                         nestText({"%y", v, "(i, j) -> (i)"}, "pp", 2,
                                  {{"%0", t, all}}, negate),
                         {{"%y", v}}),
              "write one element");
}

TEST(EmitKernelsErrors, MapsThatAreNotLinear) {
  expectError(kernelText("k", "-1", {v},
                         nestText({"%y", t, all}, "pp", 2,
                                  {{"%0", v, "(i, j) -> (j mod 6)"}}, negate),
                         {{"%y", t}}),
              "not linear");
}

} // namespace
} // namespace brew::test
