//===- CudaTreeTest.cpp - Expressions and statements of CUDA C++ ----------===//
#include "compiler/cuda/CudaTree.h"

#include <gtest/gtest.h>

namespace brew::compiler {
namespace {

std::string textOf(const cuda::CudaCode &code,
                   cuda::CudaStyle style = cuda::CudaStyle::Named) {
  std::string text;
  code.print(text, style);
  EXPECT_EQ(text.size(), code.width(style));
  return text;
}

const cuda::CudaSymbol conv = {"conv1", "b"}, a1 = {"a1", "a1"},
                       a12 = {"a12", "a12"};

TEST(CudaTree, IsPrintedWithNamesOrWithout) {
  cuda::CudaCode code =
      cuda::CudaCode::element(cuda::CudaCode::name(conv), "i + 1") + " * " +
      cuda::CudaCode::group(cuda::CudaCode::word(2) + " - " + "x");
  EXPECT_EQ(textOf(code), "conv1[i + 1] * (2 - x)");
  EXPECT_EQ(textOf(code, cuda::CudaStyle::Plain), "b[i + 1] * (2 - x)");
  EXPECT_EQ(
      textOf(cuda::CudaCode::call("fmaf", {cuda::CudaCode::name(conv), "x"})),
      "fmaf(conv1, x)");
  EXPECT_EQ(textOf(cuda::CudaCode() + "x" + cuda::CudaCode()), "x");
  EXPECT_EQ(textOf(cuda::CudaCode()), "");
}

TEST(CudaTree, KnowsWhatItReads) {
  cuda::CudaCode name = cuda::CudaCode::name(a12);
  cuda::CudaCode sum =
      cuda::CudaCode::call("expf", {cuda::CudaCode::group(name + " + 1.0f")});
  EXPECT_TRUE(sum.reads(cuda::CudaCode::name(a12)));
  // A name that another one begins with is not read.
  EXPECT_FALSE(sum.reads(cuda::CudaCode::name(a1)));
  EXPECT_FALSE(sum.reads(cuda::CudaCode()));
  EXPECT_FALSE(sum.readsElement());
  EXPECT_TRUE(
      (sum + " * " + cuda::CudaCode::element(cuda::CudaCode::name(conv), "0"))
          .readsElement());
  EXPECT_TRUE(name.isName(cuda::CudaCode::name(a12)));
  EXPECT_FALSE(sum.isName(name));
}

TEST(CudaTree, KnowsWhatNeedsParentheses) {
  cuda::CudaCode name = cuda::CudaCode::name(a1);
  EXPECT_TRUE(name.isWord());
  EXPECT_TRUE(cuda::CudaCode::word(0).isZero());
  EXPECT_FALSE((name + " + 1").isWord());
  EXPECT_FALSE(cuda::CudaCode::group(name).isWord());
  EXPECT_TRUE(cuda::CudaCode::call("f", {name}).isCall());
  EXPECT_EQ(textOf(cuda::CudaCode::group(name + " + 1").bare()), "a1 + 1");
  cuda::CudaCode product =
      cuda::CudaCode::group(name) + " * " + cuda::CudaCode::group(name);
  EXPECT_EQ(textOf(product.bare()), "(a1) * (a1)");
}

TEST(CudaTree, StatementsContainStatements) {
  cuda::CudaStatements statements;
  statements.open("if (x)");
  statements.comment("'conv1'");
  statements.line(cuda::CudaCode::name(conv) + " = 1;");
  statements.openElse("if (y)");
  statements.open("for (;;)");
  statements.line("f();");
  statements.close();
  statements.openElse("");
  statements.close();
  statements.line("g();");
  std::string named, plain;
  statements.print(named, cuda::CudaStyle::Named);
  statements.print(plain, cuda::CudaStyle::Plain);
  EXPECT_EQ(named, "  if (x) {\n"
                   "    // 'conv1'\n"
                   "    conv1 = 1;\n"
                   "  } else if (y) {\n"
                   "    for (;;) {\n"
                   "      f();\n"
                   "    }\n"
                   "  } else {\n"
                   "  }\n"
                   "  g();\n");
  EXPECT_EQ(plain, "  if (x) {\n"
                   "    b = 1;\n"
                   "  } else if (y) {\n"
                   "    for (;;) {\n"
                   "      f();\n"
                   "    }\n"
                   "  } else {\n"
                   "  }\n"
                   "  g();\n");
}

} // namespace
} // namespace brew::compiler
