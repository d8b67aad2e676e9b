//===- PackSizeTest.cpp - Tests of pack sizes -----------------------------===//
#include "EmittedModule.h"
#include "KernelText.h"

#include <gtest/gtest.h>

namespace brew::test {
namespace {

bool contains(const std::string &text, const std::string &substring) {
  return text.find(substring) != std::string::npos;
}

TEST(PackedAccesses, OfAlignedAddresses) {
  auto text = [](const std::string &dims, const std::string &type,
                 const std::string &inPlace) {
    std::string t = "tensor<" + dims + "x" + type + ">",
                all = "(i, j) -> (i, j)";
    return kernelText(
        "k", inPlace, {t, "tensor<164x" + type + ">"},
        nestText({"%y", t, all}, "pp", 2,
                 {{"%0", t, all},
                  {"%1", "tensor<164x" + type + ">", "(i, j) -> (i)"}},
                 "%r = arith.mulf %a, %b : " + type + "\n"),
        {{"%y", t}});
  };
  for (const char *inPlace : {"-1", "0"}) {
    for (auto [type, pack] : {std::pair("f32", "4"), {"f64", "2"}}) {
      EmittedModule aligned(text("164x204", type, inPlace));
      std::string load = std::string("BREW_LOAD(BREW_VECTOR(") +
                         (*pack == '4' ? "float" : "double") + ", " + pack;
      EXPECT_NE(aligned.cudaText("k", 0).find(load), std::string::npos);
      EXPECT_EQ(compareWithInterpreter(aligned, "k", 1e-6, sampleValue), "");
    }
    // Rows are unaligned.
    EmittedModule odd(text("164x205", "f32", inPlace));
    EXPECT_EQ(odd.cudaText("k", 0).find("BREW_LOAD(BREW_VECTOR("),
              std::string::npos);
    EXPECT_EQ(compareWithInterpreter(odd, "k", 1e-6, sampleValue), "");
  }
}

/// If the launch is unknown, a subview may begin at any element of its base.
TEST(PackedAccesses, NotOfSubviewsOfUnknownLaunches) {
  std::string t = "tensor<164x204xf32>", all = "(i, j) -> (i, j)",
              subview = "tensor<164x204xf32, {strides = array<i64: 204, 1>}>";
  EmittedModule module(
      kernelText("k", "-1", {subview},
                 nestText({"%y", t, all}, "pp", 2, {{"%0", subview, all}},
                          "%r = arith.addf %a, %a : f32\n"),
                 {{"%y", t}}));
  EXPECT_EQ(module.cudaText("k", 0).find("BREW_LOAD(BREW_VECTOR("),
            std::string::npos)
      << module.cudaText("k", 0);
  EXPECT_EQ(compareWithInterpreter(module, "k", 1e-6, sampleValue), "");
}

/// A pack has 16 bytes of the smallest element type; larger elements take two
/// accesses. Operands with one element per channel do not influence the size.
TEST(PackedAccesses, OfSeveralTypes) {
  std::string x = "tensor<400x104xbf16>", y = "tensor<400x104xf32>",
              scale = "tensor<104xf32>", all = "(i, j) -> (i, j)";
  EmittedModule module(kernelText(
      "k", "-1, -1", {x, y, scale},
      nestText({"%s", y, all}, "pp", 2,
               {{"%0", x, all}, {"%1", y, all}, {"%2", scale, "(i, j) -> (j)"}},
               "%e = arith.extf %a : bf16 to f32\n"
               "%p = arith.mulf %e, %c : f32\n"
               "%r = arith.addf %p, %b : f32\n") +
          nestText({"%t", x, all}, "pp", 2, {{"%s", y, all}},
                   "%r = arith.truncf %a : f32 to bf16\n"),
      {{"%s", y}, {"%t", x}}));
  const std::string text = module.cudaText("k", 0);
  EXPECT_TRUE(contains(text, "BREW_LOAD(BREW_VECTOR(__nv_bfloat16, 8)"))
      << text;
  EXPECT_TRUE(contains(text, "BREW_LOAD(BREW_VECTOR(float, 8)")) << text;
  EXPECT_EQ(compareWithInterpreter(module, "k", 1e-6, sampleValue), "");

  EmittedModule scaled(
      kernelText("k", "-1", {y, scale},
                 nestText({"%s", y, all}, "pp", 2,
                          {{"%0", y, all}, {"%1", scale, "(i, j) -> (j)"}},
                          "%r = arith.mulf %a, %b : f32\n"),
                 {{"%s", y}}));
  EXPECT_TRUE(contains(scaled.cudaText("k", 0), "BREW_VECTOR(float, 4)"));
  EXPECT_FALSE(contains(scaled.cudaText("k", 0), "BREW_VECTOR(float, 8)"));
  EXPECT_EQ(compareWithInterpreter(scaled, "k", 1e-6, sampleValue), "");
}

/// Each element of a pack has its own ordered sum, which the next nest reads.
TEST(PackedAccesses, OfSums) {
  std::string t = "tensor<400x3x104xbf16>", v = "tensor<400x104xf32>",
              n = "tensor<400x104xbf16>", all = "(i, j, k) -> (i, k, j)",
              sum = "(i, j, k) -> (i, j)", perSum = "(i, j) -> (i, j)";
  EmittedModule module(
      kernelText("k", "-1, -1", {t},
                 nestText({"%s", v, sum, "0.5"}, "ppr", 2, {{"%0", t, all}},
                          "%e = arith.extf %a : bf16 to f32\n"
                          "%r = arith.addf %o, %e : f32\n") +
                     nestText({"%y", n, perSum}, "pp", 2, {{"%s", v, perSum}},
                              "%r = arith.truncf %a : f32 to bf16\n"),
                 {{"%s", v}, {"%y", n}}));
  const std::string text = module.cudaText("k", 0);
  EXPECT_TRUE(contains(text, "BREW_LOAD(BREW_VECTOR(__nv_bfloat16, 8)"))
      << text;
  EXPECT_TRUE(contains(text, "BREW_STORE(BREW_VECTOR(float, 8)")) << text;
  EXPECT_EQ(compareWithInterpreter(module, "k", 1e-6, sampleValue), "");
}

/// Lanes that share a row load packs. They also store packs, even if the result
/// overwrites the row.
TEST(PackedAccesses, OfRows) {
  std::string t = "tensor<70x1000xf32>", v = "tensor<70xf32>",
              all = "(i, j) -> (i, j)", row = "(i, j) -> (i)";
  for (std::string inPlace : {"-1, -1", "-1, 0"}) {
    EmittedModule module(kernelText(
        "k", inPlace, {t},
        nestText({"%s", v, row, "0.5"}, "pr", 1, {{"%0", t, all}},
                 "%r = arith.addf %o, %a fastmath<reassoc> : f32\n") +
            nestText({"%y", t, all}, "pp", 1, {{"%0", t, all}, {"%s", v, row}},
                     "%r = arith.divf %a, %b : f32\n"),
        {{"%s", v}, {"%y", t}}));
    const std::string text = module.cudaText("k", 0);
    EXPECT_TRUE(contains(text, "BREW_LOAD(BREW_VECTOR(float, 4)")) << text;
    EXPECT_TRUE(contains(text, "BREW_STORE(BREW_VECTOR(float, 4)")) << text;
    EXPECT_EQ(compareWithInterpreter(module, "k", 1e-4, sampleValue), "");
  }
}

/// Rows of 64 16-bit elements have eight packs, so four rows share a warp.
TEST(PackedAccesses, TeamsOfEight) {
  std::string t = "tensor<1600x64xbf16>", v = "tensor<1600x64xf32>",
              all = "(i, j) -> (i, j)";
  EmittedModule module(kernelText(
      "k", "-1", {t},
      nestText({"%w", v, all}, "pp", 1, {{"%0", t, all}},
               "%e = arith.extf %a : bf16 to f32\n"
               "%r = arith.mulf %e, %e : f32\n") +
          nestText({"%s", v, "(i, j, k) -> (i, j)", "0.0"}, "ppr", 1,
                   {{"%w", v, "(i, j, k) -> (i, k)"}},
                   "%r = arith.addf %o, %a : f32\n") +
          nestText({"%y", t, all}, "pp", 1, {{"%0", t, all}, {"%s", v, all}},
                   "%e = arith.extf %a : bf16 to f32\n"
                   "%d = arith.divf %e, %b : f32\n"
                   "%r = arith.truncf %d : f32 to bf16\n"),
      {{"%y", t}}));
  const std::string text = module.cudaText("k", 8);
  EXPECT_TRUE(contains(text, "team = threadIdx.x / 8u")) << text;
  EXPECT_TRUE(contains(text, "BREW_LOAD(BREW_VECTOR(__nv_bfloat16, 8)"))
      << text;
  // The tolerance is about an ulp of bf16.
  EXPECT_EQ(compareWithInterpreter(module, "k", 1e-2, sampleValue, {8, 16, 32}),
            "");
}

} // namespace
} // namespace brew::test
