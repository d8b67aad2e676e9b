//===- CudaTreeTest.cpp - Expressions and statements of CUDA C++ ----------===//
#include "compiler/cuda/CudaTree.h"

#include <gtest/gtest.h>

namespace brew::compiler {
namespace {

std::string textOf(const CudaCode &code, CudaStyle style = CudaStyle::Named) {
  std::string text;
  code.print(text, style);
  EXPECT_EQ(text.size(), code.width(style));
  return text;
}

const CudaSymbol conv = {"conv1", "b"}, a1 = {"a1", "a1"}, a12 = {"a12", "a12"};

TEST(CudaTree, IsPrintedWithNamesOrWithout) {
  CudaCode code = CudaCode::element(CudaCode::name(conv), "i + 1") + " * " +
                  CudaCode::group(CudaCode::word(2) + " - " + "x");
  EXPECT_EQ(textOf(code), "conv1[i + 1] * (2 - x)");
  EXPECT_EQ(textOf(code, CudaStyle::Plain), "b[i + 1] * (2 - x)");
  EXPECT_EQ(textOf(CudaCode::call("fmaf", {CudaCode::name(conv), "x"})),
            "fmaf(conv1, x)");
  EXPECT_EQ(textOf(CudaCode() + "x" + CudaCode()), "x");
  EXPECT_EQ(textOf(CudaCode()), "");
}

TEST(CudaTree, KnowsWhatItReads) {
  CudaCode name = CudaCode::name(a12);
  CudaCode sum = CudaCode::call("expf", {CudaCode::group(name + " + 1.0f")});
  EXPECT_TRUE(sum.reads(CudaCode::name(a12)));
  // A name that another one begins with is not read.
  EXPECT_FALSE(sum.reads(CudaCode::name(a1)));
  EXPECT_FALSE(sum.reads(CudaCode()));
  EXPECT_FALSE(sum.readsElement());
  EXPECT_TRUE((sum + " * " + CudaCode::element(CudaCode::name(conv), "0"))
                  .readsElement());
  EXPECT_TRUE(name.isName(CudaCode::name(a12)));
  EXPECT_FALSE(sum.isName(name));
}

TEST(CudaTree, KnowsWhatNeedsParentheses) {
  CudaCode name = CudaCode::name(a1);
  EXPECT_TRUE(name.isWord());
  EXPECT_TRUE(CudaCode::word(0).isZero());
  EXPECT_FALSE((name + " + 1").isWord());
  EXPECT_FALSE(CudaCode::group(name).isWord());
  EXPECT_TRUE(CudaCode::call("f", {name}).isCall());
  EXPECT_EQ(textOf(CudaCode::group(name + " + 1").bare()), "a1 + 1");
  CudaCode product = CudaCode::group(name) + " * " + CudaCode::group(name);
  EXPECT_EQ(textOf(product.bare()), "(a1) * (a1)");
}

TEST(CudaTree, StatementsContainStatements) {
  CudaStatements statements;
  statements.open("if (x)");
  statements.comment("'conv1'");
  statements.line(CudaCode::name(conv) + " = 1;");
  statements.openElse("if (y)");
  statements.open("for (;;)");
  statements.line("f();");
  statements.close();
  statements.openElse("");
  statements.close();
  statements.line("g();");
  std::string named, plain;
  statements.print(named, CudaStyle::Named);
  statements.print(plain, CudaStyle::Plain);
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
